"""What one piece of evidence about a triple becomes, by either client."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import (
    EventConflictError,
    InvalidInputError,
    ModelUnavailableError,
    NotFoundError,
)
from graphmem.model import BeliefReasons, EvidenceReceipt, Observation, Origin
from graphmem.ports import Role, run_now
from graphmem.rules import claims
from graphmem.testing import HashEmbedder
from tests.plugins.clients import Door, on_tenant
from tests.plugins.faults import Failing
from tests.plugins.graph import Look

MAY = datetime(2025, 5, 5, 12, 30, 15, 123456, tzinfo=UTC)
DAY = timedelta(days=1)
ATLAS = ("alice", "works_on", "Atlas")


def vector(statement: str) -> list[float]:
    """The embedding that a statement should have."""
    [row] = run_now(HashEmbedder().embed([statement], Role.DOCUMENT)).tolist()
    return [float(x) for x in row]


def is_embedded(belief: dict[str, Any]) -> bool:
    """Whether a belief carries the embedding of the statement that it shows."""
    found = belief.get("embedding")
    if found is None or belief.get("unembedded"):
        return False
    return [float(x) for x in found] == pytest.approx(vector(belief["statement"]), abs=1e-6)


def test_the_first_evidence_makes_a_belief(memory: Handle, look: Look, tenant: str) -> None:
    episode = memory.episodes.add(session_id="friday")

    done = memory.observe(
        " Zoë ",
        "works_on",
        "Atlas",
        confidence=0.9,
        source_type="TOOL",
        episode_id=episode,
        at=MAY,
        source="hook",
        actor="bob",
        artifact_ref="tracker/7",
        note="assigned",
        event_id="e1",
    )

    claim = claims.triple_claim("global", "Zoë", "works_on", "Atlas")
    assert done == EvidenceReceipt(event_id="e1", belief_id=claim.id)
    assert look.count(tenant) == {"Belief": 1, "Event": 1, "Episode": 1}
    event = look.events(tenant)["e1"]
    assert event["edges"] == [["OCCURRED_IN", "Episode", episode], ["SUPPORTS", "Belief", claim.id]]
    assert (event["type"], event["polarity"], event["confidence"]) == ("EVIDENCE", 1, 0.9)
    assert (event["source_type"], event["source"], event["actor"]) == ("TOOL", "hook", "bob")
    assert (event["artifact_ref"], event["occurred_at"].to_native()) == ("tracker/7", MAY)
    assert "strength" not in event

    kept = memory.beliefs.get(done)
    assert (kept.id, kept.scope, kept.status) == (claim.id, "global", "current")
    assert kept.statement == "Zoë works on Atlas"
    assert (kept.subject, kept.predicate, kept.object) == ("Zoë", "works_on", "Atlas")
    assert kept.created_at == MAY
    assert abs(datetime.now(UTC) - kept.recorded_at) < timedelta(minutes=5)
    [line] = memory.evidence_for(done).lines
    assert (line.note, line.source_type, line.episode_id) == ("assigned", "TOOL", episode)


def test_what_is_left_out_has_its_default(memory: Handle, look: Look, tenant: str) -> None:
    before = datetime.now(UTC)
    done = memory.observe(*ATLAS)
    event = look.events(tenant)[done.event_id]
    assert (event["polarity"], event["confidence"], event["source_type"]) == (1, 0.8, "EXPLICIT")
    assert event["source"] == "manual"
    assert before <= event["occurred_at"].to_native() <= datetime.now(UTC)
    assert not {"actor", "artifact_ref", "episode_id", "strength"} & event.keys()
    assert not done.repeated


def test_what_refutes_is_linked_as_such(memory: Handle, look: Look, tenant: str) -> None:
    done = memory.observe(*ATLAS, kind="refuting", confidence=0.7, event_id="e1")
    event = look.events(tenant)["e1"]
    assert event["edges"] == [["REFUTES", "Belief", done.belief_id]]
    assert event["polarity"] == -1


@pytest.mark.parametrize(
    "again",
    [
        ("ALICE", "Works_On", "ATLAS"),
        (" alice\t", "works_on\n", "  Atlas"),
        ("alice", "works_on", "ätlas"),
    ],
    ids=["case", "space", "another"],
)
def test_a_triple_is_the_same_whatever_its_case_and_space(
    memory: Handle, look: Look, tenant: str, again: tuple[str, str, str]
) -> None:
    first = memory.observe(*ATLAS)
    second = memory.observe(*again)
    same = "ä" not in again[2]
    assert (first.belief_id == second.belief_id) is same
    assert look.count(tenant) == {"Belief": 1 if same else 2, "Event": 2}


def test_composed_and_decomposed_letters_are_the_same(memory: Handle) -> None:
    first = memory.observe("Zoë", "pays_in", "Straße")
    assert memory.observe("Zoe\u0308", "PAYS_IN", "STRASSE").belief_id == first.belief_id


def test_the_parts_of_a_triple_do_not_run_into_one_another(memory: Handle) -> None:
    found = {
        memory.observe(*parts).belief_id
        for parts in (("a b", "c", "d"), ("a", "b c", "d"), ("a", "b", "c d"))
    }
    assert len(found) == 3


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_a_belief_is_shown_as_its_earliest_event_words_it(
    memory: Handle, look: Look, tenant: str, order: Sequence[int]
) -> None:
    told = [
        (("alice", "works_on", "ATLAS"), MAY),
        (("Alice", "works_on", "Atlas"), MAY - DAY),
        (("ALICE", "works_on", "atlas"), MAY + DAY),
    ]
    for place in order:
        parts, at = told[place]
        done = memory.observe(*parts, at=at)
    kept = memory.beliefs.get(done)
    assert (kept.statement, kept.created_at) == ("Alice works on Atlas", MAY - DAY)
    assert (kept.subject, kept.object) == ("Alice", "Atlas")
    assert is_embedded(look.beliefs(tenant)[done.belief_id])


def test_of_one_instant_the_smaller_id_words_it(memory: Handle) -> None:
    for name, subject in (("b", "Alice"), ("a", "ALICE"), ("c", "alice")):
        done = memory.observe(subject, "works_on", "Atlas", at=MAY, event_id=name)
    assert memory.beliefs.get(done).subject == "ALICE"


def test_one_observation_embeds_at_once(memory: Handle, look: Look, tenant: str) -> None:
    done = memory.observe(*ATLAS)
    assert is_embedded(look.beliefs(tenant)[done.belief_id])


def test_many_observations_are_embedded_with_their_batch(
    memory: Handle, look: Look, tenant: str
) -> None:
    seen: list[tuple[int, int]] = []

    def on_batch(part: Sequence[EvidenceReceipt]) -> None:
        kept = look.beliefs(tenant)
        seen.append((len(part), sum("embedding" in b for b in kept.values())))

    done = memory.observe_many(
        [{"subject": f"s{n}", "predicate": "likes", "object": f"o{n % 7}"} for n in range(1_100)],
        on_batch,
    )

    assert seen == [(500, 500), (500, 1_000), (100, 1_100)]
    kept = look.beliefs(tenant)
    assert [kept[r.belief_id]["subject"] for r in done] == [f"s{n}" for n in range(1_100)]
    assert all(is_embedded(b) for b in kept.values())


def test_what_a_batch_left_without_embedding_the_next_one_fills(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    failing = door.on(memory, embedder=Failing(ModelUnavailableError("gone")))
    with pytest.raises(ModelUnavailableError):
        failing.observe_many([Observation(subject="a", predicate="b", object="c")])
    [left] = look.beliefs(tenant).values()
    assert "embedding" not in left

    # One in words of its own leaves it alone: what is shown is what is embedded.
    memory.observe("A", "b", "c")
    [left] = look.beliefs(tenant).values()
    assert is_embedded(left)

    assert memory.observe_many([]) == []
    assert all(is_embedded(b) for b in look.beliefs(tenant).values())


def test_a_template_reads_a_new_belief_aloud(memory: Handle, look: Look, tenant: str) -> None:
    old = memory.observe(*ATLAS)
    memory.predicates.declare("works_on", template="{subject} toils on {object}, says {subject}")
    new = memory.observe(" bob", "WORKS_ON", "Atlas ")
    [many] = memory.observe_many(
        [{"subject": "carol", "predicate": "works_on", "object": "{subject}"}]
    )
    other = memory.observe("bob", "lives_in", "Porto")
    assert memory.beliefs.get(old).statement == "alice works on Atlas"
    assert memory.beliefs.get(new).statement == "bob toils on Atlas, says bob"
    assert memory.beliefs.get(many).statement == "carol toils on {subject}, says carol"
    assert memory.beliefs.get(other).statement == "bob lives in Porto"
    assert all(is_embedded(b) for b in look.beliefs(tenant).values())


GIVEN: dict[str, Any] = {
    "confidence": 0.9,
    "source_type": "TOOL",
    "at": MAY,
    "note": "n",
    "event_id": "e1",
}


def test_a_repeated_id_gives_the_first_outcome_again(
    memory: Handle, look: Look, tenant: str
) -> None:
    first = memory.observe(*ATLAS, **GIVEN)
    events, beliefs = look.events(tenant), look.beliefs(tenant)

    again = memory.observe(*ATLAS, **GIVEN)
    [many] = memory.observe_many(
        [Observation(subject="alice", predicate="works_on", object="Atlas", **GIVEN)]
    )

    assert again == many == first.model_copy(update={"repeated": True})
    assert (look.events(tenant), look.beliefs(tenant)) == (events, beliefs)


def test_a_repeated_id_without_an_instant_keeps_the_first_one(
    memory: Handle, look: Look, tenant: str
) -> None:
    memory.observe(*ATLAS, event_id="e1")
    before = look.events(tenant)
    assert memory.observe(*ATLAS, event_id="e1").repeated
    assert look.events(tenant) == before


@pytest.mark.parametrize(
    "other",
    [
        {"object": "Borealis"},
        {"subject": "bob"},
        {"confidence": 0.8},
        {"kind": "refuting"},
        {"source_type": "EXPLICIT"},
        {"at": MAY + timedelta(microseconds=1)},
        {"at": None},
        {"source": "hook"},
        {"actor": "b"},
        {"artifact_ref": "x"},
        {"note": None},
        {"episode_id": "doc"},
        {"turn_id": "t"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_an_id_with_other_content_is_refused(
    memory: Handle, look: Look, tenant: str, other: dict[str, Any]
) -> None:
    asked: dict[str, Any] = dict(zip(("subject", "predicate", "object"), ATLAS, strict=True))
    asked |= GIVEN
    memory.observe(**asked)
    events, counts = look.events(tenant), look.count(tenant)

    for call in (
        lambda x: memory.observe(**x),
        lambda x: memory.observe_many([{**asked, "event_id": "new"}, x]),
    ):
        with pytest.raises(EventConflictError) as caught:
            call(asked | other)
        assert caught.value.code == "event_conflict"
        assert "'e1'" in caught.value.message
        assert caught.value.hint
        assert (look.events(tenant), look.count(tenant)) == (events, counts)


def test_an_id_is_one_for_all_kinds_of_events(memory: Handle, look: Look, tenant: str) -> None:
    memory.remember("Alice works on Atlas", event_id="e1")
    belief = memory.believe("Atlas is a good project", event_id="e2")
    before = look.events(tenant)
    for taken in ("e1", "e2"):
        with pytest.raises(EventConflictError):
            memory.observe(*ATLAS, event_id=taken)
        with pytest.raises(EventConflictError):
            memory.add_evidence(belief, "supporting", 0.7, event_id=taken)
        with pytest.raises(EventConflictError):
            memory.beliefs.retract("x", missing_ok=True, origin=Origin(event_id=taken))
    assert look.events(tenant) == before
    # Another scope has ids of its own.
    assert not memory.scope("alice").observe(*ATLAS, event_id="e2").repeated


def batch(n: int, **of_the_last: Any) -> list[dict[str, Any]]:
    """Observations with ids, the last of them with something more."""
    made = [
        {"subject": f"s{i}", "predicate": "likes", "object": "tea", "at": MAY, "event_id": f"e{i}"}
        for i in range(n)
    ]
    return [*made[:-1], made[-1] | of_the_last]


def test_a_batch_is_kept_whole_or_not_at_all(memory: Handle, look: Look, tenant: str) -> None:
    told: list[int] = []
    with pytest.raises(NotFoundError) as caught:
        memory.observe_many(batch(600, episode_id="nowhere"), lambda part: told.append(len(part)))
    assert "'nowhere'" in caught.value.message
    assert told == [500]
    assert look.count(tenant) == {"Belief": 500, "Event": 500}

    memory.episodes.add(episode_id="nowhere")
    done = memory.observe_many(batch(600, episode_id="nowhere"))

    assert [r.repeated for r in done] == [True] * 500 + [False] * 100
    assert look.count(tenant) == {"Belief": 600, "Event": 600, "Episode": 1}
    assert all(is_embedded(b) for b in look.beliefs(tenant).values())
    assert all(r.repeated for r in memory.observe_many(batch(600, episode_id="nowhere")))


def test_a_conflict_inside_one_call_writes_nothing(memory: Handle, look: Look, tenant: str) -> None:
    with pytest.raises(EventConflictError, match="'e0' is used twice"):
        memory.observe_many(batch(600, event_id="e0"))
    assert look.count(tenant) == {}


def test_the_same_observation_twice_in_one_call_counts_once(
    memory: Handle, look: Look, tenant: str
) -> None:
    one, two = batch(2)
    [*_, again] = batch(501)
    done = memory.observe_many([one, two, one, *batch(501)[2:], again, two])
    assert [r.repeated for r in done[:3]] == [False, False, True]
    assert [r.repeated for r in done[-2:]] == [True, True]
    assert look.count(tenant) == {"Belief": 501, "Event": 501}


def test_a_generator_is_taken_and_what_it_raises_writes_nothing(
    memory: Handle, look: Look, tenant: str
) -> None:
    def broken() -> Any:
        yield from batch(3)
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - whatever the caller's own code raises
        memory.observe_many(broken())
    assert look.count(tenant) == {}
    assert len(memory.observe_many(one for one in batch(3))) == 3


def test_what_a_session_sees_occurs_in_its_episode(memory: Handle, look: Look, tenant: str) -> None:
    other = memory.episodes.add(session_id="other")
    with memory.session("monday") as session:
        session.add_messages([{"role": "user", "content": "I work on Atlas now", "id": "1"}])
        [turn] = session.episodes.turns(session.episode_id).turns
        mine = [
            session.observe(*ATLAS, turn_id=turn.id).event_id,
            session.observe_many([{"subject": "a", "predicate": "b", "object": "c"}])[0].event_id,
            session.believe("Atlas will be late").event_id,
            session.add_evidence(session.believe("It rains"), "supporting", 0.7).event_id,
        ]
        theirs = session.observe(*ATLAS, episode_id=other).event_id
    events = look.events(tenant)
    for event_id in mine:
        assert ["OCCURRED_IN", "Episode", session.episode_id] in events[event_id]["edges"]
        assert events[event_id]["episode_id"] == session.episode_id
    assert ["QUOTES", "Turn", turn.id] in events[mine[0]]["edges"]
    assert ["OCCURRED_IN", "Episode", other] in events[theirs]["edges"]
    # Twice in one session is an echo.
    memory.session("monday").observe(*ATLAS)
    [belief] = memory.current("alice", "works_on").candidates
    assert (belief.reinforcement_count, belief.events) == (2, 3)


@pytest.mark.parametrize("where", ["episode_id", "turn_id"])
def test_an_episode_or_turn_that_is_not_there_is_refused_whole(
    memory: Handle, look: Look, tenant: str, where: Any
) -> None:
    with memory.scope("bob").session("s") as session:
        session.add_messages([{"role": "user", "content": "hello there", "id": "1"}])
    [turn] = session.episodes.turns(session.episode_id).turns
    unseen = {"episode_id": session.episode_id, "turn_id": turn.id}[where]
    belief = memory.believe("It rains")
    before = look.events(tenant)
    for name in ("ep_nowhere", unseen):
        calls = (
            lambda x: memory.observe(*ATLAS, **x),
            lambda x: memory.observe_many([{**batch(1)[0], **x}]),
            lambda x: memory.believe("Something new", **x),
            lambda x: memory.add_evidence(belief, "supporting", 0.7, **x),
            lambda x: memory.beliefs.revise(belief, "It snows", **x),
        )
        for call in calls:
            with pytest.raises(NotFoundError) as caught:
                call({where: name})
            assert (caught.value.code, name in caught.value.message) == ("not_found", True)
            assert "belongs" not in str(caught.value)
    assert look.events(tenant) == before
    assert set(look.beliefs(tenant)) == {belief.belief_id}
    memory.scope("a", read_scopes=["a", "bob"]).observe(*ATLAS, **{where: unseen})  # type: ignore[arg-type]


def test_the_weight_of_a_source_is_a_setting(door: Door) -> None:
    chosen = door.settings.model_copy(
        update={"source_weights": {**door.settings.source_weights, "SENSOR": 0.3, "TOOL": 0.7}}
    )
    with door.opened(chosen) as memory:
        memory.predicates.declare("is", cardinality="ONE", at=MAY)
        for n, (kind, weight) in enumerate(
            {
                "SENSOR": 0.3,
                "TOOL": 0.7,
                "EXPLICIT": 1,
                "RULE": 0.8,
                "CLASSIFIER": 0.6,
                "EXTRACTOR": 0.5,
            }.items()
        ):
            done = memory.observe(f"s{n}", "is", "warm", confidence=0.5, source_type=kind)
            assert memory.beliefs.get(done).belief == pytest.approx(0.5 * weight)
            [line] = memory.evidence_for(done).lines
            assert line.weight == weight
            assert line.strength == pytest.approx(0.5 + weight * 0.5 / 2)


def test_a_source_that_the_readers_settings_do_not_know_says_nothing_in_any_read(
    door: Door, memory: Handle
) -> None:
    chosen = door.settings.model_copy(
        update={"source_weights": {**door.settings.source_weights, "SENSOR": 0.3}}
    )
    with door.opened(chosen) as other:
        told = on_tenant(other, memory._state.context.tenant)
        heard = told.observe("cellar", "is", "warm", confidence=0.9, source_type="SENSOR")
    memory.observe("cellar", "is", "warm", kind="refuting", confidence=0.5)
    for cardinality in ("ONE", "MANY"):
        memory.predicates.declare("is", cardinality=cardinality)
        [candidate] = memory.current("cellar", "is").candidates
        assert candidate.events == 2
        assert candidate.positive in (0.0, None)
    reasons = memory.why(heard)
    assert isinstance(reasons, BeliefReasons)
    [piece, _] = reasons.pieces
    assert (piece.weight, piece.log_weight, piece.score, piece.llr) == (0, 0, 0, 0)
    [line, _] = memory.evidence_for(heard).lines
    assert (line.source_type, line.weight, line.strength, line.llr) == ("SENSOR", 0, 0.5, 0)
    assert memory.beliefs.list().beliefs[0].positive == 0


def test_a_source_without_a_weight_is_refused(memory: Handle, look: Look, tenant: str) -> None:
    for call in (
        lambda: memory.observe(*ATLAS, source_type="SENSOR"),
        lambda: memory.observe_many(batch(600, source_type="SENSOR")),
        lambda: memory.observe(*ATLAS, source_type="tool"),
    ):
        with pytest.raises(
            InvalidInputError, match=r"source_type '(SENSOR|tool)' has no weight"
        ) as caught:
            call()
        assert "EXPLICIT, EXTRACTOR, RULE, TOOL" in caught.value.hint
        assert "GRAPHMEM_SOURCE_WEIGHTS" in caught.value.hint
    assert look.count(tenant) == {}
