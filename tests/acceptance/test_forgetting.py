"""A chat is remembered as well after a season of upkeep as before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from graphmem import Handle
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door
from tests.plugins.examples import sample
from tests.samples import season

START = datetime(2026, 1, 5, 18, tzinfo=UTC)
NIGHTS = (30, 74)
"""Days after the first session at which everything that is due is done."""


@pytest.mark.parametrize("way", sample(["respond", "turns"], 2))
def test_a_season_of_upkeep_loses_no_answer(
    door: Door, memory: Handle, tmp_path: Path, way: str
) -> None:
    left, kept = memory.scope("left"), memory.scope("kept")
    clock = FrozenClock(START)
    for handle in (left, kept):
        _talk(door, handle, clock, way)
    last = FrozenClock(START + season.LENGTH)
    for day in NIGHTS:
        clock.set(START + timedelta(days=day, hours=8))
        _night(door.on(kept, clock=clock), tmp_path)
    kept.episodes.compress()
    before, after = (_answered(door.on(one, clock=last)) for one in (left, kept))
    assert before - after == set()
    assert len(before) >= len(season.ASKS) - 2


def _talk(door: Door, handle: Handle, clock: FrozenClock, way: str) -> None:
    for since, name, messages in season.sessions():
        clock.set(START + since)
        with door.on(handle, clock=clock).session(name) as talk:
            if way == "turns":
                talk.add_messages(messages)
                continue
            for asked, answer in zip(messages[::2], messages[1::2], strict=True):
                talk.respond([asked], partial(_answer, answer["content"]))


def _answer(text: object, _: object) -> object:
    return text


def _night(handle: Handle, folder: Path) -> None:
    handle.episodes.summarise()
    handle.consolidate()
    handle.usage.flush()
    handle.usage.rate()
    handle.episodes.graduate(folder / "MEMORY.md")
    handle.episodes.compress()
    handle.usage.prune()
    handle.usage.roll_up(dry_run=False)


def _answered(handle: Handle) -> set[str]:
    return {
        ask.question
        for ask in season.ASKS
        if season.is_answered(ask, handle.context(ask.question, tokens=400).text)
    }
