"""Candidates are ranked as the oracles say, whatever was found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import POLICIES, RecallPolicy, Score
from graphmem.rules import scoring
from graphmem.rules.late_interaction import MaxSim
from graphmem.rules.ranking import MAX_REPEATED, Candidates, Ranked, Ranking
from tests.oracles import blending as blending_oracle
from tests.oracles import fusion

MU = 0.7
KINDS = ("memory", "belief", "turn", "episode")
SCORES = st.sampled_from([None, 0.8, 0.85, 0.85, 0.9, 0.97])
BM25 = st.sampled_from([None, 1.5, 4.0, 4.0, 9.25])
SHARES = st.sampled_from([None, 0.0, 2.0])


def row(number: int, kind: str = "memory", **given_: Any) -> list[Any]:
    """Return a candidate as recall/current does."""
    one: dict[str, Any] = {"node": f"n{number}", "id": f"{number:03}", "kind": kind}
    one |= {"vector": None, "words": None, "trace": 0.0, "episode": None, "position": None}
    one |= {"named": None, "dated": False, "machine": False, "days": None, "looks": None}
    return [*(one | given_).values(), None, None]


ROWS = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        SCORES,
        BM25,
        st.floats(0, 9),
        st.booleans(),
        SHARES,
        st.sampled_from([None, 1, 5]),
    ),
    max_size=14,
).map(
    lambda made: [
        row(
            n,
            kind,
            vector=vector,
            words=words if vector or words else 1.0,
            trace=trace if kind == "memory" else 0.0,
            named=flag,
            dated=not flag,
            machine=flag and kind == "turn",
            days=days,
            looks=looks,
            **({"episode": f"e{n % 2}", "position": n // 2} if kind == "turn" else {}),
        )
        for n, (kind, vector, words, trace, flag, days, looks) in enumerate(made)
    ]
)
CHOICES = [
    *POLICIES.values(),
    RecallPolicy(score=Score.FUSED, recency_weight=0.3, access_weight=0.2),
    RecallPolicy(recency_weight=0.5, access_weight=0.2, around=0.6, reach=3, session=0.5),
    RecallPolicy(min_similarity=0.4, beliefs=2),
]


def ranked(
    rows: list[list[Any]],
    policy: RecallPolicy,
    *,
    pool: int = 200,
    limit: int = 100,
    late: list[float] | None = None,
) -> dict[str, Ranked]:
    """Return the ranked candidates by id, in order."""
    by = scoring.score_params(policy, tokens=late is not None)
    candidates = Candidates.of(rows)
    same = None if late is None else MaxSim(*[np.array(late, dtype=np.float32)] * 2)
    order = Ranking(by, mu=MU, trace_weight=policy.trace.weight, pool=pool, limit=limit)
    return {candidates.ids[one.place]: one for one in order.best(candidates, same)}


def scaled(
    points: dict[str, dict[str, float]], policy: RecallPolicy, weight: float, pool: int
) -> Any:
    """Return the parts of one list, whose points are given by kind and id."""
    lists = list(points.values())
    if policy.score is Score.FUSED:
        parts = [dict(fusion.reciprocal_rank([(weight, one)], policy.k)) for one in lists]
    elif policy.score is Score.BLENDED:
        listed = [
            blending_oracle.Listed(one, blending_oracle.floor(one, pool) if pool else 0.0)
            for one in lists
            if one
        ]
        found = blending_oracle.scaled(listed)
        parts = [{item: weight * p for item, p in one.items()} for one in found]
    else:
        parts = [{item: weight * max(p, 0.0) for item, p in one.items()} for one in lists]
    return {item: p for one in parts for item, p in one.items()}


@given(rows=ROWS, policy=st.sampled_from(CHOICES), pool=st.sampled_from([2, 200]))
def test_parts_and_ranks_are_those_of_the_oracles(
    rows: list[list[Any]], policy: RecallPolicy, pool: int
) -> None:
    found, by = ranked(rows, policy, pool=pool), scoring.score_params(policy)
    meaning: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
    words: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
    for _, item, kind, vector, bm25, trace, *_rest in rows:
        if vector is not None:
            similarity = scoring.calibrate(scoring.from_neo4j(vector), MU)
            raised = similarity * (1 + policy.trace.weight * np.log1p(trace))
            distance = (4 - 4 * vector) ** 0.5
            own = raised if similarity > 0 else similarity
            meaning[kind][item] = 1 / (1 + distance) if by["distance"] else own
        if bm25 is not None:
            words[kind][item] = bm25
    expected = {
        "meaning": scaled(meaning, policy, by["vector"], pool),
        "words": scaled(words, policy, by["words"], 0),
    }
    for _, item, kind, *_rest in rows:
        if item in found:
            one = found[item]
            for part, values in expected.items():
                assert one.parts[part] == pytest.approx(values.get(item, 0.0), abs=1e-9)
            ranks = fusion.ranks(meaning[kind]), fusion.ranks(words[kind])
            assert (one.vector_rank, one.bm25_rank) == tuple(r.get(item) for r in ranks)


@given(rows=ROWS, policy=st.sampled_from(CHOICES))
def test_turns_receive_from_their_neighbours_and_session_as_the_oracle_says(
    rows: list[list[Any]], policy: RecallPolicy
) -> None:
    found, by = ranked(rows, policy), scoring.score_params(policy)
    turns = {
        (one[6], one[7]): sum(found[one[1]].parts[name] for name in ("meaning", "words"))
        for one in rows
        if one[2] == "turn" and one[1] in found
    }
    around = blending_oracle.around(turns, policy.around, by["reach"])
    session = blending_oracle.session(turns, by["session"])
    for one in rows:
        if one[1] in found:
            parts = found[one[1]].parts
            assert parts["around"] == pytest.approx(around.get((one[6], one[7]), 0.0))
            assert parts["session"] == pytest.approx(session.get((one[6], one[7]), 0.0))


@given(rows=ROWS, policy=st.sampled_from(CHOICES))
def test_the_score_is_the_factor_times_the_sum(rows: list[list[Any]], policy: RecallPolicy) -> None:
    by, kinds = scoring.score_params(policy), {one[1]: one[2] for one in rows}
    for item, one in ranked(rows, policy).items():
        parts = dict(one.parts)
        factor = parts.pop("factor")
        assert factor == (by["machine"] if rows[int(item)][10] else 1.0)
        assert parts["named"] == by["named"] * bool(rows[int(item)][8])
        assert parts["dated"] == by["dated"] * rows[int(item)][9]
        relevance = factor * sum(parts.values())
        neutral = by["blend"] * relevance + (1 - by["blend"]) * scoring.NEUTRAL_BELIEF
        blends = policy.score is Score.ESPER and kinds[item] != "belief"
        assert one.score == pytest.approx(neutral if blends else relevance, abs=1e-12)


@given(rows=ROWS, limit=st.integers(1, 6), beliefs=st.integers(1, 4))
def test_the_best_are_read_and_equal_scores_are_in_order_of_ids(
    rows: list[list[Any]], limit: int, beliefs: int
) -> None:
    # The server returns candidates in any order. Equal texts have equal points.
    rows = [one for n, one in enumerate(rows) if one[2] != "turn" or is_first(n, rows)][::-1]
    every = ranked(rows, RecallPolicy(beliefs=50))
    kinds = {one[1]: one[2] for one in rows}
    first = sorted(every, key=lambda item: (-every[item].score, item))
    some = ranked(rows, RecallPolicy(beliefs=beliefs), limit=limit)
    assert [*some] == [
        *[item for item in first if kinds[item] != "belief"][:limit],
        *[item for item in first if kinds[item] == "belief"][:beliefs],
    ]


def is_first(place: int, rows: list[list[Any]]) -> bool:
    """Return whether no turn before it has its points."""
    return all((one[2], *one[3:5]) != ("turn", *rows[place][3:5]) for one in rows[:place])


@given(repeats=st.integers(0, 60), limit=st.integers(1, 6))
def test_turns_of_one_text_take_the_place_of_one(repeats: int, limit: int) -> None:
    asked = [row(n, "turn", vector=0.97, words=9.0) for n in range(repeats)]
    others = [row(100 + n, "turn", vector=0.9 - n / 100) for n in range(8)]
    found = [*ranked([*asked, *others], RecallPolicy(), limit=limit)]
    first = [one[1] for one in asked[:MAX_REPEATED]]
    assert found == [*first, *[one[1] for one in others[: limit - bool(repeats)]]]


def test_a_minimum_similarity_excludes_what_only_words_found() -> None:
    rows = [row(0, words=4.0), row(1, vector=0.97), row(2, vector=0.8, words=9.0)]
    assert [*ranked(rows, RecallPolicy(min_similarity=0.4))] == ["001"]


def test_recency_fades_and_accesses_are_relative_to_the_most() -> None:
    policy = RecallPolicy(recency_weight=0.5, recency_days=10, access_weight=0.5)
    by = scoring.score_params(policy)
    rows = [
        row(0, vector=0.9, days=0.0, looks=3),
        row(1, vector=0.9, days=20.0, looks=1),
        row(2, vector=0.9, days=None, looks=0),
    ]
    parts = [one.parts for one in ranked(rows, policy).values()]
    recency, most = by["recency"], np.log1p(3)
    assert [one["recency"] for one in parts] == pytest.approx([recency, recency * np.exp(-2), 0])
    share = np.log1p(1) / most
    assert [one["access"] for one in parts] == pytest.approx(
        [by["access"], by["access"] * share, 0]
    )


def test_late_interaction_is_scaled_and_what_has_no_tokens_gets_nothing() -> None:
    rows = [row(n, vector=0.9) for n in range(3)]
    policy = RecallPolicy()
    by = scoring.score_params(policy, tokens=True)
    found = ranked(rows, policy, pool=2, late=[0.8, 0.4, float("nan")])
    assert [found[i].parts["late"] for i in ("000", "001", "002")] == [by["late"], 0.0, 0.0]
    assert found["000"].parts["late_context"] == by["late_context"]


def test_without_candidates_there_is_nothing_to_read() -> None:
    assert ranked([], RecallPolicy()) == {}
