"""The blocks of docs/transfer.md run, and print what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.conftest import FENCED, Follow, python

PAGE = (Path(__file__).parents[2] / "docs" / "transfer.md").read_text("utf-8")


@pytest.mark.system
def test_the_blocks_print_what_the_page_shows(follow: Follow) -> None:
    blocks = FENCED.findall(PAGE)
    assert [kind for kind, _ in blocks] == ["python", "text"] * 2
    for (_, text), (_, shown) in zip(blocks[::2], blocks[1::2], strict=True):
        assert follow(python(text)) == shown
