"""What Browser is given to draw: whole when it is little, a page and counts when it is much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import neo4j.graph
import pytest
from neo4j import NotificationClassification

from graphmem import Handle
from graphmem.graph import catalog, drawing
from graphmem.settings import Settings
from tests.plugins.graph import driver_of

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
SCOPE = "global"


class Picture:
    """Every node and relationship in the rows of a statement, and the rows."""

    def __init__(self, records: list[neo4j.Record]) -> None:
        self.rows = records
        self.nodes: dict[str, neo4j.graph.Node] = {}
        self.edges: dict[str, neo4j.graph.Relationship] = {}
        for record in records:
            for value in record.values():
                self._take(value)

    def _take(self, value: Any) -> None:
        match value:
            case neo4j.graph.Node():
                self.nodes[value.element_id] = value
            case neo4j.graph.Relationship():
                self.edges[value.element_id] = value
            case neo4j.graph.Path():
                self._take(list(value.nodes))
                self._take(list(value.relationships))
            case dict():
                self._take(list(value.values()))
            case list():
                for inner in value:
                    self._take(inner)

    @property
    def labels(self) -> dict[str, int]:
        return dict(Counter(next(iter(node.labels)) for node in self.nodes.values()))

    @property
    def types(self) -> dict[str, int]:
        return dict(Counter(edge.type for edge in self.edges.values()))


Draw = Callable[..., Picture]


@pytest.fixture
def draw(migrated: Settings, tenant: str) -> Iterator[Draw]:
    """Run what a link puts into the editor, as it stands there."""
    with driver_of(migrated) as driver:

        def drawn(kind: str, **given: Any) -> Picture:
            page = {name: given.pop(name) for name in ("limit", "skip") if name in given}
            text = drawing.query(kind, (given.pop("tenant", tenant), SCOPE), given, **page)
            done = driver.execute_query(text, routing_=neo4j.RoutingControl.READ)
            # Browser shows them to people; a graph that is new knows few names.
            told = {status.classification for status in done.summary.gql_status_objects}
            assert told <= {
                NotificationClassification.UNKNOWN,
                NotificationClassification.UNRECOGNIZED,
            }
            return Picture(done.records)

        yield drawn


def evidence(plain: Handle, count: int) -> str:
    """Give a belief so much evidence, each from a turn of one of ten episodes; return its id."""
    spoken = []
    for day in range(min(count, 10)):
        session = plain.session(f"day {day}")
        said = {"role": "user", "content": f"On day {day} it was Porto.", "at": MAY}
        session.add_messages([said])
        [turn] = session.episodes.turns(session.episode_id).turns
        spoken.append((session.episode_id, turn.id))
    recorded = plain.observe_many(
        {
            "subject": "ada", "predicate": "lives_in", "object": "Porto", "confidence": 0.6,
            "kind": "refuting" if n % 5 == 4 else "supporting",
            "source_type": "TOOL" if n % 2 else "EXPLICIT", "source": f"s{n % 3}",
            "at": MAY + timedelta(hours=n), "event_id": f"e{n:03}",
            "episode_id": spoken[n % 10][0], "turn_id": spoken[n % 10][1],
        }
        for n in range(count)
    )  # fmt: skip
    return recorded[0].belief_id


def test_five_events_are_drawn_whole(plain: Handle, draw: Draw) -> None:
    claim = ("ada", "lives_in", "Porto")
    older = plain.believe("Ada lives in the north.").belief_id
    [belief] = plain.beliefs.revise(
        older, subject="ada", predicate="lives_in", object="Porto"
    ).newer_ids
    assert evidence(plain, 5) == belief
    plain.remember("Ada lives in Porto.", claims=[claim], event_id="claim", at=MAY)
    plain.beliefs.retract("e000")
    [newer] = plain.beliefs.revise(belief, "Ada lives in Vila Nova de Gaia.").newer_ids

    seen = draw("belief", id=belief)

    [row] = seen.rows
    assert row["belief"]["id"] == belief
    # Five pieces of evidence, the claim's, the retraction, two revisions, the newer one's wording.
    assert seen.labels == {"Belief": 3, "Event": 10, "Turn": 5, "Episode": 5, "Memory": 1}
    assert seen.types == {
        "SUPPORTS": 5, "REFUTES": 1, "CONCERNS": 3, "QUOTES": 5, "OCCURRED_IN": 10,
        "RETRACTS": 1, "SUPERSEDES": 2, "CLAIMS": 1,
    }  # fmt: skip
    counts = {(c["edge"], c["of"]): c["events"] for c in row["counts"]}
    assert counts == {
        ("SUPPORTS", "EXPLICIT"): 3, ("SUPPORTS", "TOOL"): 2, ("REFUTES", "EXPLICIT"): 1,
        ("CONCERNS", "REVISE"): 2, ("CONCERNS", "BELIEVE"): 1,
    }  # fmt: skip
    assert sum(c["retractions"] for c in row["counts"]) == 1
    assert {older, newer} < {node.get("id") for node in seen.nodes.values()}


def test_of_five_hundred_a_page_is_drawn_and_the_counts_are_those_of_all(
    plain: Handle, draw: Draw
) -> None:
    belief = evidence(plain, 500)

    seen = draw("belief", id=belief, limit=6)

    [row] = seen.rows
    assert seen.labels["Event"] == 12
    assert len(seen.nodes) <= 1 + 3 * 12
    counts = {(c["edge"], c["of"]): c for c in row["counts"]}
    assert {key: c["events"] for key, c in counts.items()} == {
        ("SUPPORTS", "EXPLICIT"): 200, ("SUPPORTS", "TOOL"): 200,
        ("REFUTES", "EXPLICIT"): 50, ("REFUTES", "TOOL"): 50,
    }  # fmt: skip
    assert {c["sources"] for c in counts.values()} == {3}
    newest = counts["REFUTES", "TOOL"]["newest"]
    assert datetime.fromisoformat(newest) == MAY + timedelta(hours=499)

    supports = [n for n in range(500) if n % 5 != 4]
    pages = [drawn(draw("belief", id=belief, limit=6, skip=skip)) for skip in (0, 6)]
    assert pages[0] & {f"e{n:03}" for n in supports} == {f"e{n:03}" for n in supports[-6:]}
    assert pages[1] & {f"e{n:03}" for n in supports} == {f"e{n:03}" for n in supports[-12:-6]}
    assert drawn(draw("belief", id=belief, limit=6, skip=500)) == set()


def drawn(seen: Picture) -> set[str]:
    return {node["id"] for node in seen.nodes.values() if "Event" in node.labels}


def test_a_memory_with_its_chain_and_its_claims(plain: Handle, draw: Draw) -> None:
    claim = ("ada", "lives_in", "Porto")
    with plain.session("monday") as session:
        session.add_messages([{"role": "user", "content": "I live in Porto.", "at": MAY}])
        old = session.remember("Ada lives in Porto.", claims=[claim], at=MAY).memory_id
        session.remember("Ada lives in Porto.", at=MAY)
    plain.supersede(str(old), "Ada lives in Lisbon.")

    seen = draw("memory", id=old)
    assert seen.labels == {"Memory": 2, "Event": 3, "Episode": 1, "Belief": 1}
    assert seen.types["SUPERSEDES"] == seen.types["CLAIMS"] == seen.types["CONCERNS"] == 1
    assert seen.types["REINFORCES"] == 2

    chain = draw("chain", id=old)
    assert (len(chain.rows), chain.rows[0]["items"]) == (2, 2)
    assert chain.types == {"SUPERSEDES": 1, "CONCERNS": 2}
    assert [row["item"]["content"][-7:-1] for row in chain.rows] == ["Lisbon", " Porto"]
    assert len(draw("chain", id=old, limit=1, skip=1).rows) == 1

    newest = draw("memories", limit=1)
    assert [row["memory"]["content"] for row in newest.rows] == ["Ada lives in Lisbon."]
    assert len(draw("memories", limit=1, skip=1).rows) == 1


def test_an_episode_with_a_page_of_its_turns(plain: Handle, draw: Draw) -> None:
    with plain.session("monday") as session:
        session.add_messages(
            [{"role": "user", "content": f"Line {n}.", "at": MAY} for n in range(30)]
        )
        session.remember("There were thirty lines.")
        episode = session.episode_id

    seen = draw("episode", id=episode, limit=20)
    [row] = seen.rows
    assert (row["turn_count"], seen.labels["Turn"]) == (30, 20)
    assert seen.labels["Memory"] == 1
    assert [c["events"] for c in row["counts"] if c["of"] == "ADD"] == [1]
    assert draw("episode", id=episode, limit=20, skip=20).labels["Turn"] == 10


def test_a_slot_side_by_side(plain: Handle, draw: Draw) -> None:
    plain.predicates.declare("lives_in", cardinality="ONE", at=MAY)
    for n, place in enumerate(("Porto", "Lisbon", "Faro")):
        plain.observe("Ada", "lives_in", place, at=MAY + timedelta(days=n))
    seen = draw("slot", subject="ada", predicate="lives_in", limit=2)
    assert [row["belief"]["object"] for row in seen.rows] == ["Faro", "Lisbon"]
    assert {row["values"] for row in seen.rows} == {3}
    assert seen.labels == {"Belief": 2, "Event": 2, "Predicate": 1}


def test_what_a_search_found_in_its_order(plain: Handle, draw: Draw) -> None:
    with plain.session("monday") as session:
        session.add_messages([{"role": "user", "content": "I live in Porto.", "at": MAY}])
        [turn] = session.episodes.turns(session.episode_id).turns
        kept = session.remember("Ada lives in Porto.").memory_id
    ids = [turn.id, kept]
    seen = draw("recall", ids=ids)
    assert [row["item"]["id"] for row in seen.rows] == ids
    assert seen.labels == {"Turn": 1, "Memory": 1, "Event": 1, "Episode": 1}
    assert draw("recall", ids=[]).rows == []


@pytest.mark.parametrize(
    ("kind", "own"),
    [
        (kind, {entry.name for entry in catalog.procedure(f"browser/{name}").params})
        for kind, name in (
            (kind, "recalled" if kind == "recall" else kind) for kind in drawing.LIMITS
        )
    ],
)
def test_nothing_of_another_tenant_is_drawn(
    plain: Handle, draw: Draw, kind: str, own: set[str]
) -> None:
    evidence(plain, 5)
    plain.remember("Ada lives in Porto.")
    given: dict[str, Any] = {"subject": "ada", "predicate": "lives_in"}
    ids = [m.id for m in plain.memories.list().memories] + [
        b.id for b in plain.beliefs.list().beliefs
    ]
    for one in ids:
        asked = {"id": one, "ids": [one], **given}
        wanted = {name: value for name, value in asked.items() if name in own}
        assert draw(kind, tenant="somebody else", **wanted).rows == []
