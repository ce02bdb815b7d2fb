"""Pages that follow from the node classes are current; what answers are read from is sealed."""

from __future__ import annotations

import re

import pytest

from graphmem import objects
from graphmem.graph import catalog
from graphmem.integrity import seals
from graphmem.integrity.contents import covered
from graphmem.nodes.declared import NODE_CLASSES, properties
from tests.docs.node_pages import DOCS, EVENT, PARTS, page

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


@pytest.mark.parametrize("name", PARTS)
def test_a_page_is_current(name: str) -> None:
    assert (DOCS / f"{name}.md").read_text("utf-8") == page(name), "run `just nodes`"


def test_a_property_is_sealed_or_follows_from_events() -> None:
    assert seals._UNCOVERED - {"id", "tenant"} == {*re.findall(r"`(\w+)`", EVENT)}
    for label, names in covered().items():
        for name, prop in properties(NODE_CLASSES[label]).items():
            assert name not in names or not getattr(prop, "cached", False), f"{label}.{name}"


def test_every_node_class_is_public() -> None:
    assert NODE_CLASSES.keys() - {"Job", "JobUnit"} <= vars(objects).keys()


def test_every_label_that_answers_are_read_from_is_sealed() -> None:
    found = {
        label
        for name in catalog.names()
        if name.partition("/")[0] in ANSWERING
        for label in LABEL.findall(catalog.procedure(name).text)
    }
    assert found & NODE_CLASSES.keys() - covered().keys() - {"Event"} == OTHERS.keys()
