"""The rating benchmark: its log, its figures, and a small run."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from rich.console import Console

from bench import rating, rating_log
from bench.bare import Bare
from bench.progress import Steps
from bench.rating_log import SyntheticLog
from graphmem import GraphMem
from graphmem.client import connect
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from graphmem.usage import RatingReport
from tests.oracles import rating as rules

STEPS = Steps(Console(quiet=True))
LOG = SyntheticLog(10_000, memories=300)


def test_a_session_depends_on_the_seed_and_its_number_alone() -> None:
    again, other = SyntheticLog(10_000, memories=300), SyntheticLog(10_000, memories=300, seed=2)
    assert LOG.session(7) == again.session(7)
    assert LOG.session(7) != LOG.session(8)
    assert LOG.session(7) != other.session(7)


def test_searches_are_what_the_note_says() -> None:
    assert LOG.sessions == 100
    made = [asked for n in range(LOG.sessions) for asked in LOG.session(n)]
    assert len(made) == 1_000
    for asked in made:
        assert len({*asked.found}) == len(asked.found) == len(asked.similarities) == 10
        assert sorted(asked.similarities, reverse=True) == list(asked.similarities)
        assert {*asked.opened} <= {*range(10)}
    opened = Counter(len(asked.opened) for asked in made)
    for count, share in enumerate(rating_log.OPENED):
        assert opened[count] / 1_000 == pytest.approx(share, abs=0.05)
    seen = Counter(one for asked in made for one in asked.found)
    # Few come up often, and nearly all at some time.
    assert seen[0] > 700
    assert seen[0] > 3 * seen[20]
    assert len(seen) > 290


def test_the_rules_are_given_the_same_searches() -> None:
    for place, (asked, search) in enumerate(zip(LOG.session(3), LOG.searches(3), strict=True)):
        assert search.id == f"session-000003-{place}"
        assert [one.item for one in search.results] == [LOG.ids[n] for n in asked.found]
        won = [place for place, one in enumerate(search.results) if one.opened]
        assert won == list(asked.opened)


@pytest.mark.parametrize(
    ("seconds", "sessions", "met"), [(3.0, 100, True), (3.01, 100, False), (3.0, 99, False)]
)
def test_a_million_results_are_reckoned_from_those_rated(
    seconds: float, sessions: int, *, met: bool
) -> None:
    done = RatingReport(sessions=sessions, abandoned=0, searches=60, updates=600)
    row = rating.rates_row(LOG, done, seconds)
    assert row["s per million"] == pytest.approx(100 * seconds)
    assert row["results /s"] == pytest.approx(10_000 / seconds)
    assert row["met"] is met


@pytest.mark.parametrize(
    ("left", "wrong", "met"),
    [(60, 0, True), (1, 0, True), (0, 0, False), (61, 0, False), (60, 1, False)],
)
def test_what_was_killed_has_left_something_and_comes_to_the_same(
    left: int, wrong: int, *, met: bool
) -> None:
    rest = RatingReport(sessions=left, abandoned=0, searches=9, updates=9)
    assert rating.killed_row(LOG, 40, rest, 1.0, wrong)["met"] is met


def test_rows_are_compared_one_by_one() -> None:
    one: rating.Row = {"id": "a", "elo": 1200.0}
    other: rating.Row = {"id": "b", "elo": 1200.0}
    assert rating.differing([one, other], [other, one]) == 0
    assert rating.differing([one, other], [one]) == 1
    assert rating.differing([one], [{**one, "elo": 1200.0000001}]) == 2


@pytest.mark.parametrize(("slower", "met"), [(10.5, True), (10.51, False)])
def test_logging_is_judged_by_the_medians(slower: float, *, met: bool) -> None:
    row = rating.logging_row([slower] * 19 + [90.0], [10.0] * 20)
    assert row["ratio p50"] == slower / 10
    assert row["met"] is met


@pytest.mark.system
@pytest.mark.server
def test_a_loaded_log_is_rated_as_the_rules_say(migrated: Settings) -> None:
    at = connect.address(migrated, connect.silent)
    with Bare(at) as bare, GraphMem.open(settings=migrated, embedder=HashEmbedder()) as memory:
        rating_log.load(LOG, bare, STEPS)
        done = memory.tenant(rating_log.TENANT).usage.rate()
        found = bare.rows(rating.RATINGS, tenant=rating_log.TENANT)
    searches = [search for n in range(LOG.sessions) for search in LOG.searches(n)]
    wanted = rules.rate(searches)
    assert (done.sessions, done.updates) == (LOG.sessions, len(wanted.updates))
    assert {row["id"] for row in found} == wanted.standings.keys()
    for row in found:
        assert row["elo"] == pytest.approx(wanted.standings[row["id"]].elo, abs=1e-9)
        assert row["games"] == wanted.standings[row["id"]].games


@pytest.mark.system
@pytest.mark.server
def test_a_small_run_gives_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating, "RECALLED", 500)
    monkeypatch.setattr(rating, "QUESTIONS", 20)
    monkeypatch.setattr(rating, "WARM_UP", 20)
    report = rating.measure(20_000, STEPS)
    tables = json.loads(report.as_json())["tables"]
    [rates], [killed], [memory], [logged] = tables.values()
    assert rates["sessions"] == 200
    assert rates["updates"] == 10 * rates["games"]
    assert rates["s"] > 0
    assert killed["met"] is True
    assert 0 < killed["left"] < 200
    assert killed["other ratings"] == 0
    assert memory["server peak"] is None or memory["server peak"] >= memory["server MB"] > 200
    assert logged["ratio p50"] == logged["logged p50"] / logged["not p50"] > 0
