"""A search whose index is not ready waits for it or says so; it never finds less in silence."""

from __future__ import annotations

import numpy as np
import pytest
from neo4j.exceptions import ClientError

from graphmem import GraphMem
from graphmem.errors import IndexNotReadyError
from graphmem.operations.schema import migration
from graphmem.ports import Mode, Query, World, run_now
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.migrations.conftest import Blank, made

pytestmark = pytest.mark.server

TEXT = "A memory like any other"
FULLTEXT = {"indexConfig": {"fulltext.analyzer": "english"}}
VECTOR = {"indexConfig": {"vector.dimensions": HashEmbedder.DIMENSION}}
# Short, so that it is compiled before an index can be ready.
BY_WORDS = Query(
    name="by_words",
    text="CALL db.index.fulltext.queryNodes('memory_content_fulltext', 'other') YIELD node "
    "RETURN count(*) AS found",
    mode=Mode.READ,
    params=frozenset(),
    row=lambda row: int(row["found"]),
)
BY_MEANING = Query(
    name="by_meaning",
    text="MATCH (n:Memory) SEARCH n IN (VECTOR INDEX memory_embedding_vector FOR $vector LIMIT 5) "
    "RETURN count(*) AS found",
    mode=Mode.READ,
    params=frozenset({"vector"}),
    row=lambda row: int(row["found"]),
)


def opened(blank: Blank) -> GraphMem:
    at = blank.address
    settings = Settings.load({}, uri=at.uri, user=at.user, password=at.password)
    return GraphMem.open(settings, embedder=HashEmbedder())


def by_words(world: World) -> list[int]:
    return run_now(world.graph.read(lambda tx: tx.fetch(BY_WORDS)))


def by_meaning(world: World) -> list[int]:
    vector = np.ones(HashEmbedder.DIMENSION, dtype=np.float32)
    return run_now(world.graph.read(lambda tx: tx.fetch(BY_MEANING, vector=vector)))


def states(blank: Blank, name: str) -> list[str]:
    rows = blank.run("SHOW INDEXES YIELD name, state WHERE name = $name RETURN state", name=name)
    return [row["state"] for row in rows]


@pytest.mark.parametrize(
    "name",
    [
        *("memory_embedding_vector", "memory_content_fulltext"),
        *("belief_embedding_vector", "turn_text_fulltext"),
    ],
)
def test_an_index_that_is_not_there_is_said(blank: Blank, name: str) -> None:
    blank.migrate()
    blank.run(f"DROP INDEX {name}")
    with opened(blank) as memory:
        with pytest.raises(IndexNotReadyError, match="not there") as refused:
            memory.recall("like any other", turns=True)
        assert refused.value.code == "index_not_ready"
        assert "graphmem admin migrate" in refused.value.hint
        if name == "memory_embedding_vector":
            with pytest.raises(IndexNotReadyError, match="not there"):
                memory.remember("What is near cannot be said now")
            assert memory.list().memories == ()


def test_a_search_by_meaning_says_that_its_index_is_being_filled(blank: Blank) -> None:
    blank.migrate()
    blank.run("DROP INDEX memory_embedding_vector")
    blank.run(
        "CYPHER 25 UNWIND range(1, 4000) AS i CREATE (n:Memory {tenant: 't', id: toString(i)}) "
        "WITH n, [x IN range(1, 256) | rand() - 0.5] AS vector "
        "CALL db.create.setNodeVectorProperty(n, 'embedding', vector)"
    )
    world = blank.world()
    blank.run("CYPHER 25 " + made("memory_embedding_vector"), vector_options=VECTOR)
    with pytest.raises(IndexNotReadyError, match="still being filled"):
        by_meaning(world)
    assert states(blank, "memory_embedding_vector") == ["POPULATING"]
    blank.run("CALL db.awaitIndexes(300)")
    assert by_meaning(world) == [5]


def test_a_search_by_words_waits_for_its_index_and_says_when_in_vain(blank: Blank) -> None:
    blank.migrate()
    blank.run("DROP INDEX memory_content_fulltext")
    rng = np.random.default_rng(1)
    long = " ".join(f"{n:x}" for n in rng.integers(0, 10**9, 60_000))
    for part in range(16):
        blank.run(
            "UNWIND range(1, 8) AS i "
            "CREATE (:Memory {tenant: 't', id: $part + '-' + i, content: $long + ' other'})",
            part=str(part),
            long=long,
        )
    blank.run(made("memory_content_fulltext"), fulltext_options=FULLTEXT)
    with pytest.raises(IndexNotReadyError, match="in vain"):
        by_words(blank.world(read_timeout_s=0.5))
    with pytest.raises(IndexNotReadyError, match="in vain"):
        run_now(blank.world().graph.schema(migration.AWAIT_INDEXES, seconds=0))
    assert states(blank, "memory_content_fulltext") == ["POPULATING"]
    assert by_words(blank.world()) == [128]
    assert states(blank, "memory_content_fulltext") == ["ONLINE"]


def test_migrating_says_that_an_index_failed(blank: Blank) -> None:
    blank.migrate()
    # A key of 40,000 characters does not fit into a range index.
    blank.run("DROP INDEX episode_occurred_at_range")
    blank.run(
        "CREATE (:Episode {tenant: 't', id: 'i', scope: $long, occurred_at: 1})", long="x" * 40_000
    )
    blank.run(made("episode_occurred_at_range"))
    with pytest.raises(IndexNotReadyError, match="FAILED"):
        blank.migrate()


def test_a_search_by_words_says_that_its_index_failed(blank: Blank) -> None:
    blank.migrate()
    # No setting asks for Thai; over a text its analyser fails in a runtime without that locale.
    thai = {"indexConfig": {"fulltext.analyzer": "thai"}}
    blank.run("DROP INDEX memory_content_fulltext")
    blank.run("CREATE (:Memory {tenant: 't', id: 'x', content: 'ภาษา'})")
    blank.run(made("memory_content_fulltext"), fulltext_options=thai)
    try:
        blank.run("CALL db.awaitIndexes(60)")
    except ClientError:
        assert states(blank, "memory_content_fulltext") == ["FAILED"]
    else:
        pytest.skip("this server's runtime knows Thai")
    with pytest.raises(IndexNotReadyError, match="FAILED"):
        by_words(blank.world())
