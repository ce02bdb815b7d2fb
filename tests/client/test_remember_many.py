"""Batches of texts, by either client."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphmem import Handle, NewMemory, Outcome
from graphmem.errors import EventConflictError, NotFoundError
from graphmem.operations.commit import BATCH, MIN_AHEAD, PART
from tests.plugins.clients import Door
from tests.plugins.faults import Listing
from tests.plugins.graph import Look
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
UPDATE = "The limit of the upload queue in the payments service is {} and is checked every night"


def test_a_batch_finds_duplicates_among_itself_and_answers_in_order(
    memory: Handle, look: Look, tenant: str
) -> None:
    stored = memory.remember(unlike(1))

    done = memory.remember_many(
        [
            WINDOW,
            "?",
            NewMemory(content=UPDATE.format(100), tags=("a",)),
            unlike(1),
            restated(5),
            f" {WINDOW} ",
            UPDATE.format(200),
            NewMemory(content=UPDATE.format(100), tags=("b",)),
            restated(5),
        ]
    )

    assert [o.outcome for o in done] == [
        Outcome.INSERTED_NEW,
        Outcome.REJECTED_HYGIENE,
        Outcome.INSERTED_NEW,
        Outcome.EXACT_DUPE,
        Outcome.NEAR_DUPE,
        Outcome.EXACT_DUPE,
        Outcome.INSERTED_NEW,
        Outcome.EXACT_DUPE,
        Outcome.NEAR_DUPE,
    ]
    ids = [o.memory_id for o in done]
    assert ids[3] == stored.memory_id
    assert ids[0] == ids[4] == ids[5] == ids[8]
    assert ids[2] == ids[7] == done[6].possible_update_of
    assert memory.memories.get(str(ids[0])).reinforce_count == 3
    assert memory.memories.get(str(ids[2])).tags == ("a", "b")
    assert look.count(tenant) == {"Memory": 4, "Event": 9}


def test_a_batch_meets_near_ones_that_were_stored(memory: Handle) -> None:
    first = memory.remember(WINDOW)
    done = memory.remember_many([restated(9), restated(13), UPDATE.format(7)])
    assert [o.outcome for o in done] == ["NEAR_DUPE", "NEAR_DUPE", "INSERTED_NEW"]
    assert {o.memory_id for o in done[:2]} == {first.memory_id}


def test_an_id_that_stands_twice_in_a_batch_is_written_once(
    memory: Handle, look: Look, tenant: str
) -> None:
    one = NewMemory(content=unlike(1), event_id="e1", at=MAY)
    done = memory.remember_many([one, unlike(2), one, NewMemory(content="?", event_id="e2"), one])

    assert [o.outcome for o in done] == [
        "INSERTED_NEW",
        "INSERTED_NEW",
        "INSERTED_NEW",
        "REJECTED_HYGIENE",
        "INSERTED_NEW",
    ]
    assert [o.repeated for o in done] == [False, False, True, False, True]
    assert look.count(tenant) == {"Memory": 2, "Event": 2}

    again = memory.remember_many([one, one])
    assert [o.repeated for o in again] == [True, True]
    assert look.count(tenant) == {"Memory": 2, "Event": 2}


def test_one_id_for_two_texts_is_refused_whole(memory: Handle, look: Look, tenant: str) -> None:
    with pytest.raises(EventConflictError):
        memory.remember_many(
            [
                unlike(1),
                NewMemory(content=unlike(2), event_id="e"),
                NewMemory(content=unlike(3), event_id="e"),
            ]
        )
    assert look.count(tenant) == {}


def test_a_conflict_with_the_store_leaves_nothing_of_the_batch(
    memory: Handle, look: Look, tenant: str
) -> None:
    memory.remember(unlike(1), event_id="e")
    with pytest.raises(EventConflictError):
        memory.remember_many([unlike(2), NewMemory(content=unlike(3), event_id="e"), unlike(4)])
    assert look.count(tenant) == {"Memory": 1, "Event": 1}


def test_one_unknown_turn_leaves_nothing_of_the_batch(
    memory: Handle, look: Look, tenant: str
) -> None:
    with pytest.raises(NotFoundError):
        memory.remember_many([unlike(1), NewMemory(content=unlike(2), turn_id="t_nowhere")])
    assert look.count(tenant) == {}


def test_the_queries_of_a_batch_do_not_grow_with_its_texts_but_for_the_search(
    door: Door, memory: Handle
) -> None:
    memory.remember(unlike(0))
    for count, parts in ((MIN_AHEAD, 1), (2 * PART + 1, 3)):
        graph = Listing(memory._state.context.services.graph)
        door.on(memory, graph=graph).remember_many(
            [unlike(n, about=str(count)) for n in range(count)]
        )
        assert graph.transactions == [
            ["commit/find_known"],
            ["commit/await_lock"],
            ["commit/find_existing"] * parts,
            ["commit/lock", "commit/write"],
        ]
    graph = Listing(memory._state.context.services.graph)
    door.on(memory, graph=graph).remember_many([unlike(-1), unlike(-2)])
    assert graph.transactions == [
        ["commit/find_known"],
        ["commit/lock", "commit/find_existing", "commit/write"],
    ]


def test_nothing_is_an_empty_batch(memory: Handle) -> None:
    assert list(memory.remember_many([])) == []


def test_more_texts_than_one_transaction_takes(memory: Handle, look: Look, tenant: str) -> None:
    n = BATCH + 120
    texts = [unlike(i) for i in range(n)]
    # Across the seam: one exact and one near the very first ones.
    texts += [texts[0], restated(0), restated(6)]

    done = memory.remember_many(text for text in texts)

    assert [o.outcome for o in done] == [
        *["INSERTED_NEW"] * n,
        "EXACT_DUPE",
        "INSERTED_NEW",
        "NEAR_DUPE",
    ]
    assert done[n].memory_id == done[0].memory_id
    assert look.count(tenant) == {"Memory": n + 1, "Event": n + 3}


def test_a_hidden_text_said_twice_in_a_batch_comes_back(memory: Handle) -> None:
    done = memory.remember(unlike(1), at=MAY)
    memory.memories.deprecate(str(done.memory_id), at=MAY.replace(day=10))

    memory.remember_many(
        [
            NewMemory(content=unlike(1), at=MAY.replace(day=7)),
            NewMemory(content=unlike(1), at=MAY.replace(day=12)),
        ]
    )

    kept = memory.memories.get(str(done.memory_id))
    assert kept.status == "current"
    assert kept.reinforce_count == 2
