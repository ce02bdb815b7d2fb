"""Cost of reading a slot per piece of evidence, with and without a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.bare import LOAD_EVIDENCE, Bare
from bench.figures import Cell, Report, Table, percentile
from bench.server import connected, fresh_server
from graphmem import Handle
from graphmem.model import GLOBAL_SCOPE, Cardinality, Policy
from graphmem.operations import belief
from graphmem.operations.evidence import writing
from graphmem.ports import run_now
from graphmem.rules import claims
from graphmem.rules.read_options import ReadOptions
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from bench.progress import Steps

TENANT = "bench"
SIZES = (100, 10_000, 100_000)
VALUES = (4, 500)
SOURCES = ("TOOL", "RULE", "EXTRACTOR")
EPISODE = 5
"""Pieces of evidence of one episode; every second piece has no episode."""
BATCH = 5_000
RUNS = 15
MAX_US = 15.0
"""Maximum microseconds per piece of evidence, beyond the fixed cost."""
MAX_RATIO = 3.0
"""Maximum ratio of reading 100,000 pieces with a checkpoint to 100 without one."""
START = datetime(2020, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of the benchmark."""

    pieces: int
    values: int

    @property
    def subject(self) -> str:
        """The subject's name."""
        return f"s{self.pieces} {self.values}"

    @property
    def place(self) -> writing.SlotKey:
        """The key of the slot."""
        slot_id = claims.slot_id(GLOBAL_SCOPE, self.subject, "p")
        return writing.SlotKey(slot_id, GLOBAL_SCOPE, self.subject, "p")


def measure(steps: Steps) -> Report:
    """Return the cost of reading slots of 100 to 100,000 pieces, from zero and from a checkpoint.

    Args:
        steps: Receives the progress.
    """
    with (
        fresh_server(steps.say) as settings,
        connected(settings, HashEmbedder(), steps.say) as (client, bare),
    ):
        memory = client.tenant(TENANT)
        # A slot has at least one piece of evidence for each value.
        slots = [Slot(max(pieces, values), values) for values in VALUES for pieces in SIZES]
        for slot in steps.over(slots, "load"):
            _load(memory, bare, slot)
        bare.await_indexes()
        zero = {
            (slot, kind): _read(memory, slot, kind, from_zero=True)
            for slot in steps.over(slots, "from zero")
            for kind in Cardinality
        }
        rows = [_slope(values, kind, zero) for values in VALUES for kind in Cardinality]
        rows_kept = []
        longest = [slot for slot in slots if slot.pieces == SIZES[-1]]
        for slot in steps.over(longest, "with a checkpoint"):
            short = Slot(max(SIZES[0], slot.values), slot.values)
            made_s = _keep(memory, slot)
            for kind in Cardinality:
                kept = _read(memory, slot, kind, from_zero=False)
                rows_kept.append(_ratio(slot, kind, kept, zero[short, kind], made_s))
        return Report(
            name="belief",
            tables=[
                Table("milliseconds of reading a slot from zero", rows),
                Table("milliseconds of reading a slot with a checkpoint", rows_kept),
            ],
            notes=[
                "current(limit=100) by the blocking client; medians of "
                f"{RUNS} reads. The cost of a piece is the slope between the shortest and the "
                "longest slot.",
                "A checkpoint excludes the newest 128 pieces; they are read every time.",
            ],
            setting={"neo4j": bare.server_version(), "runs": RUNS},
        )


def _load(memory: Handle, bare: Bare, slot: Slot) -> None:
    """Create a slot's values with the client and load the rest of its evidence directly."""
    objects = [f"value {n}" for n in range(slot.values)]
    memory.observe_many(
        {"subject": slot.subject, "predicate": "p", "object": name, "at": START} for name in objects
    )
    ids = [claims.triple_claim(GLOBAL_SCOPE, slot.subject, "p", name).id for name in objects]
    rows = list(_rows(slot, ids))
    for at in range(0, len(rows), BATCH):
        bare.write(
            LOAD_EVIDENCE,
            tenant=TENANT,
            scope=GLOBAL_SCOPE,
            slot_id=slot.place.slot_id,
            rows=rows[at : at + BATCH],
        )


def _rows(slot: Slot, ids: list[str]) -> Iterator[dict[str, Any]]:
    draw = np.random.default_rng(slot.pieces)
    for n in range(slot.pieces - slot.values):
        polarity = 1 if draw.random() < 0.85 else -1
        yield {
            "id": f"{slot.subject} {n}",
            "belief_id": ids[int(draw.integers(len(ids)))],
            "polarity": polarity,
            "confidence": float(draw.random()),
            "source_type": SOURCES[n % len(SOURCES)],
            "episode_id": f"{slot.subject} ep{n // EPISODE}" if n % 2 else None,
            "at": START + (n + 1) * MINUTE,
        }


def _keep(memory: Handle, slot: Slot) -> float:
    """Create a slot's checkpoint and return the seconds that it took."""
    started = time.perf_counter()
    run_now(writing.keep(memory._state.context, slot.place, longest_s=0.0))
    return time.perf_counter() - started


def _read(memory: Handle, slot: Slot, kind: Cardinality, *, from_zero: bool) -> float:
    """Return the median time of some reads in milliseconds."""
    by = ReadOptions(policy=Policy(cardinality=kind))
    to = memory._state.context
    took = []
    for _ in range(RUNS):
        started = time.perf_counter()
        run_now(belief.current(to, slot.subject, "p", by, limit=100, from_zero=from_zero))
        took.append(1000 * (time.perf_counter() - started))
    return percentile(took, 0.5)


def _slope(
    values: int, kind: Cardinality, zero: dict[tuple[Slot, Cardinality], float]
) -> dict[str, Cell]:
    by_size = {s.pieces: ms for (s, k), ms in zero.items() if s.values == values and k is kind}
    least, most = min(by_size), max(by_size)
    each_us = 1000 * (by_size[most] - by_size[least]) / (most - least)
    return {
        "read as": str(kind),
        "values": values,
        **{f"{n:,} pieces": by_size.get(n) for n in (100, 500, 10_000, 100_000)},
        "µs a piece": each_us,
        "wanted": f"<= {MAX_US:g}",
        "met": each_us <= MAX_US,
    }


def _ratio(
    slot: Slot, kind: Cardinality, kept: float, short: float, made_s: float
) -> dict[str, Cell]:
    return {
        "read as": str(kind),
        "values": slot.values,
        "pieces": slot.pieces,
        "with a checkpoint": kept,
        "shortest slot": short,
        "ratio": kept / short,
        "wanted": f"<= {MAX_RATIO:g}",
        "met": kept / short <= MAX_RATIO,
        "made in s": made_s,
    }
