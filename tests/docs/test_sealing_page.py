"""The page of seals: its table has every property of every node that answers are read from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphmem import catalog
from graphmem.adapters.neomodel_nodes import schema
from graphmem.rules import seals

PAGE = (Path(__file__).parents[2] / "docs/sealing.md").read_text("utf-8")
ROWS = re.findall(r"^\| (\w+) \|(.*)\|(.*)\|(.*)\|$", PAGE, re.MULTILINE)
TABLE = {
    label: [frozenset(re.findall(r"`(\w+)`", cell)) for cell in cells]
    for label, *cells in ROWS
    if label in schema.declared().labels
}
"""Properties by label: sealed, following from events, neither."""
CLASSES = {node.__label__: node for node in schema.NODE_CLASSES}
LABEL = re.compile(r"[(:|](?=[A-Z][a-z])(\w+)(?=[)|{ ])")
ANSWERING = ("alias", "belief", "browser", "episode", "lineage", "memory", "predicate", "recall")
"""Folders of queries that answer questions about what was recorded."""
OTHERS = {
    "Archive": "its sha256 is in a sealed event",
    "Checkpoint": "a cache: verify reads each long slot with and without it",
    "NameLock": "a lock",
    "Rating": "computed from the search log",
    "Reply": "a model's reply, of which only checked parts become events",
}
"""Other labels in these queries, and why no seal covers them."""


def properties(label: str) -> set[str]:
    names = {name for name, _ in CLASSES[label].__all_properties__}
    return {"id" if name == "uid" else name for name in names} - {"tenant"}


@pytest.mark.parametrize("label", TABLE)
def test_a_row_has_every_property_once(label: str) -> None:
    sealed, follows, neither = TABLE[label]
    if label == "Event":
        assert not follows
        assert neither == seals._UNCOVERED - {"id", "tenant"}
        return
    assert not sealed & follows
    assert not neither & (sealed | follows)
    assert sealed | follows | neither == properties(label)
    assert sealed == {"id", *seals.COVERED[label]}


def test_every_label_that_answers_are_read_from_has_a_row() -> None:
    assert TABLE.keys() == {"Event", *seals.CONTENT}
    found = {
        label
        for name in catalog.names()
        if name.partition("/")[0] in ANSWERING
        for label in LABEL.findall(catalog.procedure(name).text)
    }
    assert found & CLASSES.keys() - TABLE.keys() == OTHERS.keys()
