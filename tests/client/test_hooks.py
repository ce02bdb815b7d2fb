"""on_commit: told after the commit, of every outcome, and unable to change any."""

from __future__ import annotations

import logging

import pytest

from graphmem import CommitOutcome, GraphMem, NewMemory, Outcome
from graphmem.errors import EventConflictError
from graphmem.model import Origin
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.plugins.clients import Door
from tests.plugins.texts import WINDOW, restated, unlike

pytestmark = pytest.mark.usefixtures("both_clients")


def test_a_hook_is_told_of_every_outcome_in_order(door: Door) -> None:
    told: list[CommitOutcome] = []
    with door.opened(on_commit=told.append) as memory:
        done = list(
            memory.remember_many(
                [WINDOW, restated(5), WINDOW, "?", NewMemory(content=WINDOW, event_id="e")]
            )
        )
        done.append(memory.remember(WINDOW, event_id="e"))
        with memory.session("s") as session:
            done.append(session.remember(unlike(1)))
        done.append(memory.scope("alice").remember(unlike(2)))
        memory.reject(str(memory.remember(unlike(3), event_id="f").memory_id), reason="wrong")
        done += [told[-1], memory.remember(unlike(3))]

    assert told == done
    assert {o.outcome for o in told} == set(Outcome)
    assert [o.repeated for o in told] == [False] * 5 + [True] + [False] * 4


def test_a_hook_is_told_of_what_supersedes(door: Door) -> None:
    told: list[CommitOutcome] = []
    with door.opened(on_commit=told.append) as memory:
        old = str(memory.remember(unlike(1)).memory_id)
        done = memory.supersede(old, unlike(2), origin=Origin(event_id="over"))
        assert [one.memory_id for one in told] == [old, done.newer_id]
        assert told[1].outcome is Outcome.INSERTED_NEW
        # Nothing is committed again.
        assert memory.supersede(old, unlike(2), origin=Origin(event_id="over")) == done
        back = memory.supersede(done.newer_id, unlike(1))
        assert len(told) == 3
        assert (told[2].outcome, told[2].memory_id) == (Outcome.EXACT_DUPE, back.newer_id)


def test_a_hook_is_called_after_the_commit(door: Door, migrated: Settings) -> None:
    """What it is told of can be read, by anybody, when it is told."""
    seen: list[str] = []
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as reader:

        def read(done: CommitOutcome) -> None:
            there = reader.tenant(tenants[0])
            seen.append(there.memories.get(str(done.memory_id)).content)

        tenants: list[str] = []
        with door.opened(on_commit=read) as memory:
            tenants.append(memory._state.context.tenant)
            memory.remember_many([unlike(1), unlike(2)])
    assert seen == [unlike(1), unlike(2)]


def test_a_hook_that_raises_is_reported_and_changes_nothing(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def broken(done: CommitOutcome) -> None:
        calls.append(done.event_id)
        raise RuntimeError("the listener fell over")

    with door.opened(on_commit=broken) as memory, caplog.at_level(logging.ERROR, "graphmem"):
        done = memory.remember_many([NewMemory(content=unlike(1), event_id="e1"), unlike(2)])
        assert [o.outcome for o in done] == [Outcome.INSERTED_NEW] * 2
        assert memory.memories.get(str(done[0].memory_id)).content == unlike(1)

    assert len(calls) == 2
    assert "e1" in caplog.text
    assert "the listener fell over" in caplog.text
    assert unlike(1) not in caplog.text


def test_a_hook_hears_nothing_of_what_was_refused(door: Door) -> None:
    told: list[CommitOutcome] = []
    with door.opened(on_commit=told.append) as memory:
        memory.remember(unlike(1), event_id="e")
        with pytest.raises(EventConflictError):
            memory.remember_many([unlike(3), NewMemory(content=unlike(2), event_id="e")])
    assert [o.event_id for o in told] == ["e"]
