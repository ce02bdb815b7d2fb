"""docs/langgraph.md runs block by block, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.items import operations as operation
from graphmem.items import rules
from tests.docs.conftest import FENCED, Follow, python

PAGE = (Path(__file__).parents[2] / "docs" / "langgraph.md").read_text("utf-8")


@pytest.mark.system
def test_the_blocks_print_what_the_page_shows(follow: Follow) -> None:
    blocks = FENCED.findall(PAGE)
    assert [kind for kind, _ in blocks] == ["python", "text"] * 3
    printed = [follow(python(text)) for kind, text in blocks if kind == "python"]
    assert printed == [text for kind, text in blocks if kind == "text"]


def test_the_numbers_are_those_of_the_code() -> None:
    for number in (rules.MAX_VALUE_CHARS, rules.MAX_PATH_CHARS, operation.EXACT):
        assert f"{number:,}" in PAGE
