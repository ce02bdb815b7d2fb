"""What a client, or a server, whose clock is wrong writes, and who finds it when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import neo4j
import pytest

from graphmem import Handle
from tests.plugins.graph import NODES
from tests.plugins.histories import clocked
from tests.plugins.texts import unlike


def value_of(memory: Handle) -> str | None:
    leader = memory.current("alice", "lives in").leader
    return None if leader is None else leader.object


@pytest.mark.parametrize("hours", [-48, -1, 1, 48])
def test_what_a_wrong_clock_dates_is_found_and_recorded_by_the_right_one(
    plain: Handle, hours: int
) -> None:
    before, wrong = datetime.now(UTC), timedelta(hours=hours)
    off = clocked(plain, before + wrong)
    told = off.remember(unlike(1))
    off.observe("alice", "lives in", "Lisbon")

    [event] = off.memories.history(str(told.memory_id))
    assert abs(event.recorded_at - before) < timedelta(minutes=1)
    assert event.occurred_at == before + wrong
    for memory in (off, plain):
        assert memory.recall(unlike(1)).bites[0].id == told.memory_id
    # Evidence counts from when it is dated: for others not before that, if the clock is fast.
    assert value_of(off) == "Lisbon"
    assert value_of(plain) == ("Lisbon" if hours < 0 else None)
    assert plain.admin.verify().wrong == ()


@pytest.mark.parametrize("days", [-2, 2])
def test_what_a_server_recorded_by_a_wrong_clock_is_read_and_written_on(
    plain: Handle, driver: neo4j.Driver, tenant: str, tmp_path: Path, days: int
) -> None:
    plain.predicates.declare("lives in", cardinality="ONE")
    told = plain.remember(unlike(1), event_id="first")
    plain.observe("alice", "lives in", "Lisbon")
    # As if the server's clock had been set right since: all that it wrote down lies elsewhere.
    driver.execute_query(
        NODES + "WITH n WHERE n.recorded_at IS NOT NULL "
        "SET n.recorded_at = n.recorded_at + duration({days: $days}) "
        "WITH n MATCH (n)-[r WHERE r.recorded_at IS NOT NULL]->() "
        "SET r.recorded_at = r.recorded_at + duration({days: $days})",
        tenant=tenant,
        days=days,
    )
    assert plain.recall(unlike(1)).bites[0].id == told.memory_id
    assert value_of(plain) == "Lisbon"
    assert plain.admin.verify().wrong == ()
    assert plain.remember(unlike(1), event_id="first").repeated

    plain.observe("alice", "lives in", "Porto")
    plain.supersede(str(told.memory_id), unlike(2))
    assert value_of(plain) == "Porto"
    bites = plain.recall(unlike(1), kinds=("memory",)).bites
    assert [bite.text for bite in bites] == [unlike(2)]
    assert plain.admin.verify().wrong == ()
    plain.admin.rebuild()
    assert plain.admin.verify().wrong == ()

    found = plain.admin.export_to(tmp_path / "all")
    assert bool(found.later) == (days > 0)
