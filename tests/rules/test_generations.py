"""Generations of embeddings: which names in a Cypher text are numbered."""

from __future__ import annotations

import re

import pytest

from graphmem.graph import catalog
from graphmem.rules import scoring
from tests.plugins.cypher_checks import every_part

READ = re.compile(r"(?<![\w.$])([\w.]+)\.embedding\b")

KEPT = [
    ("m.embedding IS NOT NULL", "m.embedding_2 IS NOT NULL"),
    ("coalesce(belief.vector, b.embedding)", "coalesce(belief.vector, b.embedding_2)"),
    ("setNode(m, 'embedding', row.x)", "setNode(m, 'embedding_2', row.x)"),
    ("VECTOR INDEX item_text_embedding_vector", "VECTOR INDEX item_text_embedding_2_vector"),
]
GIVEN = ["$embedding", "row.embedding", "event.memory.embedding", "'embedding.*'", "b.unembedded"]


@pytest.mark.parametrize(("first", "second"), KEPT)
def test_what_is_kept_has_a_number(first: str, second: str) -> None:
    assert scoring.number_embeddings(first, 1) == first
    assert scoring.number_embeddings(first, 2) == second
    # Text of a later generation stays: a client of one may ask of another.
    assert scoring.number_embeddings(second, 3) == second


@pytest.mark.parametrize("text", GIVEN)
def test_what_is_given_has_none(text: str) -> None:
    assert scoring.number_embeddings(text, 2) == text


def test_the_property_of_a_node() -> None:
    assert [scoring.embedding_property(n) for n in (1, 2, 10)] == [
        "embedding",
        "embedding_2",
        "embedding_10",
    ]


def test_what_is_exported_has_no_number() -> None:
    both = {"id": "m", "embedding": [1.0], "embedding_2": [2.0], "embeddings": "no vector"}
    kept = {"id": "m", "embeddings": "no vector"}
    assert scoring.generation_properties(both, 1) == kept | {"embedding": [1.0]}
    assert scoring.generation_properties(both, 2) == kept | {"embedding": [2.0]}
    assert scoring.generation_properties(both, 3) == kept


def test_nodes_with_embeddings_have_names_of_one_letter_and_nothing_else_has() -> None:
    """Check the assumption of the rule in every file, by the variables of its patterns."""
    seen = set()
    for name in catalog.names():
        found = catalog.procedure(name)
        bound = {p.name for p in every_part(found.text) if p.kind == "node" and p.name}
        for variable in READ.findall(re.sub(r"//.*", "", found.text)):
            assert (variable in bound) == (len(variable) == 1), f"{name}: {variable}.embedding"
            seen.add(name)
    assert len(seen) > 10
