"""Tenants with names, ids, texts, keys and cursors of another see nothing of it, change nothing.

A case is one call by such a tenant. `HYPOTHESIS_PROFILE=deep` makes 10,000 of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.errors import InvalidInputError, NotFoundError, RefusedError
from graphmem.rules import identity
from graphmem.testing import FrozenClock
from tests.isolation import victims
from tests.isolation.calls import CALLS, READS, Call, Known
from tests.isolation.victims import MARK, Victim, disguises, told
from tests.plugins import twins
from tests.plugins.clients import on, on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant, unfaded
from tests.plugins.texts import unlike

pytestmark = [pytest.mark.server, pytest.mark.timeout(3_600)]

CALLS_EACH = 10
HISTORIES = examples(12, 200, 1_000)
EXPECTED = (InvalidInputError, NotFoundError, RefusedError)
"""How a call may end that finds nothing: the query itself must not fail."""
ALTERED: tuple[Callable[[str, Victim], str], ...] = (
    lambda given, _: given,
    lambda given, victim: f"{victim.name}/{given}"[:200],
    lambda given, victim: f"{victim.name}\x1f{given}"[:200],
    lambda given, _: given.upper(),
    lambda given, _: f"{given} ",
    lambda given, _: f"{given}' OR true //",
    lambda given, _: f"{given}* OR *",
    lambda given, _: given[:-1],
)
"""Ways to write an id; the first, as it is, is drawn most."""


UNMARKED = {
    "usage.goals",
    "admin.verify",
    "admin.stats",
    "admin.scopes",
    "admin.is_empty",
    "admin.erasures",
    "consolidation_status",
    "usage.prune_manifest",
    "proposals.list",
    "beliefs.flip_set",
    "beliefs.what_if",
}
"""Reads that give ids and numbers only."""


WATCHED = {"recall", "context", "expand", "usage.audit", "usage.dashboard", "usage.prune_manifest"}
"""Reads that are logged, or that tell what was; their own looks change them."""


@dataclass(frozen=True)
class Attack:
    """One call of one tenant."""

    method: str
    disguise: int
    scope: str
    marked: bool
    altered: int


ATTACKS = st.builds(
    Attack,
    method=st.sampled_from(sorted(CALLS)),
    disguise=st.integers(0, len(disguises("x")) - 1),
    scope=st.sampled_from(["global", "alice", "victim", "victim's key", "both"]),
    marked=st.booleans(),
    altered=st.one_of(st.just(0), st.integers(0, len(ALTERED) - 1)),
)


def handle(client: Handle, victim: Victim, attack: Attack) -> Handle:
    """Return the handle that an attack is made with."""
    own = on_tenant(client, disguises(victim.name)[attack.disguise])
    if attack.scope == "both":
        return own.scope("x", read_scopes=["global", "alice", victim.name])
    scopes = {"victim": victim.name, "victim's key": identity.scope_key(victim.name, "global")}
    return own.scope(scopes.get(attack.scope, attack.scope))


def known_to(victim: Victim, attack: Attack) -> Known:
    """Return what the attacker gives for ids."""
    altered = ALTERED[attack.altered]
    known = victim.marked if attack.marked else victim.known
    return {name: altered(value, victim) for name, value in known.items()}


def answer(by: Handle, call: Call, known: Known) -> str:
    """Return all that a call says, whatever its end."""
    try:
        return told(call(by, known))
    except EXPECTED as error:
        return f"{error!r} {error} {error.hint} {error.__cause__!r}"


def test_every_public_method_is_attacked_with() -> None:
    assert CALLS.keys() == twins.with_data()


def test_the_victim_itself_reads_its_mark(victim: Victim) -> None:
    """What the attacks look for is there to be found."""
    known = {name: value for name, value in victim.marked.items() if "cursor" not in name}
    for method in READS.keys() - UNMARKED:
        assert MARK in told(READS[method](victim.memory, known)), method


@hypothesis.settings(max_examples=HISTORIES)
@given(attacks=st.lists(ATTACKS, min_size=CALLS_EACH, max_size=CALLS_EACH))
def test_nothing_comes_back_and_nothing_changes(
    client: Handle, look: Look, victim: Victim, twin: Handle, attacks: list[Attack]
) -> None:
    client.usage.flush()
    before = victims.looks(look, victim.name)
    for attack in attacks:
        by, known = handle(client, victim, attack), known_to(victim, attack)
        assert MARK not in answer(by, CALLS[attack.method], known), attack
    client.usage.flush()
    assert victims.looks(look, victim.name) == before


def test_a_tenant_that_is_erased_takes_nothing_of_another(client: Handle, look: Look) -> None:
    name = f"{fresh_tenant()} A\u00e9"
    on_tenant(client, name).remember(unlike(1))
    before = victims.looks(look, name)
    others = [on_tenant(client, other) for other in disguises(name)[:8]]
    for other in others:
        other.remember(unlike(1))
        assert other.admin.erase_tenant(dry_run=False).counts["Memory"] == 1
    assert victims.looks(look, name) == before


def test_what_one_writes_changes_no_number_of_the_other(victim: Victim, twin: Handle) -> None:
    twin = on(twin, clock=FrozenClock(datetime.now(UTC)))
    known = {name: value for name, value in victim.known.items() if "cursor" not in name}
    for name in READS.keys() - WATCHED:
        # The read before may be logged, as that of `why` is, and the log is counted.
        twin.usage.flush()
        before = unfaded(READS[name](twin, known))
        victims.mark_everything(victim.memory, victim.known)
        victim.memory.usage.flush()
        assert unfaded(READS[name](twin, known)) == before, name
