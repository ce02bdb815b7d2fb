"""A graph of synthetic memories: their contents, loading them, and keeping loaded graphs."""

from __future__ import annotations

import heapq
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from neo4j.vector import Vector

from bench import synthetic
from bench.bare import LOAD, SUPERSEDE, Bare
from bench.server import connected, running, settings_in, wind_down
from graphmem import GraphMem
from graphmem.errors import ConfigurationError
from graphmem.model import GLOBAL_SCOPE
from graphmem.rules import identity, late_interaction, rejections
from tests.oracles import tracerank

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.ports import Embedder
    from graphmem.settings import Settings

TENANTS = 20
EVENTS = 5
"""Events of each memory, a day apart: one ADD, the others repeats."""
SUPERSEDED = 10
"""Every tenth memory of a tenant is superseded by the one after it."""
WRITERS = 2
LARGE = 200_000
"""Number of memories above which the server's default memory is too small."""
MEMORY_OF_LARGE = {"heap": "3g", "page_cache": "6g", "start_timeout_s": 600.0}
NOTE = "loaded.json"


@dataclass(frozen=True, slots=True)
class Store:
    """A number of memories over 20 tenants; number i belongs to tenant i modulo 20."""

    size: int
    seed: int = 1
    tokens: bool = False
    """Whether the memories have token states."""

    @property
    def memories(self) -> synthetic.Memories:
        """The texts and vectors."""
        return synthetic.Memories(self.size, self.seed)

    def is_superseded(self, number: int) -> bool:
        """Return whether a later memory of the tenant supersedes this one."""
        return number // TENANTS % SUPERSEDED == 0 and number + TENANTS < self.size

    def targets(self, count: int, *, seed: int) -> list[int]:
        """Return current memories to ask about; the i-th belongs to tenant i modulo 20."""
        rng = np.random.default_rng(seed)
        numbers = []
        for i in range(count):
            own = range(i % TENANTS, self.size, TENANTS)
            number = own[int(rng.integers(len(own)))]
            numbers.append(number + TENANTS if self.is_superseded(number) else number)
        return numbers

    def nearest(self, asked: synthetic.Corpus, limit: int, steps: Steps) -> list[list[str]]:
        """Return the ids of the nearest current memories by exact search, best first.

        Args:
            asked: Questions; the i-th is asked by tenant i modulo 20.
            limit: Maximum number of results of each question.
            steps: Receives the progress.
        """
        best: list[list[tuple[float, str]]] = [[] for _ in asked.texts]
        memories = self.memories
        for number in steps.over(range(memories.blocks), f"exact search {self.size:,}"):
            block = memories.block(number)
            first = number * synthetic.BLOCK
            for tenant in range(TENANTS):
                own = range(tenant, len(block.texts), TENANTS)
                kept = [place for place in own if not self.is_superseded(first + place)]
                near = asked.vectors[tenant::TENANTS] @ block.vectors[kept].T
                for i, similarities in zip(range(tenant, len(best), TENANTS), near, strict=True):
                    order = np.argsort(-similarities)[:limit]
                    candidates = [(float(similarities[j]), block.texts[kept[j]]) for j in order]
                    best[i] = heapq.nlargest(limit, [*best[i], *candidates])
        return [[identity.memory_id(GLOBAL_SCOPE, text) for _, text in nearest] for nearest in best]


@contextmanager
def loaded(
    store: Store, keep: Path | None, embedder: Embedder, steps: Steps
) -> Iterator[tuple[Settings, GraphMem, Bare]]:
    """Yield a server that contains these memories, and graphmem and a bare driver on it.

    Args:
        store: The memories to load unless they are already loaded.
        keep: Folder of kept graphs, with a subfolder for each size; None deletes the graph
            afterwards.
        embedder: Embedder of the graphmem client.
        steps: Receives the progress.

    Raises:
        ConfigurationError: The kept graph is a different one, or was not loaded to the end.
    """
    with ExitStack() as stack:
        if keep is None:
            temporary = tempfile.TemporaryDirectory(prefix="graphmem-bench-")
            home = Path(stack.enter_context(temporary))
        else:
            home = keep / str(store.size)
        settings = settings_in(home)
        if store.size > LARGE:
            settings = settings.model_copy(update=MEMORY_OF_LARGE)
        if load_seconds(store, home) is None:
            if keep is not None and home.exists():
                raise ConfigurationError(
                    f"{home} contains a graph that was not loaded to the end, or a different one.",
                    hint="Delete that folder.",
                )
            started = time.perf_counter()
            with running(settings, steps.say):
                with connected(settings, embedder, steps.say) as (_, bare):
                    _load(store, bare, steps)
                # After a restart, no index merge is running that could distort the measurement.
                steps.say("writing everything to disk")
                wind_down(settings)
            note = {"store": _contents(store), "seconds": time.perf_counter() - started}
            (home / NOTE).write_text(json.dumps(note) + "\n", encoding="utf-8")
        _read_all(home)
        stack.enter_context(running(settings, steps.say))
        # Questions must not change a kept graph; another benchmark measures the access log.
        silent = settings.model_copy(update={"access_log": False})
        yield settings, *stack.enter_context(connected(silent, embedder, steps.say))


def load_seconds(store: Store, home: Path) -> float | None:
    """Return the loading time in seconds; None if the folder contains another graph."""
    try:
        note = json.loads((home / NOTE).read_text(encoding="utf-8"))
    except OSError:
        return None
    return float(note["seconds"]) if note["store"] == _contents(store) else None


def _read_all(home: Path) -> None:
    """Read every file once, so that the page cache is warm as after a day of questions."""
    for path in home.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                while file.read(1 << 20):
                    pass


def _load(store: Store, bare: Bare, steps: Steps) -> None:
    """Load the memories, their events and the supersessions into the graph."""
    memories = store.memories
    with ThreadPoolExecutor(WRITERS) as pool:
        for number in steps.over(range(memories.blocks), f"load {store.size:,}"):
            write = partial(_write, bare, store, memories.block(number), number)
            list(pool.map(write, range(TENANTS)))
    steps.say("waiting for the indexes")
    bare.await_indexes()


def _contents(store: Store) -> dict[str, int]:
    return {
        **asdict(store),
        "tenants": TENANTS,
        "dimensions": synthetic.DIMENSION,
        "events a memory": EVENTS,
        "superseded, one in": SUPERSEDED,
    }


def write_memories(
    bare: Bare, tenant: str, times: Sequence[datetime], rows: Sequence[dict[str, Any]]
) -> None:
    """Write memories that were each remembered at these times."""
    bare.write(
        LOAD,
        tenant=tenant,
        tenant_key=identity.tenant_key(tenant),
        scope=GLOBAL_SCOPE,
        scope_key=identity.scope_key(tenant, GLOBAL_SCOPE),
        facet_keys=identity.facet_keys(tenant, (), ["manual"]),
        times=times,
        trace=asdict(tracerank.continued(tracerank.State(), times)),
        rows=rows,
    )


def _write(bare: Bare, store: Store, block: synthetic.Corpus, number: int, tenant: int) -> None:
    """Write one tenant's part of a block: 500 memories, then their supersessions."""
    name = f"tenant-{tenant}"
    first = number * synthetic.BLOCK
    start = datetime.now(UTC) - timedelta(days=100)
    times = [start + timedelta(days=n) for n in range(EVENTS)]
    places = range(tenant, len(block.texts), TENANTS)
    rows = {
        first + place: memory_row(name, block, first, place, tokens=store.tokens)
        for place in places
    }
    write_memories(bare, name, times, [*rows.values()])
    pairs = [
        {
            **ends,
            "payload": json.dumps({f"{side}_id": one for side, one in ends.items()}),
            "id": f"s-{older}",
            "at": start + timedelta(days=50),
        }
        for older in rows
        if store.is_superseded(older)
        for ends in [{"newer": rows[older + TENANTS]["id"], "older": rows[older]["id"]}]
    ]
    bare.write(SUPERSEDE, tenant=name, scope=GLOBAL_SCOPE, rows=pairs)


def memory_row(
    tenant: str, block: synthetic.Corpus, first: int, place: int, *, tokens: bool
) -> dict[str, Any]:
    """Return the memory of a block's text as `LOAD` takes it; the block begins with `first`."""
    text = block.texts[place]
    return {
        "id": identity.memory_id(GLOBAL_SCOPE, text),
        "number": str(first + place),
        "content": text,
        "content_hash": identity.content_hash(text),
        "value_key": rejections.text_key(tenant, text),
        "embedding": Vector.from_numpy(block.vectors[place]),
        "token_states": late_interaction.pack(synthetic.tokens_of(text)) if tokens else None,
    }
