"""Accuracy of ONE slots compared with simple rules: is the leader the value in force?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bench.figures import Cell, Table
from graphmem.rules.formulas import Evidence
from research.beliefs import streams
from research.beliefs.datasets import Slot
from research.beliefs.leaders import BY_TIME, ONE, RULES, Answer
from research.beliefs.metrics import interval, ratio, span
from research.beliefs.streams import EQUAL, MIXED, STRONG, WEAK
from tests.oracles.projection import one_closed

if TYPE_CHECKING:
    from bench.progress import Steps

SEED = 20_240_601
LATE, FALSE = 0.2, 0.1
FAINT = (0.2, 0.5)
"""Confidence of false evidence that is marked as doubtful."""
OFTEN, VERY_OFTEN = replace(MIXED, repeats=3.0), replace(MIXED, repeats=8.0)
LEAST_SLOTS = 10
"""Number of slots that a source needs for a row of its own."""
STABLE_PER_SOURCE = 100

Maker: TypeAlias = Callable[[Slot, np.random.Generator], list[Evidence]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of evidence stream, in order of arrival."""

    name: str
    make: Maker
    past: bool = True
    """Whether questions about past dates are asked too."""


def _late(slot: Slot, rng: np.random.Generator, *, came: bool) -> list[Evidence]:
    at_once, late = streams.split_late(streams.observations(slot, rng, OFTEN), LATE, rng)
    return at_once + late if came else at_once


def _false(
    slot: Slot,
    rng: np.random.Generator,
    style: streams.Style,
    confidence: tuple[float, float] | None = None,
) -> list[Evidence]:
    return streams.falsified(streams.observations(slot, rng, style), slot, FALSE, rng, confidence)


def _shuffled(slot: Slot, rng: np.random.Generator) -> list[Evidence]:
    return streams.shuffled(streams.observations(slot, rng, OFTEN), rng)


ONCE = "clean, once, mixed sources"
CLEAN = "clean, often"
SHUFFLED = "the same, shuffled"
FALSE_ONCE = "10 % false, once"
FALSE_OFTEN = "10 % false, often"
FALSE_FAINT = "10 % false and doubtful, often"
WEAK_TRUE = "strong old, weak new, true"
WEAK_FALSE = "strong old, weak new, false"
SCENARIOS = (
    Scenario("clean, once, equal sources", partial(streams.observations, style=EQUAL)),
    Scenario(ONCE, partial(streams.observations, style=MIXED)),
    Scenario(CLEAN, partial(streams.observations, style=OFTEN)),
    Scenario(SHUFFLED, _shuffled),
    Scenario("20 % late, still missing", partial(_late, came=False)),
    Scenario("20 % late, arrived", partial(_late, came=True)),
    Scenario(FALSE_ONCE, partial(_false, style=MIXED)),
    Scenario(FALSE_OFTEN, partial(_false, style=OFTEN)),
    Scenario("10 % false, very often", partial(_false, style=VERY_OFTEN)),
    Scenario(FALSE_FAINT, partial(_false, style=OFTEN, confidence=FAINT)),
    Scenario(WEAK_TRUE, partial(streams.with_last, before=STRONG, last=WEAK), past=False),
    Scenario(
        "strong old, weak new, true, ends stated",
        partial(streams.with_last, before=replace(STRONG, ends=True), last=WEAK),
        past=False,
    ),
    Scenario(
        "strong old, weak new, true, often",
        partial(streams.with_last, before=STRONG, last=replace(WEAK, repeats=3.0)),
        past=False,
    ),
    Scenario(WEAK_FALSE, partial(streams.with_rumour, before=STRONG, rumour=WEAK), past=False),
)
"""Scenarios of one style start from the same stream of a slot."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question for the value in force, and the available evidence in order of arrival."""

    slot: int
    now: bool
    valid: datetime
    truth: str
    seen: Sequence[Evidence]


def questions(slots: Sequence[Slot], scenario: Scenario) -> list[Question]:
    """Return the questions about all slots under a scenario; now is within the last period.

    Questions without any earlier evidence are left out.
    """
    asked = []
    for number, slot in enumerate(slots):
        evidence = scenario.make(slot, np.random.default_rng((SEED, number)))
        for place, period in enumerate(slot.periods):
            now = place == len(slot.periods) - 1
            valid = streams.asked_at(period)
            seen = [e for e in evidence if e.at <= valid]
            if seen and (now or scenario.past):
                asked.append(Question(number, now, valid, period.value, seen))
    return asked


def share(asked: Sequence[Question], answer: Answer) -> float:
    """Return the share of the questions that a rule answers correctly."""
    return sum(answer(a.seen, a.valid) == a.truth for a in asked) / len(asked)


def compared(title: str, parts: Iterable[tuple[Mapping[str, Cell], Sequence[Question]]]) -> Table:
    """Return one row per part with the accuracy of ONE and of every simple rule, in percent.

    Args:
        title: Title of the table.
        parts: Cells that name the row, and the questions of the row.
    """
    rows: list[dict[str, Cell]] = []
    for named, asked in parts:
        right: dict[str, list[bool]] = {
            name: [answer(a.seen, a.valid) == a.truth for a in asked]
            for name, answer in RULES.items()
        }
        by_slot: dict[int, list[bool]] = defaultdict(list)
        for a, hit in zip(asked, right[ONE], strict=True):
            by_slot[a.slot].append(hit)
        low, high = interval(
            [sum(hits) for hits in by_slot.values()], [len(h) for h in by_slot.values()], SEED
        )
        shares = {name: sum(hits) / len(asked) for name, hits in right.items()}
        best = max((name for name in RULES if name != ONE), key=lambda name: shares[name])
        rows.append(
            {
                **named,
                "questions": len(asked),
                ONE: round(100 * shares[ONE], 1),
                "95 %": span(low, high),
                **{name: round(100 * shares[name], 1) for name in RULES if name != ONE},
                f"ONE / {BY_TIME}": ratio(shares[ONE], shares[BY_TIME]),
                "ONE / best simple rule": ratio(shares[ONE], shares[best]),
                "best simple rule": best,
            }
        )
    return Table(title, rows)


def measure(slots: Sequence[Slot], steps: Steps) -> tuple[list[Table], dict[str, list[Question]]]:
    """Return the tables of all scenarios, and the questions about changing slots, by scenario.

    Args:
        slots: Slots with at least one period.
        steps: Receives the progress.
    """
    changing = [s for s in slots if len(s.periods) > 1]
    stable = [s for s in slots if len(s.periods) == 1]
    stable = [
        s
        for source in dict.fromkeys(s.source for s in stable)
        for s in [s for s in stable if s.source == source][:STABLE_PER_SOURCE]
    ]
    asked = {
        scenario.name: questions(changing, scenario)
        for scenario in steps.over(SCENARIOS, "streams of evidence")
    }
    now = {name: [a for a in part if a.now] for name, part in asked.items()}
    past = {name: [a for a in part if not a.now] for name, part in asked.items()}
    still = [(s.name, questions(stable, s)) for s in SCENARIOS if s.name in {CLEAN, FALSE_OFTEN}]
    tables = [
        _slots(slots),
        compared("ONE, now", (({"scenario": n}, now[n]) for n in steps.over(list(now), "now"))),
        compared(
            "ONE, past dates",
            (({"scenario": n}, past[n]) for n in steps.over([n for n in past if past[n]], "past")),
        ),
        compared("ONE, slots that never change", (({"scenario": n}, part) for n, part in still)),
        compared(
            "ONE by source, now",
            (
                ({"source": source, "scenario": name}, part)
                for source in dict.fromkeys(s.source for s in changing)
                for name in (CLEAN, FALSE_OFTEN)
                if len(part := [a for a in now[name] if changing[a.slot].source == source])
                >= LEAST_SLOTS
            ),
        ),
        _identical(asked[CLEAN], asked[SHUFFLED]),
    ]
    return tables, now


def _slots(slots: Sequence[Slot]) -> Table:
    return Table(
        "slots",
        [
            {
                "source": source,
                "slots": len(part),
                "that change": sum(len(s.periods) > 1 for s in part),
                "values in time": sum(len(s.periods) for s in part),
                "that return to an old value": sum(
                    len({p.value for p in s.periods}) < len(s.periods) for s in part
                ),
            }
            for source in dict.fromkeys(s.source for s in slots)
            if (part := [s for s in slots if s.source == source])
        ],
    )


def _identical(clean: Sequence[Question], other: Sequence[Question]) -> Table:
    """Return a table that counts the answers that the order of arrival changed."""
    differ = sum(
        one_closed(a.seen, a.valid, kappa=2.0, margin=0.05)
        != one_closed(b.seen, b.valid, kappa=2.0, margin=0.05)
        for a, b in zip(clean, other, strict=True)
    )
    return Table(
        "ONE, order of arrival",
        [{"questions": len(clean), "answers that differ": differ, "wanted": 0, "met": differ == 0}],
    )
