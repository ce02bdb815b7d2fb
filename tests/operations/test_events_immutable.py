"""Law 1: whatever is done, no event that was there changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem import AsyncGraphMem, AsyncSession, GraphMem, Message, Wish
from graphmem.client.handle import AsyncHandle
from tests.plugins.graph import Look
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
READS = {"recall", "get", "history", "chain", "episode", "turns", "list"}
NO_WRITES = {"open", "close", "tenant", "scope", "session"}


def deprecated(memory: GraphMem) -> str:
    first = memory.list().memories[-1].id
    memory.deprecate(first, reason="wrong")
    return first


WRITES: dict[str, list[Callable[[GraphMem], Any]]] = {
    "remember": [
        lambda m: m.remember(WINDOW, id="e1", at=MAY, tags=["a"], source="hook"),
        lambda m: m.remember(WINDOW, tags=["b"], at=MAY - timedelta(days=9)),
        lambda m: m.remember(restated(5)),
        lambda m: m.remember(WINDOW, id="e1", at=MAY, tags=["a"], source="hook"),
        lambda m: m.scope("alice").remember(WINDOW),
    ],
    "remember_many": [
        lambda m: m.remember_many([unlike(1), unlike(1), Wish(content=unlike(2), id="e2")]),
    ],
    "supersede": [
        lambda m: m.supersede(m.list().memories[0].id, unlike(3), id="s1"),
        lambda m: m.supersede(m.list().memories[0].id, unlike(4)),
    ],
    "deprecate": [deprecated],
    "restore": [lambda m: m.restore(deprecated(m)), lambda m: m.remember(WINDOW)],
    "add_episode": [lambda m: m.add_episode(id="doc", content=unlike(5))],
    "ingest": [
        lambda m: m.ingest([Message(role="user", content=unlike(n), id=str(n)) for n in (6, 7)]),
        lambda m: m.ingest([Message(role="user", content=unlike(n), id=str(n)) for n in (6, 8)]),
    ],
    "add_messages": [
        lambda m: m.session("s").add_messages([{"role": "user", "content": unlike(9)}]),
        lambda m: m.session("s").remember(unlike(10)),
    ],
}


def test_every_public_write_is_tried() -> None:
    named = {
        name
        for owner in (AsyncHandle, AsyncGraphMem, AsyncSession)
        for name, member in inspect.getmembers(owner)
        if not name.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member))
    }
    assert named == WRITES.keys() | READS | NO_WRITES


def test_no_write_changes_an_event(plain: GraphMem, look: Look, tenant: str) -> None:
    before = look.events(tenant)
    for name, calls in WRITES.items():
        for n, call in enumerate(calls):
            call(plain)
            after = look.events(tenant)
            assert {k: after.get(k) for k in before} == before, f"{name} {n}"
            before = after
    assert {event["type"] for event in before.values()} == {
        "ADD",
        "REINFORCE_EXACT",
        "REINFORCE_NEAR",
        "SUPERSEDE",
        "DEPRECATE",
        "RESTORE",
    }


def test_events_carry_the_clock_of_the_server_and_never_nothing(
    plain: GraphMem, look: Look, tenant: str
) -> None:
    for calls in WRITES.values():
        for call in calls:
            call(plain)
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) RETURN e.recorded_at AS at, e.id AS id, "
        "  e.scope AS scope, e.occurred_at AS occurred_at, e.request_hash AS asked, "
        "  duration.between(e.recorded_at, datetime.realtime()).seconds AS age, "
        "  e.recorded_at.nanosecond % 1000 AS below_microseconds",
        tenant=tenant,
    )
    assert rows
    for row in rows:
        assert None not in row.values()
        assert 0 <= row["age"] < 300
        assert row["below_microseconds"] == 0
