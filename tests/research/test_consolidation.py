"""How beliefs are judged: histories whose facts are known, and what is counted of beliefs."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from bench.progress import Steps
from graphmem import GraphMem
from graphmem.consolidation import BeliefChange, BeliefChangeKind, Quote, rules
from graphmem.english import passages
from graphmem.english.passages import Passage
from graphmem.model import EvidenceKind
from research.consolidation import histories, quality, scores, sweeps
from research.consolidation.conversations import Bench, Talk
from research.consolidation.histories import Fact, History
from research.consolidation.sweeps import SweepData

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def _passage(text: str, place: int = 0) -> Passage:
    return Passage(f"t{place}", "Turn", "s", None, text, DAY)


# Histories


def test_a_history_depends_on_its_seed_alone() -> None:
    assert histories.generate(seed=4) == histories.generate(seed=4)
    assert histories.generate(seed=4).sessions != histories.generate(seed=5).sessions


@pytest.mark.parametrize("seed", range(6))
def test_each_fact_is_told_in_as_many_sessions_as_it_says(seed: int) -> None:
    history = histories.generate(seed=seed, per_kind=3)
    counts = Counter(
        history.fact_by_text[text]
        for session in history.sessions
        for text in session
        if text in history.fact_by_text
    )
    assert counts == Counter({n: fact.episodes for n, fact in enumerate(history.facts)})
    for session in history.sessions:
        facts = [history.fact_by_text[text] for text in session if text in history.fact_by_text]
        assert len({*facts}) == len(facts)
    assert all(1 <= fact.episodes < 8 for fact in history.facts)


@pytest.mark.parametrize("seed", range(6))
def test_there_is_as_much_noise_as_there_are_facts_and_it_says_nothing_twice(seed: int) -> None:
    history = histories.generate(seed=seed)
    messages = [text for session in history.sessions for text in session]
    noise = [text for text in messages if text not in history.fact_by_text]
    facts = len(messages) - len(noise)
    assert facts <= len(noise) + histories.TURNS
    assert len({*noise}) == len(noise)


def test_sessions_are_a_day_apart_and_turns_in_order() -> None:
    history = History((), (("a", "b"), ("c",)), {})
    [(first, messages), (second, later)] = history.messages()
    assert (first, second) == ("s0000", "s0001")
    assert [one["content"] for one in messages] == ["a", "b"]
    assert messages[1]["at"] - messages[0]["at"] == timedelta(minutes=1)
    assert later[0]["at"] - messages[0]["at"] == timedelta(days=1)


@pytest.mark.parametrize("kind", histories.KINDS)
def test_every_way_of_a_fact_tells_it_and_differs(kind: histories.Kind) -> None:
    for value, name in enumerate(kind.values):
        fact = Fact(kind, value, 3)
        ways = [fact.wording(way) for way in range(len(kind.ways))]
        assert len({*ways, fact.reversal}) == len(kind.ways) + 1
        assert all(name in way and passages.informative_sentences(way) == way for way in ways)
        assert fact.repeat == ways[-1]
        for way in ways:
            # None of them denies another, and the first is denied by the reversal.
            assert rules.relation(_passage(way), ways[0]) is not EvidenceKind.REFUTING
        assert rules.relation(_passage(fact.reversal), ways[0]) is EvidenceKind.REFUTING


# Scores


def _change(
    step: BeliefChangeKind, *texts: str, belief: str = "b", statement: str = "s"
) -> BeliefChange:
    quotes = tuple(
        Quote(episode_id=f"e-{t}", turn_id=f"t-{t}", text=t, occurred_at=DAY, confidence=0.9)
        for t in texts
    )
    return BeliefChange(step=step, belief_id=belief, statement=statement, quotes=quotes)


HISTORY = History(
    tuple(Fact(histories.KINDS[0], n, episodes) for n, episodes in enumerate((3, 4, 2))),
    (),
    {"a1": 0, "a2": 0, "b1": 1, "b2": 1, "c1": 2},
)


def test_beliefs_are_held_against_the_facts() -> None:
    changes = [
        _change(BeliefChangeKind.CREATE, "a1", "a2"),
        _change(BeliefChangeKind.CREATE, "a1", "b1"),
        _change(BeliefChangeKind.CREATE, "b1", "noise"),
        _change(BeliefChangeKind.CREATE, "c1"),
        _change(BeliefChangeKind.SUPPORT, "b1"),
    ]
    found = scores.against_facts(changes, HISTORY, 3)
    assert found == scores.Facts(beliefs=4, mixed=2, learnt=1, learnable=2)
    assert scores.facts_row([found, scores.Facts(1, 0, 1, 1)]) == {
        "beliefs": 5,
        "precision": 60.0,
        "recall": 66.7,
        "mixed": 40.0,
    }
    assert scores.against_facts(changes, HISTORY, 2).learnable == 3
    assert scores.facts_row([])["precision"] is None


def test_a_later_passage_speaks_of_the_nearest_statement_that_it_can_be_told_of() -> None:
    texts = ["I swim in the lake", "I never swim in the lake", "I bake bread on Sundays"]
    statements = np.asarray([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32)
    later = [_passage("Today I swim in the lake", 0), _passage("I bake bread on Sundays again", 1)]
    vectors = np.asarray([[1, 0], [0, 1]], dtype=np.float32)
    found = scores.spoken_of(statements, texts, later, vectors, 0.0, 0.75)
    assert found == {EvidenceKind.SUPPORTING: {0, 2}, EvidenceKind.REFUTING: set()}
    far = scores.spoken_of(statements, texts, later, vectors * 0.7, 0.0, 0.75)
    assert not any(far.values())
    denied = scores.spoken_of(statements[1:2], texts[1:2], later[:1], vectors[:1], 0.0, 0.75)
    assert denied == {EvidenceKind.SUPPORTING: set(), EvidenceKind.REFUTING: {0}}
    assert not any(scores.spoken_of(statements[:0], [], later, vectors, 0.0, 0.75).values())


def test_what_is_absorbed_is_what_evidence_rests_on() -> None:
    changes = [
        _change(BeliefChangeKind.CREATE, "a", "b", belief="x"),
        _change(BeliefChangeKind.CONTRADICT, "c", belief="y"),
        _change(BeliefChangeKind.ARCHIVE, "d", belief="z"),
    ]
    assert scores.created(changes) == {"x"}
    assert scores.absorbed(changes) == {"t-a", "t-b", "t-c"}
    assert scores.jaccard({1, 2}, {2, 3}) == pytest.approx(1 / 3)
    assert scores.jaccard((), ()) is None


@pytest.mark.parametrize(
    ("statement", "is_part"),
    [
        ("I swim in the lake.", True),
        ("Ann: I swim in the lake.", True),
        ("Ann: I swim before work.", True),
        ("Ann: I swim in…", True),
        ("Bob: I swim in the lake.", False),
        ("I swim in the sea.", False),
        ("lake the in swim I", False),
    ],
)
def test_an_extractive_statement_is_part_of_a_quote(statement: str, *, is_part: bool) -> None:
    text = "Ann: I swim in the lake. Do you? I swim before work."
    change = _change(BeliefChangeKind.CREATE, "other words", text, statement=statement)
    assert scores.quoted([change]) == {"b": is_part}


def _kind_of(*changes: BeliefChange) -> EvidenceKind | None:
    return quality._evidence_kind(changes, {"b": 0, "other": 1}, 0, "quote")


def test_how_a_text_was_taken_for_its_fact() -> None:
    assert _kind_of(_change(BeliefChangeKind.SUPPORT, "quote")) is EvidenceKind.SUPPORTING
    assert _kind_of(_change(BeliefChangeKind.CONTRADICT, "x", "quote")) is EvidenceKind.REFUTING
    assert _kind_of(_change(BeliefChangeKind.SUPPORT, "quote", belief="other")) is None
    assert _kind_of(_change(BeliefChangeKind.SUPPORT, "x")) is None
    assert _kind_of(_change(BeliefChangeKind.CREATE, "quote")) is None


def _talk(count: int, **more: Any) -> Talk:
    return Talk("a", tuple((f"s{n}", ()) for n in range(count)), **more)


def test_a_short_conversation_is_not_waited_for() -> None:
    assert [_talk(n).start for n in (3, 10, 30)] == [2, 7, 10]
    assert _talk(3).policy(cluster_similarity=0.8).cluster_similarity == 0.8


def test_runs_at_an_interval_are_held_against_one_run_over_everything() -> None:
    once = [
        [
            _change(BeliefChangeKind.CREATE, "a1", "a2", belief="x"),
            _change(BeliefChangeKind.CREATE, "b1", belief="y"),
        ]
    ]
    apart = [
        [
            _change(BeliefChangeKind.CREATE, "a1", belief="x"),
            _change(BeliefChangeKind.SUPPORT, "a2", belief="x"),
        ]
    ]
    talk = _talk(10, history=HISTORY)
    row = sweeps.interval_row("made", 5, [talk], apart, once)
    assert (row["beliefs"], row["precision"], row["recall"]) == (1, 100.0, 50.0)
    assert (row["Jaccard"], row["absorbed"]) == (0.5, 66.7)
    unknown = sweeps.interval_row("real", 5, [_talk(10)], apart, once)
    assert (unknown["precision"], unknown["recall"]) == (None, None)


SWIM = "I swim across the cold lake before breakfast."


def _swimming(name: str) -> Talk:
    """Four sessions with the same fact, and one with another."""
    texts = [*(f"{SWIM.rstrip('.')}{'!' * n}." for n in range(4)), "Rain fell in Oslo again."]
    messages = [
        {"role": "user", "content": text, "at": DAY + timedelta(days=n), "id": f"m{n}"}
        for n, text in enumerate(texts)
    ]
    history = History((Fact(histories.KINDS[0], 0, 4),), (), dict.fromkeys(texts[:4], 0))
    return Talk(name, tuple((f"s{n}", [one]) for n, one in enumerate(messages)), history)


@pytest.mark.system
@pytest.mark.server
def test_a_sweep_writes_nothing_and_intervals_come_to_the_same(
    client: GraphMem, tenant: str
) -> None:
    on = Bench(client, Steps(Console(quiet=True)))
    talk = _swimming(tenant)
    swept = SweepData.of(on, [talk], [])
    for least, beliefs, recall in ((4, 1, 100.0), (5, 0, None), (4, 1, 100.0)):
        row = swept.row(on.steps, min_belief_episodes=least)
        assert row["min_belief_episodes"] == least
        assert (row["generated beliefs"], row["generated recall"]) == (beliefs, recall)
        assert row["LoCoMo beliefs"] == 0
    rows = list(sweeps.intervals(on, {"made": [talk]}))
    assert [row["sessions between runs"] for row in rows] == ["all", "1", "5", "20"]
    for row in rows:
        assert (row["beliefs"], row["precision"], row["recall"]) == (1, 100.0, 100.0)
    assert rows[2]["Jaccard"] == 1.0
    assert {row["absorbed"] for row in rows} == {100.0}
