"""Replay of a recall: the way of each candidate from the lists to the block, or where it ends."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from graphmem.client.recall_verbs import BLOCK_TOKENS, CHOSEN, Replay, replayed
from graphmem.explorer import pages, status
from graphmem.explorer.reader import Asked, Reader
from graphmem.model import AsOf, Recollection
from graphmem.model.recall import AnyBite, BeliefBite, MemoryBite, TurnBite
from graphmem.rules import cutoff
from graphmem.rules.ranking import MAX_REPEATED, Ranked

WIDE = 100
"""Number of results of a search that also returns what is hidden."""
SHOWN = 25
"""Number of candidates of a step that are shown; the others are counted."""
DRAWN, ROWS = 5, 12
"""Number of lines of the block in the picture, and of the places that it distinguishes."""
COLUMN, ROW = 110, 26
"""Distance of steps and places in the picture, in units of its own."""
CONTEXT = "context"
"""Step that adds neighbours, names and dates, after which the score is complete."""
Lost: TypeAlias = tuple[str, str, tuple[str, str] | None]
"""Step at which a candidate was lost, the reason, and id and text of what replaced it."""
STEPS = {
    "block": "In the block",
    "room": "No room in the block",
    "noise": "Cut: noise, or states nothing",
    "limit": "Cut: after the limit",
    "covered": "Collapsed: another result states the same",
    "outdated": "Collapsed: outvoted, replaced or rejected",
    "fusion": "Lost in fusion: too far behind",
    "floor": "Nothing is similar enough",
    "hidden": "Never a candidate: hidden from ordinary reads",
}
"""Steps at which a way ends, the furthest first, and their titles."""


@dataclass(frozen=True)
class Way:
    """The way of one candidate."""

    id: str
    kind: str
    text: str
    """Its text; empty if no search has read it."""
    standing: status.Standing | None
    """None if no search has read it."""
    vector_rank: int | None
    bm25_rank: int | None
    places: tuple[int | None, ...]
    """Place after each of the steps of `Ways.steps`; None where it is not."""
    score: float | None
    why: str
    instead: tuple[str, str] | None
    """Id and text of what replaced it."""


@dataclass(frozen=True)
class End:
    """The candidates whose way ends at one step."""

    title: str
    ways: tuple[Way, ...]
    """The best of them."""
    total: int

    @property
    def why(self) -> str:
        """Return the reason that all of them share; empty if they differ."""
        shared = {one.why for one in self.ways}
        alone = len(shared) == 1 and not any(one.instead for one in self.ways)
        return shared.pop() if alone else ""


@dataclass(frozen=True)
class Line:
    """The way of a line of the block, as a line of the picture."""

    path: str
    number: int
    """Number of the line in the block, from 0."""
    height: float
    """Height at which it ends."""


async def page(reader: Reader, asked: Asked) -> tuple[str, dict[str, Any]]:
    """Show a question's way from the candidates to the block."""
    reader.need("read")
    question = asked.text("q")
    if not question:
        return await pages.search(reader, asked)
    when = None if asked.as_of == AsOf() else asked.as_of
    seen = reader.reads
    done, wide = await gather(
        replayed(seen, question, when),
        seen.recall(question, as_of=when, limit=WIDE, include_hidden=True),
    )
    course = Ways(done, wide)
    ends = course.ends()
    return "replay", {
        "question": question,
        "asked": {"q": question, "valid": asked.text("valid"), "known": asked.text("known")},
        "found": done.found,
        "block": done.block,
        "steps": course.steps,
        "counts": course.counts(),
        "ends": ends,
        "lines": lines(ends[0].ways if ends and done.block.ids else ()),
        "size": (COLUMN * (len(course.steps) - 1), ROW * ROWS),
        "rows": [(n, (n - 1) * ROW) for n in range(1, ROWS + 1)],
        "column": COLUMN,
    }


class Ways:
    """The candidates of a recall, and what it did with each."""

    def __init__(self, done: Replay, wide: Recollection) -> None:
        steps = done.steps
        self._done, self._steps, self._every = done, steps, steps.every()
        self._at = {one: place for place, one in enumerate(steps.candidates.ids)}
        self._by_id = {steps.candidates.ids[one.place]: one for one in self._every}
        self._short = {steps.candidates.ids[one.place] for one in steps.shortlist}
        self._read = steps.bites["read"]
        self._listed = steps.bites["listed"]
        ended = steps.ending
        self._limited: Sequence[AnyBite] = done.found.bites if ended is None else steps.limited
        self._wide = {bite.id: bite for bite in wide.bites}
        own = {bite.id: bite for bite in (*self._read, *self._listed)}
        self._bites, self._scores = self._wide | own, {one: bite.score for one, bite in own.items()}
        self._holders = {one: bite for bite in self._listed for one in bite.covers}
        self._leaders = {
            bite.found_by: bite
            for bite in self._read
            if isinstance(bite, BeliefBite) and bite.found_by
        }
        tokens = {"tokens": self._places("meaning", "words", "late", "late_context")}
        self._columns: Mapping[str, Mapping[str, int]] = {
            "lists": self._places("meaning", "words"),
            **({} if steps.late is None else tokens),
            CONTEXT: _numbered(self._by_id),
            "read": _numbered(bite.id for bite in self._read),
            "list": _numbered(bite.id for bite in self._listed),
            "block": _numbered(done.block.ids),
        }
        self.steps = tuple(self._columns)
        """Names of the steps of which each way has its place."""

    def counts(self) -> list[tuple[str, int, str]]:
        """Return the steps, the number of results after each, and what it does."""
        found, by = self._steps.candidates, self._steps.order.by
        meaning = sum(one is not None for one in found.vector)
        words = sum(one is not None for one in found.words)
        best = f"the best texts and at most {by['beliefs']} beliefs are read in full"
        kept = len(self._done.found.bites)
        return [
            ("candidates", len(found.ids), f"{meaning:,} by meaning, {words:,} by words"),
            ("best by score", len(self._short), best),
            ("read", len(self._read), "the leader of a slot replaces its other values"),
            ("list", len(self._listed), "each statement once"),
            ("limit", len(self._limited), f"at most {CHOSEN}"),
            ("cut", kept, "without noise, and without what states nothing"),
            ("block", len(self._done.block.ids), f"{self._done.block.tokens:,} tokens"),
        ]

    def ends(self) -> list[End]:
        """Return the steps at which ways end, the furthest first, with the candidates."""
        ids = dict.fromkeys(
            (
                *(bite.id for bite in self._limited),
                *(bite.id for bite in self._listed),
                *self._by_id,
                *self._at,
                *self._wide,
            )
        )
        block = self._done.block.ids
        found: dict[str, list[tuple[str, Lost]]] = {step: [] for step in STEPS}
        found["block"] = [(one, ("block", "", None)) for one in block]
        for one in ids:
            if one not in block:
                lost = self._lost(one)
                found[lost[0]].append((one, lost))
        return [
            End(STEPS[step], tuple(self._way(*one) for one in ways[:SHOWN]), len(ways))
            for step, ways in found.items()
            if ways
        ]

    def _lost(self, item_id: str) -> Lost:
        """Return where and why a candidate that is not in the block was lost."""
        if item_id in {bite.id for bite in self._done.found.bites}:
            return "room", f"its line does not fit into {BLOCK_TOKENS} tokens", None
        place = next((n for n, bite in enumerate(self._limited) if bite.id == item_id), None)
        if place is not None:
            return "noise", self._noise(self._limited[place], place), None
        if item_id in self._columns["list"]:
            return "limit", f"the list ends after {CHOSEN}", None
        holder = self._holders.get(item_id)
        if holder is not None:
            return "covered", "the same is stated by", (holder.id, holder.text)
        if item_id in self._short:
            return self._outdated(item_id)
        if item_id in self._at:
            return self._behind(item_id)
        return "hidden", self._hidden(self._wide[item_id]), self._head(item_id)

    def _noise(self, bite: AnyBite, place: int) -> str:
        ending, likeness = self._steps.ending, self._steps.likeness
        if cutoff.is_spared(bite, place):
            return "it states nothing: a greeting, a reaction or a question"
        if ending is not None and ending.improbable is not None:
            best = f"the best result is an answer to {ending.improbable:.0%}"
            return f"probably nothing answers the question ({best}), so few are shown"
        if likeness.fit is None:
            return "it follows the last result that states something"
        likely = likeness.fit.probability(
            likeness.late.get(bite.id, 0.0), bite.similarity or 0.0, likeness.candidates
        )
        return f"noise: with a probability of {likely:.1%} it answers the question"

    def _outdated(self, item_id: str) -> Lost:
        leader, bite = self._leaders.get(item_id), self._wide.get(item_id)
        if leader is not None:
            return "outdated", "its slot is led by", (leader.id, leader.text)
        if bite is not None and _is_hidden(bite):
            return "outdated", self._hidden(bite), self._head(item_id)
        return "fusion", f"the best {len(self._read)} end before it", None

    def _behind(self, item_id: str) -> Lost:
        if not self._short:
            return "floor", self._done.found.reason, None
        if item_id not in self._by_id:
            return "fusion", f"its text is repeated more than {MAX_REPEATED} times", None
        order, is_belief = self._steps.order, self._kind(item_id) == "belief"
        most = f"{order.by['beliefs']} beliefs" if is_belief else f"{order.limit} different texts"
        return "fusion", f"only the best {most} are read", None

    def _hidden(self, bite: AnyBite) -> str:
        if status.of_bite(bite) == "rejected":
            return "a person rejected it"
        if isinstance(bite, BeliefBite) and bite.lost:
            return "another value leads its slot"
        if _is_hidden(bite):
            return "only what is current is searched, and this was replaced or put away"
        return f"it is not among the best {self._steps.order.pool} of a list"

    def _head(self, item_id: str) -> tuple[str, str] | None:
        bite = self._wide[item_id]
        heads = bite.memory.head_ids if isinstance(bite, MemoryBite) else ()
        heads = bite.head_ids if isinstance(bite, BeliefBite | TurnBite) else heads
        head = bite.outdated_by or next(iter(heads), "")
        return (head, self._bites[head].text if head in self._bites else head) if head else None

    def _kind(self, item_id: str) -> str:
        if item_id in self._bites:
            return self._bites[item_id].kind
        return self._steps.candidates.kinds[self._at[item_id]]

    def _way(self, item_id: str, lost: Lost) -> Way:
        bite, ranked = self._bites.get(item_id), self._by_id.get(item_id)
        return Way(
            item_id,
            self._kind(item_id),
            "" if bite is None else bite.text,
            None if bite is None else status.of_bite(bite),
            None if ranked is None else ranked.vector_rank,
            None if ranked is None else ranked.bm25_rank,
            tuple(column.get(item_id) for column in self._columns.values()),
            self._scores.get(item_id, None if ranked is None else ranked.score),
            *lost[1:],
        )

    def _places(self, *parts: str) -> Mapping[str, int]:
        """Return the places of the candidates by these parts of their score alone."""

        def points(one: Ranked) -> float:
            return one.parts["factor"] * sum(one.parts[part] for part in parts)

        return _numbered(
            self._steps.candidates.ids[one.place]
            for one in sorted(self._every, key=points, reverse=True)
        )


def _is_hidden(bite: AnyBite) -> bool:
    return status.of_bite(bite) in {"outdated", "rejected"}


def _numbered(ids: Iterable[str]) -> Mapping[str, int]:
    return {one: number for number, one in enumerate(ids, 1)}


def lines(ways: Sequence[Way]) -> tuple[Line, ...]:
    """Return the ways of the first lines of the block as lines of a picture."""

    def points(way: Way) -> Iterator[tuple[int, int]]:
        for number, place in enumerate(way.places):
            if place is not None:
                yield number * COLUMN, (min(place, ROWS) - 1) * ROW

    shown = list[Line]()
    for number, way in enumerate(ways[:DRAWN]):
        found = [*points(way)]
        path = "M" + "L".join(f"{x} {y}" for x, y in found)
        shown.append(Line(path, number, found[-1][1]))
    return tuple(shown)
