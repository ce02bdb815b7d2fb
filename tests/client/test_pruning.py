"""Pruning by ratings: what goes, what stays, and that all of it comes back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from graphmem import AsOf, Handle, PrunePolicy
from graphmem.errors import (
    ArchiveDamagedError,
    ForeignScopeError,
    GraphUnavailableError,
    NotFoundError,
)
from graphmem.model import Message, Status, Tier
from graphmem.settings import Settings
from graphmem.testing import FrozenClock
from graphmem.upkeep import PruneAction, PruneReport, pruning
from tests.plugins.clients import Door, on_tenant
from tests.plugins.faults import Breaking, LostError, Retrying, Unacknowledged
from tests.plugins.graph import Look, driver_of, fresh_tenant
from tests.plugins.ratings import MARCH, Rate
from tests.plugins.texts import unlike

LONG = "Ann moved to Porto in May. " * 40
DAY = timedelta(days=1)
OWN = ("ARCHIVE", "COMPRESS", "RESTORE")


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(MARCH)


@pytest.fixture
def then(door: Door, memory: Handle, clock: FrozenClock) -> Handle:
    """A memory whose clock stands until it is advanced."""
    return door.on(memory, clock=clock)


def fates(done: PruneReport) -> dict[str, PruneAction]:
    return {item.id: item.action for item in done.items}


def turns(then: Handle, **looking: Any) -> set[str]:
    """The texts of turns that are found."""
    return {bite.text for bite in then.recall(unlike(3), **looking).bites}


def told(then: Handle) -> dict[str, str]:
    """Three episodes, by name: a long text, a short one, and one with turns."""
    ids = {
        "short": then.episodes.add(episode_id="short", content=unlike(1), at=MARCH),
        "text": then.episodes.add(episode_id="text", content=LONG, at=MARCH),
    }
    with then.session("talk") as session:
        session.add_messages([Message(role="user", content=unlike(3), at=MARCH)])
        return {**ids, "talk": session.episode_id}


def but_events(look: Look, tenant: str) -> dict[str, list[str]]:
    """Every node and edge of a tenant but for events, what concerns them and their clocks."""
    there = look.graph(tenant)
    return {
        "node": [row for row in there["node"] if "['Event']" not in row],
        "edge": [row for row in there["edge"] if "'CONCERNS'" not in row],
    }


@pytest.mark.parametrize("elo", [-500.0, 500.0, 1_000.0])
def test_what_is_remembered_or_believed_is_never_pruned(
    then: Handle, clock: FrozenClock, rate: Rate, elo: float
) -> None:
    """Found and not opened for years, a statement is no less true."""
    memory_id = str(then.remember("The user is allergic to penicillin", at=MARCH).memory_id)
    then.observe("user", "allergic_to", "penicillin", confidence=1.0, at=MARCH)
    belief_id = then.beliefs.list().beliefs[0].id
    episode_id = then.episodes.add(episode_id="text", content=LONG, at=MARCH)
    rate(then, {memory_id: elo, belief_id: elo, episode_id: elo})
    clock.advance(2_000 * DAY)
    done = then.usage.prune(dry_run=False)
    assert fates(done) == {episode_id: PruneAction.ARCHIVE}
    assert then.memories.get(memory_id).status == Status.CURRENT
    assert then.beliefs.get(belief_id).status == Status.CURRENT


def test_a_pinned_episode_stays_until_it_is_unpinned(
    then: Handle, clock: FrozenClock, rate: Rate
) -> None:
    ids = told(then)
    rate(then, dict.fromkeys(ids.values(), 500))
    done = then.episodes.pin("text")
    assert (done.episode_id, done.pinned) == ("text", True)
    clock.advance(31 * DAY)
    plan = then.usage.prune()
    assert fates(plan).keys() == {"short", ids["talk"]}
    assert plan.kept == 1
    assert not then.episodes.unpin("text").pinned
    clock.advance(30 * DAY)
    assert fates(then.usage.prune()).keys() == set(ids.values())
    with pytest.raises(NotFoundError):
        then.episodes.pin("no such")
    with pytest.raises(ForeignScopeError):
        then.scope("alice", read_scopes=["global"]).episodes.pin("text")


def test_high_and_medium_stay_however_long_nobody_touched_them(
    then: Handle, clock: FrozenClock, rate: Rate
) -> None:
    ids = told(then)
    # Fading alone leads to LOW in the end.
    rate(then, dict.fromkeys(ids.values(), 1e7))
    clock.advance(60 * DAY)
    done = then.usage.prune(dry_run=False)
    assert (done.rated, done.items, done.kept) == (3, (), 0)
    assert then.usage.ratings(limit=1)[0].rating.tier is Tier.HIGH


@pytest.mark.parametrize(
    ("elo", "days", "fate"),
    [
        (799.9, 30, PruneAction.ARCHIVE),
        (799.9, 29.999, None),
        (1199.9, 30, PruneAction.ARCHIVE),
        (1199.9, 29.999, PruneAction.COMPRESS),
        (1199.9, 13.999, None),
        (2000.0, 29, None),
    ],
)
def test_an_episode_goes_in_time_after_it_was_last_opened(
    then: Handle, clock: FrozenClock, rate: Rate, elo: float, days: float, fate: PruneAction | None
) -> None:
    then.episodes.add(episode_id="text", content=LONG, at=MARCH - 100 * DAY)
    then.expand("text")
    then.usage.flush()
    rate(then, {"text": elo})
    clock.advance(days * DAY)
    done = then.usage.prune(dry_run=False)
    assert fates(done) == ({} if fate is None else {"text": fate})
    assert (done.rated, done.applied) == (1, fate is not None)
    assert (done.run_id is None) == (fate is None)


def test_an_episode_is_compressed_then_archived_and_its_turns_are_not_found(
    then: Handle, clock: FrozenClock, rate: Rate
) -> None:
    ids = told(then)
    rate(then, {ids["text"]: 1000, ids["talk"]: 700})
    clock.advance(14 * DAY)
    first = then.usage.prune(dry_run=False)
    assert fates(first) == {"text": PruneAction.COMPRESS}
    assert then.episodes.get("text").compressed
    assert first.items[0].text == LONG[:200]
    then.expand("text")
    then.usage.flush()
    clock.advance(16 * DAY)
    assert unlike(3) in turns(then)
    before = clock.now()
    clock.advance(DAY)
    second = then.usage.prune(dry_run=False)
    assert fates(second) == {ids["talk"]: PruneAction.ARCHIVE}
    assert unlike(3) not in turns(then)
    assert {one.id for one in then.episodes.list().episodes} == {"short", "text"}
    for listed in (
        then.episodes.list(include_archived=True),
        then.episodes.list(as_of=AsOf(valid=before)),
    ):
        assert {one.id for one in listed.episodes} == set(ids.values())
    assert unlike(3) not in turns(then, since=MARCH - DAY)
    assert unlike(3) in turns(then, as_of=AsOf(valid=before))
    # It was opened after it was compressed, and goes all the same.
    clock.advance(14 * DAY)
    third = then.usage.prune(dry_run=False)
    assert fates(third) == {"text": PruneAction.ARCHIVE}
    # What is away already is not pruned again.
    assert then.usage.prune(dry_run=False).items == ()
    clock.advance(DAY)
    assert then.usage.restore_pruned(str(second.run_id)).items == 1
    assert unlike(3) in turns(then)
    assert {one.id for one in then.episodes.list().episodes} == {"short", ids["talk"]}
    assert then.episodes.restore("text").changed
    assert then.episodes.get("text").content == LONG
    assert [line.away for line in then.usage.prune_manifest()] == [False, False, False]


def test_what_was_not_returned_for_long_goes_first(
    then: Handle, clock: FrozenClock, rate: Rate
) -> None:
    ids = told(then)
    rate(then, {ids["short"]: 400, ids["text"]: 500, ids["talk"]: 600})
    plan = then.usage.prune()
    assert plan.items == ()
    clock.advance(91 * DAY)
    with then.session("later") as session:
        # A turn counts for its episode.
        assert [bite.kind for bite in session.recall(unlike(3), limit=1).bites] == ["turn"]
        assert [bite.id for bite in session.recall(unlike(1), limit=1).bites] == [ids["short"]]
    clock.advance(DAY)
    plan = then.usage.prune()
    assert [item.id for item in plan.items] == [ids["text"], ids["short"], ids["talk"]]
    returned = {item.id: item.returned_days for item in plan.items}
    assert returned[ids["short"]] == returned[ids["talk"]] == pytest.approx(1)
    clock.advance(89 * DAY)
    plan = then.usage.prune()
    assert [item.id for item in plan.items] == [ids["short"], ids["text"], ids["talk"]]


def test_a_plan_writes_nothing_and_is_what_is_done(
    then: Handle, clock: FrozenClock, rate: Rate, look: Look, tenant: str
) -> None:
    ids = told(then)
    rate(then, dict.fromkeys(ids.values(), 500))
    clock.advance(31 * DAY)
    before = look.graph(tenant)
    plan = then.usage.prune()
    assert look.graph(tenant) == before
    assert (plan.applied, plan.run_id, len(plan.items)) == (False, None, 3)
    assert then.usage.prune_manifest() == ()
    done = then.usage.prune(dry_run=False)
    assert done.items == plan.items
    assert done.applied
    lines = then.usage.prune_manifest(done.run_id)
    assert {(line.kind, line.id) for line in lines} == {(it.kind, it.id) for it in plan.items}
    assert {line.sha256 for line in lines} == {item.sha256 for item in plan.items}
    assert all(line.away and line.run_id == done.run_id for line in lines)


def test_pruned_and_restored_the_graph_is_as_before_but_for_what_happened(
    then: Handle, clock: FrozenClock, rate: Rate, look: Look, tenant: str
) -> None:
    ids = told(then)
    more = [then.episodes.add(content=unlike(n), at=MARCH) for n in range(10, 40)]
    then.remember(unlike(9))
    rate(then, dict.fromkeys([*ids.values(), *more], 500))
    clock.advance(100 * DAY)
    before, events = but_events(look, tenant), look.events(tenant)
    done = then.usage.prune(dry_run=False)
    assert but_events(look, tenant) != before
    clock.advance(DAY)
    assert then.usage.restore_pruned(str(done.run_id)).items == 33
    assert but_events(look, tenant) == before
    after = look.events(tenant)
    assert {k: v for k, v in after.items() if k in events} == events
    assert {v["type"] for k, v in after.items() if k not in events} == set(OWN)
    # Nothing is left to bring back, and nothing is written to say so.
    assert then.usage.restore_pruned(str(done.run_id)).items == 0
    assert look.events(tenant) == after


@pytest.mark.parametrize("nth", range(1, 8))
def test_a_crash_at_any_query_loses_nothing(
    door: Door, then: Handle, clock: FrozenClock, rate: Rate, look: Look, tenant: str, nth: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(pruning, "PAGE", 2)
    ids = told(then)
    rate(then, dict.fromkeys(ids.values(), 500))
    clock.advance(31 * DAY)
    whole = look.graph(tenant)
    broken = door.on(then, graph=Breaking(then._state.context.services.graph, nth))
    with pytest.raises(LostError):
        broken.usage.prune(dry_run=False)
    first = {line.run_id for line in then.usage.prune_manifest()}
    assert len(look.graph(tenant)["node"]) >= len(whole["node"])
    then.usage.prune(dry_run=False)
    lines = then.usage.prune_manifest()
    assert {line.id for line in lines} == set(ids.values())
    assert all(line.away for line in lines)
    assert len({line.run_id for line in lines} - first) <= 1
    clock.advance(DAY)
    for run in {line.run_id for line in lines}:
        then.usage.restore_pruned(run)
    assert not any(line.away for line in then.usage.prune_manifest())
    assert then.episodes.get("text").content == LONG


def test_a_write_that_is_run_again_or_unacknowledged_is_there_once(
    door: Door, then: Handle, clock: FrozenClock, rate: Rate, look: Look, tenant: str
) -> None:
    ids = told(then)
    rate(then, dict.fromkeys(ids.values(), 500))
    clock.advance(31 * DAY)
    inner = then._state.context.services.graph
    with pytest.raises(GraphUnavailableError):
        door.on(then, graph=Unacknowledged(inner, 1)).usage.prune(dry_run=False)
    [run] = {line.run_id for line in then.usage.prune_manifest()}
    assert then.usage.prune(dry_run=False).items == ()
    clock.advance(DAY)
    assert door.on(then, graph=Retrying(inner)).usage.restore_pruned(run).items == 3
    types = [event["type"] for event in look.events(tenant).values()]
    assert types.count("RESTORE") == 3


@pytest.mark.usefixtures("both_clients")
def test_two_at_once_prune_each_item_once(
    door: Door, then: Handle, clock: FrozenClock, rate: Rate, look: Look, tenant: str
) -> None:
    ids = told(then)
    rate(then, dict.fromkeys(ids.values(), 500))
    clock.advance(31 * DAY)
    done = door.together(then, [lambda m: m.usage.prune(dry_run=False)] * 3)
    assert not [one for one in done if isinstance(one, Exception)]
    assert sorted(item.id for one in done for item in one.items) == sorted(ids.values())


def test_a_run_is_restored_in_part_and_only_in_its_scope(
    then: Handle, clock: FrozenClock, rate: Rate
) -> None:
    ids = told(then)
    rate(then, dict.fromkeys(ids.values(), 500))
    alice = then.scope("alice")
    hers = alice.episodes.add(content=unlike(5), at=MARCH)
    rate(alice, {hers: 500})
    clock.advance(31 * DAY)
    assert fates(alice.usage.prune(dry_run=False)) == {hers: PruneAction.ARCHIVE}
    run = str(then.usage.prune(dry_run=False).run_id)
    clock.advance(DAY)
    for other in (alice, on_tenant(then, fresh_tenant())):
        with pytest.raises(NotFoundError, match="No pruning"):
            other.usage.restore_pruned(run)
    with pytest.raises(NotFoundError, match="no item"):
        then.usage.restore_pruned(run, item_ids=["ep_nobody's"])
    assert then.usage.restore_pruned(run, item_ids=["short"]).items == 1
    assert [one.id for one in then.episodes.list().episodes] == ["short"]
    assert {line.id for line in then.usage.prune_manifest(run) if line.away} == set(
        ids.values()
    ) - {"short"}


def test_a_damaged_archive_is_not_put_back(
    then: Handle, clock: FrozenClock, rate: Rate, migrated: Settings, tenant: str
) -> None:
    then.episodes.add(episode_id="text", content=LONG, at=MARCH)
    rate(then, {"text": 500})
    clock.advance(31 * DAY)
    run = str(then.usage.prune(dry_run=False).run_id)
    with driver_of(migrated) as driver:
        driver.execute_query("MATCH (a:Archive {tenant: $t}) SET a.content = 'other'", t=tenant)
    with pytest.raises(ArchiveDamagedError):
        then.usage.restore_pruned(run)
    assert then.usage.prune_manifest(run)[0].away


def test_other_days(then: Handle, clock: FrozenClock, rate: Rate) -> None:
    then.episodes.add(episode_id="text", content=LONG, at=MARCH)
    rate(then, {"text": 500})
    clock.advance(2 * DAY)
    assert then.usage.prune().items == ()
    policy = PrunePolicy(archive_days=2)
    assert fates(then.usage.prune(policy=policy)) == {"text": PruneAction.ARCHIVE}
