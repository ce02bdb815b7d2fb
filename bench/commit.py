"""Speed of committing texts, compared with bare insertion and one bare search per row."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from neo4j.vector import Vector

from bench import synthetic
from bench.bare import Bare
from bench.figures import Cell, Report, Table, spread
from bench.server import connected, fresh_server
from graphmem import GraphMem
from graphmem.model import GLOBAL_SCOPE, NewMemory
from graphmem.rules import identity, rejections, trust

if TYPE_CHECKING:
    from bench.progress import Steps

BATCH = 500
TENANTS = 20
WARM_UP = 4
TARGET = 0.8


def measure(sizes: Sequence[int], steps: Steps) -> Report:
    """Return the speeds at these sizes, each on a server of its own.

    All sides write to separate tenants of one graph, batch by batch in turn, so that the indexes
    are equally large for all of them.

    Args:
        sizes: Numbers of memories to commit on each side; the graph finally contains three times as
            many.
        steps: Receives the progress.
    """
    rows: list[dict[str, Cell]] = []
    version = ""
    for size in sizes:
        with fresh_server(steps.say) as settings:
            count = size + WARM_UP * BATCH
            corpora = tuple(synthetic.memories(count, seed=seed) for seed in (1, 2, 3))
            embedder = synthetic.LookupEmbedder(corpora[0])
            with connected(settings, embedder, steps.say) as (memory, bare):
                version = bare.server_version()
                rows.append(_one_size(size, memory, bare, corpora, steps))
    return Report(
        name="commit",
        tables=[Table("memories committed per second", rows)],
        notes=[
            f"remember_many, {BATCH} texts a transaction, embeddings ready, against UNWIND "
            "insertion of the same nodes, events and edges plus one filtered vector search "
            "(LIMIT 5) per row in one transaction, with its rows prepared. Batches in turn.",
            "The bare side sends vectors as the driver's Vector, as graphmem does, which is the "
            "fastest; `lists` sends them as lists of floats. Ratio: of the total times; batches: "
            "the same, batch by batch.",
        ],
        setting={"neo4j": version, "tenants": TENANTS, "dimensions": synthetic.DIMENSION},
    )


def _one_size(
    size: int,
    memory: GraphMem,
    bare: Bare,
    corpora: tuple[synthetic.Corpus, ...],
    steps: Steps,
) -> dict[str, Cell]:
    batches = size // BATCH
    took: dict[str, list[float]] = {"graphmem": [], "lists": [], "vectors": []}
    for number in steps.over(range(-WARM_UP, batches), f"commit {size:,}"):
        part = slice((number + WARM_UP) * BATCH, (number + WARM_UP + 1) * BATCH)
        tenant = number % TENANTS
        ours, lists, vectors = (
            synthetic.Corpus(one.texts[part], one.vectors[part]) for one in corpora
        )
        sides = [
            ("graphmem", _remember(memory, f"graphmem-{tenant}", ours)),
            ("lists", insertion(bare, f"lists-{tenant}", lists, np.ndarray.tolist)),
            ("vectors", insertion(bare, f"vectors-{tenant}", vectors)),
        ]
        first = number % len(sides)
        for name, work in sides[first:] + sides[:first]:
            started = time.perf_counter()
            work()
            if number >= 0:
                took[name].append(time.perf_counter() - started)
    speeds = {name: size / sum(times) for name, times in took.items()}
    pairs = [b / g for g, b in zip(took["graphmem"], took["vectors"], strict=True)]
    return {
        "memories": size,
        "graphmem /s": speeds["graphmem"],
        "bare /s": speeds["vectors"],
        "ratio": speeds["graphmem"] / speeds["vectors"],
        **spread("batches", pairs),
        "bare, lists /s": speeds["lists"],
        "ratio to lists": speeds["graphmem"] / speeds["lists"],
        "wanted": f">= {TARGET}",
        "met": speeds["graphmem"] >= TARGET * speeds["vectors"],
    }


def _remember(memory: GraphMem, tenant: str, corpus: synthetic.Corpus) -> Callable[[], object]:
    handle = memory.tenant(tenant)
    memories = [NewMemory(content=text) for text in corpus.texts]
    return lambda: handle.remember_many(memories)


def insertion(
    bare: Bare,
    tenant: str,
    corpus: synthetic.Corpus,
    sent: Callable[[Any], object] = Vector.from_numpy,
    *,
    search: bool = True,
) -> Callable[[], object]:
    """Return the insertion of all texts, with prepared rows; first a search for each.

    Args:
        sent: converts a vector for the driver.
    """
    rows = [
        written(tenant, text, sent(vector))
        for text, vector in zip(corpus.texts, corpus.vectors, strict=True)
    ]
    key = identity.tenant_key(tenant)
    return lambda: bare.insert(tenant, key, rows, search=search)


def written(tenant: str, text: str, embedding: object) -> dict[str, Any]:
    """Return the row that graphmem writes for a new text, ready to be sent."""
    now = datetime.now(UTC)
    hashed = identity.content_hash(text)
    memory_id = identity.memory_id(GLOBAL_SCOPE, text)
    payload = {
        "outcome": "INSERTED_NEW",
        "memory_id": memory_id,
        "thresholds": {"near": 0.5, "update": 0.3},
    }
    return {
        "id": memory_id,
        "event_id": identity.event_id(now),
        "scope": GLOBAL_SCOPE,
        "scope_key": identity.scope_key(tenant, GLOBAL_SCOPE),
        "content": text,
        "content_hash": hashed,
        "request_hash": identity.digest(GLOBAL_SCOPE, hashed),
        "tags": [],
        "facet_keys": identity.facet_keys(tenant, (), ["manual"]),
        "value_key": rejections.text_key(tenant, text),
        "trust": trust.rank("person"),
        "occurred_at": now,
        "source": "manual",
        "actor": None,
        "artifact_ref": None,
        "payload": json.dumps(payload),
        "embedding": embedding,
    }
