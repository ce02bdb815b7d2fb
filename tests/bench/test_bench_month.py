"""A simulated month leaves what an agent's memory should have, each change with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench import month, month_talk
from bench.month import DAYS, STARTED, MonthResult
from bench.month_beliefs import Made, ToldModel, Verdict, invented, judge
from bench.month_talk import SCOPES, Recurring, Talk
from graphmem import local_server
from graphmem.ports import Llm
from graphmem.settings import Settings
from graphmem.testing import ScriptedLlm
from tests.plugins.graph import fresh_tenant
from tests.plugins.samples import real

TALKS = ("ordinary", *(["LoCoMo"] if real("locomo/locomo.json") else []))


@pytest.fixture(scope="module")
def own_server(
    server_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """Settings of a server that no other test fills with another embedder's vectors."""
    home = tmp_path_factory.mktemp("month")
    settings = server_settings.model_copy(update={"home": home})
    yield settings
    local_server.stop(settings)


def lived(settings: Settings, talk: str, folder: Path, llm: Llm | None = None) -> MonthResult:
    # Recurring facts in other words need the shipped embedder.
    with month.opened(settings) as (client, bare):
        return month.live(
            client, bare, month.talk_named(talk), tenant=fresh_tenant(), digests=folder, llm=llm
        )


def check(result: MonthResult, folder: Path) -> None:
    """Check what holds with and without a model."""
    assert result.failures == []
    assert {run.job for run in result.runs} == {
        *("extract", "consolidate", "rate", "graduate", "compress", "plan_pruning", "roll_up"),
        "seal",
    }
    assert len(result.episodes) == len(SCOPES) * DAYS
    assert all(one.summary and one.entities for one in result.episodes)
    importances = [one.importance for one in result.episodes]
    assert min(importances) >= 0.1
    assert max(importances) <= 0.9
    assert max(importances) - min(importances) > 0.3
    assert len({*importances}) > 5
    for kind, reason in (
        ("GRADUATE", "importance 0."),
        ("COMPRESS", "is below 0.7, never used, "),
        ("ARCHIVE", "LOW"),
    ):
        # A context of a session shows turns of it, which is a use: perhaps nothing is compressed.
        assert result.reasons[kind] or kind == "COMPRESS", kind
        assert all(reason in told for told in result.reasons[kind].values()), kind
    lines = "".join(path.read_text("utf-8") for path in folder.rglob("MEMORY.md"))
    assert all(f"`{episode_id}`" in lines for episode_id in result.reasons["GRADUATE"])
    # Stated and pinned items are never planned, and pinning removes an item from the next plan.
    assert {kind for kind, _ in result.planned} == {"Episode"}
    assert result.pinned_planned == frozenset()
    assert result.spared
    assert not result.pinned & result.reasons["ARCHIVE"].keys()
    assert {*result.stated} == {"current"}


@pytest.mark.system
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("talk", TALKS)
def test_a_month_without_a_model(own_server: Settings, tmp_path: Path, talk: str) -> None:
    result = lived(own_server, talk, tmp_path)
    check(result, tmp_path)
    assert month.belief_row(month.talk_named(talk), result, ToldModel(()))["met"]


@pytest.mark.system
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("talk", TALKS)
def test_a_month_with_a_model_has_more_beliefs(
    own_server: Settings, tmp_path: Path, talk: str
) -> None:
    known = month.talk_named(talk)
    told = ToldModel(known.facts)
    result = lived(own_server, talk, tmp_path, ScriptedLlm(told))
    check(result, tmp_path)
    assert result.made
    assert {"extract", "synthesise"} <= told.asked.keys()
    assert bool(told.erred) == bool(known.facts)
    assert month.belief_row(known, result, told)["invented"] == 0


def test_the_month_has_three_sessions_a_day() -> None:
    made = month_talk.ordinary(STARTED, DAYS).visits
    assert [one.at for one in made] == sorted(one.at for one in made)
    assert len({one.session for one in made}) == len(made) == 3 * DAYS
    for day in range(DAYS):
        assert [one.scope for one in made if one.day == day] == list(SCOPES)


def test_it_is_known_which_turns_state_a_fact() -> None:
    talk = month_talk.ordinary(STARTED, DAYS, seed=7)
    assert talk == month_talk.ordinary(STARTED, DAYS, seed=7)
    assert talk.visits != month_talk.ordinary(STARTED, DAYS, seed=8).visits
    said = {(one.scope, text) for one in talk.visits for _, text in one.turns}
    for fact in talk.facts:
        assert {(fact.scope, text) for text in fact.turns} <= said
        assert all(any(one in text for one in fact.sentences) for text in fact.turns)
        assert fact.statement not in fact.turns
    for scope in SCOPES:
        facts = [one for one in talk.facts if one.scope == scope]
        assert sum(not one.holds for one in facts) == month_talk.CHANGES
        assert sum(one.recurs for one in facts) >= 10
        texts = [text for one in talk.visits if one.scope == scope for _, text in one.turns]
        stated = {text for one in facts for text in one.turns}
        assert len(stated) < len(texts) / 4


FACT = Recurring(
    scope="user:ana",
    statement="Ana goes to work by tram.",
    sentences=frozenset({"I take the tram to work.", "Ran for the tram."}),
    turns=frozenset({"I take the tram to work. How are you?", "Ran for the tram.", "Tram again."}),
    sessions=3,
    holds=True,
)
QUOTES = tuple(sorted(FACT.turns))


def made(
    statement: str, quotes: tuple[str, ...] = QUOTES, scope: str = "user:ana", depth: int = 0
) -> Made:
    return Made(scope, statement, depth, quotes, frozenset({"ana"}))


@pytest.mark.parametrize(
    ("belief", "verdict"),
    [
        (made("ana: I take the tram to work."), Verdict.RIGHT),
        (made("Ana goes to work by tram."), Verdict.RIGHT),
        (made("ana: I take the bus to work."), Verdict.WRONG),
        (made("ana: I take the tram to work.", (*QUOTES, "The soup was fine.")), Verdict.WRONG),
        (made("ana: I take the tram to work.", ()), Verdict.WRONG),
        (made("ana: I take the tram to work.", scope="user:ben"), Verdict.WRONG),
    ],
    ids=str,
)
def test_a_belief_is_right_if_its_quotes_and_its_statement_are_of_one_fact(
    belief: Made, verdict: Verdict
) -> None:
    assert judge(Talk((), (FACT,)), belief) is verdict
    over = replace(FACT, holds=False)
    changed = Verdict.OUTDATED if verdict is Verdict.RIGHT else verdict
    assert judge(Talk((), (over,)), belief) is changed


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("Ana goes to work by tram.", ()),
        ("Ana goes to work by tram with Bob.", ("Bob",)),
        ("Ana goes to work by tram 12.", ("12",)),
        ("Ana takes two trams.", ("two",)),
        ("Ana goes to work by tram since May.", ("May",)),
        ("Ana never goes to work by tram.", ("a negation",)),
    ],
)
def test_names_numbers_and_negations_that_no_quote_has_are_invented(
    statement: str, found: tuple[str, ...]
) -> None:
    assert invented(made(statement)) == found
