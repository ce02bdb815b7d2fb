"""Ratings by hand: expected scores, changes by a search, decay, bounds of tiers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Tier
from graphmem.model.policies import RatingPolicy
from graphmem.rules import rating
from graphmem.rules.rating import BY_SEARCH, SOURCE, STANDARD
from graphmem.settings import Settings
from tests.oracles import rating as rating_oracle
from tests.oracles.rating import Result, Search, Standing, Update

elos = st.floats(0, 3_000)
similarities = st.none() | st.sampled_from([0.3, -0.2]) | st.floats(-1, 1)
ITEMS = "abcdefgh"


@st.composite
def searches(draw: st.DrawFn) -> Search:
    items = draw(st.lists(st.sampled_from(ITEMS), unique=True))
    results = [Result(i, draw(st.booleans()), draw(similarities)) for i in items]
    return Search(draw(st.uuids()).hex, results)


logs = st.lists(searches(), max_size=12)
starts = st.dictionaries(
    st.sampled_from(ITEMS), st.builds(Standing, elos, st.integers(0, 12)), max_size=8
)


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


@given(elos, elos)
def test_what_one_is_expected_to_win_the_other_loses(one: float, other: float) -> None:
    assert rating_oracle.expected(one, other) + rating_oracle.expected(other, one) == pytest.approx(
        1
    )


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


def test_at_the_floor_an_item_is_low_and_no_lower() -> None:
    assert rating.tier(rating_oracle.faded(1_600, 100_000)) is Tier.LOW


@given(elos, st.floats(0, 1_000), st.floats(0, 1_000))
def test_what_fades_only_falls(elo: float, days: float, more: float) -> None:
    rounding = 1e-9
    assert rating_oracle.faded(elo, days + more) <= rating_oracle.faded(elo, days) + rounding
    assert min(elo, 800) - rounding <= rating_oracle.faded(elo, days) <= elo


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


def test_the_start_is_not_changed() -> None:
    start = {"a": Standing(1500, 3)}
    rating_oracle.rate([search("a", "b")], start)
    assert start == {"a": Standing(1500, 3)}


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


@given(logs, starts)
def test_points_only_change_hands(log: list[Search], start: dict[str, Standing]) -> None:
    after = rating_oracle.rate(log, start).standings
    before = {item: start.get(item, Standing(1200)) for item in after}
    total = math.fsum(one.elo for one in after.values())
    assert total == pytest.approx(math.fsum(one.elo for one in before.values()), abs=1e-6)
    games = sum(one.games for one in after.values()) - sum(one.games for one in before.values())
    pairs = sum(
        sum(r.opened for r in s.results) * sum(not r.opened for r in s.results) for s in log
    )
    assert games == 2 * pairs


@given(logs, starts, st.randoms(use_true_random=False))
def test_the_order_of_results_changes_nothing(
    log: list[Search], start: dict[str, Standing], random: object
) -> None:
    def shuffled(results: Sequence[Result]) -> list[Result]:
        order = list(results)
        random.shuffle(order)  # type: ignore[attr-defined]
        return order

    other = [Search(s.id, shuffled(s.results)) for s in log]
    assert rating_oracle.rate(other, start).standings == rating_oracle.rate(log, start).standings


def test_the_order_of_searches_does() -> None:
    one, other = search("a", "b", "1"), search("b", "c", "2")
    assert elos_after(one, other) != elos_after(other, one)


@given(logs, starts, st.integers(0, 12))
def test_a_log_can_be_read_in_two_parts(
    log: list[Search], start: dict[str, Standing], place: int
) -> None:
    first = rating_oracle.rate(log[:place], start)
    rest = rating_oracle.rate(log[place:], first.standings)
    whole = rating_oracle.rate(log, start)
    assert rest.standings == whole.standings
    assert [*first.updates, *rest.updates] == whole.updates


@given(logs, starts)
def test_the_updates_lead_from_the_start_to_the_end(
    log: list[Search], start: dict[str, Standing]
) -> None:
    found = rating_oracle.rate(log, start)
    at = {item: one.elo for item, one in start.items()}
    for update in found.updates:
        assert at.get(update.item, 1200.0) == update.old
        at[update.item] = update.new
    assert at == {item: one.elo for item, one in found.standings.items()}


@given(searches(), starts)
def test_who_was_opened_wins_and_who_was_left_loses(
    one: Search, start: dict[str, Standing]
) -> None:
    for update in rating_oracle.rate([one], start).updates:
        [opened] = [r.opened for r in one.results if r.item == update.item]
        assert update.new > update.old if opened else update.new < update.old


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


@given(logs)
def test_by_search_is_zero_sum(log: list[Search]) -> None:
    standings = rating_oracle.rate(log, by=BY_SEARCH).standings
    total = math.fsum(one.elo for one in standings.values())
    assert total == pytest.approx(1_200 * len(standings), abs=1e-6)


def test_the_rule_and_its_constants_are_settings() -> None:
    assert rating.from_settings(Settings()) == SOURCE
    assert rating.from_settings(Settings(rating=RatingPolicy(rule="search"))) == BY_SEARCH
    changed = RatingPolicy(k_new=20, floor=700, high=1500, established=3)
    assert rating.from_settings(Settings(rating=changed)) == replace(
        SOURCE, k_new=20, floor=700, high=1500, established=3
    )
