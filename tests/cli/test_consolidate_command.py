"""`graphmem consolidate`: the diff of a dry run, the run, and going on for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from graphmem import Handle
from tests.plugins.episodes import SWIMS, tell
from tests.plugins.texts import unlike

Run = Callable[..., Any]


@pytest.fixture
def told(plain: Handle) -> Handle:
    tell(plain, SWIMS)
    tell(plain, [unlike(n) for n in range(7)], first=10)
    return plain


def test_a_dry_run_shows_what_the_run_then_does(run: Run, told: Handle) -> None:
    shown = run("consolidate", "--dry-run")
    assert shown.code == 0
    assert "Would be done: 1 new." in shown.out
    for part in ("+ ", *SWIMS, "new, from 3 episodes", "10 episodes, 10 new", "extractive"):
        assert part in shown.out
    assert told.beliefs.list().beliefs == ()
    done = run("consolidate")
    assert shown.out.replace("Would be done", "Done") == done.out
    [belief] = told.beliefs.list().beliefs
    assert f"   {belief.id[:6]}\n" in done.out


def test_json_has_everything(run: Run, told: Handle) -> None:
    found = run("consolidate", "--json").data
    [belief] = told.beliefs.list().beliefs
    [change] = found["changes"]
    assert (change["step"], change["belief_id"]) == ("create", belief.id)
    assert [quote["text"] for quote in change["quotes"]] == list(SWIMS)
    assert (found["applied"], found["episodes"], found["troubles"]) == (True, 10, [])


def test_too_few_episodes_are_said(run: Run, plain: Handle) -> None:
    tell(plain, SWIMS)
    ended = run("consolidate")
    assert ended.code == 0
    assert "No changes: consolidation starts at 10 episodes; the scope has 3." in ended.out


def test_it_keeps_going_until_it_is_stopped(
    run: Run, told: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 1:
            # Three are not yet twenty, nor have four hours passed.
            tell(told, [unlike(n) for n in range(20, 23)], first=30)
        if len(slept) == 2:
            tell(told, [f"{text} {n}" for n in range(6) for text in SWIMS], first=40)
        if len(slept) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    ended = run("consolidate", "--every", "4h")
    assert ended.code == 130
    assert ended.out.count("Done: ") == 2
    assert "supported, from 18 episodes" in ended.out


def test_a_policy_of_the_settings_is_kept_by_every(
    run: Run, plain: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(_: float) -> None:
        raise KeyboardInterrupt

    tell(plain, SWIMS)
    monkeypatch.setattr(time, "sleep", sleep)
    assert "Done: " not in run("consolidate", "--every", "4h").out
    monkeypatch.setenv("GRAPHMEM_CONSOLIDATION__MIN_EPISODES", "3")
    assert run("consolidate", "--every", "4h").out.count("Done: ") == 1


@pytest.mark.parametrize("given", ["4", "0h", "h", "-1h", "4 hours", "1e3h"])
def test_a_duration_that_is_none_is_refused(run: Run, given: str) -> None:
    ended = run("consolidate", "--every", given)
    assert ended.code == 2
    assert "must be a duration" in ended.err or "No such option" in ended.err


def test_a_dry_run_for_ever_is_refused(run: Run) -> None:
    ended = run("consolidate", "--every", "4h", "--dry-run")
    assert ended.code == 2
    assert "give one" in ended.err


def test_the_status_is_shown(run: Run, plain: Handle) -> None:
    tell(plain, SWIMS)
    ended = run("consolidate", "--status")
    assert ended.code == 0
    told = " ".join(ended.out.replace("↳", "").split())
    assert (
        "3 episodes, 3 of them new: consolidation starts at 10 episodes; the scope has 3." in told
    )
    found = run("consolidate", "--status", "--json").data
    assert (found["episodes"], found["due"], found["clusters"]) == (3, False, [])
