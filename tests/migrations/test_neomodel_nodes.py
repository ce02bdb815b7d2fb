"""The neomodel classes: they declare what the Cypher files write, and people can browse by them."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import neomodel
import pytest
from neomodel.util import RelationshipDirection

from graphmem import Handle, catalog
from graphmem.adapters.neomodel_nodes import nodes, state_nodes
from graphmem.adapters.neomodel_nodes.schema import NODE_CLASSES, browsing, declared
from graphmem.client import worker
from graphmem.errors import (
    GraphAccessError,
    GraphmemError,
    GraphUnavailableError,
    InvalidInputError,
)
from graphmem.ports import run_now, silent
from graphmem.rules import identity
from graphmem.settings import Settings
from graphmem.usage import access_log
from tests.plugins.cypher_checks import every_part
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import write_everything
from tests.plugins.graph import KEYS, NODES, Look

MAY = datetime(2025, 5, 5, 12, 30, 15, 123456, tzinfo=UTC)
SECRET = "s3cret-never-shown"
BOTH = (RelationshipDirection.OUTGOING, RelationshipDirection.INCOMING)


def properties(node: type[neomodel.StructuredNode]) -> set[str]:
    """Return the names of its properties in the graph."""
    return {prop.get_db_property_name(name) for name, prop in node.__all_properties__}


def edges(node: type[neomodel.StructuredNode]) -> set[str]:
    return {r.definition["relation_type"] for _, r in node.__all_relationships__}


@pytest.mark.parametrize("node", NODE_CLASSES, ids=lambda node: node.__name__)
def test_indexes_stand_on_declared_properties(node: type[neomodel.StructuredNode]) -> None:
    for index in getattr(node, "indexes", ()):
        assert set(index.on) <= properties(node)
        assert index.prop in index.on
        assert {"tenant", "tenant_key"} & set(index.on)


def test_classes_find_one_another_whatever_the_importing_module_calls_its_own() -> None:
    """A bare name neomodel looks for on the stack: pytest has an `Item`, a user may have any."""
    code = (
        "Item = Memory = Event = Belief = Turn = Episode = Name = Migration = str\n"
        "from graphmem import objects\n"
        "for one in vars(objects).values():\n"
        "    for _, relation in getattr(one, '__all_relationships__', ()):\n"
        "        relation.lookup_node_class()\n"
        "        print(relation.definition['node_class'].__module__)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    found = {line.rpartition(".")[0] for line in run.stdout.splitlines()}
    assert found == {"graphmem.adapters.neomodel_nodes"}


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
    assert types - {"$"} <= {edge for node in NODE_CLASSES for edge in edges(node)}


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
    by_label = {node.__label__: node for node in NODE_CLASSES}
    rows = look.rows(
        "MATCH (n) WHERE n.tenant IN [$tenant, $tenant_key] UNWIND keys(n) AS key "
        "RETURN DISTINCT labels(n) AS labels, key",
        tenant=tenant,
        tenant_key=identity.tenant_key(tenant),
    )
    outside = {"EmbeddingModel", "Migration", "MigrationLock"}
    passing = {"NameLock", "Checkpoint"}
    assert {row["labels"][0] for row in rows} == by_label.keys() - outside - passing
    for row in rows:
        [label] = row["labels"]
        assert row["key"] in properties(by_label[label]), f"{label}.{row['key']}"
    assert KEYS.keys() == by_label.keys() - outside
    [every] = look.rows("MATCH (n {tenant: $tenant}) RETURN count(n) AS n", tenant=tenant)
    assert look.rows(NODES + "RETURN count(n) AS n", tenant=tenant) == [every]


def test_every_relationship_is_declared_at_both_ends(
    whole: Handle, look: Look, tenant: str
) -> None:
    """By its type, its direction, what stands at its ends and what it carries."""
    rows = look.rows(
        "MATCH (a {tenant: $tenant})-[r]->(b) "
        "WITH labels(a)[0] AS source, type(r) AS type, labels(b)[0] AS target, keys(r) AS keys "
        "UNWIND CASE keys WHEN [] THEN [null] ELSE keys END AS key "
        "RETURN source, type, target, collect(DISTINCT key) AS keys",
        tenant=tenant,
    )
    written = {(row["source"], row["type"], row["target"]): {*row["keys"]} for row in rows}
    outward, inward = (declared_edges(direction) for direction in BOTH)
    # An event is marked only between its redaction by an erasure and the next seal.
    elsewhere = {"FOLLOWED_BY", "UNSEALED"}
    assert {kind for _, kind, _ in written} == {kind for _, kind, _ in outward} - elsewhere
    for edge, keys in written.items():
        assert keys <= outward[edge], edge
        assert keys <= inward[edge], edge
    assert outward.keys() == inward.keys()


def declared_edges(direction: RelationshipDirection) -> dict[tuple[str, str, str], set[str]]:
    """Return source, type and target of what is declared at one end, with its properties."""
    found = {}
    for node in NODE_CLASSES:
        for _, relation in node.__all_relationships__:
            # Names of classes become classes when they are looked up.
            relation.lookup_node_class()
            definition = relation.definition
            if definition["direction"] != direction:
                continue
            other = definition["node_class"].__label__
            ends = (node.__label__, other) if direction == BOTH[0] else (other, node.__label__)
            carried = definition["model"]
            names = {*carried.defined_properties(rels=False, aliases=False)} if carried else set()
            found[ends[0], definition["relation_type"], ends[1]] = names
    return found


@pytest.fixture
def browsed(migrated: Settings, filled: Handle) -> Iterator[None]:
    assert migrated.uri is not None
    assert migrated.password is not None
    password = migrated.password.get_secret_value()
    with browsing(migrated.uri, migrated.user, password, migrated.database):
        yield


def test_browse_by_objects(browsed: None, tenant: str) -> None:
    old: Any = nodes.Memory.nodes.get(tenant=tenant, content="The user lives in Porto")
    [new] = old.superseded_by.all()
    assert (old.status, old.tags, old.created_at) == ("superseded", ["home"], MAY)
    assert (new.content, new.status) == ("The user lives in Lisbon", "deprecated")
    assert [m.uid for m in new.supersedes.all()] == [old.uid]
    link = old.superseded_by.relationship(new)
    event: Any = nodes.Event.nodes.get(tenant=tenant, uid=link.event_id)
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
    archive: Any = nodes.Archive.nodes.get(tenant=tenant)
    document = archive.episode.single()
    assert (document.uid, document.content, archive.episode_id) == ("long", None, "long")
    assert [event.type for event in document.concerned_by.all()] == ["COMPRESS"]
    first: Any = state_nodes.Migration.nodes.get(number=1)
    assert first.followed_by.single().number == 2


def test_browsing_cannot_write(browsed: None, look: Look, tenant: str) -> None:
    before = look.events(tenant)
    event = nodes.Event.nodes.filter(tenant=tenant).first()
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
        assert nodes.Memory.nodes.first().content
        with (
            pytest.raises(InvalidInputError, match="connected already"),
            browsing(migrated.uri, migrated.user, password),
        ):
            pass
    assert neomodel.db.driver is None
    assert neomodel.get_config().database_name == named
    with pytest.raises(ValueError, match="No Neo4j connection"):
        nodes.Memory.nodes.first()


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
