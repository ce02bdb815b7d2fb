"""What mem0 and Graphiti hold, taken in: times and origins kept, once, nothing dropped silently."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from graphmem import AsOf, Handle, Status
from graphmem.errors import InvalidInputError
from tests.plugins.graph import Look

MARCH, MAY, JUNE = (datetime(2025, month, 5, tzinfo=UTC) for month in (3, 5, 6))
ALICE = {
    "id": "m1",
    "memory": "Alice lives in Lisbon",
    "hash": "0f0f",
    "metadata": {"channel": "chat"},
    "categories": ["home", "places"],
    "created_at": "2025-03-05T00:00:00Z",
    "updated_at": "2025-05-04T17:00:00-07:00",
    "user_id": "alice",
    "agent_id": "bot",
    "run_id": "r7",
}
HISTORY = [
    {
        "id": "h2",
        "memory_id": "m1",
        "old_memory": "Alice lives in Porto",
        "new_memory": "Alice lives in Lisbon",
        "event": "UPDATE",
        "created_at": "2025-03-05T00:00:00Z",
        "updated_at": "2025-05-05T00:00:00Z",
        "is_deleted": False,
        "actor_id": None,
        "role": "user",
    },
    {
        "id": "h1",
        "memory_id": "m1",
        "old_memory": None,
        "new_memory": "Alice lives in Porto",
        "event": "ADD",
        "created_at": "2025-03-05T00:00:00Z",
        "updated_at": None,
        "actor_id": "alice",
    },
    *(
        {"id": f"g{n}", "memory_id": "gone", "event": event, "new_memory": text, "created_at": at}
        for n, (event, text, at) in enumerate(
            [
                ("ADD", "The office has a red door", "2025-03-05T00:00:00Z"),
                ("DELETE", None, "2025-06-05T00:00:00Z"),
            ]
        )
    ),
]


TOO_LONG = "scope: has more than 200 characters."


def contents(memory: Handle, **narrowing: Any) -> dict[str, str]:
    found = memory.memories.list(statuses=list(Status), limit=1_000, **narrowing).memories
    return {one.content: one.status.value for one in found}


def test_memories_of_mem0_with_their_history(memory: Handle, look: Look, tenant: str) -> None:
    relations = [{"source": "alice", "relationship": "lives_in", "target": city} for city in "ab"]
    data = {"results": [ALICE], "history": HISTORY, "relations": relations}

    done = memory.admin.import_foreign(data, "mem0")

    alice = memory.scope("user:alice")
    assert contents(alice) == {
        "Alice lives in Lisbon": "current",
        "Alice lives in Porto": "superseded",
        "The office has a red door": "deprecated",
    }
    before = alice.memories.list(as_of=AsOf(valid=datetime(2025, 4, 1, tzinfo=UTC))).memories
    assert {one.content for one in before} == {"Alice lives in Porto", "The office has a red door"}
    [now] = alice.memories.list().memories
    assert (now.created_at, now.tags) == (MAY, ("home", "places"))
    events = look.given_events(tenant)
    assert {"mem0_h1", "mem0_h2", "mem0_g0", "mem0_g1"} <= events.keys()
    creation_order = events["mem0_h1"]
    assert creation_order["occurred_at"].to_native() == MARCH
    assert (creation_order["source"], creation_order["actor"]) == ("mem0", "alice")
    assert creation_order["artifact_ref"] == "mem0:m1"
    assert events["mem0_h2"]["actor"] == "user"
    assert done.done == {"remember": 2, "supersede": 1, "deprecate": 1}
    assert done.unplaced == {
        "memory.hash": 1,
        "memory.metadata": 1,
        "memory.run_id": 1,
        "relations": 2,
    }
    assert done.refused == ()

    again = memory.admin.import_foreign(data, "mem0")

    assert again == done
    assert look.given_events(tenant) == events
    assert memory.admin.verify().wrong == ()


def test_a_list_of_mem0_has_one_text_each(plain: Handle) -> None:
    plain.admin.import_foreign(
        [ALICE, {"id": "m2", "memory": "Tea is hot", "created_at": "2025-03-05"}], "mem0"
    )
    assert contents(plain) == {"Tea is hot": "current"}
    [one] = plain.scope("user:alice", read_scopes=["user:alice"]).memories.list().memories
    assert (one.content, one.created_at) == ("Alice lives in Lisbon", MAY)


def test_what_cannot_be_taken_is_listed_and_the_rest_taken(plain: Handle) -> None:
    done = plain.admin.import_foreign(
        {
            "memories": [
                {"id": "m1", "memory": "Tea is hot", "created_at": "2025-03-05T00:00:00"},
                {"id": "m2", "created_at": "2025-03-05T00:00:00Z"},
                {"id": "m3", "memory": "Soup is hot", "created_at": "yesterday"},
                {"id": "m4", "memory": "Soup is hot"},
                {"id": "m5", "memory": "Ice is cold", "created_at": "2999-03-05T00:00:00Z"},
                {"id": "m6", "memory": "Ice is cold", "created_at": "2025-03-05", "user_id": 5},
                "no map",
            ],
            "history": [
                {"id": "h", "memory_id": "m1", "event": "NONE", "created_at": "2025-03-05"}
            ],
        },
        "mem0",
    )
    assert contents(plain) == {"Tea is hot": "current"}
    assert [line.split(".")[0] for line in done.refused] == [
        "history 0: event 'NONE' must be ADD, UPDATE or DELETE",
        "memory 1: memory is missing",
        "memory 2: created_at: 'yesterday' is not a time; write it like 2026-03-01T09:00:00+00:00",
        "memory 3: the time is missing",
        "memory 5: user_id must be a string",
        "memory 6: the record must be a mapping of fields",
        "mem0:m5: at: 2999-03-05T00:00:00+00:00 must not be in the future",
    ]


@pytest.mark.parametrize("owner", ["user_id", "agent_id", "run_id"])
def test_an_owner_too_long_for_a_scope_is_refused(
    plain: Handle, look: Look, tenant: str, owner: str
) -> None:
    longest = "u" * (200 - len(owner.replace("_id", ":")))
    texts = [
        {"id": f"m{n}", "memory": f"Tea is {n}", "created_at": "2025-03-05", owner: name}
        for n, name in enumerate([longest, f"{longest}u", "u" * 40_000])
    ]
    done = plain.admin.import_foreign(texts, "mem0")
    assert done.refused == tuple(f"mem0:m{n}: {TOO_LONG}" for n in (1, 2))
    scopes = look.rows("MATCH (m:Memory {tenant: $tenant}) RETURN m.scope AS at", tenant=tenant)
    assert scopes == [{"at": f"{owner.removesuffix('_id')}:{longest}"}]
    assert contents(plain.scope(scopes[0]["at"])) == {"Tea is 0": "current"}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"group_id": "g" * 195}, "scope: has more than 200 characters"),
        ({"uuid": "p" * 192}, "id: has more than 200 characters"),
        ({"name": "\ud800"}, "summary: must be valid Unicode"),
        ({"content": "\ud800"}, "content: must be valid Unicode"),
        ({"valid_at": "0001-01-01T00:00:00+23:00"}, "at: is before the year 1"),
    ],
)
def test_an_episode_of_graphiti_passes_the_checks_of_other_episodes(
    plain: Handle, look: Look, tenant: str, wrong: dict[str, str], says: str
) -> None:
    episode = {"uuid": "p1", "content": "Ada joined", "valid_at": "2025-03-01"} | wrong
    done = plain.admin.import_foreign({"episodes": [episode]}, "graphiti")
    assert says in done.refused[0]
    assert look.rows("MATCH (p:Episode {tenant: $tenant}) RETURN p", tenant=tenant) == []


def edge(uuid: str, **fields: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "group_id": "team",
        "source_node_uuid": "n1",
        "target_node_uuid": "n2",
        "created_at": "2025-06-05T00:00:00Z",
        "name": "WORKS_AT",
        "fact": "Ada works at Acme.",
        "fact_embedding": [0.1, 0.2],
        "episodes": ["p1", "p2", "elsewhere"],
        "valid_at": "2025-03-05T00:00:00Z",
        "invalid_at": None,
        "expired_at": None,
        "attributes": {},
        **fields,
    }


GRAPHITI = {
    "nodes": [
        {"uuid": "n1", "name": "Ada", "group_id": "team", "summary": "Ada is.", "labels": ["X"]},
        {"uuid": "n2", "name": "Acme", "group_id": "team", "summary": ""},
        {"uuid": "n3", "name": "Bolt", "group_id": "team"},
    ],
    "episodes": [
        {
            "uuid": f"p{n}",
            "name": f"talk {n}",
            "group_id": "team",
            "content": f"user: Ada joined Acme, said {n}",
            "source": "message",
            "valid_at": f"2025-03-0{n}T00:00:00Z",
            "entity_edges": ["e1"],
        }
        for n in (1, 2)
    ],
    "edges": [
        edge("e1", invalid_at="2025-06-05T00:00:00Z", expired_at="2025-06-06T00:00:00Z"),
        edge("e2", target_node_uuid="n3", episodes=[], valid_at="2025-05-05T00:00:00Z"),
        edge("e3", name="OWNS", episodes=["p1"], expired_at="2025-06-06T00:00:00Z"),
        edge("e4", target_node_uuid="n9"),
    ],
}


def test_facts_of_graphiti_become_evidence(memory: Handle, look: Look, tenant: str) -> None:
    done = memory.admin.import_foreign(GRAPHITI, "graphiti")

    team = memory.scope("group:team")
    [spring] = team.current(
        "Ada", "works_at", as_of=AsOf(valid=datetime(2025, 4, 1, tzinfo=UTC))
    ).candidates
    assert (spring.object, spring.events) == ("Acme", 2)
    june = team.current("Ada", "works_at").candidates
    by_object = {one.object: one.belief for one in june}
    assert by_object["Bolt"] > by_object["Acme"]
    assert team.current("Ada", "owns").candidates == ()
    events = look.given_events(tenant)
    assert {"graphiti_e1", "graphiti_e1_p2", "graphiti_e1_invalid", "graphiti_e3_expired"} <= {
        *events
    }
    first = events["graphiti_e1"]
    assert first["occurred_at"].to_native() == MARCH
    assert (first["source"], first["source_type"]) == ("graphiti", "EXTRACTOR")
    assert first["artifact_ref"] == "graphiti:e1"
    assert "Ada works at Acme." in first["payload"]
    assert ["OCCURRED_IN", "Episode", "graphiti_p1"] in first["edges"]
    assert team.episodes.get("graphiti_p1").content == "user: Ada joined Acme, said 1"
    assert events["graphiti_e1_invalid"]["occurred_at"].to_native() == JUNE
    assert done.done == {"episode": 2, "observe": 6, "retract": 1}
    assert done.refused == ("edge 3: target 'n9' is not among the nodes.",)
    assert done.unplaced == {
        "edge.created_at": 3,
        "edge.episodes": 1,
        "edge.expired_at": 1,
        "episode.source": 2,
        "node.labels": 1,
        "node.summary": 1,
    }

    assert memory.admin.import_foreign(GRAPHITI) == done
    assert look.given_events(tenant) == events


@pytest.mark.parametrize("cardinality", ["ONE", "MANY"])
def test_a_fact_of_graphiti_that_ended_leads_until_its_end(
    plain: Handle, cardinality: Literal["ONE", "MANY"]
) -> None:
    plain.predicates.declare("rents", cardinality=cardinality)
    edge = {
        "uuid": "e1",
        "name": "RENTS",
        "source_node_uuid": "n1",
        "target_node_uuid": "n2",
        "fact": "Ada rents the mill.",
        "valid_at": "2025-03-05T00:00:00Z",
        "invalid_at": "2025-06-05T00:00:00Z",
    }
    nodes = [{"uuid": "n1", "name": "Ada"}, {"uuid": "n2", "name": "the mill"}]
    plain.admin.import_foreign({"nodes": nodes, "edges": [edge]})
    assert plain.current("Ada", "rents").leader is None
    [ended] = plain.current("Ada", "rents").candidates
    assert ended.object == "the mill"
    assert ended.belief == pytest.approx(0, abs=1e-6)
    then = plain.current("Ada", "rents", as_of=MAY).leader
    assert then is not None
    assert then.object == "the mill"


@pytest.mark.parametrize(
    ("data", "source"),
    [
        ([], None),
        ({"nodes": []}, None),
        ("text", None),
        ([], "zep"),
        ({}, "mem0"),
        ("text", "mem0"),
        ({"results": {}}, "mem0"),
        ([], "graphiti"),
        ({"nodes": []}, "graphiti"),
        ({"edges": 5}, "graphiti"),
        (None, "graphiti"),
    ],
)
def test_what_is_something_else_altogether_is_refused(
    plain: Handle, data: Any, source: str | None
) -> None:
    with pytest.raises(InvalidInputError):
        plain.admin.import_foreign(data, source)
