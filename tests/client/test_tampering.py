"""Direct edits of a sealed graph: each that changes an answer is named by verify."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import Any, LiteralString

import neo4j
import neo4j.exceptions
import neo4j.time

from graphmem import Handle
from tests.plugins.examples import examples
from tests.plugins.graph import NODES

MAY = datetime(2025, 5, 5, tzinfo=UTC)
UNREAD = frozenset({"Tenant", "Checkpoint", "NameLock", "Job", "JobUnit", "Rater", "Rating"})
"""Labels that decide no answer: locks, caches that a check reads past, and the search log's."""
RANKING = frozenset(
    {
        *("embedding", "token_states", "unembedded", "locked_at", "tenant"),
        *("request_hash", "session_id", "stated", "summarised_by", "summarised_turns"),
    }
)
"""Properties that only rank, only refuse writes, or name an owner."""
TYPES = ("ACCESS", "SEARCH", "EVIDENCE", "ADD", "RETRACT", "BELIEVE", "REJECT", "UNREJECT")
TAKE: LiteralString = NODES + (
    "WITH collect(n) AS all UNWIND all AS n OPTIONAL MATCH (n)-[r]->(b) "
    "RETURN [n IN all | {id: elementId(n), labels: labels(n), has: properties(n)}] AS nodes, "
    "collect(CASE WHEN r IS NOT NULL THEN {id: elementId(r), type: type(r), "
    "start: elementId(n), end: elementId(b), has: properties(r)} END) AS links"
)
CLEAR: LiteralString = NODES + "DETACH DELETE n"
PUT: LiteralString = (
    "UNWIND $nodes AS row CREATE (n:$(row.labels)) SET n = row.has "
    "RETURN collect([row.id, elementId(n)]) AS ids"
)
LINK: LiteralString = (
    "UNWIND $links AS row MATCH (a) WHERE elementId(a) = row.start "
    "MATCH (b) WHERE elementId(b) = row.end CREATE (a)-[r:$(row.type)]->(b) SET r = row.has"
)


def plain_times(value: Any) -> Any:
    """Return a value with times as the client writes them, with an offset and not a zone."""
    if isinstance(value, dict):
        return {name: plain_times(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain_times(one) for one in value]
    return value.to_native().astimezone(UTC) if isinstance(value, neo4j.time.DateTime) else value


@dataclass
class Graph:
    """The nodes and relationships of one tenant."""

    nodes: list[dict[str, Any]]
    """Maps: id, labels, has (properties)."""
    links: list[dict[str, Any]]
    """Maps: id, type, start, end, has."""

    def write(self, driver: neo4j.Driver, tenant: str) -> None:
        """Replace everything of the tenant."""

        def work(tx: neo4j.ManagedTransaction) -> None:
            tx.run(CLEAR, tenant=tenant).consume()
            [row] = tx.run(PUT, nodes=self.nodes)
            ids = dict(row["ids"])
            tx.run(
                LINK,
                links=[
                    one | {"start": ids[one["start"]], "end": ids[one["end"]]}
                    for one in self.links
                    if one["start"] in ids and one["end"] in ids
                ],
            ).consume()

        with driver.session() as session:
            session.execute_write(work)

    def alike(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the nodes with the same labels."""
        return [one for one in self.nodes if one["labels"] == node["labels"]]


def taken(driver: neo4j.Driver, tenant: str) -> Graph:
    """Return the graph of a tenant."""
    [row] = driver.execute_query(TAKE, tenant=tenant).records
    return Graph(plain_times(row["nodes"]), plain_times(row["links"]))


def edited(value: Any, random: Random) -> Any:
    """Return another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + random.choice([-1, 1, 1_000])
        case float():
            return value * 0.5 + 0.01
        case str():
            return random.choice([value + "x", value.upper(), value[1:], "x"])
        case list():
            return random.choice([value[1:], [*value, *value[:1]], []])
        case _:
            return value + timedelta(days=random.choice([-30, 1]))


def names_of(node: dict[str, Any]) -> list[str]:
    return sorted(node["has"].keys() - RANKING)


def change(graph: Graph, random: Random, node: dict[str, Any]) -> str:
    """Change a property, perhaps to the value of another node."""
    name = random.choice(names_of(node))
    value = node["has"][name]
    others = [
        one["has"][name]
        for one in graph.alike(node)
        if one["has"].get(name) not in (None, value) and name not in ("id", "key")
    ]
    borrowed = others and random.random() < 0.5
    node["has"][name] = random.choice(others) if borrowed else edited(value, random)
    return f"{name} = {node['has'][name]!r}"


def unset(_: Graph, random: Random, node: dict[str, Any]) -> str:
    name = random.choice([one for one in names_of(node) if one not in ("id", "key", "scope")])
    del node["has"][name]
    return f"no {name}"


def delete(graph: Graph, _: Random, node: dict[str, Any]) -> str:
    graph.nodes.remove(node)
    return "deleted"


def retype(graph: Graph, random: Random, _: dict[str, Any]) -> str:
    """Give an event another type."""
    event = random.choice([one for one in graph.nodes if one["labels"] == ["Event"]])
    event["has"]["type"] = random.choice(TYPES)
    return f"instead, {event['has']['id']} becomes {event['has']['type']}"


def plant(graph: Graph, random: Random, node: dict[str, Any]) -> str:
    """Add a copy of a node with its relationships, perhaps of the log, or as unsealed."""
    if node["labels"] == ["Seal"]:
        return "nothing"
    new = {**node, "id": "new", "has": {**node["has"], "id": "x" + str(node["has"].get("id"))}}
    if node["labels"] == ["Event"]:
        new["has"]["occurred_at"] += timedelta(days=random.choice([-30, 0, 1, 30]))
        if random.random() < 0.3:
            new["has"]["type"] = random.choice(TYPES[:2])
    graph.nodes.append(new)
    graph.links += [
        one | {side: "new" if one[side] == node["id"] else one[side] for side in ("start", "end")}
        for one in graph.links
        if node["id"] in (one["start"], one["end"]) and one["type"] != "SEALS"
    ]
    if random.random() < 0.5:
        [tenant] = [one["id"] for one in graph.nodes if one["labels"] == ["Tenant"]]
        waits = {"id": "w", "type": "UNSEALED", "start": tenant, "end": "new", "has": {}}
        graph.links.append(waits)
    return "copied"


def unlink(graph: Graph, random: Random, _: dict[str, Any]) -> str:
    link = random.choice(graph.links)
    graph.links.remove(link)
    return f"instead, {link['type']} is deleted"


def rewire(graph: Graph, random: Random, _: dict[str, Any]) -> str:
    """Move an end of a relationship to another node of the same kind."""
    link, side = random.choice(graph.links), random.choice(["start", "end"])
    [end] = [one for one in graph.nodes if one["id"] == link[side]]
    link[side] = random.choice(graph.alike(end))["id"]
    return f"instead, {link['type']} has another {side}"


def rename(graph: Graph, random: Random, _: dict[str, Any]) -> str:
    """Give a relationship another type."""
    link, kinds = random.choice(graph.links), sorted({one["type"] for one in graph.links})
    before, link["type"] = link["type"], random.choice(kinds)
    return f"instead, {before} becomes {link['type']}"


def rewrite(graph: Graph, random: Random, _: dict[str, Any]) -> str:
    """Change a property of a relationship."""
    link = random.choice([one for one in graph.links if one["has"]])
    name = random.choice(sorted(link["has"]))
    link["has"][name] = edited(link["has"][name], random)
    return f"instead, {link['type']}.{name} = {link['has'][name]!r}"


EDITS: tuple[Callable[[Graph, Random, dict[str, Any]], str], ...] = (
    *(change, change, change, unset, delete, plant, retype, unlink, rewire, rename, rewrite),
)


def edit(whole: Graph, random: Random) -> tuple[str, Graph]:
    """Return a description of an edit, and the graph after it."""
    graph = deepcopy(whole)
    node = random.choice([one for one in graph.nodes if not UNREAD & {*one["labels"]}])
    name = f"{node['labels'][0]} {node['has'].get('id')}"
    return f"{name}: {random.choice(EDITS)(graph, random, node)}", graph


def told(value: Any) -> Any:
    """Return an answer without the time of the read, and the digits that the clock moves."""
    if isinstance(value, float):
        return round(value, 2)
    if isinstance(value, dict):
        return {name: told(one) for name, one in value.items() if name not in ("valid", "known")}
    return [told(one) for one in value] if isinstance(value, list | tuple) else value


def questions(memory: Handle, ids: dict[str, list[str]]) -> Iterator[Callable[[], Any]]:
    """Yield every read that the edits may change."""
    for subject in ("alice", "al", "bob"):
        for predicate in ("lives_in", "likes", "works_for"):
            yield partial(memory.current, subject, predicate)
    for listed in (memory.beliefs, memory.memories, memory.aliases, memory.predicates):
        yield listed.list
    yield memory.beliefs.slots
    yield memory.episodes.list
    yield lambda: memory.recall("Where does Alice live, and what does she drink?").bites
    yield lambda: memory.context("Where does Alice live?").text
    for one in ids["Belief"]:
        yield partial(memory.evidence_for, one)
        yield partial(memory.beliefs.history, one)
        yield partial(memory.beliefs.chain, one)
    for one in ids["Memory"]:
        yield partial(memory.history, one)
        yield partial(memory.memories.chain, one)
    for one in ids["Episode"]:
        yield partial(memory.episodes.get, one)
        yield partial(memory.episodes.turns, one)


def outcome(ask: Callable[[], Any]) -> Any:
    """Return an answer as plain values; a failure is an answer, too."""
    try:
        said = ask()
    except Exception as failed:  # noqa: BLE001 - reads meet what no release writes
        return type(failed).__name__
    many = said if isinstance(said, list | tuple) else [said]
    return told([one.model_dump() if hasattr(one, "model_dump") else one for one in many])


def answers(memory: Handle, ids: dict[str, list[str]]) -> list[str]:
    asked = map(outcome, questions(memory, ids))
    return [json.dumps(one, default=str, sort_keys=True) for one in asked]


def filled(memory: Handle) -> dict[str, list[str]]:
    """Write a little of everything that reads use; return ids by label."""
    memory.predicates.declare(
        "works_for", template="{subject} works for {object}", cardinality="ONE"
    )
    memory.observe("alice", "lives_in", "Porto", at=MAY, cardinality="ONE", confidence=0.7)
    memory.observe("alice", "lives_in", "Lisbon", at=MAY + timedelta(days=9), event_id="lisbon")
    memory.observe("bob", "works_for", "Acme", at=MAY)
    memory.aliases.add("al", "alice")
    first = memory.remember("Alice drinks green tea every morning", tags=["tea"], at=MAY)
    second = memory.supersede(str(first.memory_id), "Alice drinks black coffee every morning")
    memory.remember("Bob works for Acme", claims=[("bob", "works_for", "Acme")], at=MAY)
    held = memory.believe("The pool should have 4 threads", confidence=0.6).belief_id
    memory.add_evidence(held, "refuting", 0.8)
    revised = memory.beliefs.revise(held, "The pool should have 8 threads")
    memory.beliefs.retract("lisbon")
    with memory.session("s1") as session:
        session.add_messages([{"role": "user", "content": "I live near the river in Porto."}])
        [turn] = session.episodes.turns(session.episode_id).turns
        session.observe("alice", "likes", "rivers", turn_id=turn.id, at=MAY)
        episode = session.episode_id
    wrong = memory.observe("alice", "likes", "whisky", at=MAY).belief_id
    memory.reject(wrong, reason="no")
    return {
        "Belief": [held, *revised.newer_ids, wrong],
        "Memory": [str(first.memory_id), second.newer_id],
        "Episode": [episode],
    }


NAMED: dict[str, tuple[LiteralString, str]] = {
    "a slot": ("MATCH (n:Belief {tenant: $tenant, object: 'Porto'}) SET n.slot_id = 'x'", "belief"),
    "a token": ("MATCH (n:Turn {tenant: $tenant}) REMOVE n.scope_key", "turn"),
    "a ruling": (
        "MATCH (n:Rejection {tenant: $tenant}) SET n.rejects = n.rejects + false, n.paths = "
        "n.paths + '', n.at = n.at + n.at, n.known_at = n.known_at + n.known_at, "
        "n.event_ids = n.event_ids + 'x'",
        "rejection",
    ),
    "a rejected value": (
        "MATCH (n:Rejection {tenant: $tenant}) SET n.value_key = 'x'",
        "rejection",
    ),
    "a text": ("MATCH (n:Turn {tenant: $tenant}) SET n.text = 'I live in Rome.'", "turn"),
    "the class of a turn": ("MATCH (n:Turn {tenant: $tenant}) SET n.trust = 0", "turn"),
    "a turn": ("MATCH (n:Turn {tenant: $tenant}) DETACH DELETE n", "turn"),
    "a planted turn": (
        "MATCH (p:Episode {tenant: $tenant}) CREATE (:Turn {tenant: $tenant, id: 't_x', "
        "scope: p.scope, episode_id: p.id, position: 9, role: 'user', text: 'planted', trust: 4, "
        "occurred_at: p.occurred_at, recorded_at: p.recorded_at})-[:OCCURRED_IN]->(p)",
        "turn",
    ),
    "the text of a memory": (
        "MATCH (n:Memory {tenant: $tenant}) SET n.content = 'x y z'",
        "memory",
    ),
    "the tags of a memory": ("MATCH (n:Memory {tenant: $tenant}) SET n.tags = ['x']", "memory"),
    "a planted memory": (
        "CREATE (:Memory {tenant: $tenant, id: 'm_x', scope: 'global', content: 'planted'})",
        "memory",
    ),
    "the value of a belief": ("MATCH (n:Belief {tenant: $tenant}) SET n.object = 'Rome'", "belief"),
    "a session": ("MATCH (n:Episode {tenant: $tenant}) SET n.session_id = 'x'", "episode"),
    "a name": ("MATCH (n:Name {tenant: $tenant}) SET n.name = 'x'", "name"),
    "a template": (
        "MATCH (n:Predicate {tenant: $tenant}) SET n.template = '{subject}'",
        "predicate",
    ),
    "another reader": ("MATCH (n:Name {tenant: $tenant}) SET n.scope = 'user:eve'", "name"),
    "a type": ("MATCH (n:Event {tenant: $tenant, type: 'RETRACT'}) SET n.type = 'SEARCH'", "event"),
    "an edge": (
        "MATCH (:Memory {tenant: $tenant})-[r:SUPERSEDES]->() "
        "SET r.recorded_at = r.recorded_at - duration('P30D')",
        "memory",
    ),
    "a conversation": (
        "MATCH (:Turn {tenant: $tenant})-[r:OCCURRED_IN]->(:Episode) DELETE r",
        "turn",
    ),
    "a retraction by the search log": (
        "MATCH (t:Event {tenant: $tenant})-[:SUPPORTS]->() WITH t LIMIT 1 "
        "CREATE (:Event {tenant: $tenant, id: 'x', type: 'SEARCH', scope: t.scope, target_id: "
        "t.id, occurred_at: t.occurred_at, recorded_at: t.recorded_at})-[:RETRACTS]->(t)",
        "event",
    ),
    "a claim": ("MATCH (:Memory {tenant: $tenant})-[r:CLAIMS]->() DELETE r", "memory"),
}
"""Direct edits, and the kind of node that verify names."""


def test_what_decides_an_answer_is_sealed_or_compared(
    plain: Handle, driver: neo4j.Driver, tenant: str
) -> None:
    filled(plain)
    head = plain.admin.seal().head
    assert plain.admin.verify(head=head).wrong == ()
    whole = taken(driver, tenant)
    for what, (edit_, kind) in NAMED.items():
        whole.write(driver, tenant)
        assert driver.execute_query(edit_, tenant=tenant).summary.counters.contains_updates, what
        wrong = plain.admin.verify(head=head).wrong
        assert kind in {one.kind for one in wrong}, what
        if "planted" in what:
            assert "added" in {one.found.split(":")[0] for one in wrong}, what


def test_a_rebuild_restores_slots_and_tokens(
    plain: Handle, driver: neo4j.Driver, tenant: str
) -> None:
    ids = filled(plain)
    right = answers(plain, ids)
    for what in ("a slot", "a token"):
        driver.execute_query(NAMED[what][0], tenant=tenant)
    plain.admin.rebuild()
    assert plain.admin.verify().wrong == ()
    assert answers(plain, ids) == right


def test_an_edit_that_changes_an_answer_is_named(
    plain: Handle, driver: neo4j.Driver, tenant: str
) -> None:
    ids = filled(plain)
    head = plain.admin.seal().head
    assert plain.admin.verify(head=head).wrong == ()
    whole, random, missed = taken(driver, tenant), Random(39), []
    right, named = answers(plain, ids), 0
    whole.write(driver, tenant)
    assert plain.admin.verify(head=head).wrong == ()
    for _ in range(examples(15, 200, 2_000)):
        said, graph = edit(whole, random)
        try:
            graph.write(driver, tenant)
        except neo4j.exceptions.ConstraintError:
            continue  # Neo4j refuses the edit.
        found = outcome(partial(plain.admin.verify, head=head))
        # A check that fails shows the edit, too.
        if isinstance(found, str) or found[0]["wrong"] or found[0]["seals"]["late"]:
            named += 1
            continue
        missed += [
            (said, before, now)
            for before, now in zip(right, answers(plain, ids), strict=True)
            if before != now
        ][:1]
    assert missed == []
    assert named > examples(15, 200, 2_000) // 3
