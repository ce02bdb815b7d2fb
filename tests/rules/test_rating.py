"""Ratings by hand: expected scores, changes by a search, decay, bounds of tiers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from graphmem.model import Tier
from graphmem.model.policies import RatingPolicy
from graphmem.rules import rating
from graphmem.rules.rating import BY_SEARCH, SOURCE, STANDARD
from graphmem.settings import Settings
from tests.oracles import rating as rating_oracle
from tests.oracles.rating import Result, Search, Standing, Update


def search(opened: str, left: str, name: str = "s") -> Search:
    return Search(name, [Result(i, True) for i in opened] + [Result(i, False) for i in left])


def elos_after(*log: Search, start: dict[str, Standing] | None = None) -> dict[str, float]:
    return {item: one.elo for item, one in rating_oracle.rate(log, start).standings.items()}


# Expected, tiers, fading.


@pytest.mark.parametrize(
    ("own", "opponent", "share"),
    [
        (1200, 1200, 1 / 2),
        (1600, 1200, 10 / 11),
        (1200, 1600, 1 / 11),
        (2000, 1200, 100 / 101),
        (1000, 1200, 1 / (1 + math.sqrt(10))),
    ],
)
def test_a_lead_of_400_wins_ten_times_as_often(own: float, opponent: float, share: float) -> None:
    assert rating_oracle.expected(own, opponent) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize(
    ("elo", "tier"),
    [
        (math.inf, Tier.HIGH),
        (1600, Tier.HIGH),
        (math.nextafter(1600, 0), Tier.MEDIUM),
        (1200, Tier.MEDIUM),
        (math.nextafter(1200, 0), Tier.LOW),
        (800, Tier.LOW),
        (math.nextafter(800, 0), Tier.VERY_LOW),
        (-100, Tier.VERY_LOW),
    ],
)
def test_a_tier_begins_at_its_boundary(elo: float, tier: Tier) -> None:
    assert rating.tier(elo) is tier


@pytest.mark.parametrize(
    ("elo", "days", "left"),
    [
        (1600, 0, 1600),
        (1600, 30, 800 + 800 / math.e),
        (1600, 60, 800 + 800 / math.e**2),
        (1600, 30 * math.log(2), 1200),
        (1200, 15, 800 + 400 / math.sqrt(math.e)),
        (1600, 100_000, 800),
        (800, 30, 800),
        (700, 30, 700),
        (1600, -1, 1600),
        (700, -1, 700),
    ],
)
def test_a_rating_fades_towards_800_and_never_up(elo: float, days: float, left: float) -> None:
    assert rating_oracle.faded(elo, days) == pytest.approx(left, abs=1e-9)


# One pair.


@pytest.mark.parametrize(
    ("winner", "loser", "similarity", "points"),
    [
        (Standing(1200), Standing(1200), None, 16 / 2),
        (Standing(1200, 9), Standing(1200, 9), None, 16 / 2),
        (Standing(1200, 10), Standing(1200, 10), None, 8 / 2),
        (Standing(1200, 10), Standing(1200, 9), None, 12 / 2),
        (Standing(1200, 0), Standing(1200, 10), None, 12 / 2),
        (Standing(1600), Standing(1200), None, 16 / 11),
        (Standing(1200), Standing(1600), None, 160 / 11),
        (Standing(1200), Standing(1200), 0.3, 2.0),
        (Standing(1200), Standing(1200), math.nextafter(0.3, 1), 8.0),
        (Standing(1200), Standing(1200), -0.4, 2.0),
        (Standing(1600, 10), Standing(1200, 0), 0.1, 3 / 11),
    ],
)
def test_what_a_winner_takes(
    winner: Standing, loser: Standing, similarity: float | None, points: float
) -> None:
    assert rating_oracle.gain(winner, loser, similarity) == pytest.approx(points, abs=1e-12)


# One search.


def test_one_of_ten_is_opened() -> None:
    """Nine games at 8 points; who lost one is at 1192."""
    found = rating_oracle.rate([search("a", "bcdefghij")])
    assert found.standings["a"] == Standing(1272, 9)
    assert {found.standings[i] for i in "bcdefghij"} == {Standing(1192, 1)}
    assert found.updates[:2] == [Update("s", "a", 1200, 1272), Update("s", "b", 1200, 1192)]
    assert len(found.updates) == 10


def test_all_pairs_are_reckoned_from_before_the_search() -> None:
    """By hand: 1600 takes 16/11 of each of two at 1200, and 1200 takes 8 of each."""
    after = elos_after(search("ab", "cd"), start={"a": Standing(1600)})
    assert after == pytest.approx(
        {"a": 1600 + 32 / 11, "b": 1216, "c": 1192 - 16 / 11, "d": 1192 - 16 / 11}
    )


def test_an_item_becomes_established_between_searches_not_within_one() -> None:
    """The tenth and eleventh game of `a` are of one search, so both have K 16."""
    nine = {"a": Standing(1200, 9)}
    after = rating_oracle.rate([search("a", "bc")], nine).standings
    assert after["a"] == Standing(1216, 11)
    again = rating_oracle.played([Result("a", True), Result("d", False)], {"a": Standing(1200, 11)})
    assert again["a"].elo == pytest.approx(1206)


def test_the_gate_looks_at_what_was_opened() -> None:
    def after(opened: float | None, left: float | None) -> float:
        results = [Result("a", True, opened), Result("b", False, left)]
        return rating_oracle.played(results, {})["a"].elo

    assert after(0.2, 0.9) == 1202
    assert after(0.9, 0.2) == 1208
    assert after(None, 0.2) == 1208


@pytest.mark.parametrize(
    ("opened", "left"), [("", ""), ("a", ""), ("", "a"), ("ab", ""), ("", "ab")]
)
def test_without_a_winner_and_a_loser_it_is_no_game(opened: str, left: str) -> None:
    assert rating_oracle.rate([search(opened, left)]) == ({}, [])
    start = {"a": Standing(1500, 3)}
    assert rating_oracle.rate([search(opened, left)], start) == (start, [])


def test_other_constants() -> None:
    by = replace(STANDARD, initial=1000, k_new=40, established=1, scale=200, gate_factor=0.5)
    found = rating_oracle.rate([search("a", "b", "1"), search("a", "b", "2")], by=by)
    share = 1 / (1 + 10 ** (40 / 200))
    assert found.standings["a"].elo == pytest.approx(1020 + 8 * share)
    gated = rating_oracle.gain(Standing(1000), Standing(1000), 0.1, by)
    assert gated == pytest.approx(10)
    assert rating.tier(1500, replace(STANDARD, high=1500)) is Tier.HIGH
    assert rating_oracle.faded(
        1500, 10, replace(STANDARD, floor=500, fading_days=10)
    ) == pytest.approx(500 + 1000 / math.e)


# A log.


# A search as one game.


@pytest.mark.parametrize("results", [2, 10, 51, 200, 1_000])
def test_by_search_no_single_search_makes_an_item_high(results: int) -> None:
    """The width of the search and the ratings of the others make no difference."""
    names = [f"r{n}" for n in range(results)]
    log = [Result("own", True), *(Result(name, False) for name in names)]
    start = {name: Standing(3_000.0) for name in names}
    for by, others, is_high in (
        (BY_SEARCH, {}, False),
        (BY_SEARCH, start, False),
        (SOURCE, {}, results >= 51),
    ):
        after = rating_oracle.played(log, others, by)["own"]
        assert (rating.tier(after.elo, by) is Tier.HIGH) is is_high
    assert rating_oracle.played(log, {}, BY_SEARCH)["own"].elo == pytest.approx(1248.0)
    assert rating_oracle.played(log, {}, BY_SEARCH)["own"].games == 1


def test_the_rule_and_its_constants_are_settings() -> None:
    assert rating.from_settings(Settings()) == SOURCE
    assert rating.from_settings(Settings(rating=RatingPolicy(rule="search"))) == BY_SEARCH
    changed = RatingPolicy(k_new=20, floor=700, high=1500, established=3)
    assert rating.from_settings(Settings(rating=changed)) == replace(
        SOURCE, k_new=20, floor=700, high=1500, established=3
    )
