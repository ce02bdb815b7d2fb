"""The block of docs/rejection.md runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.conftest import FENCED, Follow, python

PAGE = (Path(__file__).parents[2] / "docs" / "rejection.md").read_text("utf-8")


@pytest.mark.system
def test_the_block_prints_what_the_page_shows(follow: Follow) -> None:
    (kind, text), (_, shown) = FENCED.findall(PAGE)
    assert kind == "python"
    assert follow(python(text)) == shown
