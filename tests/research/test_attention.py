"""How ratings are judged: made-up agents, other ways to rate, and what is counted."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from graphmem.rules import rating
from graphmem.rules.rating import STANDARD
from research.attention import measures, predictors, tables
from research.attention.measures import Found, Tiers
from research.attention.ratings import DEFAULT, Counted, Ratings, Shared, Variant, fold, play
from research.attention.scenarios import ENDS, SimulatedRun
from research.attention.tables import Aim
from research.attention.world import Harm, Log, Setting, sessions_in, with_adversary
from tests.oracles import rating as rating_oracle
from tests.oracles.rating import Result, Search
from tests.research.attention_worlds import ITEM, SMALL, as_tuples, asked, run

# Worlds


def test_a_world_depends_on_its_seed_alone() -> None:
    assert as_tuples(run()[1]) == as_tuples(run()[1])
    assert as_tuples(run()[1]) != as_tuples(run(seed=2)[1])


def test_results_are_as_similar_as_real_ones_are() -> None:
    """The claim of `Setting`, measured on three of LoCoMo's conversations."""
    _, log = run(Setting(), sessions=60)
    first, tenth = (np.mean([a.similarities[n] for a in log]) for n in (0, 9))
    assert first == pytest.approx(0.49, abs=0.01)
    assert tenth == pytest.approx(0.39, abs=0.01)
    assert np.mean([a.found for a in log]) == pytest.approx(0.70, abs=0.05)


def test_agents_ask_in_turn_and_results_are_ranked() -> None:
    _, log = run()
    assert [a.session for a in log] == [n // 3 for n in range(120)]
    assert {(a.session % 2, a.agent) for a in log} == {(0, 0), (1, 1)}
    for one in log:
        assert len({*one.items.tolist()}) == 6
        assert (np.diff(one.similarities) <= 0).all()


def test_interests_follow_zipf_and_what_is_liked_is_opened() -> None:
    setting = replace(SMALL, agents=1, zipf=2.0, blur=0.0, liked=0.0)
    _, log = run(setting, sessions=300)
    wanted = np.bincount([a.wanted for a in log])
    total = sum(k**-2 for k in range(1, 201))
    assert wanted.max() / len(log) == pytest.approx(1 / total, abs=0.05)
    assert all(a.found for a in log)
    opened = np.mean([a.opened[0] for a in log])
    assert opened == pytest.approx(0.9, abs=0.04)
    assert all(a.opened.sum() <= 1 for a in log)


def test_what_is_liked_more_is_opened_more() -> None:
    setting = replace(SMALL, agents=1, wanted=0.0, liked=1.0)
    services, log = run(setting, sessions=300)
    order = services.interests(np.random.default_rng([1, 1]))
    places = np.empty(200)
    places[order] = np.arange(1, 201)
    others = [
        (places[i], o) for a in log for i, o in zip(a.items, a.opened, strict=True) if i != a.wanted
    ]
    for first, end in ((1, 11), (90, 201)):
        opened = [o for place, o in others if first <= place < end]
        chances = [place**-0.25 for place, _ in others if first <= place < end]
        assert np.mean(opened) == pytest.approx(np.mean(chances), abs=0.05)


def test_drift_changes_what_comes_after_it() -> None:
    _, stable = run()
    _, drifting = run(replace(SMALL, drift=10))
    assert as_tuples(sessions_in(drifting, 0, 10)) == as_tuples(sessions_in(stable, 0, 10))
    assert as_tuples(sessions_in(drifting, 10, 40)) != as_tuples(sessions_in(stable, 10, 40))


# Ratings


def _searches(log: Log) -> list[Search]:
    return [
        Search(
            str(n),
            [
                Result(str(item), bool(opened), float(similarity))
                for item, opened, similarity in zip(a.items, a.opened, a.similarities, strict=True)
            ],
        )
        for n, a in enumerate(log)
    ]


def test_the_fold_is_the_shipped_rule() -> None:
    services, log = run()
    log = list(with_adversary(services, log, Harm(stuffed=True), ITEM))
    assert any((a.similarities[a.opened] <= 0.3).any() for a in log)
    assert any((a.similarities[a.opened] > 0.3).any() for a in log)
    now = Ratings.unrated(200)
    for one in log:
        play(now, one)
    standings = rating_oracle.rate(_searches(log)).standings
    assert {str(n) for n in np.flatnonzero(~np.isnan(now.elo))} == {*standings}
    for item, standing in standings.items():
        assert now.elo[int(item)] == pytest.approx(standing.elo, abs=1e-9)
        assert now.games[int(item)] == standing.games
    assert max(now.games) > STANDARD.established


@pytest.mark.parametrize(
    "by",
    [
        replace(DEFAULT, counted=counted, shared=shared, averaged=averaged).times(3)
        for counted, shared, averaged in product(Counted, Shared, (True, False))
    ],
    ids=lambda by: f"{by.counted.value}, {by.shared.value}, averaged {by.averaged}",
)
def test_points_only_change_hands_by_any_rule(by: Variant) -> None:
    _, log = run()
    [now] = fold(log, 200, by, [39]).values()
    rated = ~np.isnan(now.elo)
    assert now.elo[rated].sum() == pytest.approx(1_200 * rated.sum())
    assert now.elo[rated].std() > 1


def test_other_ways_to_rate_by_hand() -> None:
    """One of three at 1200 is opened, and has played ten games."""

    def after(by: Variant) -> tuple[list[float], list[int]]:
        now = Ratings.unrated(3)
        now.elo[0], now.games[0] = 1_200.0, 10
        play(now, asked(0, [0, 1, 2], [0]), by)
        return now.elo.tolist(), now.games.tolist()

    assert after(DEFAULT) == ([1_212, 1_194, 1_194], [12, 1, 1])
    assert after(replace(DEFAULT, shared=Shared.LEAST))[0] == [1_208, 1_196, 1_196]
    assert after(replace(DEFAULT, shared=Shared.MOST))[0] == [1_216, 1_192, 1_192]
    assert after(replace(DEFAULT, averaged=True))[0] == [1_206, 1_197, 1_197]
    assert after(replace(DEFAULT, counted=Counted.SEARCHES))[1] == [11, 1, 1]
    assert after(DEFAULT.times(2))[0] == [1_224, 1_188, 1_188]


def test_ratings_are_kept_before_the_session_of_that_number() -> None:
    log = [asked(n, [0, 1], [0]) for n in range(4)]
    found = fold(log, 3, DEFAULT, [1, 3])
    assert found[1].elo[:2].tolist() == [1_208, 1_192]
    assert found[1].opened.tolist() == [0, -1, -1]
    again = Ratings.unrated(3)
    for one in log[:3]:
        play(again, one)
    assert found[3].elo[:2].tolist() == again.elo[:2].tolist()
    assert math.isnan(found[3].elo[2])


def test_ratings_fade_since_the_last_opening_or_the_first_game() -> None:
    now = Ratings.unrated(3)
    play(now, asked(0, [0, 1], [0]))
    play(now, asked(50, [0, 2], [0]))
    read = now.read(100, DEFAULT)
    days = (10, 20, 10)
    wanted = [rating_oracle.faded(elo, d) for elo, d in zip(now.elo, days, strict=True)]
    assert read == pytest.approx(wanted)
    assert now.read(100, replace(DEFAULT, fades=False)) is now.elo


# Measures


def test_measures_by_hand() -> None:
    """Six memories: 0 is HIGH and opened, 1 MEDIUM, 2 LOW and opened, 3 VERY_LOW."""
    now = Ratings.unrated(6)
    now.elo[:4] = 1_700.0, 1_300.0, 900.0, 700.0
    now.opened[[0, 2]] = 9
    before = now.copy()
    before.elo[0], before.elo[3] = 1_600.0, np.nan
    log = [asked(0, [0, 2], [0]), asked(9, [2, 0], [2]), asked(10, [0, 1, 2, 4], [0, 1, 4])]
    log += [asked(10, [2, 3, 0, 4, 5, 1], [3])]
    rated = {9: before, 10: now}
    found = measures.measured(log, rated, 10, replace(DEFAULT, fades=False))
    assert found.moved == pytest.approx(np.var([100, 0, 0]) / np.var([1_700, 1_300, 900]))
    assert found.widened == pytest.approx(
        np.var([1_700, 1_300, 900, 700]) / np.var([1_600, 1_300, 900]) - 1
    )
    assert (found.behind, found.ahead, found.known) == (0.5, 0.25, 0.25)
    assert (found.top, found.top_known) == (2 / 9, 4 / 9)
    assert (found.rated, found.high, found.medium, found.low, found.very_low) == (4, 1, 1, 1, 1)
    assert (found.least, found.most) == (700, 1_700)
    # Opened: 1700, 1300, 700; left: 900 twice, 1700, 1300.
    assert found.auc == pytest.approx((3.5 + 2.5 + 0) / 12)
    # A hundred days since 0 and 2 were opened, 1100 since 1 and 3 played: 832, 800, 804, 700.
    faded = measures.measured(log, rated, 10, replace(DEFAULT, sessions_a_day=0.01))
    assert (faded.high, faded.low, faded.most) == (0, 3, 1_700)
    assert faded.auc == pytest.approx((3.5 + 0.5 + 0) / 12)


def test_what_a_pack_saves_by_hand() -> None:
    """200 whole, 100 and 50 of them a fifth, 300 a pointer, 350 left out, 8 shorter than one."""
    tokens = np.array([200.0, 100.0, 50.0, 300.0, 350.0, 8.0])
    none = np.zeros(6, dtype=bool)
    rows = [none.copy() for _ in range(4)]
    for row, places in zip(rows, ([0], [1], [3, 5], [4]), strict=True):
        row[places] = True
    assert measures.saved(tokens, Tiers(*rows)) == pytest.approx(1 - (200 + 30 + 12 + 8) / 1_008)


@pytest.mark.parametrize("elo", [0.0, 799.9, 800.0, 1_199.9, 1_200.0, 1_599.9, 1_600.0])
def test_tiers_are_those_of_the_rule(elo: float) -> None:
    tiers = measures.tiers_of(np.array([elo, np.nan]), DEFAULT)
    [tier] = [name for name, of in tiers._asdict().items() if of[0]]
    assert tier.upper() == rating.tier(elo)
    assert not any(of[1] for of in tiers)


def test_the_top_is_a_share_of_the_rated() -> None:
    read = np.array([*range(1_000, 1_010), np.nan])
    tiers = measures.tiers_of(read, replace(DEFAULT, top=0.2))
    assert np.flatnonzero(tiers.high).tolist() == [8, 9]
    assert not (tiers.high & tiers.low).any()


def test_a_fifth_of_the_ties_is_half_won() -> None:
    scores = np.array([1.0, 2.0, 2.0, 3.0])
    assert measures.auc(scores, np.array([True, False, True, False])) == pytest.approx(0.5 / 4)


@pytest.mark.parametrize(
    ("aim", "share", "met"),
    [
        (Aim("a", 0.9, "ahead"), 0.9, True),
        (Aim("a", 0.9, "ahead"), 0.899, False),
        (Aim("a", 0.1, "ahead", at_most=True), 0.099, True),
        (Aim("a", 0.1, "ahead", at_most=True), 0.1, False),
    ],
)
def test_an_aim_is_met_at_its_number(aim: Aim, share: float, *, met: bool) -> None:
    found = Found(*[0.0] * len(Found._fields))._replace(ahead=share)
    other = found._replace(ahead=0.5)
    row = tables._aim("x", aim, {ENDS[0]: other, ENDS[-1]: found})
    assert (row["met"], row["1,000"], row["100"]) == (met, round(100 * share, 1), 50.0)


def test_simpler_rules_by_hand() -> None:
    log = [asked(0, [0, 1, 2], [0, 1]), asked(150, [1, 2], [1])]
    now = Ratings.unrated(4)
    for one in log:
        play(now, one)
    assert predictors.opened(log, now).tolist() == [1, 2, 0, 0]
    faded = predictors.opened_of_late(log, now)
    assert faded == pytest.approx([math.exp(-1), 1 + math.exp(-1), 0, 0])
    shares = predictors.opened_of_found(log, now)
    assert shares == pytest.approx([7 / 11, 8 / 12, 6 / 12, 6 / 10])


def test_what_only_changes_the_reading_is_not_rated_again() -> None:
    services, log = run(replace(SMALL, searches=1), sessions=ENDS[-1] + 1)
    life = SimulatedRun(services, log)
    once = life.rated(DEFAULT)
    assert life.rated(tables.high_from(1_300.0)) is once
    assert life.rated(replace(DEFAULT, fades=False, top=0.2)) is once
    assert life.rated(DEFAULT.times(2)) is not once
