"""Hook of mkdocs: links that leave docs/ become paths in the repository; search prefers guides."""

from __future__ import annotations

import posixpath
import re
from typing import Any

LINK = re.compile(r"(?<!!)\[([^]]*)\]\((?!https?://)((?:\.\./)+[^)#\s]+)(?:#[^)\s]+)?\)")
BOOSTS = {
    "reference/records": 0.2,
    "reference/": 0.6,
    "evidence/": 0.4,
    "ideas/": 0.3,
    "development": 0.3,
    "decisions/": 0.3,
}
"""Weight in the search of pages that begin so, by the first that matches; all others have 1."""


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Return the text of a page in which a file outside docs/ is named, not linked."""
    boosts = (boost for start, boost in BOOSTS.items() if page.file.src_uri.startswith(start))
    page.meta["search"] = {"boost": next(boosts, 1)}
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")

    def name(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found[2]))
        return found[0] if path.startswith("docs/") else f"{found[1]} (`{path}`)"

    return LINK.sub(name, markdown)
