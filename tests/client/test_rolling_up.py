"""Searches give way to their counts: no rating changes, and nothing else that rests on the log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import GraphUnavailableError
from graphmem.ports import run_now, silent
from graphmem.testing import FrozenClock
from graphmem.usage import access_log
from graphmem.usage.access_log import SearchEntry, SessionStart
from tests.cypher.attention.test_rating_equals_oracle import JUNE, Log, ratings, things, written
from tests.oracles import rating
from tests.plugins.clients import on, on_tenant
from tests.plugins.examples import sample
from tests.plugins.faults import Breaking, LostError, Retrying, Unacknowledged
from tests.plugins.graph import Look, fresh_tenant

NOW = ("elo", "games", "touched_at")
BASE = tuple(f"base_{name}" for name in NOW)


def filled(memory: Handle, seed: int, sessions: int) -> Log:
    """A log of settled sessions."""
    log = Log(memory, things(memory), seed)
    for _ in range(sessions):
        written(memory, log.session())
    assert memory.usage.rate().sessions == sessions
    return log


def standings(look: Look, tenant: str, names: Sequence[str] = NOW) -> dict[str, list[Any]]:
    """The ratings, or what is kept of them beside, by item; those that have it.

    Without artifacts, which a roll-up removes with their ratings.
    """
    found = ratings(look, tenant)
    return {
        item: [kept[name] for name in names]
        for item, kept in found.items()
        if kept.get(names[0]) is not None and kept["kind"] != "Artifact"
    }


def oracle(log: Log, sessions: Sequence[str] | None = None) -> dict[str, tuple[float, int]]:
    """Where the rules see the items after the searches, or the first of them."""
    searches = [s for s in log.searches if sessions is None or s.id in sessions]
    found = rating.rate(searches).standings.items()
    return {item: (s.elo, s.games) for item, s in found if not item.startswith("ar_")}


def kinds(look: Look, tenant: str) -> dict[str, int]:
    """How many events of the log there are."""
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) "
        "WHERE e.type IN ['SEARCH', 'ACCESS', 'SESSION_START', 'SESSION_END', 'ROLL_UP'] "
        "RETURN e.type AS kind, count(*) AS n",
        tenant=tenant,
    )
    return {row["kind"]: row["n"] for row in rows}


def ended(look: Look, tenant: str, position: int) -> datetime:
    """When the end of a session was recorded, by the place of the end."""
    [row] = look.rows(
        "MATCH (e:Event {tenant: $tenant, position: $position}) RETURN e.recorded_at AS at",
        tenant=tenant,
        position=position,
    )
    at: datetime = row["at"].to_native()
    return at.astimezone(UTC)


def rolled(memory: Handle, before: datetime) -> Any:
    return run_now(access_log.roll_up(memory._state.context, before, silent))


def later(memory: Handle, days: float) -> Handle:
    return on(memory, clock=FrozenClock(datetime.now(UTC) + timedelta(days=days)))


@pytest.mark.parametrize("seed", sample(range(3), 3))
def test_ratings_stay_and_from_the_checkpoint_they_come_to_the_same(
    plain: Handle, look: Look, tenant: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log, "PAGE", 7)
    log = filled(plain, seed, 40)
    before, first = standings(look, tenant), kinds(look, tenant)
    done = rolled(plain, ended(look, tenant, 26))
    assert done.applied
    assert standings(look, tenant) == before
    left = kinds(look, tenant)
    assert left["SEARCH"] == first["SEARCH"] - done.searches
    # One for the access outside any session.
    assert left["ROLL_UP"] == done.sessions + 1 == 26
    assert left["ACCESS"] == first["ACCESS"] - done.accesses
    # The checkpoint is where the rules are after the sessions that are gone.
    remaining = {
        row["id"]
        for row in look.rows(
            "MATCH (e:Event {tenant: $tenant, type: 'SEARCH'}) RETURN e.id AS id", tenant=tenant
        )
    }
    of_then = oracle(log, [s.id for s in log.searches if s.id not in remaining])
    base = standings(look, tenant, BASE)
    assert base.keys() == of_then.keys()
    for item, (elo, games) in of_then.items():
        assert base[item][0] == pytest.approx(elo, abs=1e-9)
        assert base[item][1] == games
    # Bit by bit, for it is the same arithmetic in the same order.
    assert plain.usage.rate(from_scratch=True).sessions == 15
    assert standings(look, tenant) == before
    for _ in range(10):
        written(plain, log.session())
    plain.usage.rate()
    assert plain.usage.rate(from_scratch=True).sessions == 25
    for item, (elo, games) in oracle(log).items():
        assert standings(look, tenant)[item][:2] == [pytest.approx(elo, abs=1e-9), games]
    # And once more, over what is left.
    before = standings(look, tenant)
    assert rolled(plain, datetime.now(UTC) + timedelta(days=1)).sessions == 25
    assert "SEARCH" not in kinds(look, tenant)
    assert standings(look, tenant) == standings(look, tenant, BASE) == before
    assert plain.usage.rate(from_scratch=True).sessions == 0
    assert standings(look, tenant) == before
    assert rolled(plain, datetime.now(UTC) + timedelta(days=1)).sessions == 0


def test_what_sessions_returned_still_counts_as_a_retrieval(
    plain: Handle, look: Look, tenant: str
) -> None:
    filled(plain, 5, 12)
    before = {b.id: b.vitality for b in plain.beliefs.list().beliefs}
    assert any(life is not None and life.stability_days > 30 for life in before.values())
    rolled(plain, datetime.now(UTC) + timedelta(days=1))
    assert "SEARCH" not in kinds(look, tenant)
    clock = FrozenClock(datetime.now(UTC))
    then = {b.id: b.vitality for b in on(plain, clock=clock).beliefs.list().beliefs}
    for belief_id, life in before.items():
        found = then[belief_id]
        assert life is not None
        assert found is not None
        assert found.stability_days == life.stability_days
        assert found.retrieval == pytest.approx(life.retrieval, abs=1e-3)


def test_only_what_is_settled_and_old_is_taken(plain: Handle, look: Look, tenant: str) -> None:
    log = filled(plain, 1, 6)
    for _ in range(4):
        written(plain, log.session())
    plain.usage.log_search("outside any session", tool="grep", results=[])
    plain.usage.flush()
    first = kinds(look, tenant)
    assert plain.usage.roll_up().searches == 0
    assert later(plain, 89).usage.roll_up(dry_run=False).sessions == 0
    assert kinds(look, tenant) == first
    plan = later(plain, 91).usage.roll_up()
    assert (plan.applied, plan.sessions) == (False, 6)
    assert kinds(look, tenant) == first
    assert standings(look, tenant, BASE) == {}
    told: list[tuple[str, int]] = []
    done = later(plain, 91).usage.roll_up(
        dry_run=False, on_progress=lambda *part: told.append(part)
    )
    assert done == plan.model_copy(update={"applied": True})
    assert told == [("session", 6), ("search", 2)]
    assert kinds(look, tenant)["SEARCH"] == first["SEARCH"] - done.searches
    # What was not settled is settled now as if nothing had happened, and then taken, too.
    assert plain.usage.rate().sessions == 4
    for item, (elo, games) in oracle(log).items():
        assert standings(look, tenant)[item][:2] == [pytest.approx(elo, abs=1e-9), games]
    rest = plain.usage.roll_up(days=0, dry_run=False)
    assert rest.sessions == 4
    assert kinds(look, tenant) == {
        "ACCESS": first["ACCESS"] - done.accesses - rest.accesses,
        "SESSION_START": 10,
        "SESSION_END": 10,
        # One for the entries outside any session.
        "ROLL_UP": 11,
    }


def test_nothing_is_taken_after_a_session_that_is_too_young(
    plain: Handle, look: Look, tenant: str
) -> None:
    filled(plain, 2, 9)
    young = ended(look, tenant, 5)
    for before, sessions in ((ended(look, tenant, 1), 0), (young, 4)):
        assert run_now(access_log.rollable(plain._state.context, before)).sessions == sessions
        assert rolled(plain, before).sessions == sessions
    assert rolled(plain, young + timedelta(microseconds=1)).sessions == 1


def test_all_that_rests_on_looks_is_as_before(plain: Handle, look: Look, tenant: str) -> None:
    filled(plain, 3, 8)
    late = later(plain, 200)
    reader = silently(late)
    belief = plain.beliefs.list().beliefs[0].id
    ids = [memory.id for memory in plain.memories.list().memories]

    def seen() -> Any:
        return (
            reader.why(belief),
            [reader.why(one) for one in ids],
            [(card.accesses, card.last_access_at) for card in map(reader.expand, ids)],
            [one for one in reader.usage.ratings() if one.kind != "Artifact"],
            reader.episodes.compress(dry_run=True),
            reader.recall("what?", limit=20).bites,
        )

    before = seen()
    audited = plain.usage.audit()
    assert late.usage.roll_up(dry_run=False).sessions == 8
    assert seen() == before
    after = plain.usage.audit()
    assert [one.searches for one in after.sessions] == [one.searches for one in audited.sessions]
    assert [one.accesses for one in after.sessions] == [one.accesses for one in audited.sessions]
    assert [one.lost for one in after.sessions] == [one.lost for one in audited.sessions]
    # A look whose search is gone is no finding.
    assert {one.code for one in after.findings} <= {one.code for one in audited.findings}
    assert plain.admin.verify().wrong == ()
    assert "ROLL_UP" in kinds(look, tenant)


def silently(memory: Handle) -> Handle:
    """The same, logging nothing."""
    settings = memory._state.context.services.settings.model_copy(update={"access_log": False})
    return on(memory, settings=settings)


@pytest.mark.parametrize(
    ("fault", "nth"), [(Breaking, 1), (Breaking, 2), (Breaking, 4), (Unacknowledged, 1)]
)
def test_what_dies_on_the_way_is_gone_on_with(
    plain: Handle,
    look: Look,
    tenant: str,
    monkeypatch: pytest.MonkeyPatch,
    fault: type[Breaking | Unacknowledged],
    nth: int,
) -> None:
    monkeypatch.setattr(access_log, "PAGE", 4)
    log = filled(plain, 4, 10)
    before, first = standings(look, tenant), kinds(look, tenant)
    services = plain._state.context.services
    late = datetime.now(UTC) + timedelta(days=1)
    with pytest.raises((LostError, GraphUnavailableError)):
        rolled(on(plain, graph=fault(services.graph, nth)), late)
    # What is gone is checkpointed: settled again, all of it is as it was.
    assert kinds(look, tenant).get("SEARCH", 0) <= first["SEARCH"]
    plain.usage.rate(from_scratch=True)
    assert standings(look, tenant) == before
    rolled(plain, late)
    assert kinds(look, tenant)["ROLL_UP"] == 11
    assert standings(look, tenant) == standings(look, tenant, BASE) == before
    assert {i: (v[0], v[1]) for i, v in before.items()} == {
        i: (pytest.approx(elo, abs=1e-9), games) for i, (elo, games) in oracle(log).items()
    }


def test_a_transaction_that_is_made_again_counts_once(
    plain: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log, "PAGE", 4)
    filled(plain, 5, 10)
    before, first = standings(look, tenant), kinds(look, tenant)
    services = plain._state.context.services
    done = later(on(plain, graph=Retrying(services.graph)), 100).usage.roll_up(dry_run=False)
    assert (done.sessions, done.searches) == (10, first["SEARCH"])
    assert standings(look, tenant) == standings(look, tenant, BASE) == before


def test_two_at_once_take_each_session_once_beside_who_rates(
    plain: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log, "PAGE", 2)
    log = filled(plain, 6, 20)
    first = kinds(look, tenant)
    for _ in range(20):
        written(plain, log.session())
    late = later(plain, 100)
    with ThreadPoolExecutor(3) as pool:
        rates = pool.submit(plain.usage.rate)
        both = [pool.submit(late.usage.roll_up, dry_run=False) for _ in range(2)]
        done = [one.result() for one in both]
        assert rates.result().sessions == 20
    done.append(late.usage.roll_up(dry_run=False))
    assert sum(one.sessions for one in done) == 40
    assert sum(one.searches for one in done) == len(log.searches)
    assert first["SEARCH"] < len(log.searches)
    assert kinds(look, tenant)["ROLL_UP"] == 41
    wanted = oracle(log)
    for found in (standings(look, tenant), standings(look, tenant, BASE)):
        assert found.keys() == wanted.keys()
        for item, (elo, games) in wanted.items():
            assert found[item][:2] == [pytest.approx(elo, abs=1e-9), games]


def test_another_tenant_is_not_touched(plain: Handle, look: Look, tenant: str) -> None:
    other = fresh_tenant()
    filled(plain, 7, 5)
    filled(on_tenant(plain, other), 7, 5)
    theirs = look.events(other), ratings(look, other)
    assert later(plain.scope("alice"), 100).usage.roll_up(dry_run=False).sessions == 5
    assert "SEARCH" not in kinds(look, tenant)
    assert (look.events(other), ratings(look, other)) == theirs


def test_searches_outside_sessions_go_too(
    plain: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log, "ALONE", 3)
    filled(plain, 8, 3)
    alice = plain.scope("alice")
    for n in range(7):
        (alice if n % 2 else plain).usage.log_search(
            f"where {n}?", tool="grep", results=[("file", "a")]
        )
    plain.usage.log_access("file", "a")
    plain.usage.flush()
    before, first = standings(look, tenant), kinds(look, tenant)
    late = later(plain, 100)
    plan = late.usage.roll_up()
    assert (plan.sessions, plan.searches) == (3, first["SEARCH"])
    assert kinds(look, tenant) == first
    assert plain.usage.roll_up(dry_run=False).searches == 0
    done = late.usage.roll_up(dry_run=False)
    assert (done.sessions, done.searches, done.results) == (3, plan.searches, plan.results)
    left = kinds(look, tenant)
    assert "SEARCH" not in left
    assert left["ACCESS"] == first["ACCESS"] - done.accesses
    assert done.accesses >= 2
    # An event for each scope of a transaction, and three transactions at least.
    told = [
        (row["scope"], json.loads(row["payload"]))
        for row in look.rows(
            "MATCH (e:Event {tenant: $tenant, type: 'ROLL_UP'}) WHERE NOT (e)-[:WITHIN]->() "
            "RETURN e.scope AS scope, e.payload AS payload",
            tenant=tenant,
        )
    ]
    assert 3 <= len(told) <= 6
    assert sum(one["searches"] for scope, one in told if scope == "alice") == 3
    assert sum(one["results"] for _, one in told) == 7
    assert standings(look, tenant) == before
    assert late.usage.roll_up(dry_run=False).searches == 0


def test_entries_that_an_import_brings_back_are_not_counted_again(
    plain: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    for n in range(2):
        plain.usage.log_search(f"where {n}?", tool="grep", results=[("file", "a")])
    plain.usage.flush()
    plain.admin.export_to(tmp_path / "old.jsonl")
    assert later(plain, 100).usage.roll_up(dry_run=False).searches == 2
    rolled = look.events(tenant)
    plain.admin.import_from(tmp_path / "old.jsonl")
    assert kinds(look, tenant)["SEARCH"] == 2

    later(plain, 100).usage.roll_up(dry_run=False)

    assert look.events(tenant) == rolled
    # With another entry, they are another count.
    plain.admin.import_from(tmp_path / "old.jsonl")
    plain.usage.log_search("where else?", tool="grep", results=[("file", "a")])
    plain.usage.flush()
    assert later(plain, 100).usage.roll_up(dry_run=False).searches == 3
    assert kinds(look, tenant) == {"ROLL_UP": 2}


def test_sessions_whose_count_is_imported_are_not_counted_again(
    plain: Handle, look: Look, tmp_path: Path
) -> None:
    filled(plain, 8, 3)
    plain.admin.export_to(tmp_path / "old.jsonl")
    later(plain, 100).usage.roll_up(dry_run=False)
    plain.admin.export_to(tmp_path / "new.jsonl")
    tenant = fresh_tenant()
    other = on_tenant(plain, tenant)
    for name in ("old.jsonl", "new.jsonl"):
        other.admin.import_from(tmp_path / name)
    before = kinds(look, tenant)
    other.usage.rate()

    assert later(other, 100).usage.roll_up(dry_run=False).searches == before["SEARCH"]

    left = kinds(look, tenant)
    assert left["ROLL_UP"] == before["ROLL_UP"] >= 3
    assert "SEARCH" not in left


def test_what_was_logged_after_the_end_is_in_no_checkpoint(
    plain: Handle, look: Look, tenant: str
) -> None:
    log = Log(plain, things(plain), 3)
    entries = log.session()
    start = next(one for one in entries if isinstance(one, SessionStart))
    written(plain, entries)
    plain.usage.rate()
    found = next(one for one in entries if isinstance(one, SearchEntry) and one.found)
    written(plain, [replace(log._access(start, found.found[0]), at=JUNE + timedelta(10))])
    before = standings(look, tenant)
    later(plain, 100).usage.roll_up(dry_run=False)
    assert standings(look, tenant) == standings(look, tenant, BASE) == before


def test_a_tenant_without_a_log_has_nothing_to_roll_up(plain: Handle) -> None:
    assert plain.usage.roll_up(days=0).sessions == 0
    assert plain.usage.roll_up(days=0, dry_run=False).sessions == 0


def test_files_are_forgotten_when_no_entry_names_them_any_more(
    plain: Handle, look: Look, tenant: str
) -> None:
    found = [("file", f"src/{n}.py") for n in range(12)]
    for name in "ab":
        with plain.session(name) as session:
            session.usage.log_search("pool", tool="grep", results=found)
            session.usage.log_access(*found[0])
        plain.usage.log_access("file", "README.md")
    plain.usage.flush()
    assert plain.usage.rate().sessions == 2
    assert plain.usage.roll_up(days=0).accesses == 4

    def refs() -> set[str]:
        rows = look.rows("MATCH (n:Artifact {tenant: $tenant}) RETURN n.ref AS ref", tenant=tenant)
        return {row["ref"] for row in rows}

    done = plain.usage.roll_up(days=0, dry_run=False)
    # The one that was opened is rated above LOW.
    assert (done.searches, done.accesses, done.artifacts) == (2, 4, 12)
    assert refs() == {"src/0.py"}
    assert [one.text for one in plain.usage.ratings()] == ["src/0.py"]
    assert {one.lost for one in plain.usage.audit().sessions} == {0}
    assert later(plain, 400).usage.roll_up(dry_run=False).artifacts == 1
    plain.usage.log_access(*found[0])
    plain.usage.flush()
    assert refs() == {"src/0.py"}
