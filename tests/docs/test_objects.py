"""docs/objects.md runs block by block, and prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphmem import objects
from tests.docs.conftest import FENCED, Follow, python

PAGE = (Path(__file__).parents[2] / "docs" / "objects.md").read_text("utf-8")


@pytest.mark.system
def test_the_blocks_print_what_the_page_shows(follow: Follow) -> None:
    blocks = FENCED.findall(PAGE)
    assert [kind for kind, _ in blocks] == ["python"] + ["python", "text"] * 3
    printed = [follow(python(text)) for kind, text in blocks if kind == "python"]
    assert printed == ["", *(text for kind, text in blocks if kind == "text")]


def test_the_page_names_every_class() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE))
    ours = "graphmem.adapters.neomodel_nodes."
    classes = {
        n for n, one in vars(objects).items() if getattr(one, "__module__", "").startswith(ours)
    }
    assert {"Memory", "Event", "Supersedes"} <= classes <= named
