"""Windows of consecutive turns, which stay the same after an interrupted run."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from graphmem.extraction.windows import (
    WINDOW_SIZE,
    TurnContext,
    build_window,
    turn_contexts,
    unread_groups,
)
from tests.plugins.sayings import SAID, turn


def session(length: int, read: set[int]) -> list[TurnContext]:
    return [TurnContext(f"t{n}", n, read=n in read) for n in range(length)]


@given(st.integers(0, 60), st.sets(st.integers(0, 60)))
def test_every_turn_that_was_not_read_stands_in_one_stretch(length: int, read: set[int]) -> None:
    found = unread_groups(session(length, read))
    places = [place.position for stretch in found for place in stretch]
    assert places == [n for n in range(length) if n not in read]
    for stretch in found:
        assert len(stretch) <= WINDOW_SIZE
        first = stretch[0].position
        assert [place.position for place in stretch] == list(range(first, first + len(stretch)))


@given(st.integers(1, 60), st.data())
def test_what_a_cut_run_left_falls_into_the_same_stretches(
    length: int, data: st.DataObject
) -> None:
    whole = unread_groups(session(length, set()))
    done = data.draw(st.sets(st.integers(0, len(whole) - 1)))
    read = {place.position for n in done for place in whole[n]}
    left = [[p.id for p in one] for one in unread_groups(session(length, read))]
    assert left == [[p.id for p in one] for n, one in enumerate(whole) if n not in done]


def test_messages_added_together_keep_their_order() -> None:
    rows = [("a", 0, False, "x"), ("b", 1, False, "x"), ("c", 2, False, "y"), ("d", 3, False, "x")]
    assert [place.after for place in turn_contexts(rows)] == [0, 1, 0, 2]


def test_of_one_instant_the_later_turn_is_a_microsecond_later() -> None:
    turns = [turn("a", 0), turn("b", 0).model_copy(update={"id": "t1", "position": 1})]
    places = turn_contexts((t.id, t.position, False, t.occurred_at) for t in turns)
    found = build_window(places, turns)
    assert found.said_at == {"t0": SAID, "t1": SAID + timedelta(microseconds=1)}


def test_a_window_knows_who_is_a_person_and_what_is_near() -> None:
    turns = [turn(str(n), n, role="assistant" if n % 2 else "user") for n in range(8)]
    found = build_window([TurnContext(t.id, t.position, read=False) for t in turns[2:5]], turns)
    assert [t.id for t in found.turns] == ["t2", "t3", "t4"]
    assert [t.id for t in found.around] == ["t0", "t1", "t5", "t6", "t7"]
    assert [t.id for t in found.people] == ["t2", "t4"]
    assert {t.id for t in found.neighbours(turns[4])} == {"t2", "t3", "t4", "t5", "t6"}
    assert found.turn("t3") == turns[3]
    assert found.turn("t5") is None
