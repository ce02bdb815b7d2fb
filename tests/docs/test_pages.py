"""The Python blocks of a page run one by one, and print the text that the page shows after each."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from graphmem.items import operations as operation
from graphmem.items import rules
from tests.docs.conftest import FENCED, Follow, python

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = {
    "consolidation": 1,
    "erasure": 1,
    "extraction": 2,
    "langgraph": 3,
    "objects": 4,
    "rejection": 1,
    "sealing": 1,
    "transfer": 2,
    "trust": 1,
}
"""Number of Python blocks by page."""


def text_of(page: str) -> str:
    return (DOCS / f"{page}.md").read_text("utf-8")


@pytest.mark.system
@pytest.mark.parametrize("page", BLOCKS)
def test_the_blocks_print_what_the_page_shows(follow: Follow, page: str) -> None:
    blocks = [*FENCED.findall(text_of(page)), ("end", "")]
    scripts = [
        (text, shown if after == "text" else "")
        for (kind, text), (after, shown) in pairwise(blocks)
        if kind == "python"
    ]
    assert len(scripts) == BLOCKS[page]
    for text, shown in scripts:
        assert follow(python(text)) == shown


def test_the_page_of_langgraph_has_the_numbers_of_the_code() -> None:
    for number in (rules.MAX_VALUE_CHARS, rules.MAX_PATH_CHARS, operation.EXACT):
        assert f"{number:,}" in text_of("langgraph")
