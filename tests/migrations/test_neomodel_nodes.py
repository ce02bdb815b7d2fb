"""The neomodel classes: they declare what the Cypher files write, and people can browse by them."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import neomodel
import pytest

from graphmem import Handle, objects
from graphmem.client import worker
from graphmem.errors import (
    GraphAccessError,
    GraphmemError,
    GraphUnavailableError,
    InvalidInputError,
)
from graphmem.graph import catalog
from graphmem.graph.browsing import browsing
from graphmem.nodes.declarations import Sealed
from graphmem.nodes.declared import NODE_CLASSES, indexes, properties, relationships
from graphmem.ports import run_now, silent
from graphmem.rules import identity
from graphmem.schema.declared import declared
from graphmem.settings import Settings
from graphmem.usage import access_log
from tests.plugins.cypher_checks import every_part
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import write_everything
from tests.plugins.graph import NODES, Look

MAY = datetime(2025, 5, 5, 12, 30, 15, 123456, tzinfo=UTC)
SECRET = "s3cret-never-shown"


@pytest.mark.parametrize("label", NODE_CLASSES)
def test_indexes_stand_on_declared_properties(label: str) -> None:
    for index in indexes()[label]:
        assert {*index.on} <= properties(NODE_CLASSES[label]).keys()
        assert index.prop in index.on


EXTENSIONS: dict[str, set[Any]] = {
    "exported": {False},
    "immutable": {True, False},
    "sealed": {*get_args(Sealed)},
    "cached": {True},
}
"""Arguments of a property in addition to neomodel's own and `check`, with their values."""


@pytest.mark.parametrize("label", NODE_CLASSES)
def test_a_property_has_only_known_extensions(label: str) -> None:
    """Neomodel takes any argument, so a misspelt one would be lost."""
    for prop in properties(NODE_CLASSES[label]).values():
        own = vars(prop).keys() - vars(type(prop)()).keys() - {"check"}
        assert own <= EXTENSIONS.keys()
        assert all(getattr(prop, name) in EXTENSIONS[name] for name in own)


def test_names_say_label_property_and_kind() -> None:
    names = [item.name for item in declared().items]
    assert names == sorted(set(names))
    assert {"tenant_tenant_unique", "embedding_model_key_unique", "migration_lock_key_unique"} <= {
        *names
    }


def test_what_the_cypher_files_name_is_declared() -> None:
    parts = [p for name in catalog.names() for p in every_part(catalog.procedure(name).text)]
    labels = {x for p in parts if p.kind == "node" for x in p.labels}
    types = {x for p in parts if p.kind == "edge" for x in p.labels}
    assert labels
    assert labels <= declared().labels
    assert types
    # The types that transfer/link takes from its values come out of a graph.
    kinds = {relation.kind for relation in relationships()}
    assert types - {"$"} <= kinds
    # A name that appears later makes the server plan again each query that has it.
    [made] = (m for m in catalog.migrations() if m.name == "0005_data_names")
    names = [set(re.findall(r"'(\w+)'", one.text)) for one in made.statements]
    keys = {key for node in NODE_CLASSES.values() for key in properties(node)}
    of_edges = [one.model for one in relationships() if one.model is not None]
    keys |= {
        key for model in of_edges for key in model.defined_properties(rels=False, aliases=False)
    }
    assert names == [{one for one in declared().labels if "[" not in one}, kinds, keys]


@pytest.fixture
def filled(plain: Handle) -> Handle:
    """A tenant with one of everything."""
    with plain.session("s1") as session:
        session.add_messages([{"role": "user", "content": "I live in Porto.", "at": MAY}])
        session.add_messages([{"role": "assistant", "content": "Noted.", "name": "bot"}])
        old = session.remember("The user lives in Porto", at=MAY, tags=["home"], actor="bot")
    new = plain.supersede(str(old.memory_id), "The user lives in Lisbon")
    plain.memories.deprecate(new.newer_id)
    plain.episodes.add(content="A page.", summary="Page", entities=["page"], importance=0.5)
    plain.episodes.add(episode_id="long", content="A long page. " * 99, at=MAY)
    plain.episodes.compress()
    return plain


@pytest.fixture
def whole(filled: Handle) -> Handle:
    """A tenant with all that clients write."""
    filled.observe("Ada", "lives in", "Porto")
    with filled.session("rolled up") as session:
        assert session.recall("where does Ada live").bites
    filled.usage.flush()
    filled.usage.rate()
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    run_now(access_log.roll_up(filled._state.context, tomorrow, silent))
    write_everything(filled, mark=" of all")
    filled.observe("Ada", "lives in", "Faro", kind="refuting")
    tell(filled, SWIMS)
    filled.consolidate(policy=FEW)
    filled.usage.flush()
    filled.usage.rate()
    tenants = [filled._state.context.tenant]
    run_now(worker.run_due(filled._state, tenants, ["rate", "compress"], None, print))
    filled.admin.seal()
    return filled


def test_what_the_clients_write_is_declared(whole: Handle, look: Look, tenant: str) -> None:
    rows = look.rows(
        "MATCH (n) WHERE n.tenant IN [$tenant, $tenant_key] UNWIND keys(n) AS key "
        "RETURN DISTINCT labels(n) AS labels, key",
        tenant=tenant,
        tenant_key=identity.tenant_key(tenant),
    )
    outside = {"EmbeddingModel", "Migration", "MigrationLock"}
    passing = {"NameLock", "Checkpoint"}
    assert {row["labels"][0] for row in rows} == NODE_CLASSES.keys() - outside - passing
    for row in rows:
        [label] = row["labels"]
        assert row["key"] in properties(NODE_CLASSES[label]), f"{label}.{row['key']}"
    [every] = look.rows("MATCH (n {tenant: $tenant}) RETURN count(n) AS n", tenant=tenant)
    assert look.rows(NODES + "RETURN count(n) AS n", tenant=tenant) == [every]


def test_every_relationship_is_declared(whole: Handle, look: Look, tenant: str) -> None:
    """By its type, its direction, what stands at its ends and what it carries."""
    rows = look.rows(
        "MATCH (a {tenant: $tenant})-[r]->(b) "
        "WITH labels(a)[0] AS source, type(r) AS type, labels(b)[0] AS target, keys(r) AS keys "
        "UNWIND CASE keys WHEN [] THEN [null] ELSE keys END AS key "
        "RETURN source, type, target, collect(DISTINCT key) AS keys",
        tenant=tenant,
    )
    declared = {
        (one.start, one.kind, one.end): {*properties(one.model)} if one.model else set()
        for one in relationships()
    }
    # An event is marked only between its redaction by an erasure and the next seal.
    elsewhere = {"FOLLOWED_BY", "UNSEALED"}
    assert {row["type"] for row in rows} == {kind for _, kind, _ in declared} - elsewhere
    for row in rows:
        edge = (row["source"], row["type"], row["target"])
        assert {*row["keys"]} <= declared[edge], edge


@pytest.fixture
def browsed(migrated: Settings, filled: Handle) -> Iterator[None]:
    assert migrated.uri is not None
    assert migrated.password is not None
    password = migrated.password.get_secret_value()
    with browsing(migrated.uri, migrated.user, password, migrated.database):
        yield


def test_browse_by_objects(browsed: None, tenant: str) -> None:
    old: Any = objects.Memory.nodes.get(tenant=tenant, content="The user lives in Porto")
    [new] = old.superseded_by.all()
    assert (old.status, old.tags, old.created_at) == ("superseded", ["home"], MAY)
    assert (new.content, new.status) == ("The user lives in Lisbon", "deprecated")
    assert [m.uid for m in new.supersedes.all()] == [old.uid]
    link = old.superseded_by.relationship(new)
    event: Any = objects.Event.nodes.get(tenant=tenant, uid=link.event_id)
    assert event.type == "SUPERSEDE"
    assert {m.uid for m in event.concerns.all()} == {old.uid, new.uid}

    [said] = [e for e in old.reinforced_by.all() if e.type == "ADD"]
    assert said.actor == "bot"
    episode = said.occurred_in.single()
    turns = sorted(episode.turns.all(), key=lambda turn: turn.position)
    assert [turn.text for turn in turns] == ["I live in Porto.", "Noted."]
    assert turns[0].next.single() == turns[1]
    assert turns[1].previous.single() == turns[0]
    assert len(old.embedding) > 1
    archive: Any = objects.Archive.nodes.get(tenant=tenant)
    document = archive.episode.single()
    assert (document.uid, document.content, archive.episode_id) == ("long", None, "long")
    assert [event.type for event in document.concerned_by.all()] == ["COMPRESS"]
    first: Any = objects.Migration.nodes.get(number=1)
    assert first.followed_by.single().number == 2


def test_browsing_cannot_write(browsed: None, look: Look, tenant: str) -> None:
    before = look.events(tenant)
    event = objects.Event.nodes.filter(tenant=tenant).first()
    event.payload = "{}"
    with pytest.raises(Exception, match="read access mode"):
        event.save()
    assert look.events(tenant) == before


def test_the_connection_is_gone_afterwards(migrated: Settings, filled: Handle) -> None:
    assert migrated.uri is not None
    assert migrated.password is not None
    named = neomodel.get_config().database_name
    password = migrated.password.get_secret_value()
    with browsing(migrated.uri, migrated.user, password, "neo4j"):
        assert objects.Memory.nodes.first().content
        with (
            pytest.raises(InvalidInputError, match="connected already"),
            browsing(migrated.uri, migrated.user, password),
        ):
            pass
    assert neomodel.db.driver is None
    assert neomodel.get_config().database_name == named
    with pytest.raises(ValueError, match="No Neo4j connection"):
        objects.Memory.nodes.first()


def test_wrong_credentials_are_refused_without_showing_them(migrated: Settings) -> None:
    assert migrated.uri is not None
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with (
            pytest.raises(GraphAccessError) as refused,
            browsing(migrated.uri, "neo4j", SECRET),
        ):
            pass
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
    assert SECRET not in f"{refused.value} {refused.value.__cause__!r} {heard.getvalue()}"
    assert neomodel.db.driver is None


@pytest.mark.parametrize("uri", ["bolt://127.0.0.1:1", "ftp://127.0.0.1:1", "nonsense"])
def test_an_address_without_a_server(uri: str) -> None:
    with pytest.raises(GraphUnavailableError) as refused, browsing(uri, "neo4j", SECRET):
        pass
    assert isinstance(refused.value, GraphmemError)
    assert SECRET not in f"{refused.value} {refused.value.__cause__!r}"
    assert neomodel.db.driver is None
