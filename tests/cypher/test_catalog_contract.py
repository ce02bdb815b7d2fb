"""Every Cypher file, held to its header, to the server's plan, to its tenant and to law 1."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import neo4j
import pytest

from graphmem.graph import catalog
from graphmem.graph.catalog import LANGUAGE, in_one_map
from graphmem.settings import Settings
from tests.plugins import cypher_checks as checks
from tests.plugins import cypher_walls as walls
from tests.plugins.graph import driver_of, fresh_tenant
from tests.plugins.waiting import eventually

NAMES = catalog.names()
FRAGMENTS = sorted(
    f"fragments/{p.stem}" for p in (catalog.folder("cypher") / "fragments").iterdir()
)
CHANGES = {
    "usage/roll_up": ["DELETE changes s: Event.", "DELETE changes a: Event."],
    "usage/roll_up_sessionless": ["DELETE changes s: Event."],
    "erase/remove_events": ["DELETE changes e: Event."],
    "transfer/remove": [
        "DELETE changes x: Archive, Artifact, Belief, Episode, Event, Item, Memory, Name, "
        "Predicate, Rejection, Reply, Seal, Turn."
    ],
    "erase/redact_mentions": ["SET changes e: Event."],
    "cache/rewire": ["DELETE changes r: Event, REFUTES, SUPPORTS."] * 3,
}
"""What the first law allows: entries of the log, once their ratings are checkpointed; erasure, and
copying it to where a tenant moves."""
WALLED = [name for name in NAMES if not name.startswith("schema/")]
NO_TENANT = {
    "Migration": "the schema is one for all tenants",
    "MigrationLock": "the same",
    "EmbeddingModel": "vectors of all tenants are of one model",
}
"""Nodes that belong to no tenant; files under schema/ touch no others."""
OF_ALL = {
    "schema/due_operations": "a server continues its clients' long calls; gives names alone",
    "schema/next_tenant": "re-embedding goes through all tenants; gives their names alone",
    "schema/served_tenants": "a worker serves the least recently served first; gives times alone",
    "schema/tenants": "an operator lists all tenants; gives their names and counts alone",
}
HANGING = {
    "alias": 1,
    "belief": 203,
    "browser": 65,
    "cache": 24,
    "consolidate": 2,
    "erase": 62,
    "extract": 3,
    "lineage": 23,
    "memory": 14,
    "predicate": 1,
    "recall": 43,
    "reject": 15,
    "seal": 5,
    "transfer": 15,
    "upkeep": 1,
    "usage": 38,
}
"""By folder: nodes that are held by an edge alone, in all procedures, fragments included.

Where a fold follows the edges of thousands of events, to ask each for its tenant would cost more
than the fold. Erasure and export follow the edges of nodes that are inside the wall. What is new
says its tenant: these numbers fall, except where one more procedure includes such a fragment.
"""


def source(name: str) -> tuple[str, str]:
    """Return a file's header and body, fragments not included."""
    head, _, body = (
        (catalog.folder("cypher") / f"{name}.cypher").read_text("utf-8").partition("\n\n")
    )
    return head, body


@pytest.fixture(scope="module")
def driver(migrated: Settings) -> Iterator[neo4j.Driver]:
    with driver_of(migrated) as driver:
        _fill(driver)
        yield driver


def _fill(driver: neo4j.Driver) -> None:
    """Make the graph one in use: the planner weighs what it counts, and scans what is empty."""
    mark = fresh_tenant()
    driver.execute_query(
        """
        UNWIND range(1, 10) AS t
        WITH $mark + t AS tenant
        CREATE (:Tenant {tenant: tenant})
        CREATE (p:Episode {
          tenant: tenant, id: 'p', scope: 'global', occurred_at: datetime(), recorded_at: datetime()
        })
        FOREACH (i IN range(1, 100) | CREATE (:Episode {
          tenant: tenant, id: 'p' + i, scope: 'global',
          recorded_at: datetime() - duration({days: i})
        }))
        WITH tenant, p
        UNWIND range(1, 100) AS i
        CREATE (m:Memory {
          tenant: tenant, id: 'm' + i, scope: 'global', status: 'current', content: 'word ' + i,
          created_at: datetime(), recorded_at: datetime()
        })
        CREATE (u:Turn {
          tenant: tenant, id: 'u' + i, scope: 'global', episode_id: 'p', position: i,
          recorded_at: datetime() - duration({days: i})
        })
        CREATE (u)-[:OCCURRED_IN]->(p)
        CREATE (:Rating {
          tenant: tenant, kind: 'Memory', id: m.id, scope: 'global', elo: 1000.0 + i,
          touched_at: datetime()
        })
        WITH tenant, i, m, u, p
        UNWIND range(1, 3) AS j
        CREATE (e:Event {tenant: tenant, id: 'e' + i + '-' + j, scope: 'global', type: 'ADD'})
        CREATE (e)-[:REINFORCES]->(m)
        CREATE (e)-[:OCCURRED_IN]->(p)
        CREATE (e)-[:QUOTES]->(u)
        """,
        mark=mark,
    )
    driver.execute_query(
        """
        UNWIND range(1, 10) AS t
        UNWIND range(1, 40) AS i
        MATCH (newer:Memory {tenant: $mark + t, id: 'm' + i})
        MATCH (older:Memory {tenant: $mark + t, id: 'm' + (i + 40)})
        CREATE (newer)-[:SUPERSEDES {in_force: true}]->(older)
        """,
        mark=mark,
    )
    driver.execute_query(
        """
        UNWIND range(1, 10) AS t
        WITH $mark + t AS tenant
        UNWIND range(1, 100) AS i
        CREATE (p:Predicate {tenant: tenant, id: 'pr' + i, key: 'p' + i, scope: 'global'})
        CREATE (b:Belief {
          tenant: tenant, id: 'b' + i, scope: 'global', status: 'current', statement: 'word ' + i,
          slot_id: 's' + (i % 20), subject_key: 'x' + (i % 20), predicate_key: 'p',
          created_at: datetime(), recorded_at: datetime()
        })
        CREATE (s:Event {tenant: tenant, id: 'policy' + i, scope: 'global', type: 'POLICY'})
        CREATE (s)-[:CONCERNS]->(p)
        WITH tenant, i, b
        UNWIND range(1, 10) AS j
        CREATE (e:Event {
          tenant: tenant, id: 'v' + i + '-' + j, scope: 'global', type: 'EVIDENCE', polarity: 1,
          occurred_at: datetime(), recorded_at: datetime()
        })
        CREATE (e)-[:SUPPORTS {
          tenant: tenant, slot_id: b.slot_id, recorded_at: e.recorded_at
        }]->(b)
        """,
        mark=mark,
    )
    _fill_empty_indexes(driver, mark)
    eventually(lambda: _sampled(driver))


def _fill_empty_indexes(driver: neo4j.Driver, mark: str) -> None:
    """Add nodes to each range index that has none: the planner reads an empty index whole."""
    indexes = driver.execute_query(
        "SHOW RANGE INDEXES YIELD entityType, labelsOrTypes, properties "
        "WHERE entityType = 'NODE' RETURN labelsOrTypes[0] AS label, properties AS keys"
    )
    for row in indexes.records:
        driver.execute_query(
            f"""
            {LANGUAGE}
            FILTER NOT EXISTS {{ MATCH (n:$($label)) WHERE all(k IN $keys WHERE n[k] IS NOT NULL) }}
            UNWIND range(1, 10) AS t
            UNWIND range(1, CASE WHEN $keys = ['tenant'] THEN 1 ELSE 100 END) AS i
            CREATE (n:$($label))
            FOREACH (k IN $keys | SET n[k] = 'x' + t + '-' + i)
            SET n.tenant = $mark + t
            """,
            label=row["label"],
            keys=row["keys"],
            mark=mark,
        )


def _sampled(driver: neo4j.Driver) -> bool:
    """Whether the server has counted about what its indexes hold now; ask it to."""
    driver.execute_query("CALL db.resampleOutdatedIndexes()")
    [row] = driver.execute_query("CALL db.stats.retrieve('GRAPH COUNTS') YIELD data").records
    indexes = [one for one in row["data"]["indexes"] if one["indexType"] == "RANGE"]
    return all(one["updatesSinceEstimation"] <= one["totalSize"] for one in indexes)


def operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from operators(child)


def test_there_are_files() -> None:
    assert len(NAMES) > 20
    assert checks.APPEND_EVENT in FRAGMENTS


@pytest.mark.system
@pytest.mark.parametrize("name", NAMES)
def test_the_header_agrees_with_the_plan(name: str, driver: neo4j.Driver) -> None:
    procedure = catalog.procedure(name)
    # EXPLAIN needs no parameters. A plan that is kept may be of a graph that was still empty.
    query = in_one_map(catalog.query(name, dict))
    text = neo4j.Query(f"{LANGUAGE.strip()} replan=force EXPLAIN {query}")
    with driver.session() as session:
        result = session.run(text)
        keys, summary = list(result.keys()), result.consume()
    assert summary.plan is not None
    found = [*operators(summary.plan)]
    assert checks.wrong_plan(procedure, str(summary.query_type), keys, found) == []


def test_name_summary_and_length() -> None:
    wrong = {}
    for name in (*NAMES, *FRAGMENTS):
        head, body = source(name)
        summary = head.splitlines()[0].removeprefix("//").strip()
        wrong[name] = checks.wrong_name(name) + checks.wrong_shape(name, summary, body)
    assert {name: said for name, said in wrong.items() if said} == {}


def test_events_are_made_in_one_place() -> None:
    wrong = {n: checks.wrong_births(n, source(n)[1]) for n in (*NAMES, *FRAGMENTS)}
    assert {name: said for name, said in wrong.items() if said} == {}


def test_the_one_place_makes_an_event() -> None:
    assert checks.wrong_births("fragments/other", source(checks.APPEND_EVENT)[1]) != []


def test_events_never_change() -> None:
    found = {name: checks.wrong_changes(catalog.procedure(name).text) for name in NAMES}
    assert {name: changed for name, changed in found.items() if changed} == CHANGES


def test_a_map_is_never_assigned_whole() -> None:
    found = {name: checks.wrong_assignments(catalog.procedure(name).text) for name in NAMES}
    assert {name: said for name, said in found.items() if said} == {}


def test_a_whole_map_is_noticed_wherever_something_is_assigned() -> None:
    found = {name: list(checks.assigned_whole(catalog.procedure(name).text)) for name in NAMES}
    assert [name for name, noticed in found.items() if [] in noticed] == []


def test_there_are_places_where_something_is_assigned() -> None:
    texts = [catalog.procedure(name).text for name in NAMES]
    assert sum(len(list(checks.assigned_whole(text))) for text in texts) > 100


def test_every_pattern_stays_inside_its_tenant() -> None:
    assert WALLED
    found = {name: walls.wrong_walls(catalog.procedure(name).text) for name in WALLED}
    assert {name: said for name, said in found.items() if said} == {}


def test_what_hangs_by_an_edge_alone_is_counted() -> None:
    found = Counter[str]()
    for name in WALLED:
        found[name.partition("/")[0]] += walls.hanging(catalog.procedure(name).text)
    assert found == Counter(HANGING)


def unnoticed(name: str) -> list[int]:
    """Return which of a file's walls can be taken away with nothing said."""
    text = catalog.procedure(name).text
    before = walls.hanging(text)
    taken = list(walls.weakened(text))
    assert taken, name
    return [n for n, (wrong, now) in enumerate(taken) if not wrong and now <= before]


def test_taking_any_one_wall_away_is_noticed() -> None:
    """No `$tenant` of any file can be left out: a pattern stands open, or one more node hangs."""
    assert {name: found for name in WALLED if (found := unnoticed(name))} == {}


def test_what_has_no_tenant_touches_nothing_that_has_one() -> None:
    for name in sorted({*NAMES} - {*WALLED, *OF_ALL}):
        text = catalog.procedure(name).text
        nodes = [part for part in checks.every_part(text) if part.kind == "node"]
        labelled = {part.name for part in nodes if part.labels}
        assert {label for part in nodes for label in part.labels} <= NO_TENANT.keys(), name
        assert {part.name for part in nodes} <= labelled, name


LONGEST = 250
HOT = {
    "belief/append": LONGEST,
    "belief/current": 396,
    "belief/explain": 435,
    "belief/states": 498,
    "commit/find_existing": LONGEST,
    "commit/write": LONGEST,
    "episode/add_turns": LONGEST,
    "recall/current": LONGEST,
    "recall/filtered": 278,
    "recall/hits": 637,
    "recall/vitality": LONGEST,
}
"""Most lines of the queries that people wait for, fragments included: a server takes about 0.1 ms a
character to plan one. Those above 250 are one query: recall/hits in four parts took 44 % longer."""


def test_queries_that_people_wait_for_stay_short() -> None:
    lines = {name: len(catalog.procedure(name).text.splitlines()) for name in HOT}
    assert {name: n for name, n in lines.items() if n > HOT[name]} == {}


GUARDED = re.compile(r"^ *FILTER (.*[^{\n])\n *(?://.*\n *)*(?:OPTIONAL )?MATCH\b", re.MULTILINE)
VARIABLE = re.compile(r"(?<![$.\w'])[a-z]\w*(?![\w(])(?! *:)")


def test_no_filter_of_parameters_precedes_a_match() -> None:
    """The server applies such a filter after it has read what the MATCH finds."""
    found = [
        f"{path.stem}: FILTER {condition}"
        for path in sorted(catalog.folder("cypher").rglob("*.cypher"))
        for condition in GUARDED.findall(path.read_text("utf-8"))
        if "$" in condition and not VARIABLE.search(re.sub(r"'[^']*'", "", condition))
    ]
    assert found == []
