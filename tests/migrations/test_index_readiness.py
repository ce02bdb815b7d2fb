"""A search whose index is not ready waits for it or says so; it never finds less in silence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from neo4j.exceptions import ClientError

from graphmem import GraphMem
from graphmem.errors import IndexNotReadyError
from graphmem.ports import Mode, Query, Services, run_now
from graphmem.schema import migration
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.migrations.conftest import Blank, made

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
    return GraphMem.open(settings=settings, embedder=HashEmbedder())


def by_words(services: Services) -> list[int]:
    return run_now(services.graph.read(lambda tx: tx.fetch(BY_WORDS)))


def by_meaning(services: Services) -> list[int]:
    vector = np.ones(HashEmbedder.DIMENSION, dtype=np.float32)
    return run_now(services.graph.read(lambda tx: tx.fetch(BY_MEANING, vector=vector)))


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
def test_an_index_that_is_not_there_is_said(current: Blank, name: str) -> None:
    current.run(f"DROP INDEX {name}")
    with opened(current) as memory:
        with pytest.raises(IndexNotReadyError, match="does not exist") as refused:
            memory.recall("like any other")
        assert refused.value.code == "index_not_ready"
        assert "graphmem admin migrate" in refused.value.hint
        if name == "memory_embedding_vector":
            with pytest.raises(IndexNotReadyError, match="does not exist"):
                memory.remember("What is near cannot be said now")
            assert memory.memories.list().memories == ()


def while_filling(
    current: Blank, index: str, grow: Callable[[], None], look: Callable[[], object]
) -> str:
    """Return what a look says that is refused while an index is being filled.

    How fast a server fills an index is nobody's to say. So the index is made again, over more
    and more, until filling it takes longer than the look.
    """
    options = {"vector_options": VECTOR, "fulltext_options": FULLTEXT}
    for _ in range(12):
        grow()
        current.run("CALL db.awaitIndexes(300)")
        current.run(f"DROP INDEX {index}")
        current.run("CYPHER 25 " + made(index), **options)
        try:
            look()
        except IndexNotReadyError as error:
            return str(error)
    raise AssertionError("the index was ready at every look")


def test_a_search_by_meaning_says_that_its_index_is_being_filled(current: Blank) -> None:
    def grow() -> None:
        current.run(
            "CYPHER 25 UNWIND range(1, 2000) AS i "
            "CREATE (n:Memory {tenant: 't', id: randomUUID()}) "
            "WITH n, [x IN range(1, 256) | rand() - 0.5] AS vector "
            "CALL db.create.setNodeVectorProperty(n, 'embedding', vector)"
        )

    services = current.world()
    said = while_filling(current, "memory_embedding_vector", grow, lambda: by_meaning(services))
    assert "still being populated" in said
    current.run("CALL db.awaitIndexes(300)")
    assert by_meaning(services) == [5]


def test_a_search_by_words_waits_for_its_index_and_says_when_in_vain(current: Blank) -> None:
    rng = np.random.default_rng(1)
    long = " ".join(f"{n:x}" for n in rng.integers(0, 10**9, 60_000))
    grown = 0

    def grow() -> None:
        nonlocal grown
        grown += 1
        for _ in range(4):
            current.run(
                "UNWIND range(1, 8) AS i "
                "CREATE (:Memory {tenant: 't', id: randomUUID(), content: $long + ' other'})",
                long=long,
            )

    hurried, services = current.world(read_timeout_s=0.5), current.world()
    looks: list[Callable[[], object]] = [
        lambda: by_words(hurried),
        lambda: run_now(services.graph.schema(migration.AWAIT_INDEXES, seconds=0)),
    ]
    for look in looks:
        assert "Timed out" in while_filling(current, "memory_content_fulltext", grow, look)
    assert by_words(services) == [32 * grown]
    assert states(current, "memory_content_fulltext") == ["ONLINE"]


def test_migrating_says_that_an_index_failed(current: Blank) -> None:
    # A key of 40,000 characters does not fit into a range index.
    current.run("DROP INDEX episode_occurred_at_range")
    current.run(
        "CREATE (:Episode {tenant: 't', id: 'i', scope: $long, occurred_at: 1})", long="x" * 40_000
    )
    current.run(made("episode_occurred_at_range"))
    with pytest.raises(IndexNotReadyError, match="FAILED"):
        current.migrate()


def test_a_search_by_words_says_that_its_index_failed(current: Blank) -> None:
    # No setting asks for this analyser: it takes a text for one word, and this one is too long.
    keyword = {"indexConfig": {"fulltext.analyzer": "keyword"}}
    current.run("DROP INDEX memory_content_fulltext")
    current.run("CREATE (:Memory {tenant: 't', id: 'x', content: $long})", long="x" * 40_000)
    current.run(made("memory_content_fulltext"), fulltext_options=keyword)
    with pytest.raises(ClientError):
        current.run("CALL db.awaitIndexes(60)")
    assert states(current, "memory_content_fulltext") == ["FAILED"]
    with pytest.raises(IndexNotReadyError, match="FAILED"):
        by_words(current.world())
