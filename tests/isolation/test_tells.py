"""What somebody else has answers like what nobody has: by the same words."""

from __future__ import annotations

import re

import pytest

from graphmem import Handle
from graphmem.errors import InvalidInputError, NotFoundError, RefusedError
from tests.isolation.calls import BY_ID, CALLS, READS, Known
from tests.isolation.victims import MARK, Victim, told
from tests.plugins.clients import on_tenant
from tests.plugins.graph import fresh_tenant

pytestmark = pytest.mark.server

NEW = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")
"""Ids and instants that each call makes for itself."""


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
