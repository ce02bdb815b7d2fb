"""Writers of every class, in two scopes, in any order: classes are minima, scopes stay apart."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem import GraphMem, Handle
from graphmem.errors import (
    CardinalityConflictError,
    InvalidInputError,
    NameChainError,
    PersonOnlyError,
)
from graphmem.model import Belief, Cardinality, Memory, Trust
from tests.oracles.trust import Statement, least, memory
from tests.plugins.examples import few
from tests.plugins.graph import fresh_tenant

MAY = datetime(2025, 5, 5, tzinfo=UTC)
SCOPES = ("global", "user:ann")
WRITERS: tuple[Trust, ...] = ("person", "tool", "model", "imported")
SUBJECTS, VALUES = ("ann", "annie"), ("tea", "mate")
TEXTS = ("The tram to Aveiro is red.", "Seven bridges cross the canal.")

acts = st.lists(
    st.tuples(
        st.sampled_from(["observe", "observe", "remember", "declare", "alias", "move"]),
        st.sampled_from(SCOPES),
        st.sampled_from(WRITERS),
        st.integers(0, 1),
        st.integers(0, 1),
    ),
    min_size=2,
    max_size=10,
)


@dataclass
class World:
    """A tenant with a handle for each scope and class, and what was stated in it."""

    client: GraphMem
    tenant: str = field(default_factory=fresh_tenant)
    stated: dict[tuple[str, str], list[Trust]] = field(default_factory=dict)
    """Classes of the statements in force, by scope and id."""

    def by(self, scope: str, writer: Trust) -> Handle:
        return self.client.tenant(self.tenant, trust=writer).scope(scope)

    def read(self, scope: str) -> Mapping[str, Any]:
        """Return what a person reads of the facts of one scope alone."""
        mem = self.client.tenant(self.tenant).scope(scope, read_scopes=[scope])
        slots = [
            (s.subject, s.predicate, s.names, s.policy, s.candidates)
            for s in mem.beliefs.slots(top=50).slots
        ]
        beliefs = [one.model_dump(exclude={"vitality"}) for one in mem.beliefs.list().beliefs]
        return {"slots": slots, "beliefs": beliefs, "names": mem.aliases.list()}

    def act(self, kind: str, scope: str, writer: Trust, one: int, other: int, at: datetime) -> None:
        """Do what a writer of a class does in a scope, and note what it states."""
        mem, key = self.by(scope, writer), ""
        if kind == "observe":
            triple = SUBJECTS[one], "drinks", VALUES[other]
            key = mem.observe(*triple, at=at).belief_id
        elif kind == "remember":
            key = str(mem.scope(scope, read_scopes=[scope]).remember(TEXTS[one], at=at).memory_id)
        elif kind == "declare":
            with suppress(CardinalityConflictError):
                mem.observe("x", f"p{one}", "y", cardinality=("ONE", "MANY")[other], at=at)
            with suppress(PersonOnlyError):
                cardinality = Cardinality(("ONE", "MANY")[one])
                template = "{subject} drinks {object}" if other else None
                mem.predicates.declare("drinks", cardinality=cardinality, template=template, at=at)
        else:
            with suppress(PersonOnlyError, NameChainError, InvalidInputError):
                mem.aliases.add(SUBJECTS[one], SUBJECTS[other], at=at)
        if key:
            self.stated.setdefault((scope, key), []).append(writer)


@few
@example(acts=[("remember", "global", writer, 0, 0) for writer in ("tool", "person", "model")])
@example(acts=[("remember", "global", writer, 0, 0) for writer in ("tool", "person")])
@given(acts=acts)
def test_classes_are_minima_and_no_scope_changes_what_another_reads(
    client: GraphMem, tmp_path_factory: pytest.TempPathFactory, acts: Any
) -> None:
    world = World(client)
    for place, (kind, scope, writer, one, other) in enumerate(acts):
        at = MAY + timedelta(days=place)
        apart = [s for s in SCOPES if s != scope]
        before = {s: world.read(s) for s in apart}
        if kind == "move":
            world = moved(world, tmp_path_factory.mktemp("move"))
            assert {s: world.read(s) for s in apart} == before
            continue
        world.act(kind, scope, writer, one, other, at)
        assert {s: world.read(s) for s in apart} == before
    for scope in SCOPES:
        mem = world.client.tenant(world.tenant).scope(scope, read_scopes=[scope])
        # The class of a candidate of a ONE slot is that of its last statement.
        mem.predicates.declare("drinks", cardinality="MANY", at=MAY + timedelta(days=99))
        found: list[Memory | Belief] = [*mem.memories.list().memories, *mem.beliefs.list().beliefs]
        shown = {one.id: one.trust for one in found if (scope, one.id) in world.stated}
        wanted = {key: in_force(key, by) for (at, key), by in world.stated.items() if at == scope}
        assert shown == wanted


def in_force(key: str, by: list[Trust]) -> str:
    """Return the least class of the statements of an item that are in force."""
    if not key.startswith("m_"):
        return least(by)
    # A person who states the text of a memory again vouches for it alone.
    return memory([Statement(one, MAY + timedelta(days=n)) for n, one in enumerate(by)])


def moved(world: World, folder: Path) -> World:
    """Export a tenant, import it into another and return that."""
    file = folder / "tenant.jsonl"
    world.client.tenant(world.tenant).admin.export_to(file)
    copy = World(world.client, stated=world.stated)
    world.client.tenant(copy.tenant).admin.import_from(file)
    return copy
