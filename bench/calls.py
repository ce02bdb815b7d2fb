"""Time of every daily call with the default embedder and new texts, against bare primitives.

A new text is encoded, so a call cannot be faster than the model. The primitives run between the
calls of the same round: encoding a new text, a bare transaction that writes one node, one that
reads a node by its id, and a vector search that is filtered by the tenant. Two more are what a call
cannot do without: the eight searches of a recall, and writing one node that has a vector and words.
"""

from __future__ import annotations

import cProfile
import itertools
import pstats
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, LiteralString

import numpy as np
from neo4j.vector import Vector

from bench.figures import Cell, Report, Table, percentile
from bench.recall import POOL
from bench.server import connected, fresh_server
from graphmem.model import NewMemory, Status, TenantScope
from graphmem.models import open_embedder
from graphmem.operations.recall import WIDER
from graphmem.ports import Role, run_now
from graphmem.rules import fulltext

if TYPE_CHECKING:
    from bench.bare import Bare
    from bench.progress import Steps
    from graphmem import Handle
    from graphmem.ports import Embedder

TENANT = "calls"
ROUNDS, WARM_UP, PROFILED = 60, 200, 30
"""Rounds; the server compiles what it runs often: after 150 recalls one takes it 32 ms of processor
time, after 500 only 20."""
LIMIT = 10
BATCH = 500

PEOPLE = ("Ana", "Ben", "Chloe", "Dario", "Edda", "Farid", "Greta", "Hugo", "Ines", "Jonas")
VERBS = ("keeps", "restores", "borrowed", "sold", "photographs", "repairs", "designed", "collects")
THINGS = ("maps", "kites", "violins", "lanterns", "bicycles", "kettles", "stamps", "looms", "boats")
PLACES = ("Porto", "Oslo", "Turin", "Bergen", "Cadiz", "Lyon", "Riga", "Graz", "Cork", "Gdansk")

WRITE: LiteralString = """CYPHER 25
CREATE (n:Bench {
  tenant: $tenant, id: $id, scope: 'global', type: 'ADD', occurred_at: datetime(),
  recorded_at: datetime(), source: 'manual', payload: '{}', request_hash: $id
})
"""
READ: LiteralString = """CYPHER 25
MATCH (m:Memory {tenant: $tenant, id: $id}) RETURN m.id AS id, m.status AS status
"""
# The index entries of a new memory, in another tenant, so that no call finds it.
WRITE_INDEXED: LiteralString = """CYPHER 25
CREATE (m:Memory {
  tenant: 'bench', id: $id, scope: 'global', scope_key: $id, status: 'current', content: $content,
  recorded_at: datetime(), created_at: datetime()
})
WITH m
CALL db.create.setNodeVectorProperty(m, 'embedding', $embedding)
"""
SEARCH_ALL: LiteralString = """CYPHER 25
CALL () {
  UNWIND $words AS one
  CALL db.index.fulltext.queryNodes(one.index, one.query, {limit: $wide}) YIELD node, score
  RETURN node, score
UNION ALL
  MATCH (node:Memory)
  SEARCH node IN (
    VECTOR INDEX memory_embedding_vector FOR $embedding
    WHERE node.tenant = $tenant AND node.scope IN ['global'] AND node.status IN ['current']
    LIMIT $pool
  ) SCORE AS score
  RETURN node, score
UNION ALL
  MATCH (node:Belief)
  SEARCH node IN (
    VECTOR INDEX belief_embedding_vector FOR $embedding
    WHERE node.tenant = $tenant AND node.scope IN ['global'] AND node.status IN ['current']
    LIMIT $pool
  ) SCORE AS score
  RETURN node, score
UNION ALL
  MATCH (node:Turn)
  SEARCH node IN (
    VECTOR INDEX turn_embedding_vector FOR $embedding
    WHERE node.tenant = $tenant AND node.scope IN ['global']
    LIMIT $pool
  ) SCORE AS score
  RETURN node, score
UNION ALL
  MATCH (node:Episode)
  SEARCH node IN (
    VECTOR INDEX episode_embedding_vector FOR $embedding
    WHERE node.tenant = $tenant AND node.scope IN ['global']
    LIMIT $pool
  ) SCORE AS score
  RETURN node, score
}
RETURN count(DISTINCT node) AS found, sum(score) AS score
"""
WORD_INDEXES = {
    "memory": "memory_content_fulltext",
    "belief": "belief_statement_fulltext",
    "turn": "turn_text_fulltext",
    "episode": "episode_summary_fulltext",
}
"""Full-text indexes by kind."""

ENCODE, WRITES, READS, SEARCHES = "encode", "write", "read", "search"
INDEXED, ALL_SEARCHES = "write with vector and words", "searches of a recall"
BOUNDS: Mapping[str, tuple[str, Callable[[Mapping[str, float]], float]]] = {
    "recall": (
        "2.2 × (encode + search)",
        lambda bare: 2.2 * (bare[ENCODE] + bare[SEARCHES]),
    ),
    **dict.fromkeys(
        ("observe", "remember", "add_messages"),
        ("encode + 3 × write", lambda bare: bare[ENCODE] + 3 * bare[WRITES]),
    ),
    "current": ("4 × read", lambda bare: 4 * bare[READS]),
}
"""Greatest p50 of a call, as text and as a function of the primitives' p50."""


class Texts:
    """New sentences of about ten words, each once."""

    def __init__(self, seed: int) -> None:
        self._rng, self._numbers = Random(seed), itertools.count(seed * 1_000_000)  # noqa: S311

    def __call__(self) -> str:
        """Return a new sentence."""
        pick = self._rng.choice
        return (
            f"{pick(PEOPLE)} {pick(VERBS)} {pick(THINGS)} from {pick(PLACES)} with {pick(PEOPLE)}, "
            f"number {next(self._numbers)}."
        )


def measure(sizes: Sequence[int], steps: Steps) -> Report:
    """Return the times of the calls at these numbers of memories, each on an empty server."""
    calls, primitives, profiles = list[dict[str, Cell]](), list[dict[str, Cell]](), []
    version = ""
    for size in sizes:
        with (
            fresh_server(steps.say) as settings,
            connected(settings, None, steps.say) as (client, bare),
        ):
            version = bare.server_version()
            handle = client.tenant(TENANT)
            made = _fill(handle, size, steps)
            bare.await_indexes()
            embedder = open_embedder(settings, awaited=False)
            work = _calls(handle, made)
            took, own = _timed(work, _primitives(bare, embedder, made), steps)
            primitives += [_primitive(size, name, times) for name, times in own.items()]
            medians = {name: statistics.median(times) for name, times in own.items()}
            calls += [_call(size, name, times, medians) for name, times in took.items()]
            profiles += [_profile(size, name, one, steps) for name, one in work.items()]
    return Report(
        name="calls",
        tables=[
            Table("primitives, ms", primitives),
            Table("calls, ms", calls),
            Table("where a call's time goes, % (by cProfile, which slows Python down)", profiles),
        ],
        notes=[
            "Texts are new to the process: nothing comes from a cache of embeddings. p50 of "
            f"{ROUNDS} rounds, each of every call and every primitive once, after {WARM_UP}. "
            "parts: the call's p50 divided by that of encode plus one bare write (of a read: plus "
            "one bare read).",
        ],
        setting={"neo4j": version, "embedder": "local", "limit": LIMIT},
    )


def _fill(handle: Handle, size: int, steps: Steps) -> list[str]:
    """Write memories, and facts of the people; return the ids of the memories."""
    texts, ids = Texts(1), list[str]()
    for start in steps.over(range(0, size, BATCH), f"load {size:,}"):
        part = [NewMemory(content=texts()) for _ in range(min(BATCH, size - start))]
        ids += [one.memory_id for one in handle.remember_many(part) if one.memory_id]
    for person, place in zip(PEOPLE, PLACES, strict=True):
        handle.observe(person, "lives_in", place)
    return ids


def _calls(handle: Handle, ids: Sequence[str]) -> dict[str, Callable[[], object]]:
    texts, people = Texts(2), itertools.cycle(PEOPLE)
    belief = handle.believe("Ana will move the workshop to Turin.").belief_id
    chat = handle.session("chat")
    numbers = itertools.count()
    return {
        "recall": lambda: handle.recall(texts(), limit=LIMIT),
        "context": lambda: handle.context(texts()),
        "remember": lambda: handle.remember(texts()),
        "observe": lambda: handle.observe(next(people), "likes", f"thing {next(numbers)}"),
        "add_messages": lambda: chat.add_messages([{"role": "user", "content": texts()}]),
        "add_evidence": lambda: handle.add_evidence(belief, "supporting", 0.7),
        "current": lambda: handle.current(next(people), "lives_in"),
        "why": lambda: handle.why(belief),
        "expand": lambda: handle.expand(ids[next(numbers) % len(ids)]),
    }


def _primitives(
    bare: Bare, embedder: Embedder, ids: Sequence[str]
) -> dict[str, Callable[[], object]]:
    texts, numbers = Texts(3), itertools.count()
    [asked] = run_now(embedder.embed(["Who repairs violins?"], Role.QUERY))
    vector, vectors = Vector.from_numpy(asked), np.random.default_rng(3)
    of = TenantScope(tenant=TENANT)
    searched = {"tenant": TENANT, "embedding": vector, "pool": POOL, "wide": WIDER * POOL}

    def words() -> list[dict[str, str]]:
        queries = fulltext.recall_queries(texts(), of, [Status.CURRENT], ())
        return [{"index": WORD_INDEXES[kind], "query": query} for kind, query in queries.items()]

    return {
        ENCODE: lambda: run_now(embedder.embed([texts()], Role.QUERY)),
        WRITES: lambda: bare.write(WRITE, tenant=TENANT, id=f"bench {next(numbers)}"),
        READS: lambda: bare.rows(READ, tenant=TENANT, id=ids[next(numbers) % len(ids)]),
        SEARCHES: lambda: bare.nearest(TENANT, vector, LIMIT),
        INDEXED: lambda: bare.write(
            WRITE_INDEXED,
            id=f"bench {next(numbers)}",
            content=texts(),
            embedding=vectors.standard_normal(len(asked)).tolist(),
        ),
        ALL_SEARCHES: lambda: bare.rows(SEARCH_ALL, words=words(), **searched),
    }


Work = Mapping[str, Callable[[], object]]


def _timed(
    calls: Work, primitives: Work, steps: Steps
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    took: dict[str, list[float]] = {name: [] for name in (*calls, *primitives)}
    order = [*calls.items(), *primitives.items()]
    for number in steps.over(range(-WARM_UP, ROUNDS), "rounds"):
        first = number % len(order)
        for name, work in order[first:] + order[:first]:
            started = time.perf_counter()
            work()
            if number >= 0:
                took[name].append(1_000 * (time.perf_counter() - started))
    return {name: took[name] for name in calls}, {name: took[name] for name in primitives}


def _primitive(size: int, name: str, times: Sequence[float]) -> dict[str, Cell]:
    return {"memories": size, "primitive": name, **_spread(times)}


def _call(
    size: int, name: str, times: Sequence[float], bare: Mapping[str, float]
) -> dict[str, Cell]:
    p50 = statistics.median(times)
    reads = name in {"recall", "context", "current", "why", "expand"}
    encodes = 0.0 if name in {"add_evidence", "current", "why", "expand"} else bare[ENCODE]
    parts = encodes + bare[READS if reads else WRITES]
    wanted, bound = BOUNDS.get(name, ("", None))
    return {
        "memories": size,
        "call": name,
        **_spread(times),
        "parts": p50 / parts,
        "wanted": wanted,
        "at most": None if bound is None else bound(bare),
        "met": None if bound is None else p50 <= bound(bare),
    }


def _spread(times: Sequence[float]) -> dict[str, Cell]:
    return {"p50": statistics.median(times), "p95": percentile(times, 0.95)}


def _profile(size: int, name: str, work: Callable[[], object], steps: Steps) -> dict[str, Cell]:
    """Return the shares of a call's time by who spends it."""
    profile = cProfile.Profile()
    for _ in steps.over(range(PROFILED), f"profile {name}"):
        profile.enable()
        work()
        profile.disable()
    shares: Counter[str] = Counter()
    # The type stubs do not know the attribute that every reader of a profile uses.
    for (file, _, function), row in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        shares[_spender(file, function)] += row[2]
    total = shares.total() or 1.0
    spenders = ("server", "model", "driver", "numpy", "graphmem", "other")
    return {
        "memories": size,
        "call": name,
        **{one: round(100 * shares[one] / total, 1) for one in spenders},
    }


def _spender(file: str, function: str) -> str:
    """Return who spends the own time of a function: `server` is waiting for its answer."""
    if "recv" in function or "method 'read' of '_ssl" in function:
        return "server"
    parts = Path(file).parts
    for package, name in (
        ("onnxruntime", "model"),
        ("tokenizers", "model"),
        ("neo4j", "driver"),
        ("numpy", "numpy"),
        ("graphmem", "graphmem"),
    ):
        if package in parts or package in function:
            return name
    return "other"
