"""Policies, templates and aliases act in their scope and below, and no list shows others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import BeliefReasons, GraphMem, Handle
from graphmem.errors import (
    CardinalityConflictError,
    InvalidInputError,
    NameChainError,
    NotFoundError,
    PersonOnlyError,
)
from graphmem.model import Trust
from tests.oracles.names import Declared, Naming, nearest, ways
from tests.plugins.examples import few
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2025, 5, 5, tzinfo=UTC)
BOB, ANN = "user:bob", "user:ann"


def facts(mem: Handle, subject: str = "bob") -> list[str]:
    """Return the values of allergic_to that are in force for a reader."""
    slot = mem.current(subject, "allergic_to")
    if slot.cardinality.value == "ONE":
        return [] if slot.leader is None else [str(slot.leader.object)]
    return sorted(str(one.object) for one in slot.candidates)


def test_what_one_scope_declares_changes_nothing_for_another(client: GraphMem, tenant: str) -> None:
    root = client.tenant(tenant)
    bob, ann = root.scope(BOB), root.scope(ANN)
    agent = client.tenant(tenant, trust="model").scope(ANN)
    for food in ("penicillin", "peanuts"):
        bob.observe("bob", "allergic_to", food)
        root.observe("carl", "allergic_to", food)
    agent.observe("ann", "allergic_to", "dust", cardinality="ONE")
    ann.predicates.declare("allergic_to", cardinality="ONE", template="{subject}: {object}!")
    ann.aliases.add("bob", "mallory")
    assert facts(bob) == ["peanuts", "penicillin"]
    assert facts(root, "carl") == ["peanuts", "penicillin"]
    # The reader's own declaration holds for what it reads of others, and only for itself.
    assert facts(ann, "carl") == ["peanuts"]
    slot = ann.current("carl", "allergic_to")
    assert (slot.scope, slot.policy_origin, slot.policy_scope) == ("global", "declared", ANN)
    assert bob.current("bob", "allergic_to").policy_scope is None
    assert bob.current("bob", "allergic_to").names == ()
    bob.observe("bob", "allergic_to", "dust", cardinality="MANY")
    said = bob.beliefs.get(bob.observe("bob", "allergic_to", "pollen"))
    assert said.statement == "bob allergic to pollen"


def test_lists_show_what_the_handle_reads(client: GraphMem, tenant: str) -> None:
    root = client.tenant(tenant)
    bob, ann = root.scope(BOB), root.scope(ANN)
    root.predicates.declare("lives_in", cardinality="ONE")
    ann.observe("ann", "has_hiv_status", "negative", cardinality="ONE")
    ann.aliases.add("annie", "ann")
    names: Callable[[Handle], list[tuple[str, str]]] = lambda mem: [  # noqa: E731
        (one.name, one.scope) for one in mem.predicates.list()
    ]
    assert names(bob) == names(root) == [("lives_in", "global")]
    assert names(ann) == [("has_hiv_status", ANN), ("lives_in", "global")]
    assert names(root.scope(BOB, read_scopes=[BOB])) == []
    assert (bob.aliases.list(), [one.scope for one in ann.aliases.list()]) == ([], [ANN])
    ann.forget("scope", ANN, dry_run=False)
    assert names(bob) == [("lives_in", "global")]


def test_the_tenant_s_declaration_holds_until_a_nearer_one(memory: Handle) -> None:
    bob = memory.scope(BOB)
    memory.predicates.declare("allergic_to", cardinality="ONE", template="{subject} -> {object}")
    memory.aliases.add("Robert", "bob")
    bob.observe("bob", "allergic_to", "penicillin", at=MAY)
    last = bob.observe("Robert", "allergic_to", "peanuts", at=MAY + timedelta(days=1))
    assert bob.beliefs.get(last).statement == "Robert -> peanuts"
    assert facts(bob) == ["peanuts"]
    with pytest.raises(CardinalityConflictError):
        bob.observe("bob", "allergic_to", "dust", cardinality="MANY")
    bob.predicates.declare("allergic_to", cardinality="MANY")
    assert facts(bob) == ["peanuts", "penicillin"]
    why = bob.why(last)
    assert isinstance(why, BeliefReasons)
    assert why.policy.declared_in == BOB
    with pytest.raises(NotFoundError, match="not an alias in scope 'user:bob'"):
        bob.aliases.remove("Robert")
    bob.aliases.add("Robert", "rob")
    assert facts(bob) == ["penicillin"]
    bob.aliases.remove("Robert")
    assert facts(bob) == ["peanuts", "penicillin"]


def test_a_model_declares_only_what_is_new_in_its_scope(client: GraphMem, tenant: str) -> None:
    root, agent = client.tenant(tenant), client.tenant(tenant, trust="model")
    bob = root.scope(BOB)
    for place in ("Lisbon", "Porto"):
        bob.observe("bob", "sails_from", place)
        root.observe("bob", "flies_from", place)
    with pytest.raises(CardinalityConflictError, match="is in use as MANY"):
        agent.observe("bob", "flies_from", "Faro", cardinality="ONE")
    agent.observe("bob", "flies_from", "Faro", cardinality="MANY")
    assert root.predicates.list() == []
    # Its first declaration in `global` holds for the facts of that scope.
    agent.observe("carl", "sails_from", "Faro", cardinality="ONE")
    agent.observe("carl", "sails_from", "Tavira")
    slot = root.current("carl", "sails_from")
    assert (slot.cardinality, slot.policy_scope) == ("ONE", "global")
    assert bob.current("bob", "sails_from").cardinality == "MANY"
    with pytest.raises(PersonOnlyError):
        agent.scope(BOB).predicates.declare("sails_from", cardinality="ONE")
    with pytest.raises(PersonOnlyError):
        agent.scope(BOB).aliases.add("bob", "mallory")
    # A person's declaration precedes, whenever it was made and in whichever scope of the chain.
    root.predicates.declare("sails_from", cardinality="MANY", at=MAY)
    assert root.current("carl", "sails_from").cardinality == "MANY"


SCOPES = ("global", BOB, ANN)
WRITERS: tuple[Trust, ...] = ("person", "model")
declarations = st.lists(
    st.tuples(
        st.sampled_from(SCOPES),
        st.sampled_from(WRITERS),
        st.sampled_from(("ONE", "MANY")),
        st.integers(0, 3),
    ),
    max_size=6,
)
NAMES = ("bob", "robert", "rob")
namings = st.lists(
    st.tuples(
        st.sampled_from(SCOPES),
        st.sampled_from(NAMES),
        st.none() | st.sampled_from(NAMES),
        st.integers(0, 3),
    ),
    max_size=6,
)


@few
@given(declared=declarations, named=namings, stranger=st.booleans())
def test_a_read_uses_the_nearest_declaration_that_the_reader_reads(
    client: GraphMem, look: Look, declared: Any, named: Any, *, stranger: bool
) -> None:
    tenant = fresh_tenant()
    by = {(s, w): client.tenant(tenant, trust=w).scope(s) for s in SCOPES for w in WRITERS}
    for number, (scope, writer, cardinality, day) in enumerate(declared):
        at = MAY + timedelta(days=day)
        with suppress(CardinalityConflictError):
            if writer == "person":
                by[scope, writer].predicates.declare("p", cardinality=cardinality, at=at)
            else:
                value = f"first {number}"
                by[scope, writer].observe("someone", "p", value, cardinality=cardinality)
    for scope, name, other, day in named:
        at = MAY + timedelta(days=day)
        with suppress(NameChainError, NotFoundError, InvalidInputError):
            if other is None:
                by[scope, "person"].aliases.remove(name, at=at)
            else:
                by[scope, "person"].aliases.add(name, other, at=at)
    for scope in SCOPES:
        by[scope, "person"].observe("bob", "p", f"of {scope}")
    policies, aliases = stored(look, tenant)
    for reader in SCOPES:
        # A handle that reads another scope too follows that scope's declarations for its facts.
        reads = [reader, "global", *((ANN,) if stranger and reader == BOB else ())]
        handle = by[reader, "person"].scope(reader, read_scopes=reads)
        page = handle.beliefs.slots("bob", top=10).slots
        for slot in page:
            applied = nearest(slot.scope, reader, reads, policies)
            wanted = next((one.scope for one in policies if one.id == applied), None)
            assert slot.policy_scope == wanted
            why = handle.why(slot.candidates[0].belief_id)
            assert isinstance(why, BeliefReasons)
            assert (why.policy.event_id or "") == applied
            chain = [s for s in dict.fromkeys((reader, slot.scope, "global")) if s in reads]
            assert {"bob", *slot.names} == set(ways("bob", aliases, near=chain))
        assert {one.scope for one in handle.predicates.list()} <= set(reads)
        assert {one.scope for one in handle.aliases.list()} <= set(reads)


def stored(look: Look, tenant: str) -> tuple[list[Declared], list[Naming]]:
    """Return the declarations of a tenant as the graph has them."""
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant})-[:CONCERNS]->(n:Predicate|Name) "
        "RETURN e.id AS id, e.scope AS scope, e.trust AS trust, n.key AS key, "
        "e.same_as AS same_as, e.occurred_at AS at, e.type AS type",
        tenant=tenant,
    )
    policies, aliases = [], []
    for row in rows:
        at = row["at"].to_native()
        if row["type"] == "POLICY":
            policies.append(Declared(row["id"], row["scope"], row["trust"] == 4, at))
        else:
            aliases.append(Naming(row["id"], row["key"], row["same_as"], at, at, row["scope"]))
    return policies, aliases
