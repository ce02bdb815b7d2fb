"""Marks of beliefs in batches, redelivered and at once: each once, whatever else goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem import Handle
from graphmem.graph import catalog
from graphmem.model import EventType, Origin
from graphmem.ports import Tx, run_now
from graphmem.rules.read_options import ReadOptions
from tests.plugins.clients import Door
from tests.plugins.graph import Look

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
MARK = catalog.query("belief/mark", dict)


def row(event_id: str, belief_id: str, kind: EventType, at: datetime) -> dict[str, Any]:
    return {
        "id": event_id,
        "belief_id": belief_id,
        "scope": "global",
        "type": kind,
        "occurred_at": at,
        "request_hash": event_id,
        "source": "consolidation",
    }


def marked(memory: Handle, rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    context = memory._state.context

    async def work(tx: Tx) -> list[dict[str, Any]]:
        by = context.read_params(MARK, ReadOptions())
        scopes = list(context.tenant_scope.scopes)
        return await tx.fetch(MARK, tenant=context.tenant, scopes=scopes, events=rows, **by)

    return {found["id"]: found for found in run_now(context.services.graph.write(work))}


def test_a_batch_is_written_once(plain: Handle, look: Look, tenant: str) -> None:
    one, two = (plain.believe(text, at=MAY).belief_id for text in ("It rains", "It snows"))
    rows = [
        row("f1", one, EventType.FLAG, MAY + HOUR),
        row("h1", two, EventType.ARCHIVE, MAY + HOUR),
        row("f2", two, EventType.FLAG, MAY + HOUR),
        row("f3", two, EventType.RESOLVE, MAY + 2 * HOUR),
        row("f4", "b_none", EventType.FLAG, MAY + HOUR),
    ]
    assert marked(plain, rows) == {
        one: {"id": one, "written": 1, "changed": True, "status": "current", "flagged": True},
        two: {"id": two, "written": 3, "changed": True, "status": "archived", "flagged": False},
    }
    there = look.events(tenant)
    assert len(there) == 6
    assert marked(plain, [*rows, row("h2", one, EventType.ARCHIVE, MAY - HOUR)]) == {
        one: {"id": one, "written": 1, "changed": False, "status": "current", "flagged": True},
        two: {"id": two, "written": 0, "changed": False, "status": "archived", "flagged": False},
    }
    assert {k: v for k, v in look.events(tenant).items() if k != "h2"} == there
    assert plain.admin.verify().wrong == ()


def test_marks_at_once_leave_what_the_newest_says(door: Door, memory: Handle) -> None:
    belief = memory.believe("It rains", at=MAY).belief_id
    verbs = ("archive", "restore", "archive", "clear_flag") * 3
    calls = [
        lambda m, verb=verb, n=n: getattr(m.beliefs, verb)(belief, at=MAY + n * HOUR)
        for n, verb in enumerate(verbs)
    ]
    done = door.together(memory, calls)
    assert [one for one in done if isinstance(one, Exception)] == []
    # The last of the twelve is a resolve, the one before an archive.
    assert memory.beliefs.get(belief).status == "archived"
    assert memory.admin.verify().wrong == ()


def test_one_mark_sent_by_many_is_one(door: Door, memory: Handle, look: Look) -> None:
    belief = memory.believe("It rains", at=MAY).belief_id
    same = [lambda m: m.beliefs.archive(belief, origin=Origin(event_id="a1"), at=MAY + HOUR)] * 8
    done = door.together(memory, same)
    assert sorted(one.repeated for one in done) == [False] + [True] * 7
    assert sum(one.changed for one in done) == 1
    assert set(look.events(memory._state.context.tenant)) > {"a1"}
    assert len(look.events(memory._state.context.tenant)) == 2
