"""What somebody else has answers like what nobody has: by the same words."""

from __future__ import annotations

import re

import pytest

from graphmem import Handle
from graphmem.errors import ForeignScopeError, InvalidInputError, NotFoundError, RefusedError
from tests.isolation.calls import BY_ID, CALLS, READS, Known
from tests.isolation.victims import MARK, Victim, known_besides, told
from tests.plugins.clients import on_tenant
from tests.plugins.everything import write_everything
from tests.plugins.graph import Look, fresh_tenant

pytestmark = pytest.mark.server

NEW = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")
"""Ids and instants that each call makes for itself."""


PAGES = {"beliefs.list", "episodes.list", "memories.stale"}
FOREIGN = [
    *("supersede", "memories.deprecate", "memories.restore", "add_evidence", "episodes.restore"),
    *("beliefs.revise", "beliefs.split", "beliefs.merge", "beliefs.retract", "beliefs.archive"),
    *("beliefs.restore", "beliefs.clear_flag", "proposals.accept", "proposals.dismiss"),
    *("episodes.pin", "episodes.unpin", "forget"),
]
"""Writes to one item, which must be of the writer's own scope."""


def unknown(given: str) -> str:
    """Return an id of the same shape that nobody has."""
    head, mark, digits = given.rpartition("_")
    return f"{head}{mark}{digits.translate(str.maketrans('0123456789abcdef', 'fedcba9876543210'))}"


def answer(memory: Handle, method: str, known: Known) -> str:
    """Return all that a call says, its ids put out of sight."""
    try:
        text = f"result {told(CALLS[method](memory, known))}"
    except (InvalidInputError, NotFoundError, RefusedError) as error:
        text = f"{type(error).__name__} {error.code} {error} | {error.hint} | {error!r}"
    for name, given in sorted(known.items(), key=lambda pair: -len(pair[1])):
        text = text.replace(given, f"<{name}>")
    return NEW.sub("<new>", text)


@pytest.mark.parametrize("method", BY_ID)
def test_an_id_of_another_tenant_answers_like_one_of_nobody(
    client: Handle, victim: Victim, method: str
) -> None:
    foreign = {name: one for name, one in victim.marked.items() if "cursor" not in name}
    nobodys = {name: unknown(one) for name, one in foreign.items()}
    assert not {*foreign.values()} & {*nobodys.values()}
    asked = [
        answer(on_tenant(client, fresh_tenant()), method, known) for known in (foreign, nobodys)
    ]
    assert asked[0] == asked[1]


@pytest.fixture(scope="module")
def private(client: Handle) -> tuple[Handle, Known, Known]:
    """A tenant with one of everything in a private scope and in the shared one; their ids."""
    memory = on_tenant(client, fresh_tenant())
    found = []
    for handle, mark in ((memory.scope("alice"), "a"), (memory, "")):
        known = write_everything(handle, mark=mark)
        known |= known_besides(handle, memory._state.context.tenant, known)
        found.append({name: one for name, one in known.items() if "cursor" not in name})
    return memory, found[0], found[1]


@pytest.mark.parametrize("method", sorted({*BY_ID} - PAGES - {"episodes.add", "items.batch"}))
def test_an_id_of_another_scope_answers_like_one_of_nobody(
    private: tuple[Handle, Known, Known], look: Look, method: str
) -> None:
    memory, hers, _ = private
    nobodys = {name: unknown(one) for name, one in hers.items()}
    asked = memory._state.context.tenant

    def kept() -> list[str]:
        events = look.events(asked).values()
        return sorted(repr(sorted(one.items())) for one in events if one["scope"] == "alice")

    before = kept()
    for stranger in (memory.scope("bob", read_scopes=["bob"]), memory.scope("carol")):
        assert answer(stranger, method, hers) == answer(stranger, method, nobodys)
    assert kept() == before


@pytest.mark.parametrize("method", FOREIGN)
def test_what_is_shared_is_not_changed_from_a_private_scope(
    private: tuple[Handle, Known, Known], look: Look, method: str
) -> None:
    memory, _, shared = private
    tenant = memory._state.context.tenant
    before = look.events(tenant)
    with pytest.raises(ForeignScopeError, match="belongs to scope 'global'") as refused:
        CALLS[method](memory.scope("bob"), shared | {"said": "new"})
    assert "Open a handle" in refused.value.hint
    assert look.events(tenant) == before


def test_another_tenant_reads_nothing_of_the_victim(client: Handle, victim: Victim) -> None:
    own = on_tenant(client, fresh_tenant())
    handles = (own, own.scope("alice"), own.scope("x", read_scopes=["alice", "global"]))
    found = {name for name in READS for h in handles if MARK in answer(h, name, victim.marked)}
    assert found == set()


@pytest.mark.parametrize(
    "method",
    ["memories.get", "beliefs.get", "add_evidence", "proposals.accept", "usage.restore_pruned"],
)
def test_the_owner_is_answered_otherwise(victim: Victim, method: str) -> None:
    """What is compared above tells the two apart where there is something to tell."""
    known = {name: one for name, one in victim.known.items() if "cursor" not in name}
    nobodys = {name: unknown(one) for name, one in known.items()}
    own = answer(victim.memory, method, known)
    assert own != answer(victim.memory, method, nobodys)
