"""Checks after a chaos run, by direct queries of the graph without graphmem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bench.chaos.writers import Write

if TYPE_CHECKING:
    from bench.bare import Bare
    from bench.figures import Cell

    Row = dict[str, Cell]

ASKED = 5_000
EVENTS = """CYPHER 25
UNWIND $ids AS id
MATCH (e:Event {tenant: $tenant, id: id})-[:REINFORCES|SUPPORTS|REFUTES|CONCERNS]->()
RETURN DISTINCT id
"""
TURNS = """CYPHER 25
MATCH (t:Turn {tenant: $tenant})-[:OCCURRED_IN]->(:Episode)
RETURN t.text AS text, count(*) AS times
"""


def checked_rows(writes: Sequence[Write], bare: Bare, tenant: str) -> list[Row]:
    """Return a row for each kind of write that compares acknowledged writes with the graph.

    An event counts only if it is connected to its node; an event without one is half a write.
    """
    present = _stored_counts(writes, bare, tenant)
    by_kind: dict[str, list[Write]] = defaultdict(list)
    for write in writes:
        by_kind[write.kind].append(write)
    return [_row(kind, group, present) for kind, group in sorted(by_kind.items())]


def _stored_counts(writes: Sequence[Write], bare: Bare, tenant: str) -> dict[str, int]:
    ids = [i for write in writes if write.kind != "add_messages" for i in write.ids]
    events = {
        row["id"]: 1
        for part in _parts(ids)
        for row in bare.rows(EVENTS, tenant=tenant, ids=list(part))
    }
    return events | {row["text"]: row["times"] for row in bare.rows(TURNS, tenant=tenant)}


def _parts(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return [ids[at : at + ASKED] for at in range(0, len(ids), ASKED)]


def _row(kind: str, writes: Sequence[Write], present: dict[str, int]) -> Row:
    done = [write for write in writes if write.is_done]
    open_ = [write for write in writes if not write.is_done]
    # Writes without ids are reads; they leave nothing in the graph.
    whole = sum(all(i in present for i in write.ids) for write in open_ if write.ids)
    absent = sum(not any(i in present for i in write.ids) for write in open_)
    lost = sum(not all(i in present for i in write.ids) for write in done)
    twice = sum(present.get(i, 0) > 1 for write in writes for i in write.ids)
    half = len(open_) - whole - absent
    return {
        "kind": kind,
        "acknowledged": len(done),
        "lost": lost,
        "not acknowledged, there": whole,
        "not there": absent,
        "by half": half,
        "twice": twice,
        "met": lost == half == twice == 0 and bool(done),
    }
