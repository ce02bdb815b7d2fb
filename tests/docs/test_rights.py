"""The rights in docs/explanation/trust.md are those of the check; the module prints them."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from graphmem.model import Trust
from graphmem.rules import trust

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "trust.md"


def table() -> str:
    """Return the table of verb by class, in Markdown."""
    classes = get_args(Trust)
    rows = [("verb", *classes), ("---",) * (len(classes) + 1)]
    rows += [
        (words, *("yes" if trust.may(verb, one) else "no" for one in classes))
        for verb, (_, words) in trust.LEAST.items()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_the_page_has_the_rights_of_the_check() -> None:
    assert table() in PAGE.read_text("utf-8")


def test_a_verb_needs_at_least_its_class() -> None:
    assert set(trust.LEAST) == set(get_args(trust.Verb))


if __name__ == "__main__":
    print(table())
