"""The checks on Cypher files fail when they should: each is fed texts that break its rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.graph.catalog import Procedure, parse
from tests.plugins import cypher_checks as checks
from tests.plugins import cypher_walls as walls
from tests.plugins.cypher_text import Group, clauses, paths, read

HEADER = (
    "// One.\n// mode: {mode}\n// rows: {rows}\n// plan: {plan}\n// allow: {allow}\n// columns:\n"
)
COLUMN = "//   - id  string  of it\n"
MATCHED = "MATCH (m:Memory {tenant: $tenant}) "


def made(
    mode: str = "read", rows: str = "many", plan: str = "", allow: str = "", columns: str = COLUMN
) -> Procedure:
    head = HEADER.format(mode=mode, rows=rows, plan=plan, allow=allow)
    return parse("a/b", f"{head}{columns}\nRETURN 1 AS id")


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (m:Memory) RETURN m",
        "MATCH (m) RETURN m",
        "match (m:Memory {id: $id}) return m",
        "MATCH (m:Memory {tenant: $other}) RETURN m",
        "MATCH (m:Memory {tenant: $tenant + 'x'}) RETURN m",
        "MATCH (m:Memory {tenant: 'tenant: $tenant'}) RETURN m",
        "MATCH (m:Memory) /* {tenant: $tenant} */ RETURN m",
        "MATCH (m:Memory) // WHERE m.tenant = $tenant\nRETURN m",
        "MATCH (m:Memory) WHERE m.tenant = $tenant OR m.scope = 'global' RETURN m",
        "MATCH (m:Memory) WHERE NOT m.tenant = $tenant RETURN m",
        "MATCH (m:Memory) WHERE (m.tenant = $tenant OR true) AND m.id = $id RETURN m",
        "MATCH (m:Memory) WHERE m.tenant <> $tenant RETURN m",
        "MATCH (m:Memory) WHERE m.tenant = $tenant XOR true RETURN m",
        "MATCH (m:Memory) WHERE coalesce(m.tenant = $tenant, true) RETURN m",
        "MATCH (m:Memory) WHERE n.tenant = $tenant RETURN m",
        "MATCH (m:Memory WHERE m.id = $id) RETURN m",
        "OPTIONAL MATCH (m:`Memory`) RETURN m",
        MATCHED + "MATCH (e:Event {id: $id}) RETURN m, e",
        MATCHED + "MATCH (m)--(x), (e:Event) RETURN e",
        MATCHED + "WITH m.id AS id MATCH (m:Memory {id: id}) RETURN m",
        MATCHED + "CALL () { MATCH (m) RETURN m AS other } RETURN other",
        MATCHED + "CALL (m) { MATCH (e:Event) RETURN e } RETURN e",
        MATCHED + "RETURN COUNT { (:Turn)-[:OCCURRED_IN]->(:Episode) } AS n",
        MATCHED + "WHERE EXISTS { MATCH (e:Event) WHERE e.id = m.id } RETURN m",
        MATCHED + "RETURN COLLECT { MATCH (e:Event) RETURN e.id } AS ids",
        MATCHED + "RETURN [(e:Event)-[:CONCERNS]->(x) | e.id] AS ids",
        MATCHED + "WHERE (a:Memory)-[:SUPERSEDES]->(b:Memory) RETURN m",
        MATCHED + "RETURN m {.id, n: size([(a:Memory)<-[:SUPERSEDES]-(b) | 1])} AS card",
        MATCHED + "RETURN m.id AS id UNION ALL MATCH (m:Turn) RETURN m.id AS id",
        MATCHED + "RETURN m UNION ALL MATCH (m) RETURN m",
        "MATCH (m:Turn) RETURN m.id AS id UNION " + MATCHED + "RETURN m.id AS id",
        "MATCH (n:Memory) SEARCH n IN (VECTOR INDEX i FOR $v WHERE n.scope = 's' LIMIT 9) RETURN n",
        "MATCH (n:Memory) SEARCH n IN (VECTOR INDEX i FOR $v LIMIT 9) "
        "WHERE n.tenant = $tenant RETURN n",
        "MATCH (m:Memory) SET m.a = 1 WITH m WHERE m.tenant = $tenant RETURN m",
        "MATCH (m:Memory) WITH m LIMIT 9 WHERE m.tenant = $tenant RETURN m",
        "MATCH (m:Memory) WITH m, count(*) AS n WHERE m.tenant = $tenant RETURN m, n",
        "CALL db.index.fulltext.queryNodes('i', $words.a) YIELD node, score RETURN node",
        "CALL db.index.fulltext.queryNodes('i', $words.a) YIELD node AS n "
        "WHERE n.scope = 's' RETURN n",
        "CALL db.index.fulltext.queryNodes('i', $w) YIELD node AS n "
        "FILTER n.tenant = $tenant RETURN n",
        "CALL db.index.fulltext.queryRelationships('i', $words.a) YIELD relationship AS r RETURN r",
        MATCHED + "CREATE (m)-[:SUPPORTS {slot_id: 's'}]->(m)",
        "CREATE (m:Memory {id: $id})",
        "CREATE (m:Memory {id: $id}) WITH m WHERE m.tenant = $tenant RETURN m",
        "MERGE (m:Memory {id: $id}) ON CREATE SET m.created_at = 1",
        MATCHED + "CREATE (e:Note {id: 1})-[:CONCERNS]->(m)",
        MATCHED + "MERGE (m)-[:SUPERSEDES]->(x:Memory {id: $id})",
        MATCHED + "SET m.tenant = $tenant",
        MATCHED + "FOREACH (x IN [1] | CREATE (:Turn {id: x}))",
        "MATCH ANY SHORTEST (a:Memory) (()<-[:SUPERSEDES]-()){1,} (b) RETURN b",
    ],
)
def test_a_pattern_outside_the_wall_is_found(text: str) -> None:
    assert walls.wrong_walls(text) != []


@pytest.mark.parametrize(
    "text",
    [
        MATCHED + "RETURN m",
        "MATCH (m:Memory {id: $id, tenant: $tenant}) RETURN m",
        "MATCH (m:Memory) WHERE m.tenant = $tenant AND (m.id = 1 OR m.id = 2) RETURN m",
        "MATCH (m:Memory) WHERE m.id = 1 AND ($tenant = m.tenant AND m.scope = 's') RETURN m",
        "MATCH (m:Memory) FILTER m.tenant = $tenant RETURN m",
        "MATCH (m:Memory WHERE m.tenant = $tenant) RETURN m",
        "MATCH (m:Memory) WITH m WHERE m.tenant = $tenant RETURN m",
        MATCHED + "MATCH (m)<-[:REINFORCES]-(e:Event) MATCH (e)-->(p:Episode) RETURN p",
        MATCHED + "WITH m AS n MATCH (n)--(e:Event) RETURN e",
        MATCHED + "WITH *, 1 AS one MATCH (m)--(e:Event) RETURN e",
        MATCHED + "LET n = m MATCH (n)--(e:Event) RETURN e",
        MATCHED + "CALL (*) { MATCH (m)--(e:Event) RETURN e } MATCH (e)--(t:Turn) RETURN t",
        MATCHED + "CALL (m) { WITH 1 AS one MATCH (m)--(e:Event) RETURN e } RETURN e",
        MATCHED + "WHERE m.name STARTS WITH 'x' RETURN [(m)--(e:Event) WHERE e.id > 1 | e] AS es",
        MATCHED + "RETURN [x IN [1, 2] WHERE x > (1) - (2) | x] AS xs",
        MATCHED + "RETURN COUNT { (m)<-[:CONCERNS]-() } AS n, [x IN m.tags | x] AS tags",
        MATCHED + "MATCH ANY SHORTEST (m) (()<-[s:SUPERSEDES WHERE s.x]-()){1,} (top) RETURN top",
        MATCHED + "UNWIND [m] AS x CREATE (x)-[:NEXT]->(t:Turn {tenant: $tenant, id: 1})",
        "MATCH (n:M) SEARCH n IN (VECTOR INDEX i FOR $v WHERE n.tenant = $tenant LIMIT 9) RETURN n",
        "CALL db.index.fulltext.queryNodes('i', $words.a) YIELD node AS n, score "
        "FILTER n.tenant = $tenant RETURN n",
        "MERGE (m:Memory {tenant: $tenant, id: $id}) ON CREATE SET m.created_at = 1 RETURN m",
    ],
)
def test_a_pattern_inside_the_wall_passes(text: str) -> None:
    assert walls.wrong_walls(text) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (MATCHED + "MATCH (m)--(e:Event {tenant: $tenant}) RETURN e", 0),
        (MATCHED + "MATCH (m)--(e:Event) RETURN e", 1),
        (MATCHED + "RETURN EXISTS { (m)<--(:Event)--(:Turn) } AS said", 2),
        (MATCHED + "MATCH (m)<-[r:SUPPORTS]-(e:Event {tenant: $tenant}) RETURN r", 1),
        (MATCHED + "MATCH (m)<-[r:SUPPORTS]-(m) WHERE r.tenant = $tenant RETURN r", 0),
    ],
)
def test_what_hangs_by_an_edge_is_counted(text: str, count: int) -> None:
    assert walls.hanging(text) == count


def test_each_wall_is_taken_away_in_turn() -> None:
    text = MATCHED + "MATCH (m)--(e:Event {tenant: $tenant}) RETURN e"
    [first, second] = walls.weakened(text)
    assert first == (["MATCH (m:Memory) has no tenant."], 1)
    assert second == ([], 1)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (e:Event {tenant: $tenant})",
        "MERGE (e:Event {tenant: $tenant, id: $id})",
        "create (:Memory:Event)",
        "CREATE (:Memory&Event)",
        "CREATE (e IS Event)",
        "CREATE (e:`Event`)",
        "CREATE (m)-[:NEXT]->(e:Event {id: 1})",
        "CALL () { CREATE (e:Event) }",
        "FOREACH (x IN [1] | CREATE (e:Event {id: x}))",
        "CREATE (e:$($label))",
        "CREATE (e:$label)",
        "MATCH (m:Memory) SET m:Event",
        "MATCH (m:Memory) SET m IS Event",
    ],
)
def test_an_event_made_elsewhere_is_found(text: str) -> None:
    assert checks.wrong_births("commit/write", text) != []


def test_the_fragment_may_make_an_event() -> None:
    assert checks.wrong_births(checks.APPEND_EVENT, "CREATE (e:Event {id: 1})") == []
    assert checks.wrong_births(checks.APPEND_EVENT, "CREATE (e:$($label))") != []
    assert checks.wrong_births("commit/write", "MATCH (m:Memory) SET m.a = m.b IS NULL") == []
    assert checks.wrong_births("commit/write", "MATCH (e:Event) CREATE (m:Memory)-[:X]->(e)") == []


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (e:Event) SET e.payload = ''",
        "MATCH (e:Event) SET e += $map",
        "MATCH (e:Event) SET e:Old",
        "MATCH (e:Event) REMOVE e.payload",
        "MATCH (e:Event) DELETE e",
        "MATCH (m:Memory), (e:Event) DETACH DELETE m, e",
        "match (e:Event) detach delete e",
        "MATCH (m:Memory) MATCH (m)<-[:REINFORCES]-(x) SET x.payload = ''",
        "MATCH (m:Memory)<-[r:REINFORCES]-() DELETE r",
        "MATCH (m:Memory)<-[r:CONCERNS]-() SET r.at = 1",
        "MATCH (e:Event) WITH e AS x SET x.payload = ''",
        "MATCH (e:Event) UNWIND [e] AS x SET x.payload = ''",
        "MATCH (e:Event) LET x = e SET x.payload = ''",
        "MATCH (e:Event) WITH head(collect(e)) AS x SET x.payload = ''",
        "MATCH (e:Event) FOREACH (x IN [e] | SET x.payload = '')",
        "MATCH (e:Event) CALL (e) { SET e.payload = '' }",
        "MATCH (m:Memory) SET m.a = 1 WITH 1 AS one MATCH (m:Event) SET m.a = 1",
        "MATCH (m:!Memory) SET m.a = 1",
        "MATCH (m:$($label)) SET m.a = 1",
        "MATCH (m:Memory) SET (CASE WHEN true THEN m END).a = 1",
        "MATCH (e:Event) DELETE head([e])",
        "MERGE (e:Event {id: 1}) ON MATCH SET e.seen = true",
        "MATCH (e:Event) CALL db.create.setNodeVectorProperty(e, 'v', $v)",
        "CALL db.index.fulltext.queryNodes('i', $w) YIELD node SET node.a = 1",
    ],
)
def test_a_changed_event_is_found(text: str) -> None:
    assert checks.wrong_changes(text) != []


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (m:Memory) SET m.status = 'current', m.tags = $tags REMOVE m.old",
        "MATCH (m:Memory)<-[s:SUPERSEDES]-() SET s.in_force = true",
        "MATCH (a:Memory), (b:Memory) UNWIND [a, b] AS x SET x.a = 1",
        "MATCH (m:Memory) WITH m AS n DETACH DELETE n",
        "MATCH (m:Memory)<-[:REINFORCES]-(e:Event) SET m.at = e.occurred_at",
        "MATCH (m:Memory) CALL db.create.setNodeVectorProperty(m, 'v', $v)",
        "CREATE (e:Event {id: 1}) RETURN e",
    ],
)
def test_other_changes_pass(text: str) -> None:
    assert checks.wrong_changes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "SET m += $map",
        "SET m += row",
        "SET m += row.properties",
        "SET m = $map",
        "SET m = row",
        "SET m = {a: 1}",
        "SET m = properties(n)",
        "SET m += properties(n)",
        "SET m += row {.*}",
        "SET m += row {.a, .*}",
        "SET m += $map {.*, a: 1}",
        "SET m += row {.a, b}",
        "SET m += row {.a, .tenant}",
        "SET m += {a: 1, tenant: $tenant}",
        "SET m += row {.id}",
        "SET m += {id: row.id}",
        "SET m += CASE WHEN true THEN row {.a} END",
        "SET m[name] = row[name]",
        "SET m['a'] = 1",
        "SET (CASE WHEN true THEN m END).a = 1",
        "SET m.a = 1, m += row",
        "FOREACH (name IN ['a'] | SET m[name] = row[name])",
        "CREATE (n:Turn $map)",
        "CREATE (n $map)",
        "CREATE (m)-[:NEXT $map]->(m)",
        "CREATE (m)-[r:$(row.type) $map]->(m)",
        "MERGE (n:Turn {tenant: $tenant, id: 1}) ON CREATE SET n += $map",
        "MERGE (n:Turn {tenant: $tenant, id: 1}) ON MATCH SET n = $map",
        "CALL (m) { SET m += $map }",
    ],
)
def test_a_map_that_is_assigned_whole_is_found(text: str) -> None:
    assert checks.wrong_assignments(MATCHED + text) != []


@pytest.mark.parametrize(
    "text",
    [
        "SET m.a = $map.a, m.b = row[name]",
        "SET m += row {.a, .b, c: 1}",
        "SET m += $map {.a}",
        "SET m += {a: 1}",
        "SET m:Old",
        "CREATE (n:Turn {tenant: $tenant, id: $id})-[:NEXT {at: $at}]->(m)",
        "MERGE (n:Turn {tenant: $tenant, id: 1}) ON CREATE SET n.a = 1 ON MATCH SET n += row {.a}",
        "CREATE (m)-[r:$(row.type) {at: row.at}]->(m)",
    ],
)
def test_properties_that_are_named_pass(text: str) -> None:
    assert checks.wrong_assignments(MATCHED + text) == []


def test_a_whole_map_is_put_in_each_place_in_turn() -> None:
    text = "MERGE (n:Turn {tenant: $tenant}) ON CREATE SET n.a = 1 CREATE (n)-[r:NEXT {at: 1}]->(n)"
    assert list(checks.assigned_whole(text)) == [
        ["MERGE takes any names from $given."],
        ["SET takes any names for n."],
        ["CREATE takes any names from $given."],
    ]


@pytest.mark.parametrize(
    ("header", "query_type", "keys", "operators", "complaint"),
    [
        (made(), "rw", ["id"], [], "mode"),
        (made("write"), "r", ["id"], [], "mode"),
        (made("schema"), "r", ["id"], [], "mode"),
        (made(), "r", ["ident"], [], "columns"),
        (made(), "r", [], [], "columns"),
        (made(), "r", ["id", "more"], [], "columns"),
        (made(rows="none"), "r", ["id"], [], "rows"),
        (made(columns=""), "r", [], [], "rows"),
        (made(plan="NodeUniqueIndexSeek"), "r", ["id"], ["NodeIndexSeek@neo4j"], "not in the plan"),
        (made(), "r", ["id"], ["AllNodesScan@neo4j"], "AllNodesScan is in the plan"),
        (made(), "r", ["id"], ["CartesianProduct@neo4j"], "CartesianProduct is in the plan"),
        (made(), "r", ["id"], ["NodeByLabelScan@neo4j"], "NodeByLabelScan is in the plan"),
        (made(), "r", ["id"], ["NodeIndexScan@neo4j"], "NodeIndexScan is in the plan"),
        (made(), "r", ["id"], ["UndirectedRelationshipTypeScan@neo4j"], "TypeScan is in the plan"),
        (made(allow="AllNodesScan"), "r", ["id"], ["NodeByLabelScan@neo4j"], "NodeByLabelScan"),
    ],
)
def test_a_header_that_lies_is_found(
    header: Procedure, query_type: str, keys: list[str], operators: list[str], complaint: str
) -> None:
    [found] = checks.wrong_plan(header, query_type, keys, operators)
    assert complaint in found


def test_a_header_that_is_true_passes() -> None:
    assert checks.wrong_plan(made(), "r", ["id"], ["ProduceResults@neo4j"]) == []
    seek = made("write", plan="NodeUniqueIndexSeek", allow="AllNodesScan")
    plan = ["NodeUniqueIndexSeek(Locking)@neo4j", "AllNodesScan@neo4j"]
    assert checks.wrong_plan(seek, "rw", ["id"], plan) == []
    assert checks.wrong_plan(made("write", rows="none", columns=""), "w", [], []) == []


@pytest.mark.parametrize(
    "name", ["look", "commit/Look", "commit/look-up", "commit/2look", "a/b/c", "commit/"]
)
def test_a_name_that_is_not_lower_snake_is_found(name: str) -> None:
    assert checks.wrong_name(name) != []
    assert checks.wrong_name("commit/look_up2") == []


def test_a_missing_summary_and_a_long_body_are_found() -> None:
    line = "RETURN 1\n"
    assert checks.wrong_shape("a/b", "", line) == ["no summary."]
    assert checks.wrong_shape("a/b", "One.", line * checks.LONGEST_BODY) == []
    assert checks.wrong_shape("a/b", "One.", line * (checks.LONGEST_BODY + 1)) != []
    assert checks.wrong_shape("recall/b", "One.", line * (checks.LONGEST_BODY + 1)) == []


@pytest.mark.parametrize("text", ["RETURN (1", "RETURN 1)", "RETURN [1)", "CALL () { RETURN 1"])
def test_brackets_that_do_not_match_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"never closed|closes nothing"):
        read(text)


@given(
    st.text("m/*'\"\\ ({[]})$`:", max_size=30).map(
        lambda s: "'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'"
    )
)
def test_what_stands_in_a_string_is_no_syntax(literal: str) -> None:
    assert read(f"RETURN {literal} AS x") == ("RETURN", "''", "AS", "x")


def test_a_pattern_is_read_as_its_nodes_and_edges() -> None:
    [clause] = clauses(read("MATCH p = (a:A|B {tenant: $tenant})-[r:R*0..3]->(), (c)<-[:S]-(b)"))
    first, second = paths(clause.items)
    assert [(p.kind, p.name, sorted(p.labels), p.has_tenant) for p in first] == [
        ("node", "a", ["A", "B"], True),
        ("edge", "r", ["R"], False),
        ("node", "", [], False),
    ]
    assert [p.name for p in second] == ["c", "", "b"]
    assert isinstance(clause.items[2], Group)
