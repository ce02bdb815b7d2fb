"""The scores of recall are those of the oracle, whatever is asked and by whichever policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import BeliefBite, MemoryBite, RecallPolicy, TurnBite
from graphmem.client.handle import Handle
from graphmem.english import dates
from graphmem.model import POLICIES, AnyBite, MemoryReasons, Score, TraceRank
from graphmem.rules import scoring
from graphmem.testing import FrozenClock
from tests.oracles import blending as blending_oracle
from tests.oracles import fusion
from tests.plugins.clients import Door, on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.histories import clocked
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
WORDS = ("deploy", "friday", "alice", "limit", "queue", "the", "of", "漢字", "naïve", "100")
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=2, max_size=6).map(" ".join)
AGES = st.integers(0, 60).map(lambda days: MAY - timedelta(days=days))
TURNS = st.lists(
    st.tuples(
        SENTENCES,
        st.sampled_from(["Alice", "Zoë B", None]),
        st.sampled_from(["user", "tool"]),
        AGES,
    ),
    max_size=7,
)
FACTS = st.lists(
    st.tuples(st.sampled_from(["alice", "queue"]), st.sampled_from(WORDS), st.floats(0, 1), AGES),
    max_size=6,
)
CHOICES = [
    # Marked results are not in the order of their scores.
    policy.model_copy(update={"mark_outdated": False})
    for policy in (
        *POLICIES.values(),
        RecallPolicy(score=Score.FUSED, recency_weight=0.3, vector_weight=0.5),
        RecallPolicy(recency_weight=0.5, around=0.6, reach=3, session=0.5, pool=3, dated=0.2),
        RecallPolicy(min_similarity=0.3, vector_weight=0.0),
    )
]


@settings(max_examples=examples(10, 60, 500))
@given(
    stored=st.lists(st.tuples(SENTENCES, AGES), max_size=6),
    said=TURNS,
    facts=FACTS,
    query=st.tuples(SENTENCES, st.sampled_from(["", " in April", " on 2025-04-20"])).map("".join),
    policy=st.sampled_from(CHOICES),
)
def test_scores_and_their_order_are_those_of_the_oracle(
    plain: Handle,
    stored: list[tuple[str, datetime]],
    said: list[tuple[str, str | None, str, datetime]],
    facts: list[tuple[str, str, float, datetime]],
    query: str,
    policy: RecallPolicy,
) -> None:
    # Much fades, so the clock stands.
    memory = clocked(on_tenant(plain, fresh_tenant()), MAY)
    for text, at in stored:
        memory.remember(text, at=at)
    with memory.session("s") as session:
        session.add_messages(
            [
                {"role": role, "content": text, "name": name, "at": at, "id": f"{n}"}
                for n, (text, name, role, at) in enumerate(said)
            ]
        )
    memory.predicates.declare("limit", cardinality="ONE", at=MAY - timedelta(days=90))
    stated: dict[str, datetime] = {}
    for subject, value, confidence, at in facts:
        belief = memory.observe(subject, "limit", value, confidence=confidence, at=at).belief_id
        stated[belief] = min(at, stated.get(belief, at))

    every = _recalled(memory, query, policy.model_copy(update={"max_results": None}))

    _holds(every, query, policy, stated)
    if policy.pool > len(every):
        # BM25 scores depend on the whole index, to which other tenants write between two reads.
        policy = policy.model_copy(update={"words_weight": 0.0, "max_results": None})
        every = _recalled(memory, query, policy)
        capped = policy.model_copy(update={"max_results": 3})
        assert [bite.id for bite in _recalled(memory, query, capped)] == [b.id for b in every[:3]]


def _recalled(memory: Handle, query: str, policy: RecallPolicy) -> tuple[AnyBite, ...]:
    """Return all that can be found, in the policy's limit."""
    return memory.recall(
        query, limit=1_000, kinds=["memory", "belief", "turn"], include_hidden=True, policy=policy
    ).bites


def _holds(
    every: tuple[AnyBite, ...], query: str, policy: RecallPolicy, stated: Mapping[str, datetime]
) -> None:
    """Compute anew, from what each bite says of itself, how it must stand."""
    by = scoring.score_params(policy)
    assert list(every) == sorted(every, key=lambda bite: (-bite.score, bite.id))
    relevance = {}
    for bite in every:
        relevance[bite.id] = bite.parts.relevance
        expected = bite.parts.relevance
        if isinstance(bite, BeliefBite):
            expected = blending_oracle.believed(expected, bite.belief.belief, policy)
        elif policy.score is Score.ESPER:
            expected = policy.blend * expected + (1 - policy.blend) * scoring.NEUTRAL_BELIEF
        assert bite.score == pytest.approx(expected, abs=1e-9)
        _extras(bite, query, by, stated)
    if policy.min_similarity is not None:
        assert all((b.similarity or -1) >= policy.min_similarity for b in every)
        return
    if len(every) >= policy.pool:
        return
    _lists(every, policy, by)
    turns = {
        (b.turn.episode_id, b.turn.position): b.parts.meaning + b.parts.words
        for b in every
        if isinstance(b, TurnBite)
    }
    around = blending_oracle.around(turns, policy.around, by["reach"])
    session = blending_oracle.session(turns, by["session"])
    for bite in every:
        if isinstance(bite, TurnBite):
            place = bite.turn.episode_id, bite.turn.position
            assert bite.parts.around == pytest.approx(around[place], abs=1e-9)
            assert bite.parts.session == pytest.approx(session[place], abs=1e-9)
        else:
            assert bite.parts.around == bite.parts.session == 0


def _lists(every: tuple[AnyBite, ...], policy: RecallPolicy, by: Mapping[str, float]) -> None:
    meaning, words = {}, {}
    for kind in ("memory", "belief", "turn", "episode"):
        ours = [b for b in every if b.kind == kind]
        meaning[kind] = {b.id: _meaning(b, policy) for b in ours if b.similarity is not None}
        words[kind] = {b.id: b.bm25 for b in ours if b.bm25 is not None}
        for bite in ours:
            assert bite.vector_rank == fusion.ranks(meaning[kind]).get(bite.id)
            assert bite.bm25_rank == fusion.ranks(words[kind]).get(bite.id)
    for name, lists in (("meaning", meaning), ("words", words)):
        weight = by["vector" if name == "meaning" else "words"]
        if policy.score is Score.FUSED:
            parts = [
                dict(fusion.reciprocal_rank([(weight, one)], policy.k)) for one in lists.values()
            ]
        elif policy.score is Score.BLENDED:
            scaled = blending_oracle.scaled([blending_oracle.Listed(one) for one in lists.values()])
            parts = [{item: weight * p for item, p in one.items()} for one in scaled]
        else:
            parts = [{item: max(p, 0.0) for item, p in one.items()} for one in lists.values()]
        expected = {item: p for one in parts for item, p in one.items()}
        for bite in every:
            found = getattr(bite.parts, name)
            assert found == pytest.approx(expected.get(bite.id, 0.0), abs=1e-9)


def _meaning(bite: AnyBite, policy: RecallPolicy) -> float:
    assert bite.similarity is not None
    if policy.score in {Score.FLAT, Score.ESPER}:
        return bite.parts.meaning
    if isinstance(bite, MemoryBite) and bite.similarity > 0:
        assert bite.final is not None
        return bite.final
    return bite.similarity


def _extras(
    bite: AnyBite, query: str, by: Mapping[str, float], stated: Mapping[str, datetime]
) -> None:
    """Hold what is added for a name or a date, and the factor of a machine, to the oracle."""
    asked, spans = scoring.question_words(query), dates.date_spans(query, MAY)
    name, at = "", MAY
    match bite:
        case MemoryBite():
            at = bite.memory.created_at
        case BeliefBite():
            # A leader that takes the place of a match has the score of the match.
            name, at = str(bite.belief.subject).lower(), stated[bite.found_by or bite.belief.id]
        case TurnBite():
            name, at = (bite.turn.name or "").lower(), bite.turn.occurred_at
    is_named = blending_oracle.names(asked, name, wholly=isinstance(bite, BeliefBite))
    assert bite.parts.named == (by["named"] if is_named else 0.0)
    told = any(start <= at < end for start, end in spans)
    assert bite.parts.dated == (by["dated"] if told else 0.0)
    machine = isinstance(bite, TurnBite) and bite.turn.role == "tool"
    assert bite.parts.factor == (by["machine"] if machine else 1.0)
    assert bite.parts.access == 0.0


@pytest.mark.parametrize("days", [7.0, 21.0])
def test_recency_fades_from_what_was_said_last(door: Door, memory: Handle, days: float) -> None:
    handle = door.on(memory, clock=FrozenClock(MAY))
    handle.remember("the limit is old", at=MAY - timedelta(days=40))
    handle.remember("the limit is old", at=MAY - timedelta(days=10))
    handle.observe("queue", "has", "a limit", at=MAY - timedelta(days=3))
    policy = RecallPolicy(recency_weight=0.5, recency_days=days)
    share = scoring.score_params(policy)["recency"]

    found = {bite.kind: bite.parts.recency for bite in handle.recall("limit", policy=policy).bites}

    assert found["memory"] == pytest.approx(
        share * blending_oracle.recency(MAY - timedelta(days=10), MAY, days)
    )
    assert found["belief"] == pytest.approx(
        share * blending_oracle.recency(MAY - timedelta(days=3), MAY, days)
    )


def test_what_is_imported_weighs_as_set(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    at = datetime(2025, 5, 5, 9, tzinfo=UTC)
    data = {"results": [{"id": "1", "memory": unlike(1), "created_at": at.isoformat()}]}
    memory.admin.import_foreign(data, "mem0")
    stated = str(memory.remember(unlike(2), at=at).memory_id)
    types = [event["type"] for event in look.events(tenant).values()]
    assert sorted(types) == ["ADD", "IMPORT"]
    [imported] = [m.id for m in memory.memories.list().memories if m.id != stated]
    settings = memory._state.context.services.settings
    now = FrozenClock(at)
    for weight in (1.0, 0.25):
        changed = settings.model_copy(update={"trace": TraceRank(import_weight=weight)})
        handle = door.on(memory, settings=changed, clock=now)
        bites = handle.recall(unlike(1), policy="trace").bites
        traces = {bite.id: bite.trace for bite in bites if isinstance(bite, MemoryBite)}
        assert traces == pytest.approx({stated: 1.0, imported: weight})
        why = handle.why(imported)
        assert isinstance(why, MemoryReasons)
        assert [one.weight for one in why.trace.sayings] == [weight]
        assert why.trace.trace == pytest.approx(weight)
    assert memory.admin.verify().wrong == ()


@pytest.mark.parametrize(
    ("query", "factor"),
    [
        ("the budget", RecallPolicy().machine),
        ("What budget did you recommend?", 1.0),
        ("Can you give me a summary of the budget?", 1.0),
    ],
)
def test_turns_of_a_model_count_fully_when_it_is_asked(
    plain: Handle, query: str, factor: float
) -> None:
    memory = on_tenant(plain, fresh_tenant())
    with memory.session("s") as session:
        session.add_messages(
            [
                {"role": "user", "content": "Which budget is right?"},
                {"role": "assistant", "content": "A budget of 200 a month."},
            ]
        )
    found = {b.turn.role: b.parts.factor for b in _turns(memory.recall(query).bites)}
    assert found == {"user": 1.0, "assistant": factor}


def _turns(bites: Sequence[AnyBite]) -> list[TurnBite]:
    return [bite for bite in bites if isinstance(bite, TurnBite)]
