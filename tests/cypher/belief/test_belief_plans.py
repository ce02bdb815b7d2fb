"""Reading a belief costs what its own evidence costs, whatever else the graph holds."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import neo4j
import pytest

from graphmem import Handle
from graphmem.graph import catalog
from graphmem.graph.catalog import LANGUAGE
from graphmem.model import AsOf, Cardinality
from graphmem.rules.read_options import ReadOptions
from tests.plugins.graph import Look
from tests.plugins.histories import PREDICATE, SUBJECT, Archive, clocked, deliver
from tests.plugins.plans import operators
from tests.rules.strategies_histories import END, long_history

READS = ("belief/current", "belief/states", "belief/test")
SERIES = ("belief/timeline", "belief/timeline_slot", "belief/standings")
SLACK = 1.2
"""The planner may choose another way when what it counts has grown."""


@pytest.mark.system
@pytest.mark.parametrize("cardinality", Cardinality)
def test_neighbours_cost_a_read_nothing(
    plain: Handle, look: Look, session: neo4j.Session, cardinality: Cardinality
) -> None:
    """A read of 30 events, before and after 3,000 others of its tenant, scope and episode."""
    memory = clocked(plain)
    archive = Archive(memory, look)
    written = archive.write_long(long_history(30), episodes=1)
    moments = AsOf(valid=END), AsOf(valid=END, known=max(written.recorded.values()))

    memory.predicates.declare(PREDICATE, cardinality=cardinality, at=END)

    def cost() -> dict[tuple[str, bool], int]:
        return {
            (name, as_of.known is not None): profile(session, name, written.handle, as_of).hits
            for name, as_of in product(READS, moments)
        }

    before = cost()
    noise = long_history(3_000, claims=300, draw=1)
    deliver(
        written.handle,
        [replace(e, id=f"n{e.id}", claim=f"n{e.claim}", episode="long0") for e in noise],
        subject="bob",
    )
    after = cost()
    wrong = {of: (before[of], n) for of, n in after.items() if not 0 < n <= SLACK * before[of]}
    assert wrong == {}


@pytest.mark.system
@pytest.mark.parametrize("cardinality", Cardinality)
def test_memory_grows_with_the_evidence_and_not_with_its_square(
    archive: Archive, session: neo4j.Session, cardinality: Cardinality
) -> None:
    """Four times the events and values take about four times the memory."""
    used = []
    for events in (300, 1_200):
        written = archive.write_long(long_history(events, claims=events // 10), episodes=2)
        memory = written.handle
        memory.predicates.declare(PREDICATE, cardinality=cardinality, at=END)
        used.append([profile(session, name, memory, AsOf()).memory for name in READS + SERIES])
    grown = {
        name: after / before for name, before, after in zip(READS + SERIES, *used, strict=True)
    }
    assert {name: factor for name, factor in grown.items() if factor > 7} == {}


@pytest.mark.parametrize("name", READS)
def test_evidence_is_reached_from_its_belief(session: neo4j.Session, name: str) -> None:
    """No event is looked for but by its id."""
    text = neo4j.Query(f"{LANGUAGE}EXPLAIN {catalog.procedure(name).text}")
    plan = session.run(text).consume().plan
    assert plan is not None
    found = [(o["operatorType"], str(o["args"].get("Details", ""))) for o in operators(plan)]
    assert any(kind.startswith("Expand") for kind, _ in found)
    seeks = [details for kind, details in found if "Seek" in kind and ":Event(" in details]
    assert [details for details in seeks if not re.search(r"tenant, id\)", details)] == []


class Profile(NamedTuple):
    """How often a read asked the store for anything, and how many bytes it held at once."""

    hits: int
    memory: int


def profile(session: neo4j.Session, name: str, handle: Handle, as_of: AsOf) -> Profile:
    """Return the cost of a read of the history."""
    context = handle._state.context
    asked = catalog.query(name, dict)
    known = context.read_params(asked, ReadOptions(as_of=as_of), END)
    slot = handle.current(SUBJECT, PREDICATE)
    given = known | {
        "tenant": context.tenant,
        "scopes": list(context.read_scopes),
        "subject": SUBJECT,
        "predicate": PREDICATE,
        "weights_key": None,
        "ids": [candidate.belief_id for candidate in slot.candidates],
        "beliefs": [candidate.belief_id for candidate in slot.candidates],
        "memories": [],
        "id": slot.candidates[0].belief_id,
        "statuses": [],
        "before_at": None,
        "before_id": None,
        "skip": 0,
        "limit": 100,
        "pooled": False,
        "extra": [],
        "without": [],
        "instants": None,
        "points": 4,
        "scope": context.scope,
    }
    procedure = catalog.procedure(name)
    wanted = {param.name: given[param.name] for param in procedure.params}
    # The plan that is made for the graph as it is now; those of other queries are kept.
    text = neo4j.Query(f"{LANGUAGE.strip()} replan=force PROFILE {procedure.text}")
    summary = session.run(text, wanted).consume()
    assert summary.profile is not None
    hits = sum(operator["dbHits"] for operator in operators(summary.profile))
    return Profile(hits, summary.profile["args"]["GlobalMemory"])
