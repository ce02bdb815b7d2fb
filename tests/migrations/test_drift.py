"""Drift between the declared schema and the graph's: each kind found, and nothing else."""

from __future__ import annotations

import pytest

from graphmem.client.schema import SchemaClient
from graphmem.graph import catalog
from graphmem.ports import run_now
from graphmem.testing import HashEmbedder
from tests.migrations.conftest import Blank

DIMENSION = run_now(HashEmbedder().dimension())


def found(blank: Blank) -> list[tuple[str, str]]:
    return [(d.kind, d.name) for d in blank.drift()]


def test_a_blank_server_misses_everything(blank: Blank) -> None:
    kinds = {d.kind for d in blank.drift()}
    assert kinds == {"missing"}


def test_a_dropped_index_is_missing_until_it_is_back(current: Blank) -> None:
    current.run("DROP INDEX memory_status_range")
    [difference] = current.drift()
    assert (difference.kind, difference.name) == ("missing", "memory_status_range")
    assert "RANGE on Memory(tenant, scope, status)" in difference.text
    current.run("CREATE INDEX memory_status_range FOR (n:Memory) ON (n.tenant, n.scope, n.status)")
    current.run("CALL db.awaitIndexes(60)")
    assert current.drift() == ()


def test_migrating_creates_what_was_dropped(current: Blank) -> None:
    dropped = ("memory_status_range", "memory_embedding_vector", "memory_content_fulltext")
    for name in dropped:
        current.run(f"DROP INDEX {name}")
    current.run("DROP CONSTRAINT event_id_unique")
    schema = SchemaClient(current.world())
    repaired = schema.migrate()
    assert sorted(repaired) == sorted((*dropped, "event_id_unique"))
    assert current.drift() == ()
    assert schema.migrate() == ()


def test_a_dropped_constraint_is_missing(current: Blank) -> None:
    current.run("DROP CONSTRAINT event_id_unique")
    assert found(current) == [("missing", "event_id_unique")]


def test_what_others_put_on_our_labels_is_unexpected(current: Blank) -> None:
    current.run("CREATE INDEX extra FOR (n:Event) ON (n.type)")
    current.run("CREATE CONSTRAINT one FOR (n:Turn) REQUIRE n.text IS UNIQUE")
    current.run("CREATE FULLTEXT INDEX both FOR (n:Foreign|Memory) ON EACH [n.tags]")
    assert sorted(found(current)) == [
        ("unexpected", "both"),
        ("unexpected", "extra"),
        ("unexpected", "one"),
    ]


def test_what_others_put_elsewhere_is_theirs(current: Blank) -> None:
    current.run("CREATE INDEX theirs FOR (n:Foreign) ON (n.type)")
    current.run("CREATE INDEX edge FOR ()-[r:Memory]-() ON (r.type)")
    current.run("CREATE CONSTRAINT edges FOR ()-[r:Memory]-() REQUIRE r.k IS UNIQUE")
    assert current.drift() == ()


@pytest.mark.parametrize(
    ("name", "drop", "again", "told"),
    [
        (
            "memory_created_at_range",
            "DROP INDEX memory_created_at_range",
            "CREATE INDEX memory_created_at_range FOR (n:Memory) "
            "ON (n.scope, n.tenant, n.created_at)",
            "found RANGE on Memory(scope, tenant, created_at)",
        ),
        (
            "memory_created_at_range",
            "DROP INDEX memory_created_at_range",
            "CREATE INDEX memory_created_at_range FOR (n:Turn) "
            "ON (n.tenant, n.scope, n.created_at)",
            "found RANGE on Turn(",
        ),
        (
            "event_id_unique",
            "DROP CONSTRAINT event_id_unique",
            "CREATE INDEX event_id_unique FOR (n:Event) ON (n.tenant, n.id)",
            "found RANGE on Event(tenant, id)",
        ),
        (
            "turn_text_fulltext",
            "DROP INDEX turn_text_fulltext",
            "CREATE FULLTEXT INDEX turn_text_fulltext FOR (n:Turn) "
            "ON EACH [n.text, n.name, n.tenant_key, n.scope_key]",
            "fulltext.analyzer standard-no-stop-words",
        ),
        (
            "memory_content_fulltext",
            "DROP INDEX memory_content_fulltext",
            "CREATE FULLTEXT INDEX memory_content_fulltext FOR (n:Memory) "
            "ON EACH [n.content, n.tenant_key, n.scope_key, n.status] "
            "OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}",
            "found FULLTEXT on Memory(content, tenant_key, scope_key, status)",
        ),
        (
            "turn_embedding_vector",
            "DROP INDEX turn_embedding_vector",
            "CYPHER 25 CREATE VECTOR INDEX turn_embedding_vector FOR (n:Turn) ON n.embedding "
            "WITH [n.tenant] OPTIONS {indexConfig: {`vector.dimensions`: $dimension, "
            "`vector.similarity_function`: 'cosine', `vector.quantization.type`: 'NONE'}}",
            "found VECTOR on Turn(embedding, tenant)",
        ),
        (
            "turn_embedding_vector",
            "DROP INDEX turn_embedding_vector",
            "CYPHER 25 CREATE VECTOR INDEX turn_embedding_vector FOR (n:Turn) ON n.embedding "
            "WITH [n.tenant, n.scope, n.recorded_at, n.occurred_at] OPTIONS {indexConfig: "
            "{`vector.dimensions`: $dimension, `vector.similarity_function`: 'euclidean'}}",
            "vector.quantization.type BINARY",
        ),
    ],
)
def test_the_same_name_on_something_else_is_different(
    current: Blank, name: str, drop: str, again: str, told: str
) -> None:
    current.run(drop)
    current.run(again, dimension=DIMENSION)
    current.run("CALL db.awaitIndexes(60)")
    [difference] = current.drift()
    assert (difference.kind, difference.name) == ("different", name)
    assert told in difference.text


def test_another_dimension_is_different(current: Blank) -> None:
    """Than that of the model which the graph says has filled it, whatever the client's own is."""
    current.run("MATCH (e:EmbeddingModel) SET e.dimension = e.dimension + 1")
    kinds = [(d.kind, d.name) for d in current.drift()]
    assert kinds == [
        ("different", "belief_embedding_vector"),
        ("different", "episode_embedding_vector"),
        ("different", "item_text_embedding_vector"),
        ("different", "memory_embedding_vector"),
        ("different", "turn_embedding_vector"),
    ]


def test_another_language_is_different(current: Blank) -> None:
    differences = current.drift(language="german")
    assert [(d.kind, d.name) for d in differences] == [
        ("different", "belief_statement_fulltext"),
        ("different", "episode_summary_fulltext"),
        ("different", "memory_content_fulltext"),
        ("different", "turn_text_fulltext"),
    ]
    assert "analyzer german" in differences[0].text
    assert "analyzer english" in differences[0].text


def test_an_index_that_failed_is_not_online(current: Blank) -> None:
    # A key of 40,000 characters does not fit into a range index.
    current.run("DROP INDEX episode_occurred_at_range")
    current.run(
        "CREATE (:Episode {tenant: 't', id: 'i', scope: $long, occurred_at: 1})", long="x" * 40_000
    )
    statements = [q.text for m in catalog.migrations() for q in m.statements]
    [text] = [text for text in statements if "episode_occurred_at_range" in text]
    current.run(text)
    with pytest.raises(Exception, match=r"FAILED|failed"):
        current.run("CALL db.awaitIndexes(60)")
    assert found(current) == [("not online", "episode_occurred_at_range")]
