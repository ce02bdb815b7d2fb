"""recall, by either client: what is found, what is held back, and in which order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle, MemoryBite, RecallPolicy, Recollection, Status, Turn, TurnBite
from graphmem.errors import InvalidInputError
from graphmem.model import MemoryReasons, Score, TraceRank
from graphmem.ports import Role, run_now
from graphmem.rules import scoring
from graphmem.testing import FrozenClock, HashEmbedder
from tests.plugins.clients import Door, on_tenant
from tests.plugins.examples import examples, few
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike

if TYPE_CHECKING:
    from graphmem.ports import Matrix

MAY = datetime(2025, 5, 5, tzinfo=UTC)
WORDS = ("deploy", "friday", "alice", "limit", "queue", "the", "of", "漢字", "naïve", "100")
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=2, max_size=6).map(" ".join)


def texts(found: Recollection) -> list[str]:
    return [bite.text for bite in found.bites]


class Counting(HashEmbedder):
    """Counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[tuple[str, ...], Role]] = []

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        self.asked.append((tuple(texts), role))
        return await super().embed(texts, role)


def test_what_fits_comes_first(memory: Handle) -> None:
    memory.remember_many(["Alice deploys from Borealis", "Bob pays in euros", unlike(1)])

    found = memory.recall("Where does Alice deploy from?", limit=2)

    best = found.bites[0]
    assert isinstance(best, MemoryBite)
    assert best.memory == memory.memories.get(best.memory.id)
    assert best.memory.content == "Alice deploys from Borealis"
    assert (best.vector_rank, best.bm25_rank) == (1, 1)
    assert len(found.bites) == 2
    assert found.reason == ""
    assert found.hidden == {}


def test_each_memory_comes_once(memory: Handle) -> None:
    for day in range(1, 6):
        memory.remember("Alice deploys from Borealis", at=MAY.replace(day=day))
    [bite] = memory.recall("Alice Borealis").bites
    assert isinstance(bite, MemoryBite)
    assert bite.memory.reinforce_count == 4
    assert bite.memory.last_seen_at == MAY


def test_a_read_writes_nothing_and_embeds_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    counting = Counting()
    memory = door.on(memory, embedder=counting)
    done = memory.remember(unlike(1))
    before, nodes = look.events(tenant), look.count(tenant)
    counting.asked.clear()

    memory.recall("a question", include_hidden=True)
    memory.memories.get(str(done.memory_id))
    memory.memories.list()
    memory.memories.history(str(done.memory_id))
    memory.memories.chain(str(done.memory_id))

    assert counting.asked == [(("a question",), Role.QUERY)]
    assert (look.events(tenant), look.count(tenant)) == (before, nodes)


def test_hidden_memories_are_held_back_unless_asked_for(memory: Handle) -> None:
    a = str(memory.remember("Alice deploys from Borealis").memory_id)
    b = str(memory.remember("Alice lunches at noon").memory_id)
    newer = memory.supersede(a, "Alice deploys from Atlas").newer_id
    memory.memories.deprecate(b)

    assert texts(memory.recall("Alice")) == ["Alice deploys from Atlas"]
    shown = {
        bite.memory.content: bite.memory
        for bite in memory.recall("Alice", include_hidden=True).bites
        if isinstance(bite, MemoryBite)
    }
    assert shown["Alice deploys from Borealis"].status is Status.SUPERSEDED
    assert shown["Alice deploys from Borealis"].head_ids == (newer,)
    assert shown["Alice lunches at noon"].status is Status.DEPRECATED
    assert len(shown) == 3


def test_an_empty_answer_says_why(memory: Handle) -> None:
    nothing = memory.recall("Alice")
    assert (nothing.bites, nothing.hidden) == ((), {})
    assert nothing.reason == "nothing is stored in scope 'global'"

    a = str(memory.remember("Alice deploys from Borealis").memory_id)
    b = str(memory.remember("Alice lunches at noon").memory_id)
    memory.memories.deprecate(str(memory.supersede(a, "Alice deploys from Atlas").newer_id))
    memory.memories.deprecate(b)

    held = memory.recall("Alice")
    assert held.bites == ()
    assert held.hidden == {"superseded": 1, "deprecated": 2}
    assert held.reason == "2 hidden: deprecated, 1 hidden: superseded"


def test_words_that_say_nothing_rank_nothing(memory: Handle) -> None:
    """Stop words vanish in the analyser; what is left would match everything."""
    memory.remember_many(["Alice deploys from Borealis", "To be or not to be"])
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": "the end of it"}])
    for query in ("the", "to be or not to be", "?!", "²", "...of?"):
        for bite in memory.recall(query).bites:
            assert (bite.bm25, bite.bm25_rank) == (None, None)
            assert bite.vector_rank is not None


@pytest.mark.parametrize(
    "query",
    [
        "漢" * 3_000,
        "".join(chr(0x4E00 + n) for n in range(3_000)),
        "".join(chr(0x3041 + n % 80) for n in range(3_000)),
        "²a" * 3_000,
        "ก" * 3_000,
        " ".join(f"word{n}" for n in range(5_000)),
        "x" * 90_000 + " " + " ".join(f"w{n}" for n in range(300)),
        "x" * 100_000,
    ],
    ids=["one ideograph", "ideographs", "hiragana", "mixed", "thai", "words", "long", "longest"],
)
def test_a_long_question_in_any_script_is_answered(memory: Handle, query: str) -> None:
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": "漢字 ぁ word1 x"}])
    assert memory.recall(query).bites


def test_every_visible_scope_may_be_named(memory: Handle) -> None:
    memory.scope("s7").remember(unlike(1))
    wide = memory.scope("own", read_scopes=[f"s{n}" for n in range(200)])
    assert texts(wide.recall(" ".join(f"word{n}" for n in range(400)))) == [unlike(1)]


@few
@given(query=st.text('+-&|!(){}[]^"~*?:\\/ \tabANDORNOTTO<>=@_', min_size=1) | st.text(min_size=1))
def test_no_question_is_syntax(plain: Handle, foreign: tuple[str, str], query: str) -> None:
    """Whatever is asked, the index answers, and only with what is the asker's."""
    own, other = (on_tenant(plain, name) for name in foreign)
    try:
        found = own.recall(query, include_hidden=True, limit=100).bites
    except InvalidInputError:
        assert not query.replace("\0", " ").strip() or "\ud800" <= max(query) <= "\udfff"
        return
    assert {bite.text for bite in found} == {"a AND b or not", "own turn"}
    assert len(other.memories.list().memories) == 1


@pytest.fixture
def foreign(plain: Handle) -> tuple[str, str]:
    """Two tenants that said the same words, each with a memory and a turn."""
    names = fresh_tenant(), fresh_tenant()
    for name, word in zip(names, ("own", "other"), strict=True):
        memory = on_tenant(plain, name)
        memory.remember("a AND b or not" if word == "own" else "a AND b or to")
        memory.session("s").add_messages([{"role": "user", "content": f"{word} turn"}])
    return names


@settings(max_examples=examples(10, 60, 500))
@given(stored=st.lists(SENTENCES, min_size=1, max_size=8, unique=True), query=SENTENCES)
def test_similarity_is_the_calibrated_cosine(plain: Handle, stored: list[str], query: str) -> None:
    memory = on_tenant(plain, fresh_tenant())
    memory.remember_many(stored)
    mu = memory._state.context.model.mu_query
    embedder = HashEmbedder()
    [asked] = run_now(embedder.embed([query], Role.QUERY))

    for bite in memory.recall(query, limit=100).bites:
        [vector] = run_now(embedder.embed([bite.text], Role.DOCUMENT))
        expected = scoring.calibrate(float(np.dot(asked, vector)), mu)
        assert bite.similarity == pytest.approx(expected, abs=1e-5)


def test_a_small_tenant_is_found_among_large_ones(memory: Handle) -> None:
    """The wall stands inside the index search: filtering its first hits would leave nothing."""
    crowd = on_tenant(memory, fresh_tenant())
    crowd.remember_many([f"Alice deploys number {n} {unlike(n)}" for n in range(450)])
    memory.remember("Alice deploys from Borealis")
    with_words = memory.recall("Alice deploys number")
    assert texts(with_words) == ["Alice deploys from Borealis"]
    assert (with_words.bites[0].vector_rank, with_words.bites[0].bm25_rank) == (1, 1)


def test_turns_carry_their_place(memory: Handle) -> None:
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": unlike(n)} for n in range(3)])
    best = memory.recall(unlike(2)).bites[0]
    assert isinstance(best, TurnBite)
    expected: Turn = memory.episodes.turns(session.episode_id).turns[2]
    assert best.turn == expected


@pytest.fixture
def said(door: Door, memory: Handle) -> Handle:
    """Three memories that fit a question alike: said long ago, in a burst, and over six weeks."""
    memory, now = door.on(memory, clock=FrozenClock(MAY)), MAY
    for name, days in {
        "Atlas": [300.0],
        "Borealis": [minutes / 1_440 for minutes in (0, 0.5, 1, 1.5, 2)],
        "Cygnus": [42.0, 21.0, 0.0],
    }.items():
        for ago in days:
            memory.remember(f"The deploy window of {name} is Friday", at=now - timedelta(days=ago))
    return memory


def test_what_was_said_over_weeks_counts_more_than_a_burst(said: Handle) -> None:
    found = said.recall("When is the deploy window?", policy="trace").bites
    assert [b.text.split()[4] for b in found] == ["Cygnus", "Borealis", "Atlas"]
    for bite in found:
        assert isinstance(bite, MemoryBite)
        assert bite.score == bite.final == pytest.approx(_final(bite))
        assert (bite.bm25, bite.bm25_rank) == (None, None)
        reasons = said.why(bite.memory.id)
        assert isinstance(reasons, MemoryReasons)
        assert bite.trace == pytest.approx(reasons.trace.trace, abs=1e-9)
    # 1 + 0.1 + 0.01 ..., in two minutes; and e^-2 + (e^-1 + 1)(1 + 0.1 ln 22).
    traces = [b.trace for b in found if isinstance(b, MemoryBite)]
    assert traces == pytest.approx([1.9262, 1.1110, 6.2e-7], abs=1e-3)


def _final(bite: MemoryBite) -> float:
    assert bite.similarity is not None
    return max(bite.similarity, 0) * (1 + 0.35 * math.log1p(bite.trace))


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(days=3.3), timedelta(microseconds=1)])
def test_a_day_later_to_the_microsecond_is_no_burst(
    door: Door, memory: Handle, ago: timedelta
) -> None:
    memory, full = door.on(memory, clock=FrozenClock(MAY)), MAY - ago - timedelta(days=30)
    day = timedelta(days=1)
    for text, gap in ((unlike(1), day), (unlike(2), day - timedelta(microseconds=1))):
        memory.remember(text, at=full)
        memory.remember(text, at=full + gap)
    for text, full_ones in ((unlike(1), 2), (unlike(2), 1)):
        [bite] = [b for b in memory.recall(text).bites if b.text == text]
        assert isinstance(bite, MemoryBite)
        reasons = memory.why(bite.memory.id)
        assert isinstance(reasons, MemoryReasons)
        assert [s.burst for s in reasons.trace.sayings].count(1) == full_ones
        assert bite.trace == pytest.approx(reasons.trace.trace, abs=1e-9)


def test_flat_goes_by_distance_alone(said: Handle) -> None:
    with said.session("s") as session:
        session.add_messages([{"role": "user", "content": "The deploy window moved"}])
    found = said.recall("When is the deploy window?", policy="flat").bites
    mu = said._state.context.model.mu_query
    assert len(found) == 4
    for bite in found:
        assert bite.similarity is not None
        distance = math.sqrt(2 - 2 * scoring.raw_cosine(bite.similarity, mu))
        assert bite.score == pytest.approx(1 / (1 + distance), abs=1e-6)
        assert bite.bm25 is None
    assert [b.score for b in found] == sorted((b.score for b in found), reverse=True)


def test_a_history_of_no_weight_does_not_count(said: Handle) -> None:
    policy = RecallPolicy(score=Score.TRACE, trace=TraceRank(weight=0))
    for bite in said.recall("When is the deploy window?", policy=policy).bites:
        assert bite.score == pytest.approx(bite.similarity)


def test_other_terms_than_those_that_are_kept_are_read_from_the_events(said: Handle) -> None:
    policy = RecallPolicy(trace=TraceRank(tau_days=100, spacing=1))
    traces = {
        b.text.split()[4]: b.trace
        for b in said.recall("When is the deploy window?", policy=policy).bites
        if isinstance(b, MemoryBite)
    }
    spaced = 1 + math.log(22)
    assert traces == pytest.approx(
        {
            "Atlas": math.exp(-3),
            "Borealis": 1.1111,
            "Cygnus": math.exp(-0.42) + (math.exp(-0.21) + 1) * spaced,
        },
        abs=1e-3,
    )


def test_nobody_sees_how_often_it_was_said_out_of_sight(door: Door, memory: Handle) -> None:
    memory, now = door.on(memory, clock=FrozenClock(MAY)), MAY
    text = "The deploy window is Friday"
    memory.remember(text, at=now - timedelta(days=2))
    memory.scope("alice").remember(text, at=now)
    alone, both = (
        [b.trace for b in handle.recall(text).bites if isinstance(b, MemoryBite)]
        for handle in (memory, memory.scope("alice"))
    )
    assert alone == pytest.approx([math.exp(-2 / 21)])
    assert both == pytest.approx([math.exp(-2 / 21) + 1 + 0.1 * math.log(3)])


@pytest.mark.parametrize("policy", ["", "Trace", "nonsense", None, 3, {"score": "flat"}])
def test_an_unknown_policy_is_refused(memory: Handle, policy: Any) -> None:
    with pytest.raises(InvalidInputError, match="policy") as caught:
        memory.recall("anything", policy=policy)
    assert "trace" in str(caught.value.hint)
