"""How long recall takes, beside the bare filtered vector search, and what the index misses."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from neo4j.vector import Vector

from bench import synthetic
from bench.bare import LOAD, SUPERSEDE, Bare
from bench.figures import Cell, Report, Table, percentile
from bench.server import connected, fresh_server
from graphmem.model import GLOBAL_SCOPE
from graphmem.rules import identity, tracerank

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.client import GraphMem

TENANTS = 20
EVENTS = 5
"""Of each memory: one ADD, the others said again."""
SUPERSEDED = 10
"""Every tenth memory is superseded by the one after it."""
POOL = 200
QUESTIONS = 400
WARM_UP = 100
BATCH = 500
TARGET = 2.0


@dataclass(frozen=True, slots=True)
class Tenants:
    """Who owns which memory of the corpus: number i belongs to tenant i modulo 20."""

    corpus: synthetic.Corpus

    def members(self, tenant: int) -> range:
        """Return the numbers of a tenant's memories."""
        return range(tenant, len(self.corpus.texts), TENANTS)

    def superseded(self, tenant: int) -> list[tuple[int, int]]:
        """Return pairs (newer, older) of a tenant's memories."""
        members = self.members(tenant)
        return [(members[i + 1], members[i]) for i in range(0, len(members) - 1, SUPERSEDED)]


def measure(sizes: Sequence[int], steps: Steps) -> Report:
    """Return latencies and the index's recall at these sizes, each on a server of its own.

    Args:
        sizes: memories in the graph, over 20 tenants.
        steps: told how far it is.
    """
    latencies: list[dict[str, Cell]] = []
    found: list[dict[str, Cell]] = []
    version = ""
    for size in sizes:
        corpus = synthetic.memories(size, seed=1)
        asked = synthetic.questions(corpus, QUESTIONS + WARM_UP, seed=3)
        embedder = synthetic.LookupEmbedder(corpus, asked)
        with (
            fresh_server(steps.say) as settings,
            connected(settings, embedder, steps.say) as (memory, bare),
        ):
            version = bare.server_version()
            tenants = Tenants(corpus)
            _load(bare, tenants, steps)
            latencies.append(_latency(size, memory, bare, asked, steps))
            found += _index_recall(size, bare, tenants, asked)
    return Report(
        name="recall",
        tables=[Table("milliseconds of one question", latencies), Table("index recall", found)],
        notes=[
            f"recall(limit=10), embedding ready, against the bare vector search with the tenant "
            f"filter and {POOL} results; both in turn, question by question.",
            "Index recall: share of the exact nearest current memories of the tenant among the "
            "first results.",
        ],
        setting={
            "neo4j": version,
            "tenants": TENANTS,
            "dimensions": synthetic.DIMENSION,
            "events a memory": EVENTS,
            "questions": QUESTIONS,
        },
    )


def _load(bare: Bare, tenants: Tenants, steps: Steps) -> None:
    """Put the memories, their events and the supersessions into the graph."""
    start = datetime.now(UTC) - timedelta(days=100)
    for tenant in steps.over(range(TENANTS), "load"):
        name = f"tenant-{tenant}"
        members = tenants.members(tenant)
        common = {
            "tenant": name,
            "tenant_key": identity.tenant_key(name),
            "scope": GLOBAL_SCOPE,
            "scope_key": identity.scope_key(name, GLOBAL_SCOPE),
        }
        for at in range(0, len(members), BATCH):
            rows = [_row(tenants.corpus, i, start) for i in members[at : at + BATCH]]
            bare.write(LOAD, **common, rows=rows)
        pairs = [
            {
                "newer": _memory_id(tenants.corpus, newer),
                "older": _memory_id(tenants.corpus, older),
                "id": f"s-{newer}",
                "at": start + timedelta(days=50),
            }
            for newer, older in tenants.superseded(tenant)
        ]
        bare.write(SUPERSEDE, tenant=name, scope=GLOBAL_SCOPE, rows=pairs)
    bare.await_indexes()


def _row(corpus: synthetic.Corpus, i: int, start: datetime) -> dict[str, Any]:
    text = corpus.texts[i]
    times = [start + timedelta(days=n) for n in range(EVENTS)]
    told = tracerank.continued(tracerank.State(), times)
    return {
        "id": _memory_id(corpus, i),
        "content": text,
        "content_hash": identity.content_hash(text),
        "created_at": start,
        "embedding": corpus.vectors[i].tolist(),
        "events": [
            {
                "id": f"e-{i}-{n}",
                "type": "REINFORCE_EXACT" if n else "ADD",
                "at": at,
            }
            for n, at in enumerate(times)
        ],
        "trace": told.trace,
        "trace_at": told.at,
        "trace_full_at": told.full_at,
        "trace_burst": told.burst,
    }


def _memory_id(corpus: synthetic.Corpus, i: int) -> str:
    return identity.memory_id(GLOBAL_SCOPE, corpus.texts[i])


def _latency(
    size: int, memory: GraphMem, bare: Bare, asked: synthetic.Corpus, steps: Steps
) -> dict[str, Cell]:
    handles = [memory.tenant(f"tenant-{tenant}") for tenant in range(TENANTS)]
    took: dict[str, list[float]] = {"graphmem": [], "bare": []}
    for number in steps.over(range(len(asked.texts)), f"recall {size:,}"):
        tenant = number % TENANTS
        embedding = Vector.from_numpy(asked.vectors[number])
        sides: list[tuple[str, Callable[[], object]]] = [
            ("graphmem", partial(handles[tenant].recall, asked.texts[number], limit=10)),
            ("bare", partial(bare.nearest, f"tenant-{tenant}", embedding, POOL)),
        ]
        if number % 2:
            sides.reverse()
        for name, work in sides:
            started = time.perf_counter()
            work()
            if number >= WARM_UP:
                took[name].append(1000 * (time.perf_counter() - started))
    p50 = {name: percentile(times, 0.5) for name, times in took.items()}
    p95 = {name: percentile(times, 0.95) for name, times in took.items()}
    ratio = p50["graphmem"] / p50["bare"]
    return {
        "memories": size,
        "graphmem p50": p50["graphmem"],
        "bare p50": p50["bare"],
        "ratio p50": ratio,
        "graphmem p95": p95["graphmem"],
        "bare p95": p95["bare"],
        "ratio p95": p95["graphmem"] / p95["bare"],
        "wanted": f"p50 <= {TARGET:g}",
        "met": ratio <= TARGET,
    }


def _index_recall(
    size: int, bare: Bare, tenants: Tenants, asked: synthetic.Corpus
) -> list[dict[str, Cell]]:
    """Share of the exact nearest that the index finds, with the filters that recall uses."""
    found: dict[int, list[float]] = {10: [], POOL: []}
    for number in range(100):
        tenant = number % TENANTS
        hidden = {older for _, older in tenants.superseded(tenant)}
        members = [i for i in tenants.members(tenant) if i not in hidden]
        order = np.argsort(-(tenants.corpus.vectors[members] @ asked.vectors[number]))
        exact = [_memory_id(tenants.corpus, members[i]) for i in order[:POOL]]
        for limit, shares in found.items():
            got = bare.nearest_current(
                f"tenant-{tenant}", Vector.from_numpy(asked.vectors[number]), limit
            )
            shares.append(len({*exact[:limit]} & {*got}) / min(limit, len(exact)))
    return [
        {
            "memories": size,
            "results": limit,
            "recall mean": float(np.mean(shares)),
            "recall min": min(shares),
        }
        for limit, shares in found.items()
    ]
