"""Why a belief is believed, as a caller of either client sees it."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import (
    AsOf,
    BeliefReasons,
    EvidenceKind,
    MemoryReasons,
    Origin,
    Policy,
    PolicyOrigin,
    VerdictStatus,
)
from tests.plugins.clients import Door
from tests.plugins.texts import unlike

MONDAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
FRIDAY = MONDAY + timedelta(days=4)


def why(memory: Handle, item_id: Any, **asked: Any) -> BeliefReasons:
    found = memory.why(item_id, **asked)
    assert isinstance(found, BeliefReasons)
    return found


def moved(memory: Handle) -> tuple[str, str]:
    """Borealis on Monday, doubted on Wednesday, Atlas on Friday; return both beliefs."""
    memory.predicates.declare("works_on", cardinality="ONE", kappa=2.0, at=MONDAY)
    first = memory.observe("alice", "works_on", "Borealis", confidence=0.8, at=MONDAY)
    doubt: dict[str, Any] = {"confidence": 0.5, "kind": "refuting", "source_type": "RULE"}
    memory.observe("alice", "works_on", "Borealis", at=MONDAY + timedelta(days=2), **doubt)
    seen: dict[str, Any] = {"confidence": 0.9, "source_type": "TOOL", "at": FRIDAY}
    return first.belief_id, memory.observe("alice", "works_on", "Atlas", **seen).belief_id


def test_a_value_that_lost_shows_what_took_its_score(memory: Handle) -> None:
    borealis, atlas = moved(memory)
    found = why(memory, borealis)
    one = found.competition
    assert one is not None
    assert (one.place, one.of, one.leader_id) == (2, 2, atlas)
    assert (one.affirmed, one.refutations, one.affirmations_of_others) == (0.8, 1, 1)
    assert one.refuted == pytest.approx(1 - 0.8 * 0.5)
    assert one.pressure == pytest.approx(0.9)
    assert [(r.object, r.events) for r in one.other_candidates] == [("Atlas", 1)]
    assert found.belief.belief == pytest.approx(0.8 * 0.6 * math.exp(-2.0 * 0.9))
    assert found.belief.belief == memory.beliefs.get(borealis).belief
    first, doubt = found.pieces
    assert (first.event_id, first.kind) == (one.affirmed_id, EvidenceKind.SUPPORTING)
    assert [doubt.weight, doubt.confidence, doubt.score] == pytest.approx([0.8, 0.5, 0.4])
    assert doubt.log_ratio == pytest.approx(first.llr + doubt.llr)


def test_an_echo_names_the_piece_that_counts_for_it(memory: Handle) -> None:
    memory.episodes.add(episode_id="monday")
    events = [
        memory.observe("alice", "likes", "tea", confidence=c, episode_id="monday").event_id
        for c in (0.6, 0.8, 0.7)
    ]
    alone = memory.observe("alice", "likes", "tea", confidence=0.5)
    found = why(memory, alone)
    echoes = {p.event_id: p.echo_of for p in found.pieces}
    assert echoes == {
        events[0]: events[1],
        events[1]: None,
        events[2]: events[1],
        alone.event_id: None,
    }
    assert found.log_positive == pytest.approx(math.log(0.2) + math.log(0.5))
    assert found.belief.supporting_episodes == 2
    assert found.competition is None


def test_it_says_where_the_policy_comes_from(memory: Handle) -> None:
    borealis, _ = moved(memory)
    declared = why(memory, borealis).policy
    assert (declared.origin, declared.declared_at) == (PolicyOrigin.DECLARED, MONDAY)
    assert declared.event_id == memory.predicates.list()[0].event_id
    given = why(memory, borealis, policy=Policy(decay_per_day=0.1)).policy
    assert (given.origin, given.event_id) == (PolicyOrigin.GIVEN, None)
    assert given.policy.decay_per_day == 0.1
    other = memory.observe("alice", "likes", "tea", at=MONDAY)
    assert why(memory, other).policy.origin is PolicyOrigin.DEFAULT
    memory.predicates.declare("likes", cardinality="ONE")
    present = why(memory, other, as_of=AsOf(valid=MONDAY))
    assert present.policy.origin is PolicyOrigin.DECLARED
    assert present.competition is not None
    common = memory.observe("alice", "birthday", "5 May", at=MONDAY)
    assert why(memory, common).policy.origin is PolicyOrigin.BUILT_IN


def test_what_was_taken_back_is_listed_with_its_retraction(memory: Handle) -> None:
    seen = memory.observe("alice", "likes", "tea", confidence=0.9, at=MONDAY)
    kept = memory.observe("alice", "likes", "tea", confidence=0.6, at=FRIDAY)
    undo = memory.beliefs.retract(seen.event_id, origin=Origin(note="misheard"))
    found = why(memory, seen)
    assert [p.event_id for p in found.pieces] == [kept.event_id]
    [gone] = found.retracted
    assert (gone.event_id, gone.retraction_id) == (seen.event_id, undo.event_id)
    assert (gone.confidence, gone.note, gone.occurred_at) == (0.9, "misheard", MONDAY)
    memory.beliefs.retract(undo.event_id)
    found = why(memory, seen)
    assert [p.event_id for p in found.pieces] == [seen.event_id, kept.event_id]
    assert found.retracted == ()


def test_a_revised_belief_names_what_stands_in_its_place(memory: Handle) -> None:
    old = memory.believe("The pool should have 4 threads", confidence=0.6, at=MONDAY)
    for day in range(3):
        at = MONDAY + timedelta(days=1 + day)
        memory.add_evidence(old, "refuting", 0.85, at=at, note="queue grew")
    done = memory.beliefs.revise(old, "The pool should have 8 threads", reason="queue grew at 4")
    found = why(memory, old)
    ratios = [round(p.log_ratio, 4) for p in found.pieces]
    assert ratios == [-1.7346, -3.4692, -5.2038]
    assert [p.verdict_confidence for p in found.pieces] == pytest.approx([0.6, 0.4, 0.4])
    assert found.belief.verdict.status is VerdictStatus.DEMOTED
    assert {p.note for p in found.pieces} == {"queue grew"}
    [newer] = found.replaced_by
    assert (newer.belief_id, newer.event_id) == (done.newer_ids[0], done.event_id)
    assert (newer.note, found.belief.status) == ("queue grew at 4", "superseded")
    [older] = why(memory, newer.belief_id).replaces
    assert older.belief_id == old.belief_id
    # It did not stand there yet.
    then = why(memory, old, as_of=AsOf(valid=FRIDAY))
    assert (then.replaced_by, then.belief.status) == ((), "current")


def test_evidence_names_the_turn_whose_words_it_rests_on(memory: Handle) -> None:
    with memory.session("monday") as session:
        session.add_messages([{"role": "user", "content": "I like tea."}])
        [turn] = session.episodes.turns(session.episode_id).turns
        seen = session.observe("alice", "likes", "tea", turn_id=turn.id)
        [piece] = why(memory, seen).pieces
        assert (piece.turn_id, piece.episode_id) == (turn.id, session.episode_id)
        assert piece.quote == "I like tea."


def test_each_piece_of_evidence_is_shown_with_its_words(memory: Handle) -> None:
    """The words that an extractor quoted, else those of the turn or the sentence."""
    with memory.session("monday") as session:
        session.add_messages([{"role": "user", "content": "Hello! I like tea. Bye."}])
        [quoted] = session.extract(extractor="rules").proposals
    text = "Tea is what the user likes."
    memory.remember(text, claims=[("user", "likes", "tea")])
    memory.observe("user", "likes", "tea", note="a form")
    quotes = [piece.quote for piece in why(memory, quoted.belief_id).pieces]
    assert quotes == ["I like tea", text, None]


def test_a_belief_without_evidence_is_explained_too(memory: Handle) -> None:
    belief = memory.believe("It will rain", confidence=0.7)
    found = why(memory, belief)
    assert (found.pieces, found.total, found.competition) == ((), 0, None)
    assert found.belief.belief == 0.7


def test_a_memory_is_told_by_its_events(memory: Handle) -> None:
    first = memory.remember("The limit is 100 requests.").memory_id
    assert first is not None
    memory.supersede(first, "The limit is 200 requests.")
    found = memory.why(first)
    assert isinstance(found, MemoryReasons)
    assert found.memory == memory.memories.get(first)
    assert [e.type for e in found.history] == ["ADD", "SUPERSEDE"]
    assert found.chain == memory.memories.chain(first)


def test_the_arithmetic_comes_in_one_round_trip(door: Door, memory: Handle) -> None:
    borealis, _ = moved(memory)
    counting = Counting(memory._state.context.services.graph)
    assert why(door.on(memory, graph=counting), borealis).total == 2
    assert counting.queries == ["belief/explain"]


class Counting:
    """A graph that notes which queries pass."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.queries: list[str] = []

    async def read(self, work: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
        return await self._inner.read(lambda tx: work(_Noting(tx, self.queries)))


class _Noting:
    def __init__(self, tx: Any, queries: list[str]) -> None:
        self._tx, self._queries = tx, queries

    async def fetch(self, query: Any, /, **params: object) -> Any:
        self._queries.append(query.name)
        return await self._tx.fetch(query, **params)


def test_what_is_not_there_is_not_found(memory: Handle) -> None:
    belief = memory.believe("It will rain", at=FRIDAY)
    with pytest.raises(NotFoundError, match="No belief or memory 'b_nope'"):
        memory.why("b_nope")
    with pytest.raises(NotFoundError):
        memory.why(belief, as_of=AsOf(valid=MONDAY))


def test_the_history_is_that_of_the_kind_of_the_item(memory: Handle) -> None:
    known = str(memory.remember(unlike(1), at=FRIDAY).memory_id)
    memory.memories.deprecate(known, reason="wrong")
    belief = memory.believe("It will rain", at=FRIDAY)
    memory.add_evidence(belief, "supporting", 0.8)

    assert memory.history(known) == memory.memories.history(known)
    assert [one.type for one in memory.history(known)] == ["ADD", "DEPRECATE"]
    assert memory.history(belief) == memory.beliefs.history(belief)
    assert memory.history(belief.belief_id) == memory.history(belief)
    assert len(memory.history(belief)) == 2
    for item in (known, belief):
        assert list(memory.history(item, limit=1)) == list(memory.history(item))[1:]
        assert list(memory.history(item, as_of=FRIDAY)) == list(memory.history(item))[:1]


def test_an_item_of_neither_kind_has_no_history(memory: Handle) -> None:
    belief = memory.believe("It will rain", at=FRIDAY)
    known = str(memory.remember(unlike(1), at=FRIDAY).memory_id)
    memory.episodes.add(episode_id="doc")
    assert [*memory.history("doc")] == []
    with pytest.raises(NotFoundError, match="No belief, memory or episode 'b_nope'"):
        memory.history("b_nope")
    for item in (belief.belief_id, known):
        with pytest.raises(NotFoundError):
            memory.history(item, as_of=FRIDAY - timedelta(days=1))
        with pytest.raises(InvalidInputError, match="limit"):
            memory.history(item, limit=0)
        with pytest.raises(InvalidInputError, match="known"):
            memory.history(item, as_of=AsOf(known=datetime(2999, 1, 1, tzinfo=UTC)))
