"""Facts of another system hold when it states so, whatever a predicate's cardinality is here."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle

START = datetime(2025, 1, 1, tzinfo=UTC)
PREDICATES = ["WORKS_AT", "LIVES_IN", "manager", "status", "OWNS", "Default Branch"]
"""Some have one value at a time here, some several."""


def at(day: int) -> str:
    return (START + timedelta(days=day)).isoformat()


def dump(seed: int, subjects: int) -> tuple[dict[str, Any], dict[tuple[str, str], list[Any]]]:
    """Return a dump, and (value, first day, end or None) by subject and predicate."""
    rng = random.Random(seed)
    people = {f"p{n}": f"Person {n}" for n in range(subjects)}
    things = {f"o{n}": f"Value {n}" for n in range(3)}
    nodes = [{"uuid": uuid, "name": name} for uuid, name in (people | things).items()]
    edges, stated = list[dict[str, Any]](), dict[tuple[str, str], list[Any]]()
    for person in people:
        predicate = rng.choice(PREDICATES)
        rows = stated.setdefault((people[person], predicate), [])
        for _ in range(rng.randrange(1, 5)):
            begin, thing = rng.randrange(0, 200, 10), rng.choice([*things])
            end = rng.choice([None, begin + rng.randrange(10, 150, 10)])
            rows.append((things[thing], begin, end))
            edges.append(
                {
                    "uuid": f"e{len(edges)}",
                    "name": predicate,
                    "fact": f"{people[person]} {predicate} {things[thing]}.",
                    "source_node_uuid": person,
                    "target_node_uuid": thing,
                    "valid_at": at(begin),
                    "invalid_at": None if end is None else at(end),
                }
            )
    return {"nodes": nodes, "edges": edges}, stated


@pytest.mark.parametrize("seed", range(3))
def test_values_hold_when_the_data_state_so(plain: Handle, seed: int) -> None:
    data, stated = dump(seed, 12)
    plain.predicates.declare("manager", cardinality="ONE")
    done = plain.admin.import_foreign(data)
    assert done.refused == ()
    for (subject, predicate), rows in stated.items():
        spans = {
            value: (min(b for v, b, _ in rows if v == value), ends(rows, value))
            for value, _, _ in rows
        }
        for day in (5, 55, 105, 155, 205, 305):
            holds = {v for v, (begin, end) in spans.items() if begin <= day < end}
            found = plain.current(subject, predicate, as_of=START + timedelta(days=day))
            believed = {one.object for one in found.candidates if one.belief > 0.1}
            assert believed == holds, (predicate, day, rows)
            assert (found.leader.object if found.leader else None) in (holds or {None})
    assert plain.admin.import_foreign(data) == done


def ends(rows: list[tuple[str, int, int | None]], value: str) -> float:
    """Return the day on which a value ends for good."""
    return max(math.inf if end is None else end for other, _, end in rows if other == value)


def edge(uuid: str, of: str, to: str, since: int, until: int | None = None) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "name": "WORKS_AT",
        "source_node_uuid": of,
        "target_node_uuid": to,
        "valid_at": at(since),
        "invalid_at": None if until is None else at(until),
    }


def test_two_jobs_at_once_stay_two_where_a_person_declared_one(plain: Handle) -> None:
    plain.predicates.declare("works_at", cardinality="ONE", tau_days=900)
    nodes = [{"uuid": uuid, "name": uuid, "group_id": "g"} for uuid in ("Ada", "Acme", "Globex")]
    edges = [edge("e1", "Ada", "Acme", 0), edge("e2", "Ada", "Globex", 90)]
    done = plain.admin.import_foreign(
        {"nodes": nodes, "edges": [e | {"group_id": "g"} for e in edges]}
    )
    assert done.coexisting == ("group:g works_at",)
    found = plain.scope("group:g").current("Ada", "works_at").candidates
    assert {one.object for one in found if one.belief > 0.3} == {"Acme", "Globex"}
    declared = {p.scope: p.policy for p in plain.scope("group:g").predicates.list()}
    assert (declared["group:g"].cardinality, declared["group:g"].tau_days) == ("MANY", 900)
    assert declared["global"].cardinality == "ONE"


def test_one_job_after_the_other_stays_one(plain: Handle) -> None:
    nodes = [{"uuid": uuid, "name": uuid} for uuid in ("Ada", "Acme", "Globex")]
    edges = [edge("e1", "Ada", "Acme", 0, 90), edge("e2", "Ada", "Globex", 90)]
    done = plain.admin.import_foreign({"nodes": nodes, "edges": edges})
    assert done.coexisting == ()
    assert plain.predicates.list() == []
    leader = plain.current("Ada", "works_at").leader
    assert leader is not None
    assert leader.object == "Globex"


@pytest.mark.parametrize("seed", range(3))
def test_entities_of_one_name_stay_apart(plain: Handle, seed: int) -> None:
    """Each has its own home, in any order of the data, also after the data have grown."""
    rng = random.Random(seed)
    people = [
        {
            "uuid": f"{n:03}-person",
            "name": rng.choice(["Alex", "ALEX", " alex "]),
            "created_at": at(n),
        }
        for n in range(4)
    ]
    homes = [{"uuid": f"h{n}", "name": f"Town {n}"} for n in range(4)]
    for known in (2, 4):
        nodes = [*people[:known], *homes]
        rng.shuffle(nodes)
        edges = [
            edge(f"e{n}", f"{n:03}-person", f"h{n}", 0) | {"name": "LIVES_IN"} for n in range(known)
        ]
        done = plain.admin.import_foreign({"nodes": nodes, "edges": edges})
        assert done.refused == ()
        assert len(done.renamed) == known - 1
        for n in range(known):
            name = done.renamed.get(f"graphiti:{n:03}-person", "Alex")
            leader = plain.current(name, "lives_in").leader
            assert leader is not None
            assert leader.object == f"Town {n}"


def test_the_same_name_in_another_group_is_kept(plain: Handle) -> None:
    nodes = [{"uuid": f"n{n}", "name": "Alex", "group_id": f"g{n}"} for n in range(3)]
    assert plain.admin.import_foreign({"nodes": nodes, "edges": []}).renamed == {}


def test_mem0_in_other_spellings_and_with_an_end(plain: Handle) -> None:
    at_day = int((START + timedelta(days=30)).timestamp())
    data = [
        {"id": "m1", "memory": "Tea is hot", "createdAt": at(0), "userId": "ann"},
        {"id": "m2", "memory": "Soup is hot", "created_at": at_day, "user_id": "ann"},
        {"id": "m3", "memory": "Ice is cold", "timestamp": at_day * 1000, "user_id": "ann"},
        {
            "id": "m4",
            "memory": "Rain is wet",
            "createdAt": at(0) + "[UTC]",
            "user_id": "ann",
            "expirationDate": "2025-06-01",
            "immutable": True,
        },
    ]
    done = plain.admin.import_foreign(data)
    assert (done.refused, done.unplaced) == ((), {"memory.immutable": 1})
    ann = plain.scope("user:ann")
    now = {one.content: one.created_at for one in ann.memories.list().memories}
    day = START + timedelta(days=30)
    assert now == {"Tea is hot": START, "Soup is hot": day, "Ice is cold": day}
    before = ann.memories.list(as_of=datetime(2025, 5, 31, tzinfo=UTC)).memories
    assert "Rain is wet" in {one.content for one in before}
