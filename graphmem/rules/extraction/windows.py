"""Which turns of a session are read together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.model import Turn
from graphmem.rules import gathering

SIZE = 8
"""Turns of a window at most."""
REACH = 4
"""Turns before a window, and after it, that are shown for reference."""


@dataclass(frozen=True, slots=True)
class TurnContext:
    """A turn as the session has it."""

    id: str
    position: int
    read: bool
    """This extractor has read it."""
    after: int = 0
    """How many of the session stand before it at the same instant: messages that were added
    together carry one, and their order is known all the same."""


@dataclass(frozen=True, slots=True)
class TurnWindow:
    """Turns to be read, and those about them."""

    turns: tuple[Turn, ...]
    """Consecutive, of every role, in order."""
    around: tuple[Turn, ...]
    """Before and after them, in order."""
    said_at: Mapping[str, datetime]
    """When each of `turns` was said; of equal instants the later turn is a microsecond later."""

    @property
    def people(self) -> tuple[Turn, ...]:
        """Those that people said: the words of others are no evidence."""
        return tuple(turn for turn in self.turns if is_person(turn))

    def turn(self, turn_id: str) -> Turn | None:
        """Return the turn to be read that has this id."""
        return next((turn for turn in self.turns if turn.id == turn_id), None)

    def beside(self, turn: Turn) -> list[Turn]:
        """Return the turns at most two places away, itself first."""
        near = [other for other in (*self.around, *self.turns) if 0 < _apart(turn, other) <= NEXT]
        return [turn, *near]


NEXT = 2
"""How far away what a quote leaves out may have been said: a question and its answer."""


def _apart(one: Turn, other: Turn) -> int:
    return abs(one.position - other.position)


def is_person(turn: Turn) -> bool:
    """Return whether a person said a turn, and no assistant, tool or system."""
    return turn.role.lower() not in gathering.NOT_PEOPLE


def placed(rows: Iterable[tuple[str, int, bool, object]]) -> list[TurnContext]:
    """Return the turns of a session, of id, position, whether they were read, and instant each."""
    seen: dict[object, int] = {}
    found = []
    for turn_id, position, read, at in rows:
        found.append(TurnContext(turn_id, position, read, seen.get(at, 0)))
        seen[at] = seen.get(at, 0) + 1
    return found


def window(stretch: Sequence[TurnContext], turns: Sequence[Turn]) -> TurnWindow:
    """Return a stretch with its turns and those about it.

    Args:
        stretch: what is to be read.
        turns: of the session, from `REACH` before it to `REACH` after it, in order.
    """
    place = {one.id: one for one in stretch}
    offered = tuple(turn for turn in turns if turn.id in place)
    return TurnWindow(
        turns=offered,
        around=tuple(turn for turn in turns if turn.id not in place),
        said_at={
            turn.id: turn.occurred_at + timedelta(microseconds=place[turn.id].after)
            for turn in offered
        },
    )


def stretches(places: Iterable[TurnContext], size: int = SIZE) -> list[Sequence[TurnContext]]:
    """Return the turns that are still to be read, in stretches of consecutive ones.

    A run that was cut short has read whole stretches, so what is left falls into the same ones.
    """
    found: list[list[TurnContext]] = []
    for place in places:
        if place.read:
            continue
        last = found[-1] if found else []
        if last and last[-1].position + 1 == place.position and len(last) < size:
            last.append(place)
        else:
            found.append([place])
    return list(found)
