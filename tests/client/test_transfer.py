"""A tenant as a file and back: whole, checked, once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import neo4j
import neomodel
import pytest
from neomodel.properties import Property

from graphmem import AsOf, Handle, Status
from graphmem.errors import (
    ExportFileError,
    ImportConflictError,
    ModelMismatchError,
    NotFoundError,
)
from graphmem.model import Record
from graphmem.nodes.declarations import BytesProperty
from graphmem.nodes.declared import NODE_CLASSES, exported, properties, relationships
from graphmem.testing import FrozenClock
from graphmem.transfer import format as file_format
from graphmem.transfer.kinds import KINDS
from tests.plugins.clients import on, on_tenant
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import ASK_ITEMS, write_everything
from tests.plugins.graph import NODES, Look, fresh_tenant
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
LABELS = {kind.label for kind in KINDS} | {"Namespace", "ItemText"}
"""Labels that an export contains."""
LEFT_OUT = {
    *("Tenant", "NameLock", "Checkpoint", "Job", "JobUnit", "Tombstone"),
    *("EmbeddingModel", "Migration", "MigrationLock"),
}
"""Labels that no export contains: state of the graph or of its workers, and what was erased."""
OWN = {
    *("tenant", "tenant_key", "scope_key", "facet_keys", "value_key", "statement_key", "paths"),
    *("ruled_paths", "imported_path", "locked_at", "asked_at", "owner", "until"),
}
"""Properties of which an import makes others: digests of the tenant, paths, and locks."""


def everything(memory: Handle) -> dict[str, str]:
    """Let a tenant have one of everything."""
    # A session that returned a belief, and whose searches are rolled up.
    belief_id = memory.observe("Ada", "reads", "maps").belief_id
    with memory.session("s0") as session:
        session.usage.log_search("maps", tool="grep", results=[belief_id])
    memory.usage.rate()
    assert memory.usage.roll_up(days=0, dry_run=False).searches == 1
    known = write_everything(memory)
    write_everything(memory.scope("user:alice"), mark="a")
    memory.observe("Ada", "lives in", "Faro", kind="refuting")
    tell(memory, SWIMS)
    memory.consolidate(policy=FEW)
    memory.usage.flush()
    memory.usage.rate()
    memory.admin.seal()
    return known


def whole(look: Look, tenant: str) -> dict[str, list[str]]:
    """Every node and relationship that is exported, with every property but those made anew.

    An import extends the paths of rulings.
    """
    nodes = look.rows(
        NODES + "WITH n WHERE NOT any(x IN labels(n) WHERE x IN $left) "
        "RETURN labels(n) AS of, properties(n) AS has",
        tenant=tenant,
        left=sorted(LEFT_OUT),
    )
    links = look.rows(
        NODES + "MATCH (n)-[r]->(b) "
        "RETURN [type(r), labels(n), coalesce(n.id, n.key), labels(b), coalesce(b.id, b.key, "
        "b.name)] AS of, properties(r) AS has",
        tenant=tenant,
    )
    return {
        kind: sorted(
            repr((row["of"], sorted((k, v) for k, v in row["has"].items() if k not in own)))
            for row in rows
        )
        for kind, rows, own in (
            ("nodes", nodes, OWN),
            ("links", links, {"tenant"}),
        )
    }


@dataclass(frozen=True)
class Source:
    """A tenant with one of everything, and the file that it was exported to."""

    memory: Handle
    tenant: str
    known: dict[str, str]
    file: Path


@pytest.fixture(scope="module")
def source(client: Handle, tmp_path_factory: pytest.TempPathFactory) -> Source:
    tenant = fresh_tenant()
    memory = on_tenant(client, tenant)
    known = everything(memory)
    file = tmp_path_factory.mktemp("exported") / "all.jsonl"
    memory.admin.export_to(file)
    return Source(memory, tenant, known, file)


def test_what_comes_back_is_what_was_there(
    memory: Handle, source: Source, look: Look, tenant: str, tmp_path: Path
) -> None:
    done = memory.admin.import_from(source.file)

    mine, theirs = whole(look, source.tenant), whole(look, tenant)
    assert theirs["nodes"] == mine["nodes"]
    assert theirs["links"] == mine["links"]
    assert (done.tenant, done.there, done.kept) == (source.tenant, 0, 0)
    assert memory.admin.verify().wrong == ()
    again = memory.admin.export_to(tmp_path / "again.jsonl")
    assert sum(again.records.values()) == done.written
    assert again.links == len(mine["links"]) - of_items(source.file)


VALUES: dict[type[Property[Any]], Any] = {
    neomodel.StringProperty: "said",
    neomodel.IntegerProperty: 7,
    neomodel.FloatProperty: 0.1,
    neomodel.BooleanProperty: True,
    neomodel.ArrayProperty: ["one", "two"],
    BytesProperty: b"states",
    neomodel.DateTimeNeo4jFormatProperty: datetime(2025, 5, 5, 1, 2, 3, 456789, tzinfo=UTC),
}
MENDED = {"Belief": {"unembedded"}}
"""What the caches that are made anew at the end of an import take away again."""


def completed(driver: neo4j.Driver, tenant: str) -> None:
    """Let a node of every label have what is declared and none of them has."""
    for kind in sorted(LABELS):
        rows, _, _ = driver.execute_query(
            f"MATCH (n:{kind}) WHERE n.tenant = $tenant UNWIND keys(n) AS key RETURN DISTINCT key",
            tenant=tenant,
        )
        node = NODE_CLASSES[kind]
        own = exported(node)
        given = {n: VALUES[type(one)] for n, one in properties(node).items() if n in own}
        there = {row["key"] for row in rows} | MENDED.get(kind, set())
        driver.execute_query(
            f"MATCH (n:{kind}) WHERE n.tenant = $tenant WITH n LIMIT 1 SET n += $given",
            tenant=tenant,
            given={name: value for name, value in given.items() if name not in there},
        )


def test_every_declared_label_property_and_relationship_comes_back(
    plain: Handle, source: Source, look: Look, tenant: str, tmp_path: Path
) -> None:
    plain.admin.import_from(source.file)
    completed(look._driver, tenant)
    # Its events were changed, so they are sealed again.
    look._driver.execute_query("MATCH (s:Seal {tenant: $tenant}) DETACH DELETE s", tenant=tenant)
    plain.admin.seal()
    plain.admin.export_to(tmp_path / "full.jsonl")
    other = fresh_tenant()

    on_tenant(plain, other).admin.import_from(tmp_path / "full.jsonl")

    mine, theirs = whole(look, tenant), whole(look, other)
    assert theirs["nodes"] == mine["nodes"]
    assert theirs["links"] == mine["links"]
    assert NODE_CLASSES.keys() == LABELS | LEFT_OUT
    there = look.rows(
        NODES + "RETURN collect(DISTINCT labels(n)[0]) AS labels",
        tenant=other,
    )
    assert {*there[0]["labels"]} - LEFT_OUT == LABELS
    types = look.rows(
        NODES + "MATCH (n)-[r]->() RETURN collect(DISTINCT type(r)) AS types",
        tenant=other,
    )
    declared = {relation.kind for relation in relationships()}
    assert {*types[0]["types"]} == declared - {"FOLLOWED_BY", "UNSEALED"}


PASSING = {"provisional", "bm25", "bm25_rank"}
"""Whether what was read may still change rests on when it was read; how rare a word is, on what
every tenant of the server has written until then."""


def settled(found: Any) -> Any:
    """What was read, as far as it rests on the tenant alone."""
    if isinstance(found, dict):
        return {name: settled(value) for name, value in found.items() if name not in PASSING}
    if isinstance(found, list | tuple):
        return [settled(one) for one in found]
    return settled(found.model_dump()) if isinstance(found, Record) else found


def reads(memory: Handle, known: dict[str, str], at: Sequence[AsOf | None]) -> list[Any]:
    """What the tenant answers, now and at some times; what it refuses, too."""
    old = memory.memories.list(statuses=[Status.SUPERSEDED]).memories[0].id
    asked: list[Callable[..., Any]] = [
        *(
            lambda policy=policy, **by: (
                memory.recall(unlike(1), include_hidden=True, limit=100, policy=policy, **by).bites
            )
            for policy in ("trace", "esper")
        ),
        lambda **by: memory.memories.list(statuses=list(Status), limit=1_000, **by),
        lambda **by: memory.memories.get(known["memory"], **by),
        lambda **by: memory.memories.chain(old, **by),
        lambda **by: memory.current("alice", "works_on", **by),
        lambda **by: memory.current("Alice Smith", "works_on", **by),
        lambda **by: memory.why(known["belief"], **by),
        lambda **by: memory.beliefs.list(
            include_superseded=True, include_archived=True, limit=1_000, **by
        ),
        lambda **by: memory.beliefs.history(known["belief"], **by),
    ]
    found: list[Any] = []
    for when, ask in product(at, asked):
        try:
            found.append(ask(**({} if when is None else {"as_of": when})))
        except NotFoundError as error:
            found.append(str(error))
    found += [
        memory.aliases.list(),
        memory.predicates.list(),
        memory.usage.ratings(),
        memory.proposals.list(status=None),
    ]
    return [*found, memory.episodes.turns(known["episode"]).turns, memory.items.batch(ASK_ITEMS)]


def test_every_read_answers_the_same_at_every_time(
    plain: Handle, source: Source, look: Look, tenant: str
) -> None:
    plain.admin.import_from(source.file)

    known = [
        row["at"].to_native()
        for row in look.rows(
            "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL "
            "RETURN DISTINCT e.recorded_at AS at ORDER BY at",
            tenant=tenant,
        )
    ]
    times = [AsOf(known=known[len(known) * n // 4]) for n in (1, 2, 3)]
    clock = FrozenClock(datetime.now(UTC))
    mine = reads(on(source.memory, clock=clock), source.known, [*times, None])
    other = on_tenant(plain, fresh_tenant())
    other.remember_many([f"{unlike(1)} {unlike(40 + n)}" for n in range(50)])
    theirs = reads(on(plain, clock=clock), source.known, [*times, None])
    for one, other in zip(mine, theirs, strict=True):
        assert settled(other) == settled(one)


def test_a_second_import_changes_nothing(
    plain: Handle, source: Source, look: Look, tenant: str
) -> None:
    first = plain.admin.import_from(source.file)
    before = whole(look, tenant)

    again = plain.admin.import_from(source.file)

    assert (again.written, again.links, again.kept) == (0, 0, 0)
    assert again.there == first.written
    assert whole(look, tenant) == before


def test_an_import_into_its_own_tenant_changes_nothing(source: Source, look: Look) -> None:
    before = whole(look, source.tenant)
    done = source.memory.admin.import_from(source.file)
    assert (done.written, done.links, done.kept) == (0, 0, 0)
    assert whole(look, source.tenant) == before


def rewritten(file: Path, to: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """Write a file with other records, each line rightly bound to those before it."""
    read, write = file_format.DigestChain(), file_format.DigestChain()
    records = [read.read(line) for line in file.read_bytes().splitlines(keepends=True)]
    change(records)
    to.write_bytes(b"".join(write.write(record) for record in records))
    return to


def put(place: int, **fields: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda records: records[place].update(fields)


def of(records: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(record for record in records if record.get("kind") == kind)


LINE_4, ENDS = "Line 4 was changed", "it ends after line 3"
SPOILT: list[tuple[Callable[[list[bytes]], list[bytes]], str]] = [
    (lambda lines: [*lines[:3], lines[3].replace(b"global", b"glob4l"), *lines[4:]], LINE_4),
    (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], LINE_4),
    (lambda lines: [*lines[:3], *lines[4:]], LINE_4),
    (lambda lines: [*lines[:4], *lines[3:]], "Line 5 was changed"),
    (lambda lines: [*lines[:3], lines[3][:40]], ENDS),
    (lambda lines: lines[:3], ENDS),
    (lambda lines: lines[:-1], "it ends after line"),
    (lambda lines: [*lines, lines[-1]], "was changed, or a line before it"),
    (lambda _: [b'{"role": "user", "content": "hello"}\n'], "Line 1 was changed"),
    (lambda _: [], "it ends after line 0"),
    (lambda _: [bytes(range(256)) * 9], "Line 1 was changed"),
    (lambda _: [b"x" * 2_000_000], "it ends after line 0"),
    (lambda _: [b',"check":"0"}\n'], "Line 1 was changed"),
]


def test_a_spoilt_file_is_refused_before_anything_is_written(
    plain: Handle, source: Source, look: Look, tenant: str, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    lines = source.file.read_bytes().splitlines(keepends=True)
    for spoil, says in SPOILT:
        bad.write_bytes(b"".join(spoil(lines)))
        with pytest.raises(ExportFileError, match=says):
            plain.admin.import_from(bad)
    assert look.rows(NODES + "RETURN n", tenant=tenant) == []


UNFIT: list[tuple[Callable[[list[dict[str, Any]]], Any], type[Exception], str]] = [
    (put(0, version=1), ExportFileError, "format version 1; this graphmem reads ver"),
    (put(0, version=3), ExportFileError, "format version 3"),
    (put(0, format="x"), ExportFileError, "Line 1 is not the header"),
    (put(0, model={"name": "e5", "dimension": 384}), ModelMismatchError, "e5 .384.*hash"),
    (put(-1, links=3), ExportFileError, r"Line \d+: its counts differ"),
    (lambda records: records.pop(7), ExportFileError, r"Line \d+: its counts|is missing, by"),
    (lambda records: records.append(records[-1]), ExportFileError, "follows the end"),
]


def test_a_file_that_does_not_fit_is_refused_before_anything_is_written(
    plain: Handle, source: Source, look: Look, tenant: str, tmp_path: Path
) -> None:
    for change, error, says in UNFIT:
        bad = rewritten(source.file, tmp_path / "bad.jsonl", change)
        with pytest.raises(error, match=says):
            plain.admin.import_from(bad)
    assert look.rows(NODES + "RETURN n", tenant=tenant) == []


def test_files_that_cannot_be_used_are_named(plain: Handle, tmp_path: Path, source: Source) -> None:
    with pytest.raises(ExportFileError, match="already exists"):
        plain.admin.export_to(source.file)
    with pytest.raises(ExportFileError, match=r"nowhere.*No such file"):
        plain.admin.export_to(tmp_path / "nowhere" / "x")
    with pytest.raises(ExportFileError, match="does not exist"):
        plain.admin.import_from(tmp_path / "x")
    with pytest.raises(ExportFileError, match="not a regular file"):
        plain.admin.import_from(tmp_path)


CONTRADICTIONS = {
    "Event": {"actor": "another"},
    "Memory": {"content_hash": "another"},
    "Belief": {"scope": "another"},
    "Turn": {"text": "another"},
    "Episode": {"request_hash": "another"},
    "Artifact": {"ref": "another"},
}


def without_seals(records: list[dict[str, Any]]) -> None:
    """Take the seals out: a sealed event that was changed is refused before anything is written."""
    end = records[-1]
    end["links"] -= sum(len(one["links"]) for one in records if one.get("kind") == "Seal")
    del end["records"]["Seal"]
    records[:] = [one for one in records if one.get("kind") != "Seal"]


def test_what_contradicts_the_graph_is_named_and_its_batch_not_written(
    plain: Handle, source: Source, look: Look, tenant: str, tmp_path: Path
) -> None:
    plain.admin.import_from(source.file)
    before = whole(look, tenant)
    for kind, others in CONTRADICTIONS.items():

        def change(
            records: list[dict[str, Any]], kind: str = kind, other_than: Any = others
        ) -> None:
            without_seals(records)
            other = of(records, kind)
            other["properties"] |= other_than
            # So that it comes next in the order of the file.
            new = {**deepcopy(other), "key": f"{other['key']}!", "links": []}
            records.insert(records.index(other) + 1, new)
            records[-1]["records"][kind] += 1

        bad = rewritten(source.file, tmp_path / "bad.jsonl", change)
        [name] = others
        with pytest.raises(ImportConflictError, match=rf"Line \d+: {kind} .* another {name}"):
            plain.admin.import_from(bad)
        assert whole(look, tenant) == before


def test_a_search_log_is_not_mixed_with_another(
    plain: Handle, source: Source, look: Look, tenant: str
) -> None:
    with plain.session("own") as session:
        session.usage.log_search("where?", tool="grep", results=[("file", "a.py")])
    says = r"Line \d+: properties.position: another session of the search log in the graph has it"
    with pytest.raises(ImportConflictError, match=says):
        plain.admin.import_from(source.file)
    positions = look.rows(
        "MATCH (e:Event {tenant: $tenant}) WHERE e.position > 0 RETURN e.position AS at",
        tenant=tenant,
    )
    assert positions == [{"at": 1}]


def test_two_conversations_of_a_session_are_not_mixed(
    plain: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    other = on_tenant(plain, fresh_tenant())
    for memory, text in ((other, "The harbour is in Porto."), (plain, "The harbour is in Faro.")):
        memory.session("s").add_messages([{"role": "user", "content": text, "at": MAY}])
    other.admin.export_to(tmp_path / "talk.jsonl")
    before = whole(look, tenant)
    says = r"Line 3: properties.position: another turn of the episode in the graph has it"
    with pytest.raises(ImportConflictError, match=says):
        plain.admin.import_from(tmp_path / "talk.jsonl")
    assert whole(look, tenant) == before


def test_a_relationship_to_what_is_not_there_is_refused(
    plain: Handle, source: Source, look: Look, tenant: str, tmp_path: Path
) -> None:
    def change(records: list[dict[str, Any]]) -> None:
        event = next(
            one
            for one in records
            if one.get("kind") == "Event" and "Memory" in [link["label"] for link in one["links"]]
        )
        next(link for link in event["links"] if link["label"] == "Memory")["key"] = "m_gone"
        without_seals(records)

    bad = rewritten(source.file, tmp_path / "bad.jsonl", change)
    with pytest.raises(
        ImportConflictError, match=r"Line \d+: links.\d+.key: 'm_gone' does not exist"
    ):
        plain.admin.import_from(bad)
    assert look.rows("MATCH (e:Event {tenant: $tenant}) RETURN e", tenant=tenant) == []


@pytest.mark.parametrize("kind", ["Turn", "Event"])
def test_two_of_a_file_in_one_position_are_refused(
    plain: Handle, source: Source, look: Look, tenant: str, tmp_path: Path, kind: str
) -> None:
    def change(records: list[dict[str, Any]]) -> None:
        first = next(
            one
            for one in records
            if one.get("kind") == kind and "position" in one["properties"] and one["links"]
        )
        records.insert(records.index(first) + 1, {**first, "key": f"{first['key']}!", "links": []})
        records[-1]["records"][kind] += 1
        records[-1]["links"] = sum(len(one.get("links", ())) for one in records[1:-1])

    bad = rewritten(source.file, tmp_path / "bad.jsonl", change)
    says = r"Line \d+: properties.position: another .* in the file has it"
    with pytest.raises(ImportConflictError, match=says):
        plain.admin.import_from(bad)
    found = look.rows(
        NODES + "WITH n WHERE $kind IN labels(n) RETURN n.id AS id",
        tenant=tenant,
        kind=kind,
    )
    assert found == []


def test_what_no_export_writes_and_an_import_takes_harms_no_job(
    plain: Handle, tmp_path: Path
) -> None:
    """A look that tells something, and an episode that has an embedding and no text."""
    told = on_tenant(plain, fresh_tenant())
    session = told.session("s")  # Its end would extract.
    session.add_messages([{"role": "user", "content": "I live in Porto.", "at": MAY}])
    session.expand(str(session.remember(unlike(1)).memory_id))
    told.episodes.add(episode_id="e", content=unlike(2), at=MAY)
    told.usage.flush()
    told.admin.export_to(tmp_path / "told.jsonl")

    def change(records: list[dict[str, Any]]) -> None:
        looks = [one for one in records if one.get("properties", {}).get("type") == "ACCESS"]
        assert looks
        for look in looks:
            look["properties"]["payload"] = '{"note": "odd"}'
        [episode] = [one for one in records if one.get("key") == "e"]
        del episode["properties"]["content"]

    plain.admin.import_from(rewritten(tmp_path / "told.jsonl", tmp_path / "odd.jsonl", change))
    assert len(plain.session("s").extract(extractor="rules", review=True).proposals) == 1
    assert plain.consolidate(policy=FEW, extractive=True).changes == ()


def test_memories_that_took_each_others_place_are_settled_by_time(
    plain: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    """The graph says that Porto took the place of Faro; the file, that Faro did a day later."""
    other = on_tenant(plain, fresh_tenant())
    porto, faro = "Alice lives in Porto.", "Alice lives in Faro."
    for memory, older, newer, days in ((plain, faro, porto, 1), (other, porto, faro, 2)):
        known = memory.remember(older, at=MAY).memory_id
        memory.supersede(str(known), newer, at=MAY + timedelta(days))
    other.admin.export_to(tmp_path / "other.jsonl")

    plain.admin.import_from(tmp_path / "other.jsonl")

    assert [one.content for one in plain.memories.list().memories] == [faro]
    [old] = plain.memories.list(statuses=[Status.SUPERSEDED]).memories
    chain = plain.memories.chain(old.id)
    assert {link.newer_id: link.in_force for link in chain.links} == {
        old.id: False,
        plain.memories.list().memories[0].id: True,
    }
    assert plain.admin.verify().wrong == ()


def of_items(file: Path) -> int:
    """How many relationships stand in the records of items."""
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return sum(1 + len(record["texts"]) for record in records if record.get("kind") == "Item")
