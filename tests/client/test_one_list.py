"""One list of all kinds of results, on a server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem import Handle
from graphmem.model import Kind
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
CHATTER = (
    *("nice", "odd", "long", "loud", "slow", "quick", "grey", "warm", "wet", "dull", "fun", "sad"),
    *("calm", "neat", "rough", "plain"),
)
SAID = "My sister Runa lives in Ghent."


@pytest.fixture
def told(memory: Handle) -> Handle:
    """One sentence as a turn in five conversations and as a memory, and another one."""
    for n in range(5):
        said = {"role": "user", "content": SAID, "at": MAY + n * DAY}
        memory.session(f"s{n}").add_messages([said])
    memory.remember(SAID, at=MAY)
    memory.session("s5").add_messages([{"role": "user", "content": "Ghent has canals.", "at": MAY}])
    return memory


def test_repeats_take_no_places(told: Handle) -> None:
    found = told.recall("Where in Ghent does my sister live?", limit=2)
    assert [bite.text for bite in found.bites] == [SAID, "Ghent has canals."]
    first, second = found.bites
    assert (len(first.covers), second.covers) == (5, ())
    for one in first.covers:
        assert SAID in str(told.expand(one).item)
    block = told.context("Where in Ghent does my sister live?")
    assert block.text.count(SAID) == 1
    assert block.ids == tuple(bite.id for bite in found.bites)


@pytest.mark.parametrize("kind", ["turn", "memory", "belief", "episode"])
def test_each_kind_can_be_searched_alone(told: Handle, kind: Kind) -> None:
    told.observe("Runa", "lives_in", "Ghent", at=MAY)
    told.episodes.add(summary="Runa showed us Ghent.")
    assert {bite.kind for bite in told.recall("Runa in Ghent", kinds=[kind]).bites} == {kind}


def test_all_is_listed_with_what_is_hidden(told: Handle) -> None:
    found = told.recall(SAID, include_hidden=True, limit=50).bites
    assert [bite.text for bite in found].count(SAID) == 6


def test_a_compressed_conversation_still_reaches_the_prompt(door: Door, memory: Handle) -> None:
    early = door.on(memory, clock=FrozenClock(MAY + 3 * DAY))
    told = [
        "I am allergic to nuts, so never suggest any.",
        *(f"Well, was that {how}, what can one say, is it as it is?" for how in CHATTER),
    ]
    with early.session("s") as session:
        session.add_messages(
            [{"role": "user", "content": text, "at": MAY + n * HOUR} for n, text in enumerate(told)]
        )
    later = door.on(memory, clock=FrozenClock(MAY + 90 * DAY))
    assert later.episodes.compress().episodes
    asked = [{"role": "user", "content": "Which snack fits my allergy to nuts?"}]
    done = later.session("t").respond(asked, lambda _: "Raisins.")
    assert told[0] in done.context.text
