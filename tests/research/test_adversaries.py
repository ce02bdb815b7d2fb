"""Effect of adversaries on ratings, growth of short-term memory, and their figures."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.figures import Row
from graphmem.rules.rating import BY_SEARCH
from research.attention import adversaries, figures
from research.attention.adversaries import ASKS, BURIES, HARMS, STUFFED
from research.attention.measures import measured
from research.attention.pruning import RetentionRule, ShortTermMemory, Size, simulate_growth
from research.attention.ratings import DEFAULT, Ratings, fold, play
from research.attention.scenarios import ENDS, SimulatedRun
from research.attention.world import (
    ADVERSARY,
    FAR,
    Harm,
    SearchRecord,
    World,
    sessions_in,
    with_adversary,
)
from tests.oracles import rating
from tests.oracles.rating import Standing
from tests.research.attention_worlds import ITEM, SMALL, as_tuples, run

# Adversaries


@pytest.mark.parametrize("name", HARMS)
def test_an_adversary_changes_nothing_of_what_others_did(name: str) -> None:
    harm, _ = HARMS[name]
    services, log = run()
    whole = list(with_adversary(services, log, harm, ITEM))
    assert as_tuples([a for a in whole if a.agent != ADVERSARY]) == as_tuples(log)
    theirs = [a for a in whole if a.agent == ADVERSARY]
    assert [a.session for a in theirs] == [a.session for a in log]
    assert [a.session for a in whole] == sorted(a.session for a in whole)
    for asked in theirs:
        assert ((asked.items == ITEM) ^ harm.buries == asked.opened).all()
        assert (asked.items == ITEM).sum() == 1
        assert len(asked.items) == (6 if harm.stuffed else harm.limit)
        assert not harm.stuffed or (asked.items[-1], asked.similarities[-1]) == (ITEM, FAR)
        assert harm.stuffed or asked.items[0] == ITEM


def test_an_item_is_found_for_what_others_asked() -> None:
    """Each question of the session once, its last result making room."""
    services, log = run()
    whole = list(with_adversary(services, log, Harm(stuffed=True), ITEM))
    for session in range(40):
        [*honest], [*theirs] = (
            [
                a
                for a in sessions_in(whole, session, session + 1)
                if (a.agent == ADVERSARY) is theirs
            ]
            for theirs in (False, True)
        )
        wanted = [[i for i in a.items.tolist() if i != ITEM][:5] for a in honest]
        assert sorted(a.items.tolist()[:-1] for a in theirs) == sorted(wanted)


def test_the_gain_of_an_item_opened_again_and_again_dries_up() -> None:
    """Each search widens its lead g over its nine losers by (9 + 1) K / (1 + 10^(g / 400)).

    Summed up, 400 log10(1 + n 10 K ln(10) / 400) at most after n searches; K is 8 at least and 16
    at most.
    """
    services = World.of(SMALL, 1)
    items, similarities = services.asking(ITEM, 10)
    asked = SearchRecord(0, ADVERSARY, items, similarities, items == ITEM, ITEM)
    now = Ratings.unrated(200)
    for _ in range(1_000):
        play(now, asked)
    gap = now.elo[ITEM] - now.elo[items[1:]].max()
    assert gap <= 400 * math.log10(1 + 1_000 * 160 * math.log(10) / 400)
    assert gap >= 400 * math.log10(1 + 1_000 * 80 * math.log(10) / 400) - 1
    assert now.elo[items].sum() == pytest.approx(12_000)
    assert (1_200 - now.elo[items[1:]]).max() == pytest.approx(gap / 10, rel=0.01)
    before = now.elo[ITEM]
    play(now, asked)
    assert 0 < now.elo[ITEM] - before < 0.4


def test_the_story_of_an_item() -> None:
    services, log = run()
    honest = adversaries.trace_item(services, log, ITEM, [10, 40])
    assert len(honest.elos) == 40
    assert honest.reached is None
    assert {*honest.kept} == {10, 40}
    [now] = fold(log, 200, DEFAULT, [39]).values()
    there = ~np.isnan(now.elo)
    kept = adversaries.trace_item(services, log, ITEM, [39]).kept[39]
    assert kept[there] == pytest.approx(now.elo[there])
    assert {*kept[~there]} == {1_200}
    traces = {
        name: adversaries.trace_item(services, log, ITEM, [10, 40], harm, by)
        for name, (harm, by) in HARMS.items()
    }
    for name, trace in traces.items():
        assert trace.elos[-1] == trace.kept[40][ITEM]
        row = adversaries.row(name, [trace], [honest], [ITEM])
        assert row["its item at 10"] == round(trace.elos[9], 1)
    last = {name: trace.elos[-1] for name, trace in traces.items()}
    assert last[BURIES] < 800
    assert honest.elos[-1] < last[STUFFED] < last[f"{STUFFED}, no gate"] < last[ASKS]
    for name in (ASKS, BURIES):
        reached = traces[name].reached
        assert reached is not None
        # Three searches a session.
        session = -(-reached // 3)
        earlier, elo = traces[name].elos[session - 2 : session]
        assert (elo < 800 <= earlier) if name == BURIES else (elo >= 1_600 > earlier)


def test_the_rule_search_is_that_of_the_product() -> None:
    _, log = run()
    standings: dict[str, Standing] = {}
    for asked in log:
        results = [
            rating.Result(str(item), bool(opened), float(similarity))
            for item, opened, similarity in zip(
                asked.items, asked.opened, asked.similarities, strict=True
            )
        ]
        standings |= rating.played(results, standings, BY_SEARCH)
    now = Ratings.unrated(200)
    for asked in log:
        play(now, asked, adversaries.SEARCH)
    for item, standing in standings.items():
        assert now.elo[int(item)] == pytest.approx(standing.elo)
        assert now.games[int(item)] == standing.games


def test_the_aims_are_measured_on_what_others_did() -> None:
    services, log = run()
    rows = adversaries.aims([SimulatedRun(services, log)], [ITEM], (20, 30))
    assert [(row["rule"], row["adversary"]) for row in rows] == [
        (rule, name) for name in ("none", *adversaries.BEHAVIOURS) for rule in adversaries.RULES
    ]
    for row, by in zip(rows[:2], adversaries.RULES.values(), strict=True):
        found = measured(log, fold(log, 200, by, [18, 20, 27, 30]), 30, by)
        assert row["moved at 30"] == round(100 * found.moved, 1)
        assert row["openings so far HIGH"] == round(100 * found.behind, 1)
        assert row["HIGH"] == found.high
    # The adversary's item becomes HIGH, and no opening of it counts.
    by_rule = {rule: [row for row in rows if row["rule"] == rule] for rule in adversaries.RULES}
    for honest, asks, *_ in by_rule.values():
        assert _number(asks, "HIGH") > _number(honest, "HIGH")
        openings = "openings so far HIGH"
        assert _number(asks, openings) == pytest.approx(_number(honest, openings), abs=3)


def _number(row: Row, name: str) -> float:
    value = row[name]
    assert isinstance(value, float)
    return value


def test_what_others_lost_is_counted() -> None:
    def trace(*elos: float) -> adversaries.ItemTrace:
        return adversaries.ItemTrace([elos[0]], 3, {1: np.array(elos)})

    row = adversaries.row(
        "x", [trace(2_000, 1_100, 1_600, 1_150)], [trace(1_200, 1_180, 1_599, 1_200)], [0]
    )
    assert row == {
        "adversary": "x",
        "its item at 1": 2_000,
        "its searches to HIGH or VERY_LOW": 3,
        "most that another lost": 80,
        "others lower by 50": 2,
        "others made HIGH": 1,
    }


def test_its_item_is_one_that_nobody_else_opens() -> None:
    services, log = run()
    item = adversaries.target(services, log)
    assert not any((a.items[a.opened] == item).any() for a in log)
    assert item == adversaries.target(services, log)


def test_one_search_with_many_results_makes_one_high() -> None:
    rows = {row["results"]: row for row in adversaries.wide()}
    assert rows[10]["opened, searches: 1"] == 1_200 + 9 * 8
    assert rows[10]["left, searches: 1"] == 1_192
    assert rows[51]["opened, searches: 1"] == 1_600


# Short-term memory


def _shelf(kept: RetentionRule, elo: float | None = None) -> ShortTermMemory:
    shelf = ShortTermMemory(2, kept)
    for _ in range(2):
        shelf.put(np.ones(64, dtype=np.float32), 0, 0.0)
    if elo is not None:
        shelf.standings["0"] = Standing(elo)
    return shelf


def test_episodes_are_compressed_then_archived_and_the_unrated_stay() -> None:
    shelf = _shelf(RetentionRule(), elo=1_150)
    shelf.prune(13)
    assert (shelf.live, shelf.compressed) == ([0, 1], {})
    shelf.prune(14)
    assert (shelf.live, shelf.compressed) == ([0, 1], {0: 14})
    assert shelf.size().megabytes == pytest.approx((20 + 4 + 2 * 10) / 1_000)
    shelf.prune(30)
    assert shelf.live == [1]
    size = shelf.size()
    assert (size.sessions, size.live, size.unrated) == (2, 1, 1)
    assert size.unpruned_megabytes == pytest.approx(0.06)
    assert size.megabytes == pytest.approx(0.02 + 0.02)


@pytest.mark.parametrize(("reopened", "live"), [(True, [0, 1]), (False, [1])])
def test_what_is_reopened_is_kept_for_ever_or_not(*, reopened: bool, live: list[int]) -> None:
    shelf = _shelf(RetentionRule(reopened=reopened), elo=1_150)
    shelf.prune(14)
    shelf.touched[0] = 15
    shelf.prune(44)
    assert shelf.live == [0, 1]
    assert shelf.size().reopened == 1
    shelf.prune(400)
    assert shelf.live == live


def test_unrated_episodes_can_be_taken_for_low() -> None:
    shelf = _shelf(RetentionRule(unrated=False))
    shelf.prune(14)
    shelf.prune(44)
    assert shelf.live == []


def test_a_search_settles_its_games_and_touches_what_it_opens() -> None:
    shelf = _shelf(RetentionRule())
    shelf.topics[1] = 1
    rng = np.random.default_rng(0)
    question = np.ones(64, dtype=np.float32)
    for day in range(200):
        shelf.search(rng, question, 0, float(day))
    assert shelf.standings["0"].elo > 1_200 > shelf.standings["1"].elo
    assert shelf.touched[0] > 0


def test_pruning_bounds_short_term_memory() -> None:
    def last(kept: RetentionRule) -> Size:
        *_, size = simulate_growth([100, 600], 1, kept)
        return size

    shipped, kept = last(RetentionRule()), last(RetentionRule(reopened=True))
    assert kept.live > shipped.live
    assert last(RetentionRule()) == shipped
    assert shipped.unpruned_megabytes == 18
    episodes = 20 * (shipped.live - shipped.compressed) + 4 * shipped.compressed
    assert shipped.megabytes == pytest.approx((episodes + 10 * 150) / 1_000)


# Figures


def test_figures_are_the_same_bytes_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    services, log = run(replace(SMALL, searches=1), sessions=ENDS[-1] + 1)
    runs = {"stable": [SimulatedRun(services, log)]}
    trace = adversaries.trace_item(services, sessions_in(log, 0, 20), ITEM, [20], Harm())
    sizes = {"as shipped": list(simulate_growth([10, 20], 1, RetentionRule()))}
    first = figures.draw(tmp_path / "one", runs, {"x": [trace]}, sizes)
    second = figures.draw(tmp_path / "two", runs, {"x": [trace]}, sizes)
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    assert all(p.read_bytes().startswith(b"<?xml") for p in first)
