"""What one offered text becomes, by either client."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from graphmem import Handle, NewMemory, Outcome, Status
from graphmem.errors import EventConflictError, InvalidInputError, NotFoundError, RefusedError
from graphmem.model import OnUpdate, Origin
from graphmem.rules import identity
from graphmem.rules.drafts import MAX_CLOCK_SKEW
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door
from tests.plugins.graph import Look
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, 12, 30, 15, 123456, tzinfo=UTC)
DAY = timedelta(days=1)
LIMIT = "The limit of the upload queue in the payments service is {} and is checked every night"
LIMITS = [LIMIT.format(n) for n in (100, 200, 300)]


def test_a_new_text_becomes_a_memory(memory: Handle) -> None:
    done = memory.remember(
        "Alice deploys from Borealis",
        at=MAY,
        tags=["ops", "alice"],
        source="hook",
        actor="alice",
        artifact_ref="deploy.sh",
    )

    assert done.outcome is Outcome.INSERTED_NEW
    assert done.memory_id == identity.memory_id("global", "Alice deploys from Borealis")
    assert done.matched_memory_id is None
    assert done.possible_update_of is None
    assert done.content_hash == identity.content_hash("Alice deploys from Borealis")
    assert (done.occurred_at, done.source, done.tags) == (MAY, "hook", ("ops", "alice"))
    assert done.artifact_ref == "deploy.sh"
    assert done.thresholds == {"near": 0.5, "update": 0.3}
    assert not done.repeated

    kept = memory.memories.get(done.memory_id)
    assert (kept.content, kept.scope, kept.status) == (
        "Alice deploys from Borealis",
        "global",
        Status.CURRENT,
    )
    assert (kept.created_at, kept.last_seen_at, kept.reinforce_count) == (MAY, MAY, 0)
    assert kept.tags == ("alice", "ops")
    assert abs(datetime.now(UTC) - kept.recorded_at) < timedelta(minutes=5)

    [event] = memory.memories.history(done.memory_id)
    assert (event.id, event.type, event.occurred_at) == (done.event_id, "ADD", MAY)
    assert (event.source, event.actor, event.artifact_ref) == ("hook", "alice", "deploy.sh")
    assert event.payload["outcome"] == "INSERTED_NEW"


@pytest.mark.parametrize(
    "again", ["Zoë pays in  euros", " Zoë pays\tin\neuros ", "Zoe\u0308 pays in euros"]
)
def test_the_same_text_reinforces(memory: Handle, again: str) -> None:
    first = memory.remember("Zoë pays in euros", at=MAY, tags=["money"])

    done = memory.remember(again, at=MAY + timedelta(days=3), tags=["zoe"])

    assert done.outcome is Outcome.EXACT_DUPE
    assert done.memory_id == done.matched_memory_id == first.memory_id
    assert done.query_score == 1.0
    kept = memory.memories.get(str(first.memory_id))
    assert kept.content == "Zoë pays in euros"
    assert kept.tags == ("money", "zoe")
    assert (kept.reinforce_count, kept.created_at) == (1, MAY)
    assert kept.last_seen_at == MAY + timedelta(days=3)
    assert [e.type for e in memory.memories.history(kept.id)] == ["ADD", "REINFORCE_EXACT"]


def test_a_near_duplicate_reinforces_and_keeps_the_offered_text(memory: Handle) -> None:
    first = memory.remember(WINDOW, tags=["deploy"])

    done = memory.remember(restated(5), tags=["friday"])

    assert done.outcome is Outcome.NEAR_DUPE
    assert done.memory_id == done.matched_memory_id == first.memory_id
    assert done.query_score is not None
    assert 0.5 <= done.query_score < 1
    kept = memory.memories.get(str(first.memory_id))
    assert (kept.content, kept.reinforce_count) == (WINDOW, 1)
    assert kept.tags == ("deploy", "friday")
    near = memory.memories.history(kept.id)[-1]
    assert (near.type, near.payload["text"]) == ("REINFORCE_NEAR", restated(5))


@pytest.mark.parametrize(
    "again", ["The CI runs on Jenkins!", "the ci runs on jenkins", "THE CI RUNS ON JENKINS."]
)
def test_case_and_punctuation_make_no_new_memory(memory: Handle, again: str) -> None:
    first = memory.remember("The CI runs on Jenkins.")
    done = memory.remember(again)
    assert (done.outcome, done.memory_id) == (Outcome.NEAR_DUPE, first.memory_id)


def test_a_close_text_that_is_no_version_of_the_fact_is_not_reported(memory: Handle) -> None:
    memory.remember("The meeting with Anna about the budget is in Porto")
    done = memory.remember("Anna was at the meeting in Porto, about the budget of the harbour")
    assert (done.outcome, done.possible_update_of) == (Outcome.INSERTED_NEW, None)


def test_an_update_is_inserted_and_reported(memory: Handle) -> None:
    first = memory.remember(LIMITS[0])

    done = memory.remember(LIMITS[1])

    assert done.outcome is Outcome.INSERTED_NEW
    assert done.memory_id != first.memory_id
    assert done.possible_update_of == first.memory_id
    assert (done.superseded_ids, done.proposal_id) == ((), None)
    assert done.matched_memory_id is None
    assert done.query_score is not None
    assert done.query_score >= 0.3
    assert memory.memories.get(str(first.memory_id)).status is Status.CURRENT


def test_a_text_may_replace_what_it_updates(memory: Handle, look: Look, tenant: str) -> None:
    first = memory.remember(LIMITS[0], at=MAY)
    how: dict[str, Any] = {"on_update": "supersede", "event_id": "e", "at": MAY + DAY}
    done = memory.remember(LIMITS[1], **how)
    assert (done.possible_update_of, done.superseded_ids) == (first.memory_id, (first.memory_id,))
    assert [m.id for m in memory.memories.list().memories] == [done.memory_id]
    [link] = memory.memories.chain(str(first.memory_id)).links
    assert (link.occurred_at, link.in_force) == (MAY + DAY, True)
    before = look.events(tenant)
    again = memory.remember(LIMITS[1], **how)
    assert again == done.model_copy(update={"repeated": True})
    with pytest.raises(EventConflictError):
        memory.remember(LIMITS[1], **{**how, "on_update": "insert"})
    assert look.events(tenant) == before
    # The old text again is a change back.
    back = memory.remember(LIMITS[0], on_update="supersede")
    assert (back.memory_id, back.superseded_ids) == (first.memory_id, (done.memory_id,))
    assert [m.id for m in memory.memories.list().memories] == [first.memory_id]


@pytest.mark.parametrize("on_update", ["insert", "propose", "supersede"])
def test_a_text_stated_again_replaces_its_successors(memory: Handle, on_update: OnUpdate) -> None:
    texts = [f"Ana lives in {city}." for city in ("Porto", "Braga", "Faro")]
    ids = [
        memory.remember(text, at=MAY + n * DAY, on_update="supersede").memory_id
        for n, text in enumerate(texts)
    ]
    back = memory.remember(texts[0], at=MAY + 3 * DAY, on_update=on_update)
    assert (back.outcome, back.memory_id) == (Outcome.EXACT_DUPE, ids[0])
    assert (back.superseded_ids, back.proposal_id) == ((ids[2],), None)
    assert [m.id for m in memory.memories.list().memories] == [ids[0]]
    # Another one again, and none that is current.
    assert memory.remember(texts[1], at=MAY + 4 * DAY).superseded_ids == (ids[0],)
    assert memory.remember(texts[1], at=MAY + 5 * DAY).superseded_ids == ()
    assert [m.id for m in memory.memories.list().memories] == [ids[1]]


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ("My sister works in Oslo.", "My brother works in Oslo.", False),
        ("Server api-3 listens on port 80.", "Server api-4 listens on port 80.", False),
        ("Ben takes aspirin.", "Ben takes cortisone.", False),
        ("Never page Ana on Sundays.", "Never page Ana on Mondays.", False),
        ("The hall curtains are blue.", "The hall curtains are green.", True),
    ],
)
def test_a_text_in_doubt_replaces_nothing(
    memory: Handle, first: str, second: str, *, named: bool
) -> None:
    older = memory.remember(first, at=MAY)
    done = memory.remember(second, at=MAY + DAY, on_update="supersede")
    assert (done.outcome, done.superseded_ids) == (Outcome.INSERTED_NEW, ())
    assert done.possible_update_of == (older.memory_id if named else None)
    assert len(memory.memories.list().memories) == 2


def test_a_text_that_arrives_late_replaces_nothing(memory: Handle) -> None:
    memory.remember(LIMITS[1], at=MAY + DAY)
    late = memory.remember(LIMITS[0], at=MAY, on_update="supersede")
    assert (late.possible_update_of is not None, late.superseded_ids) == (True, ())
    assert len(memory.memories.list().memories) == 2


def test_a_text_replaces_nothing_of_another_scope(memory: Handle) -> None:
    memory.remember(LIMITS[0])
    done = memory.scope("alice").remember(LIMITS[1], on_update="supersede")
    assert (done.possible_update_of is not None, done.superseded_ids) == (True, ())


def test_the_texts_of_a_batch_replace_each_other_in_order(memory: Handle) -> None:
    done = memory.remember_many([*LIMITS, LIMITS[0]], on_update="supersede")
    ids = [one.memory_id for one in done]
    assert [one.superseded_ids for one in done] == [(), (ids[0],), (ids[1],), (ids[2],)]
    assert [m.id for m in memory.memories.list().memories] == [ids[0]]
    some = [
        NewMemory(content=LIMIT.format("Monday")),
        NewMemory(content=LIMIT.format("Friday"), on_update="supersede"),
    ]
    assert len(memory.remember_many(some)[1].superseded_ids) == 1


def test_concurrent_updates_make_a_chain(plain: Handle) -> None:
    first = plain.remember(LIMITS[0]).memory_id
    texts = [LIMIT.format(n) for n in range(200, 206)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda text: plain.remember(text, on_update="supersede"), texts))
    assert len(plain.memories.list().memories) == 1
    assert len(plain.memories.chain(str(first)).head_ids) == 1


def test_an_update_may_be_proposed(memory: Handle, look: Look, tenant: str) -> None:
    first = memory.remember(LIMITS[0], at=MAY)
    done = memory.remember(LIMITS[1], on_update="propose", at=MAY + DAY)
    assert (done.superseded_ids, len(memory.memories.list().memories)) == ((), 2)
    page = memory.proposals.list()
    [update] = page.updates
    assert page.proposals == ()
    assert (update.id, update.newer_id, update.older_id) == (
        done.proposal_id,
        done.memory_id,
        first.memory_id,
    )
    assert (update.newer, update.older, update.status) == (LIMITS[1], LIMITS[0], "open")
    accepted = memory.proposals.accept([update.id], origin=Origin(actor="bob"))
    assert [m.id for m in memory.memories.list().memories] == [done.memory_id]
    assert look.events(tenant)[accepted.event_ids[0]]["actor"] == "bob"
    assert memory.proposals.accept([update.id]).repeated == (update.id,)
    with pytest.raises(RefusedError, match="accepted"):
        memory.proposals.dismiss([update.id])
    [kept] = memory.proposals.list(status="accepted").updates
    assert kept.id == update.id


def test_a_proposed_update_may_be_dismissed(memory: Handle) -> None:
    memory.remember(LIMITS[0])
    done = memory.remember(LIMITS[1], on_update="propose")
    memory.proposals.dismiss([str(done.proposal_id)])
    assert memory.proposals.list().updates == ()
    assert len(memory.memories.list().memories) == 2
    newest = memory.remember(LIMITS[2], on_update="propose")
    [update] = memory.proposals.list().updates
    assert update.id == newest.proposal_id
    # The older memory was superseded since: acceptance replaces the head of its chain.
    head = memory.supersede(update.older_id, LIMIT.format(250)).newer_id
    memory.proposals.accept([update.id])
    assert memory.memories.get(head).head_ids == (newest.memory_id,)


def test_a_rule_of_the_caller_is_asked_too(door: Door) -> None:
    def no_gossip(text: str) -> str | None:
        return "gossip" if "rumour" in text else None

    with door.opened(rules=[no_gossip]) as memory:
        assert memory.remember("a rumour about Bob").hygiene_reasons == ("gossip",)
        assert memory.remember("a fact about Bob").outcome is Outcome.INSERTED_NEW


def test_a_repeated_id_gives_the_first_outcome_again(
    memory: Handle, look: Look, tenant: str
) -> None:
    memory.remember(WINDOW)
    first = [
        memory.remember(text, event_id=f"e{i}", at=MAY, tags=["t"], source="hook", actor="a")
        for i, text in enumerate([unlike(1), unlike(1), restated(7)])
    ]
    before = look.events(tenant)

    again = [
        memory.remember(text, event_id=f"e{i}", at=MAY, tags=["t"], source="hook", actor="a")
        for i, text in enumerate([unlike(1), unlike(1), restated(7)])
    ]

    assert [o.outcome for o in first] == ["INSERTED_NEW", "EXACT_DUPE", "NEAR_DUPE"]
    assert [o.model_copy(update={"repeated": False}) for o in again] == first
    assert all(o.repeated for o in again)
    assert look.events(tenant) == before


def test_a_repeated_id_without_an_instant_keeps_the_first_one(memory: Handle) -> None:
    first = memory.remember(unlike(1), event_id="e1")
    again = memory.remember(unlike(1), event_id="e1")
    assert again.occurred_at == first.occurred_at
    assert again.repeated


@pytest.mark.parametrize(
    "other",
    [
        {"content": unlike(2)},
        {"at": MAY + timedelta(microseconds=1)},
        {"at": None},
        {"tags": ["u"]},
        {"tags": []},
        {"source": "import"},
        {"actor": "b"},
        {"artifact_ref": "x"},
    ],
)
def test_an_id_with_other_content_is_refused(
    memory: Handle, look: Look, tenant: str, other: dict[str, object]
) -> None:
    asked: dict[str, object] = {"content": unlike(1), "event_id": "e1", "at": MAY, "tags": ["t"]}
    memory.remember(**asked)  # type: ignore[arg-type]
    before = look.events(tenant)

    with pytest.raises(EventConflictError) as caught:
        memory.remember(**{**asked, **other})  # type: ignore[arg-type]

    assert caught.value.code == "event_conflict"
    assert look.events(tenant) == before
    assert look.count(tenant) == {"Memory": 1, "Event": 1}


def test_an_earlier_instant_moves_the_beginning_back(memory: Handle) -> None:
    done = memory.remember(unlike(1), at=MAY)
    memory.remember(unlike(1), at=MAY - timedelta(days=30))
    kept = memory.memories.get(str(done.memory_id))
    assert (kept.created_at, kept.last_seen_at) == (MAY - timedelta(days=30), MAY)


def test_instants_of_any_zone_are_kept_in_utc_to_the_microsecond(memory: Handle) -> None:
    lisbon = MAY.astimezone(timezone(timedelta(hours=-7, minutes=-30)))
    done = memory.remember(unlike(1), at=lisbon)
    assert done.occurred_at == MAY
    kept = memory.memories.get(str(done.memory_id))
    assert kept.created_at == MAY
    assert kept.created_at.utcoffset() == timedelta(0)


@pytest.mark.parametrize("at", [datetime(1, 1, 1, tzinfo=UTC), datetime(1582, 10, 10, tzinfo=UTC)])
def test_far_instants_come_back_as_they_were(memory: Handle, at: datetime) -> None:
    done = memory.remember(unlike(1), at=at)
    assert memory.memories.get(str(done.memory_id)).created_at == at


def test_the_future_is_refused_beyond_a_clock_that_runs_ahead(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    clock = FrozenClock(MAY)
    memory = door.on(memory, clock=clock)

    with pytest.raises(InvalidInputError, match="must not be in the future") as caught:
        memory.remember(unlike(1), at=MAY + MAX_CLOCK_SKEW + timedelta(microseconds=1))
    assert caught.value.code == "invalid_input"
    assert caught.value.hint
    assert look.count(tenant) == {}

    assert memory.remember(unlike(1), at=MAY + MAX_CLOCK_SKEW).occurred_at == MAY + MAX_CLOCK_SKEW
    clock.advance(timedelta(days=1))
    assert memory.remember(unlike(2)).occurred_at == MAY + timedelta(days=1)


def test_an_unknown_episode_is_refused_whole(memory: Handle, look: Look, tenant: str) -> None:
    with pytest.raises(NotFoundError):
        memory.remember(unlike(1), episode_id="ep_nowhere")
    assert look.count(tenant) == {}


def test_an_episode_that_cannot_be_seen_is_not_there(
    memory: Handle, look: Look, tenant: str
) -> None:
    memory.scope("bob").episodes.add(episode_id="his")
    with pytest.raises(NotFoundError):
        memory.remember(unlike(1), episode_id="his")
    assert look.count(tenant) == {"Episode": 1}


def test_what_was_hidden_comes_back_when_it_is_said_again(memory: Handle) -> None:
    done = memory.remember(unlike(1))
    memory.memories.deprecate(str(done.memory_id))

    again = memory.remember(unlike(1))

    assert again.outcome is Outcome.EXACT_DUPE
    kept = memory.memories.get(str(done.memory_id))
    assert (kept.status, kept.reinforce_count) == (Status.CURRENT, 1)
    types = [e.type for e in memory.memories.history(kept.id)]
    assert sorted(types) == ["ADD", "DEPRECATE", "REINFORCE_EXACT", "RESTORE"]


def test_an_id_may_look_like_one_of_ours(memory: Handle) -> None:
    """Ids of events that a commit makes on its own cannot be taken beforehand."""
    done = memory.remember(unlike(1))
    memory.remember(unlike(2), event_id="e1.restore")
    memory.memories.deprecate(str(done.memory_id))

    memory.remember(unlike(1), event_id="e1")

    assert memory.memories.get(str(done.memory_id)).status is Status.CURRENT


def test_every_event_id_in_a_history_can_be_sent_again(memory: Handle) -> None:
    """A sender that replays what it read gets an answer, not an accident.

    An id that graphmem made is another one when a caller gives it.
    """
    first = memory.remember(unlike(1), event_id="e1")
    newer = memory.supersede(str(first.memory_id), unlike(2), origin=Origin(event_id="s1"))
    memory.remember(unlike(1), event_id="e2")
    for memory_id in (first.memory_id, newer.newer_id):
        for event in memory.memories.history(str(memory_id)):
            with suppress(EventConflictError):
                again = memory.remember(unlike(1), event_id=event.id)
                assert again.repeated or again.event_id != event.id
