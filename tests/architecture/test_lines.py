"""The tree grows only with a reason: `lines.toml` holds the number of lines of each part.

After a change, `just lines` writes today's figures.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUDGET = Path(__file__).with_name("lines.toml")
COUNTED = {"graphmem": "*.py", "cypher": "*.cypher", "migrations": "*.cypher", "tests": "*.py"}
HEAD = """\
# Lines of each package of graphmem, of its other modules together, and of each other folder.
# A figure may only fall; a commit that raises one gives the reason. Written by `just lines`.

"""


def counted(root: Path) -> dict[str, int]:
    """Return the number of lines of each part of a tree."""
    lines = Counter[str]()
    for folder, pattern in COUNTED.items():
        for path in (root / folder).rglob(pattern):
            package, *inside = path.relative_to(root / folder).parts
            is_split = folder == "graphmem" and inside
            lines[f"{folder}/{package}" if is_split else folder] += path.read_bytes().count(b"\n")
    return dict(sorted(lines.items()))


def risen(figures: dict[str, int], budget: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Return the budget and the figure of each part that has more lines than its budget."""
    return {
        part: (budget.get(part, 0), lines)
        for part, lines in figures.items()
        if lines > budget.get(part, 0)
    }


def test_no_part_grows_without_a_reason() -> None:
    found = risen(counted(ROOT), tomllib.loads(BUDGET.read_text("utf-8")))
    assert not found, (
        f"More lines than tests/architecture/lines.toml allows (budget, lines): {found}. Cut, or "
        "run `just lines` and give the reason for the rise in the same commit."
    )


def test_a_longer_or_new_part_is_found(tmp_path: Path) -> None:
    (tmp_path / "graphmem" / "new").mkdir(parents=True)
    (tmp_path / "graphmem" / "new" / "one.py").write_text("1\n2\n")
    (tmp_path / "graphmem" / "top.py").write_text("1\n2\n3\n")
    figures = counted(tmp_path)
    assert figures == {"graphmem": 3, "graphmem/new": 2}
    assert risen(figures, figures) == {}
    assert risen(figures, {"graphmem": 2}) == {"graphmem": (2, 3), "graphmem/new": (0, 2)}


if __name__ == "__main__":
    found = "".join(f'"{part}" = {lines}\n' for part, lines in counted(ROOT).items())
    BUDGET.write_text(HEAD + found, "utf-8")
