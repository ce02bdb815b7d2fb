"""The consolidation benchmark: its episodes, its figures, and a small run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from bench import consolidate, episodes
from bench.progress import Steps
from graphmem.consolidation import BeliefChange, BeliefChangeKind, ConsolidationReport, Quote, rules
from graphmem.english.passages import Passage, extractive_statement
from graphmem.model import EvidenceKind

STEPS = Steps(Console(quiet=True))
DAY = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def made() -> episodes.Episodes:
    return episodes.generate(600, seed=1)


def test_episodes_depend_on_their_seed_alone(made: episodes.Episodes) -> None:
    again, other = episodes.generate(600, seed=1), episodes.generate(600, seed=2)
    assert again.corpus.texts == made.corpus.texts
    assert np.array_equal(again.corpus.vectors, made.corpus.vectors)
    assert again.groups == made.groups
    assert other.corpus.texts != made.corpus.texts


@pytest.mark.parametrize("count", [100, 101, 600, 1_003])
def test_a_third_is_in_groups_of_three_to_twelve(count: int) -> None:
    one = episodes.generate(count, seed=3)
    sizes = [len(ids) for ids in one.planted().values()]
    assert sum(sizes) == round(count / 3)
    assert min(sizes) >= episodes.LEAST
    # The last one takes what is too little for another.
    assert max(sizes) < episodes.MOST + episodes.LEAST
    assert len(one.groups) == len(one.corpus.texts) == count
    assert len({*one.corpus.texts}) == count
    assert np.allclose(np.linalg.norm(one.corpus.vectors, axis=1), 1, atol=1e-5)


def test_a_group_lies_together_and_nobody_else_lies_near(made: episodes.Episodes) -> None:
    cosines = made.corpus.vectors @ made.corpus.vectors.T
    groups = np.asarray(made.groups)
    together = (groups[:, None] == groups) & (groups >= 0)
    np.fill_diagonal(cosines, 0)
    inside = cosines[together & (cosines != 0)]
    assert inside.min() > 0.75
    assert inside.max() < 0.98
    assert cosines[~together].max() < 0.74
    # Topics: what is unrelated has neighbours all the same.
    assert np.median(np.where(together, 0, cosines).max(axis=1)) > 0.4


def test_members_of_a_group_support_one_another(made: episodes.Episodes) -> None:
    texts = dict(zip(made.ids(), made.corpus.texts, strict=True))
    for ids in list(made.planted().values())[:20]:
        passages = [Passage(i, "Episode", i, None, texts[i], DAY) for i in sorted(ids)]
        statement = extractive_statement(passages[0])
        assert statement == passages[0].text
        assert {rules.relation(one, statement) for one in passages} == {EvidenceKind.SUPPORTING}


def _change(step: BeliefChangeKind, *ids: str) -> BeliefChange:
    quotes = tuple(
        Quote(episode_id=one, turn_id=None, text=one, occurred_at=DAY, confidence=0.9)
        for one in ids
    )
    return BeliefChange(step=step, belief_id="b" + "".join(ids), statement="s", quotes=quotes)


def _row(*changes: BeliefChange, again: tuple[BeliefChange, ...] = ()) -> dict[str, Any]:
    planted = {0: frozenset("abc"), 1: frozenset("def")}
    done = ConsolidationReport(applied=True, clusters=2, changes=changes)
    second = ConsolidationReport(applied=True, changes=again)
    return consolidate.beliefs_row(9, done, second, planted)


def test_groups_found_are_counted_once_and_mixtures_apart() -> None:
    fine = _row(_change(BeliefChangeKind.CREATE, *"abc"), _change(BeliefChangeKind.CREATE, *"def"))
    assert (fine["found"], fine["mixed"], fine["met"]) == (1.0, 0, True)
    twice = _row(_change(BeliefChangeKind.CREATE, *"abc"), _change(BeliefChangeKind.CREATE, *"bc"))
    assert (twice["found"], twice["beliefs"], twice["met"]) == (0.5, 2, False)
    mixed = _row(
        _change(BeliefChangeKind.CREATE, *"abc"),
        _change(BeliefChangeKind.CREATE, *"def"),
        _change(BeliefChangeKind.CREATE, *"abd"),
    )
    assert (mixed["found"], mixed["mixed"], mixed["met"]) == (1.0, 1, False)
    assert _row(_change(BeliefChangeKind.CREATE, *"abz"))["mixed"] == 1
    assert _row(_change(BeliefChangeKind.CREATE, *"xyz"))["found"] == 0
    supported = _row(_change(BeliefChangeKind.SUPPORT, *"abc"))
    assert (supported["beliefs"], supported["other changes"], supported["found"]) == (0, 1, 0)


def test_a_second_run_that_does_something_is_a_miss() -> None:
    both = _change(BeliefChangeKind.CREATE, *"abc"), _change(BeliefChangeKind.CREATE, *"def")
    again = _row(*both, again=(_change(BeliefChangeKind.SUPPORT, "a"),))
    assert (again["changed again"], again["met"]) == (1, False)


@pytest.mark.parametrize(("seconds", "met"), [(30.0, True), (31.0, False)])
def test_a_thousand_episodes_are_compared_with_those_of_the_smallest(
    seconds: float, *, met: bool
) -> None:
    first = consolidate.times_row(1_000, {"s": 1.0}, 0.5, [])
    assert (first["s per 1,000"], first["ratio"], first["met"]) == (1.0, 1.0, True)
    row = consolidate.times_row(10_000, {"s": seconds}, 0.5, [first])
    assert (row["ratio"], row["met"]) == (seconds / 10, met)


def test_stages_follow_one_another_and_make_up_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("bench.consolidate.time.perf_counter", lambda: now[0])
    watch = consolidate.Watch(started=0.0)
    for second, kind in enumerate(("passage", "passage", "belief", "cluster"), 1):
        now[0] = float(second)
        watch.part(kind, 1)
    now[0] = 5.0
    assert watch.stages() == {"s": 5.0, "read s": 2.0, "write s": 2.0, "rest s": 1.0}
    assert consolidate.Watch(started=4.0).stages()["rest s"] == 1.0


@pytest.mark.system
@pytest.mark.server
def test_a_small_run_finds_what_was_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consolidate, "WARM", 20)
    report = consolidate.measure([100], STEPS)
    tables = json.loads(report.as_json())["tables"]
    [times], [beliefs], [memory] = tables.values()
    assert times["s"] == pytest.approx(times["read s"] + times["write s"] + times["rest s"])
    assert min(times["read s"], times["write s"], times["again s"]) > 0
    assert beliefs["groups"] == len(episodes.generate(100, seed=1).planted())
    assert (beliefs["found"], beliefs["mixed"], beliefs["changed again"]) == (1.0, 0, 0)
    assert beliefs["beliefs"] == beliefs["clusters"] == beliefs["groups"]
    assert memory["met"] in (True, None)
    assert not report.missed
