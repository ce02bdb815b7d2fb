"""Seals: what was recorded cannot be changed, added or deleted unnoticed, and erasure still can."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import LiteralString

import neo4j
import pytest

from graphmem import Handle
from graphmem.errors import ExportFileError
from graphmem.integrity import RebuildReport, sealing, seals
from graphmem.transfer.format import DigestChain
from tests.client.test_tampering import taken
from tests.plugins.clients import on_tenant
from tests.plugins.everything import write_everything
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)


def observed(memory: Handle, count: int, mark: str = "ev") -> None:
    """Write some evidence under known ids."""
    for n in range(count):
        memory.observe("alice", "likes", f"{mark} {n}", event_id=f"{mark}{n}", at=MAY)


def shown(report: RebuildReport) -> list[tuple[str, str, str]]:
    """Return what a check found: the kind, the id and the first word."""
    return [(one.kind, one.id, one.found.split(":")[0]) for one in report.wrong]


def test_sealed_events_are_verified(memory: Handle, look: Look, tenant: str) -> None:
    assert memory.admin.seal().head is None
    assert memory.admin.is_empty()
    assert not look.rows("MATCH (t:Tenant {tenant: $tenant}) RETURN t", tenant=tenant)
    write_everything(memory)
    first = memory.admin.seal()
    assert (first.seals, first.seal) == (1, seals.seal_id(1))
    assert first.events == len(
        [
            one
            for one in look.events(tenant).values()
            if one["type"] not in ("SEARCH", "ACCESS", "SESSION_START", "SESSION_END", "ROLL_UP")
        ]
    )
    assert memory.admin.seal().seals == 0

    observed(memory, 2)
    found = memory.admin.verify(head=first.head)
    assert found.wrong == ()
    assert found.seals is not None
    assert (found.seals.sealed, found.seals.unsealed) == (first.events, 2)
    assert (found.seals.head, found.seals.asked_in) == (first.head, first.seal)
    observed(memory, 2)  # delivered again: nothing is new
    second = memory.admin.seal()
    assert (second.events, second.seals) == (2, 1)
    assert memory.admin.verify(head=first.head).wrong == ()
    assert memory.admin.rebuild().seals is None
    assert memory.admin.verify(head=second.head).wrong == ()


ONE: LiteralString = "MATCH (e:Event {tenant: $tenant, id: 'ev1'}) "
LAST: LiteralString = "MATCH (s:Seal {tenant: $tenant, id: '000000000003'}) "
FORGERIES: dict[str, tuple[LiteralString, list[tuple[str, str, str]]]] = {
    "a value": (ONE + "SET e.confidence = 0.5", [("event", "ev1", "changed")]),
    "a text": (ONE + "SET e.payload = '{}'", [("event", "ev1", "changed")]),
    "an added property": (ONE + "SET e.note = 'x'", [("event", "ev1", "changed")]),
    "a type": (ONE + "SET e.occurred_at = date()", [("event", "ev1", "changed")]),
    "a recording time": (
        ONE + "SET e.recorded_at = e.recorded_at + duration({microseconds: 1})",
        [("event", "ev1", "rewired"), ("event", "ev1", "changed")],
    ),
    "another belief": (
        ONE + "MATCH (e)-[r:SUPPORTS]->() MATCH (b:Belief {tenant: $tenant}) "
        "WHERE b.object = 'ev 0' CREATE (e)-[:SUPPORTS]->(b) DELETE r",
        [("event", "ev1", "rewired"), ("event", "ev1", "changed")],
    ),
    "a deletion": (ONE + "DETACH DELETE e", [("event", "ev1", "missing")]),
    "an insertion": (
        ONE + "CREATE (x:Event {id: 'x'}) SET x += e {.*, id: 'x'}",
        [("event", "x", "added")],
    ),
    "an insertion into a seal": (
        ONE + "MATCH (s)-[:SEALS]->(e) CREATE (x:Event {id: 'x'})<-[:SEALS]-(s) "
        "SET x += e {.*, id: 'x'}",
        [("event", "x", "added")],
    ),
    "a digest of an event": (
        LAST + "SET s.leaves = ['0000' + substring(s.leaves[0], 4)] + s.leaves[1..]",
        [
            ("seal", "000000000003", "changed, or a seal before it is missing"),
            ("event", "ev4", "changed"),
        ],
    ),
    "a digest of a seal": (
        LAST + "SET s.digest = '0000' + substring(s.digest, 4)",
        [
            ("seal", "000000000003", "changed, or a seal before it is missing"),
            ("seal", "HEAD", "in no seal"),
        ],
    ),
    "the content of a seal": (
        LAST + "SET s.ids = null, s.salts = null, s.leaves = null, s.sealed_until = null",
        [
            ("seal", "000000000003", "changed, or a seal before it is missing"),
            ("event", "ev4", "added"),
            ("event", "ev5", "added"),
        ],
    ),
    "a seal": (
        "MATCH (s:Seal {tenant: $tenant, id: '000000000002'}) DETACH DELETE s",
        [("seal", "000000000003", "changed, or a seal before it is missing")],
    ),
    "the newest seal, with its events": (
        LAST + "MATCH (s)-[:SEALS]->(e) DETACH DELETE s, e",
        [("seal", "HEAD", "in no seal")],
    ),
}


def test_a_forgery_is_found_and_named(
    plain: Handle, tenant: str, driver: neo4j.Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "PAGE", 2)
    observed(plain, 6)
    done = plain.admin.seal()
    assert (done.events, done.seals) == (6, 3)
    whole = taken(driver, tenant)
    for forgery, (query, named) in FORGERIES.items():
        whole.write(driver, tenant)
        driver.execute_query(query, tenant=tenant)
        found = [
            one for one in shown(plain.admin.verify(head=done.head)) if one[0] in ("event", "seal")
        ]
        wanted = [(kind, id_.replace("HEAD", str(done.head)), said) for kind, id_, said in named]
        assert found[: len(wanted)] == wanted, forgery
        assert forgery == "a seal" or len(found) == len(wanted), forgery


def test_erasure_leaves_the_chain_whole(plain: Handle, look: Look, tenant: str) -> None:
    kept = plain.remember(unlike(1), at=MAY).memory_id
    gone = plain.remember(unlike(2), at=MAY).memory_id
    assert kept
    assert gone
    plain.supersede(gone, unlike(3))
    plain.observe("alice", "likes", "tea", event_id="tea")
    head = plain.admin.seal().head
    events = {one for one, has in look.events(tenant).items() if str(gone) in str(has)}
    plain.forget("memory", gone, dry_run=False)

    remaining = look.events(tenant)
    redacted = events & remaining.keys()
    assert redacted, "the supersession stays, without the id"
    found = plain.admin.verify(head=head)
    assert found.wrong == ()
    assert found.seals is not None
    assert (found.seals.erased, found.seals.late) == (len(events), len(redacted))
    assert found.seals.sealed == len(remaining)
    rows = look.rows(
        "MATCH (s:Seal {tenant: $tenant}) RETURN s.ids AS ids, s.salts AS salts ORDER BY s.id",
        tenant=tenant,
    )
    assert not events & {*rows[0]["ids"]}
    assert [one in ("", "~") for one in rows[0]["ids"]] == [not one for one in rows[0]["salts"]]


def test_what_a_killed_erasure_redacted_is_sealed_next(
    plain: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = plain.remember(unlike(2)).memory_id
    assert gone
    plain.supersede(gone, unlike(3))
    plain.admin.seal()

    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sealing, "seal_waiting", killed)
        with pytest.raises(KeyboardInterrupt):
            plain.forget("memory", gone, dry_run=False)
    # Until then it looks like any event that was added among sealed ones.
    [(_, redacted, said)] = shown(plain.admin.verify())
    assert said == "added"
    assert plain.admin.seal().events == 1
    found = plain.admin.verify()
    assert found.wrong == ()
    assert found.seals is not None
    assert (found.seals.unsealed, found.seals.late_ids) == (0, (redacted,))


def test_sealing_resumes_and_is_serial(
    plain: Handle, monkeypatch: pytest.MonkeyPatch, look: Look, tenant: str
) -> None:
    monkeypatch.setattr(sealing, "PAGE", 3)
    observed(plain, 20)
    left = 2

    def killed(kind: str, _: int) -> None:
        nonlocal left
        left -= kind == "event"
        if not left:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plain.admin.seal(on_progress=killed)
    found = plain.admin.verify()
    assert (found.wrong, found.seals and found.seals.sealed) == ((), 6)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: plain.admin.seal(), range(4)))
    assert sum(one.events for one in done) == 14
    found = plain.admin.verify()
    assert (found.wrong, found.seals and found.seals.sealed) == ((), 20)
    rows = look.rows("MATCH (s:Seal {tenant: $tenant}) RETURN s.ids AS ids", tenant=tenant)
    sealed = [one for row in rows for one in row["ids"] if not one.startswith("~")]
    assert sorted(sealed) == sorted(f"ev{n}" for n in range(20))


def test_a_clock_set_back_is_reported_until_it_is_sealed(
    plain: Handle, driver: neo4j.Driver, tenant: str
) -> None:
    observed(plain, 2)
    plain.admin.seal()
    observed(plain, 1, "later")
    back: LiteralString = (
        "MATCH (e:Event {tenant: $tenant, id: 'later0'}) "
        "SET e.recorded_at = e.recorded_at - duration('PT1H') "
        "WITH e MATCH (e)-[r:SUPPORTS]->() SET r.recorded_at = e.recorded_at"
    )
    driver.execute_query(back, tenant=tenant)
    assert plain.admin.seal().events == 0
    assert ("event", "later0", "added") in shown(plain.admin.verify())
    assert plain.admin.seal(late=True).events == 1
    found = plain.admin.verify()
    assert not [one for one in found.wrong if one.kind == "event"]
    assert found.seals is not None
    assert (found.seals.late, found.seals.late_ids) == (1, ("later0",))


def moved(memory: Handle) -> tuple[str, str | None]:
    """Write a value, a later one and its retraction; return its id and the head of the seal."""
    memory.observe("alice", "lives_in", "Porto", event_id="porto", at=MAY, cardinality="ONE")
    memory.observe("alice", "lives_in", "Lisbon", event_id="lisbon", at=MAY + timedelta(days=1))
    taken = memory.beliefs.retract("lisbon").event_id
    return taken, memory.admin.seal().head


def leads(memory: Handle) -> str:
    """Return the current value of the slot that `moved` writes."""
    return memory.current("alice", "lives_in").candidates[0].object


PLANT: LiteralString = (
    "MATCH (e:Event {tenant: $tenant, id: 'porto'})-[s:SUPPORTS]->() "
    "MATCH (b:Belief {tenant: $tenant, object: 'Lisbon'}), (t:Tenant {tenant: $tenant}) "
    "CREATE (x:Event {id: 'x'}) "
    "SET x += e {.*, id: 'x', type: $type, occurred_at: e.occurred_at + duration('P2D')} "
    "CREATE (x)-[r:SUPPORTS]->(b) SET r += properties(s) CREATE (t)-[:UNSEALED]->(x)"
)


def test_a_deleted_retraction_is_found_and_mended(
    plain: Handle, driver: neo4j.Driver, tenant: str
) -> None:
    taken, head = moved(plain)
    assert leads(plain) == "Porto"
    cut: LiteralString = "MATCH (:Event {tenant: $tenant, id: $id})-[r:RETRACTS]->() DELETE r"
    driver.execute_query(cut, tenant=tenant, id=taken)
    assert leads(plain) == "Lisbon"
    assert shown(plain.admin.verify(head=head)) == [("event", taken, "rewired")]
    assert shown(plain.admin.rebuild()) == [("event", taken, "rewired")]
    assert leads(plain) == "Porto"
    assert plain.admin.verify(head=head).wrong == ()


def test_an_entry_of_the_log_is_never_evidence(
    plain: Handle, driver: neo4j.Driver, tenant: str
) -> None:
    _, head = moved(plain)
    whole = taken(driver, tenant)
    for kind in sorted(seals.TELEMETRY):
        whole.write(driver, tenant)
        driver.execute_query(PLANT, tenant=tenant, type=kind)
        assert leads(plain) == "Porto"
        assert shown(plain.admin.verify(head=head)) == [("event", "x", "rewired")]
    assert plain.admin.rebuild().wrong
    assert plain.admin.verify(head=head).wrong == ()


def test_a_backdated_event_is_named_before_and_after_the_next_seal(
    plain: Handle, driver: neo4j.Driver, tenant: str
) -> None:
    _, head = moved(plain)
    driver.execute_query(PLANT, tenant=tenant, type="EVIDENCE")
    assert leads(plain) == "Lisbon"
    assert shown(plain.admin.verify(head=head)) == [("event", "x", "added")]
    plain.admin.seal()
    found = plain.admin.verify(head=head)
    assert found.seals is not None
    assert (found.wrong, found.seals.late_ids) == ((), ("x",))


def test_an_export_takes_the_seals_along(plain: Handle, client: Handle, tmp_path: Path) -> None:
    write_everything(plain)
    head = plain.admin.seal().head
    observed(plain, 1, "new")
    plain.admin.export_to(tmp_path / "all.jsonl")
    found = plain.admin.verify_export(tmp_path / "all.jsonl", head=head)
    assert found.wrong == ()
    assert found.seals is not None
    assert (found.seals.head, found.seals.unsealed) == (head, 1)
    assert shown(plain.admin.verify_export(tmp_path / "all.jsonl", head="0" * 64)) == [
        ("seal", "0" * 64, "in no seal")
    ]

    copy = on_tenant(client, fresh_tenant())
    assert copy.admin.import_from(tmp_path / "all.jsonl").seals_left == 0
    assert copy.admin.import_from(tmp_path / "all.jsonl").written == 0
    again = copy.admin.verify(head=head)
    assert (again.wrong, again.seals and again.seals.head) == ((), head)
    assert copy.admin.seal().events == 1

    other = on_tenant(client, fresh_tenant())
    observed(other, 1, "own")
    own = other.admin.seal().head
    assert other.admin.import_from(tmp_path / "all.jsonl").seals_left == 1
    mixed = other.admin.verify(head=own)
    assert mixed.wrong == ()
    assert mixed.seals is not None
    assert mixed.seals.unsealed == 0


def redigested(lines: list[bytes]) -> bytes:
    """Return the lines of a file with digests that match, as an author of the file can."""
    check = ""
    made = []
    for line in lines:
        body = line[: line.rfind(b',"check":"')] + b"}"
        check = hashlib.sha256(check.encode() + body).hexdigest()
        made.append(body[:-1] + f',"check":"{check}"}}\n'.encode())
    return b"".join(made)


def test_each_changed_bit_of_a_sealed_event_is_found(plain: Handle, tmp_path: Path) -> None:
    """The digests of the lines are made to match: only the seals are left to tell."""
    write_everything(plain)
    plain.admin.seal()
    file, forged = tmp_path / "all.jsonl", tmp_path / "forged.jsonl"
    plain.admin.export_to(file)
    lines = file.read_bytes().splitlines(keepends=True)
    assert redigested(lines) == file.read_bytes()
    telemetry = tuple(f'"type":"{kind}"'.encode() for kind in seals.TELEMETRY)
    sealed = [
        n
        for n, line in enumerate(lines)
        if line.startswith(b'{"kind":"Event"') and not any(one in line for one in telemetry)
    ]
    random, missed = Random(28), []
    for _ in range(examples(20, 200, 1_000)):
        n = random.choice(sealed)
        line = bytearray(lines[n])
        place = random.randrange(line.rfind(b',"check":"'))
        line[place] ^= 1 << random.randrange(8)
        forged.write_bytes(redigested([*lines[:n], bytes(line), *lines[n + 1 :]]))
        try:
            if plain.admin.verify_export(forged).wrong:
                continue
        except ExportFileError:
            continue
        missed.append((lines[n][: place + 20], bytes(line)[: place + 20]))
    assert missed == []


def test_an_import_refuses_a_changed_event(plain: Handle, client: Handle, tmp_path: Path) -> None:
    observed(plain, 2)
    plain.admin.seal()
    plain.admin.export_to(tmp_path / "all.jsonl")
    lines = (tmp_path / "all.jsonl").read_bytes().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    for record in records:
        record.pop("check")
        if record.get("key") == "ev1":
            record["properties"]["confidence"] = 0.25
    chain = DigestChain()
    (tmp_path / "forged.jsonl").write_bytes(b"".join(map(chain.write, records)))
    copy = on_tenant(client, fresh_tenant())
    with pytest.raises(ExportFileError, match="event 'ev1' is changed"):
        copy.admin.import_from(tmp_path / "forged.jsonl")
    assert copy.admin.is_empty()


def test_a_later_write_may_change_contents(plain: Handle) -> None:
    plain.remember("Bob likes green tea", at=MAY)
    plain.predicates.declare("works_for", template="{subject} works for {object}")
    head = plain.admin.seal().head
    plain.remember("Bob likes green tea", tags=["drinks"], at=MAY - timedelta(days=1))
    plain.predicates.declare("works_for", template="{object} employs {subject}")
    assert plain.admin.verify(head=head).wrong == ()
    head = plain.admin.seal().head
    found = plain.admin.verify(head=head)
    assert found.wrong == ()
    assert found.seals is not None
    assert found.seals.contents == 2


def test_a_conversation_goes_on_after_a_seal(plain: Handle) -> None:
    with plain.session("s1") as session:
        session.add_messages([{"role": "user", "content": "I live in Porto."}])
    head = plain.admin.seal().head
    with plain.session("s1") as session:
        session.add_messages([{"role": "user", "content": "I work at Acme."}])
    assert "Acme" in (plain.episodes.get(session.episode_id).summary or "")
    assert plain.admin.verify(head=head).wrong == ()


def test_erasures_keep_contents_verifiable(plain: Handle) -> None:
    with plain.session("s1") as session:
        session.add_messages([{"role": "user", "content": "I walked home."}])
        plain.observe("alice", "lives_in", "Porto", episode_id=session.episode_id, at=MAY)
        episode = session.episode_id
    plain.observe("alice", "lives_in", "Porto", event_id="again", at=MAY + timedelta(days=1))
    head = plain.admin.seal().head
    plain.forget("episode", episode, dry_run=False)
    found = plain.admin.verify(head=head)
    assert found.wrong == ()
    assert found.seals is not None
    assert (found.seals.sealed, found.seals.contents) == (1, 1)
