"""Whether response times reveal that another tenant has the requested data."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.figures import Cell, Report, Table
from bench.server import connected, fresh_server
from graphmem import Handle
from graphmem.errors import NotFoundError
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from bench.progress import Steps

SIZE = 400
"""Memories and beliefs of the other tenant, each with three events."""
PAIRS = 1_000
"""Pairs of one foreign and one unknown id, for each method."""
RESAMPLES = 2_000
MOST = 0.05
"""Maximum deviation of the ratio from 1 at which thousands of questions reveal nothing."""
SEED = 20_261_122

Ask = Callable[[Handle, str], Any]
OF_MEMORY: dict[str, Ask] = {
    "get": lambda memory, known: memory.memories.get(known),
    "history": lambda memory, known: memory.memories.history(known),
    "chain": lambda memory, known: memory.memories.chain(known),
    "expand": lambda memory, known: memory.expand(known),
    "deprecate": lambda memory, known: memory.memories.deprecate(known),
}
OF_BELIEF: dict[str, Ask] = {
    "belief": lambda memory, known: memory.beliefs.get(known),
    "why": lambda memory, known: memory.why(known),
    "evidence": lambda memory, known: memory.add_evidence(known, "supporting", 0.7),
    "revise": lambda memory, known: memory.beliefs.revise(known, "Something else altogether"),
}


def measure(steps: Steps, *, pairs: int = PAIRS) -> Report:
    """Return, for each method, the response time for a foreign id relative to an unknown id."""
    with (
        fresh_server(steps.say) as settings,
        connected(settings, HashEmbedder(), steps.say) as (memory, _),
    ):
        steps.say("filling the other tenant")
        memories, beliefs = _filled(memory.tenant("owner"))
        outside = memory.tenant("outsider")
        outside.remember("The outsider keeps something too.")
        draw = np.random.default_rng(SEED)
        asks = [(name, ask, memories) for name, ask in OF_MEMORY.items()]
        asks += [(name, ask, beliefs) for name, ask in OF_BELIEF.items()]
        rows = [
            _row(name, _timed(outside, ask, ids, draw, pairs), draw)
            for name, ask, ids in steps.over(asks, "methods")
        ]
    return Report(
        name="isolation",
        tables=[
            Table("time of an answer about another tenant's id, over one about an unknown id", rows)
        ],
        notes=[
            "The control compares two sets of unknown ids: the effect of chance.",
            "Intervals: 95 %, of the ratio of medians, resampled.",
        ],
        setting={"memories": SIZE, "beliefs": SIZE, "pairs": pairs},
    )


def _filled(owner: Handle) -> tuple[list[str], list[str]]:
    texts = [f"Fact number {n} is about topic {n * 7919 % 1009}." for n in range(SIZE)]
    facts = [{"subject": f"s{n}", "predicate": "is", "object": f"o{n}"} for n in range(SIZE)]
    kept = [owner.remember_many(texts) for _ in range(3)]
    seen = [owner.observe_many(facts) for _ in range(3)]
    return [str(outcome.memory_id) for outcome in kept[-1]], [
        outcome.belief_id for outcome in seen[-1]
    ]


def _timed(
    outside: Handle, ask: Ask, ids: Sequence[str], draw: np.random.Generator, pairs: int
) -> dict[str, np.ndarray]:
    """Return the seconds of answers, float64[pairs] each, asked in random order."""
    took: dict[str, list[float]] = {"foreign": [], "unknown": [], "control": []}
    for turn in range(-20, pairs):  # the first ones warm up the query plans
        known = ids[turn % len(ids)]
        asked = {"foreign": known, "unknown": _unknown(known, draw), "control": ""}
        asked["control"] = _unknown(known, draw)
        for kind in draw.permutation(list(asked)):
            began = time.perf_counter()
            with suppress(NotFoundError):
                ask(outside, asked[kind])
            if turn >= 0:
                took[kind].append(time.perf_counter() - began)
    return {kind: np.asarray(times) for kind, times in took.items()}


def _unknown(known: str, draw: np.random.Generator) -> str:
    head, mark, digits = known.rpartition("_")
    return head + mark + "".join(draw.choice(list("0123456789abcdef"), len(digits)))


def _row(name: str, took: dict[str, np.ndarray], draw: np.random.Generator) -> dict[str, Cell]:
    ratio, low, high = _ratio(took["foreign"], took["unknown"], draw)
    control, control_low, control_high = _ratio(took["control"], took["unknown"], draw)
    return {
        "method": name,
        "ms": float(np.median(took["unknown"])) * 1_000,
        "ratio": ratio,
        "low": low,
        "high": high,
        "control": control,
        "control low": control_low,
        "control high": control_high,
        "wanted": f"1 ± {MOST:g}",
        "met": abs(ratio - 1) <= MOST or low <= 1 <= high,
    }


def _ratio(
    over: np.ndarray, under: np.ndarray, draw: np.random.Generator
) -> tuple[float, float, float]:
    """Return the ratio of the medians and the ends of its interval."""
    picks = draw.integers(0, len(over), (2, RESAMPLES, len(over)))
    ratios = np.median(over[picks[0]], axis=1) / np.median(under[picks[1]], axis=1)
    low, high = np.quantile(ratios, (0.025, 0.975))
    return float(np.median(over) / np.median(under)), float(low), float(high)
