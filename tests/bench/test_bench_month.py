"""A simulated month leaves what an agent's memory should have, each change with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import month, month_talk
from bench.conversations import read_conversations
from bench.month import DAYS, STARTED, MonthResult
from bench.month_talk import SCOPES, Visit
from graphmem.ports import Llm
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder, ScriptedLlm
from tests.plugins.graph import fresh_tenant
from tests.plugins.samples import real

TALKS = ("invented", *(["LoCoMo"] if real("locomo/locomo.json") else []))


def visits(talk: str) -> list[Visit]:
    if talk == "invented":
        return month_talk.invented(STARTED, DAYS)
    path = real("locomo/locomo.json")
    assert path is not None
    return month_talk.locomo(read_conversations(path), STARTED, DAYS)


def lived(settings: Settings, talk: str, folder: Path, llm: Llm | None = None) -> MonthResult:
    with month.opened(settings, HashEmbedder()) as (client, bare):
        return month.live(
            client, bare, visits(talk), tenant=fresh_tenant(), digests=folder, llm=llm
        )


def check(result: MonthResult, talk: str, folder: Path) -> None:
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
        assert result.reasons[kind], kind
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
def test_a_month_without_a_model(migrated: Settings, tmp_path: Path, talk: str) -> None:
    check(lived(migrated, talk, tmp_path), talk, tmp_path)


@pytest.mark.system
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("talk", TALKS)
def test_a_month_with_a_model_has_beliefs_too(
    migrated: Settings, tmp_path: Path, talk: str
) -> None:
    result = lived(migrated, talk, tmp_path, ScriptedLlm(month.scripted))
    check(result, talk, tmp_path)
    assert result.beliefs
    assert all(one.supporting_episodes for one in result.beliefs)


def test_the_month_has_three_sessions_a_day() -> None:
    made = month_talk.invented(STARTED, DAYS)
    assert [one.at for one in made] == sorted(one.at for one in made)
    assert len({one.session for one in made}) == len(made) == 3 * DAYS
    for day in range(DAYS):
        assert [one.scope for one in made if one.day == day] == list(SCOPES)
