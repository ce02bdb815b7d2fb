"""Comments, docstrings, pages and headers name only files and classes that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("graphmem", "cypher", "migrations", "docs")
TEXTS = {
    path: path.read_text("utf-8")
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".cypher", ".md"}
}
FILES = "\n".join(f"/{path.relative_to(ROOT)}" for path in ROOT.glob("*/**/*.*"))
FILE = re.compile(
    r"(?<![\w/.:-])(?:graphmem|rules|model|operations|client|adapters|tests)/[\w/]+\b"
)
CLASS = re.compile(r"`+(Async\w+)")


def dead_references(texts: dict[Path, str]) -> list[str]:
    """Return the references of texts to a file of the project, or to a class, that is missing."""
    code = "\n".join(text for path, text in TEXTS.items() if path.suffix == ".py")
    dead = []
    for path, text in texts.items():
        names = {name for name in FILE.findall(text) if not re.search(rf"/{name}[./]", FILES)}
        names |= {name for name in CLASS.findall(text) if not re.search(rf"class {name}\b", code)}
        dead += [f"{path}: {name}" for name in sorted(names)]
    return dead


def test_every_reference_leads_somewhere() -> None:
    assert dead_references(TEXTS) == []


def test_a_dead_reference_is_found() -> None:
    text = "See rules/vanished.py, `AsyncVanished.run`, rules/scoring and `AsyncGraphMem`."
    assert dead_references({Path("x"): text}) == ["x: AsyncVanished", "x: rules/vanished"]
