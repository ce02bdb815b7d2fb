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
PACKAGES = {path.parent.name for path in (ROOT / "graphmem").glob("**/__init__.py")}
PLACES = PACKAGES - {"schema"} | {"oracles", "tests"}
"""Folders of which texts name files. Texts also name schema/... of Cypher without its folder."""
FILE = re.compile(rf"(?<![\w/.:-])(?:{'|'.join(PLACES)})/[\w/]+\b")
CLASS = re.compile(r"`+(Async\w+|[A-Z][a-z]+(?:[A-Z][a-z]+)+)\b")
KNOWN = {"ReadOnly", "StoreCopy"}.union(
    *(re.findall(r"(?<!`)\b[A-Z]\w+", text) for path, text in TEXTS.items() if path.suffix == ".py")
)
"""Classes of the code, which name them outside backticks too; of Python; and of StoreCopy.java."""
NAMED = re.compile(r"(?<![\w/])((?:\w+/)+\w+\.py),? (\w*[A-Z_]\w*)")
"""Matches a file and a name in it, for example rules/vitality.py VitalityConstants."""


def has(file: str, name: str) -> bool:
    """Return whether a file has a name; a missing file is found as such."""
    found = [text for path, text in TEXTS.items() if str(path).endswith(f"/{file}")]
    return not found or any(re.search(rf"\b{name}\b", text) for text in found)


def dead_references(texts: dict[Path, str]) -> list[str]:
    """Return the references of texts to a file of the project, or to a class, that is missing."""
    dead = []
    for path, text in texts.items():
        names = {name for name in FILE.findall(text) if not re.search(rf"/{name}[./]", FILES)}
        # Pages also name classes of others.
        prefix = "Async" if path.suffix == ".md" else ""
        classes = {name for name in CLASS.findall(text) if name.startswith(prefix)}
        names |= classes - KNOWN
        names |= {f"{file} {name}" for file, name in NAMED.findall(text) if not has(file, name)}
        dead += [f"{path}: {name}" for name in sorted(names)]
    return dead


def test_every_reference_leads_somewhere() -> None:
    assert dead_references(TEXTS) == []


def test_a_dead_reference_is_found() -> None:
    text = (
        "See rules/vanished.py, `AsyncVanished.run`, `VanishedReport`, rules/scoring.py VANISHED, "
        "rules/scoring, `AsyncGraphMem`, `RecallRequest` and rules/scoring.py score_params."
    )
    assert dead_references({Path("x"): text}) == [
        "x: AsyncVanished",
        "x: VanishedReport",
        "x: rules/scoring.py VANISHED",
        "x: rules/vanished",
    ]
