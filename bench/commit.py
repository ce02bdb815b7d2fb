"""How fast texts are committed, beside bare insertion with one bare search a row."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bench import synthetic
from bench.bare import Bare
from bench.figures import Cell, Report, Table, spread
from bench.server import connected, fresh_server
from graphmem.model import GLOBAL_SCOPE, Wish
from graphmem.rules import identity

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.client import GraphMem

BATCH = 500
TENANTS = 20
WARM_UP = 4
TARGET = 0.8


def measure(sizes: Sequence[int], steps: Steps) -> Report:
    """Return the speeds at these sizes, each on a server of its own.

    Both sides write to tenants of their own in one graph, batch by batch in turn, so that the
    indexes are as large for the one as for the other.

    Args:
        sizes: memories to commit on each side; the graph holds twice as many in the end.
        steps: told how far it is.
    """
    rows: list[dict[str, Cell]] = []
    version = ""
    for size in sizes:
        with fresh_server(steps.say) as settings:
            ours = synthetic.memories(size + WARM_UP * BATCH, seed=1)
            theirs = synthetic.memories(size + WARM_UP * BATCH, seed=2)
            embedder = synthetic.LookupEmbedder(ours)
            with connected(settings, embedder, steps.say) as (memory, bare):
                version = bare.server_version()
                rows.append(_one_size(size, memory, bare, (ours, theirs), steps))
    return Report(
        name="commit",
        tables=[Table("memories committed per second", rows)],
        notes=[
            f"remember_many, {BATCH} texts a transaction, embeddings ready, against UNWIND "
            "insertion of the same nodes, events and edges plus one filtered vector search "
            "(LIMIT 5) a row in one transaction. Batches of both sides in turn.",
            "Ratio: of the total times. Pairs: batch by batch, bare time over graphmem's time.",
        ],
        setting={"neo4j": version, "tenants": TENANTS, "dimensions": synthetic.DIMENSION},
    )


def _one_size(
    size: int,
    memory: GraphMem,
    bare: Bare,
    corpora: tuple[synthetic.Corpus, synthetic.Corpus],
    steps: Steps,
) -> dict[str, Cell]:
    ours, theirs = corpora
    batches = size // BATCH
    took: dict[str, list[float]] = {"graphmem": [], "bare": []}
    for number in steps.over(range(-WARM_UP, batches), f"commit {size:,}"):
        part = slice((number + WARM_UP) * BATCH, (number + WARM_UP + 1) * BATCH)
        sides = [
            ("graphmem", _remember(memory, f"ours-{number % TENANTS}", ours, part)),
            ("bare", _insert(bare, f"bare-{number % TENANTS}", theirs, part)),
        ]
        for name, work in sides if number % 2 else reversed(sides):
            started = time.perf_counter()
            work()
            if number >= 0:
                took[name].append(time.perf_counter() - started)
    speeds = {name: size / sum(times) for name, times in took.items()}
    pairs = [b / g for g, b in zip(took["graphmem"], took["bare"], strict=True)]
    ratio = speeds["graphmem"] / speeds["bare"]
    return {
        "memories": size,
        "graphmem /s": speeds["graphmem"],
        "bare /s": speeds["bare"],
        "ratio": ratio,
        **spread("pairs", pairs),
        "batch ms": 1000 * statistics.median(took["graphmem"]),
        "wanted": f">= {TARGET}",
        "met": ratio >= TARGET,
    }


def _remember(
    memory: GraphMem, tenant: str, corpus: synthetic.Corpus, part: slice
) -> Callable[[], object]:
    handle = memory.tenant(tenant)
    wishes = [Wish(content=text) for text in corpus.texts[part]]
    return lambda: handle.remember_many(wishes)


def _insert(
    bare: Bare, tenant: str, corpus: synthetic.Corpus, part: slice
) -> Callable[[], object]:
    rows = [
        _row(tenant, text, vector.tolist())
        for text, vector in zip(corpus.texts[part], corpus.vectors[part], strict=True)
    ]
    key = identity.tenant_key(tenant)
    return lambda: bare.insert(tenant, key, rows)


def _row(tenant: str, text: str, embedding: list[float]) -> dict[str, Any]:
    """What graphmem writes for a new text, ready to be sent."""
    now = datetime.now(UTC)
    hashed = identity.content_hash(text)
    memory_id = identity.memory_id(GLOBAL_SCOPE, text)
    payload = {
        "outcome": "INSERTED_NEW",
        "memory_id": memory_id,
        "thresholds": {"near": 0.92},
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
        "occurred_at": now,
        "source": "manual",
        "actor": None,
        "artifact_ref": None,
        "payload": json.dumps(payload),
        "embedding": embedding,
    }
