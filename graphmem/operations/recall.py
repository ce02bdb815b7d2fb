"""Find what is remembered: one embedding, one query, no trace left."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from graphmem import catalog
from graphmem.model import (
    Memory,
    MemoryBite,
    RecallPolicy,
    Recollection,
    Score,
    Status,
    TraceRank,
    Turn,
    TurnBite,
)
from graphmem.ports import Binding, Role, Tx
from graphmem.rules import asking, assertions, calibration, tracerank, words

HYBRID = catalog.query("recall/hybrid", dict)
LOST = catalog.query("belief/lost", lambda row: row["lost"])


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for."""

    memories: bool = True
    turns: bool = False
    hidden: bool = False
    """Show superseded and deprecated memories too, with the head of their chain."""
    limit: int = 10


async def recall(to: Binding, text: str, want: Wanted, policy: RecallPolicy) -> Recollection:
    """Return what fits a question, best first, each once.

    Equal scores stand in the order of their ids.
    """
    now = to.world.clock.now()
    [vector] = await to.world.embedder.embed([text], Role.QUERY)
    statuses = tuple(Status) if want.hidden else (Status.CURRENT,)
    fused = policy.score is Score.FUSED
    kinds = [k for k, on in (("memory", want.memories), ("turn", want.turns)) if on]
    wanted = {
        "tenant": to.wall.tenant,
        "scopes": list(to.wall.scopes),
        "statuses": list(statuses),
        "kinds": kinds,
        "embedding": vector,
        "words": words.memory_query(text, to.wall, statuses) if fused else "",
        "turn_words": words.turn_query(text, to.wall) if fused else "",
        "pool": max(policy.pool, want.limit),
        "score": str(policy.score),
        "mu": to.model.mu_query,
        "trace": tracerank.sent(policy.trace),
        "valid": now,
        "known": None,
        "k": policy.k,
        "vector_weight": policy.vector_weight,
        "words_weight": policy.words_weight,
        "limit": want.limit,
    }
    judging = asking.params(asking.Reading(), to.wall, to.world.settings, now)

    async def work(tx: Tx) -> tuple[Mapping[str, Any], Collection[str]]:
        [found] = await tx.fetch(HYBRID, **wanted)
        claimed = {claim for hit in found["hits"] for claim in hit["item"].get("claim_ids", ())}
        if not claimed:
            return found, ()
        [lost] = await tx.fetch(LOST, **judging, ids=sorted(claimed))
        return found, lost

    found, lost = await to.world.graph.read(work)
    mu = to.model.mu_query
    return Recollection(
        bites=tuple(_bite(hit, lost, mu, policy.trace) for hit in found["hits"]),
        hidden=dict(found["hidden"]),
    )


def _bite(
    hit: Mapping[str, Any], lost: Collection[str], mu: float, by: TraceRank
) -> MemoryBite | TurnBite:
    score = hit["vector_score"]
    similarity = (
        None if score is None else calibration.calibrated(calibration.from_neo4j(score), mu)
    )
    parts = {
        "score": hit["score"],
        "similarity": similarity,
        "vector_rank": hit["vector_rank"],
        "bm25": hit["bm25"],
        "bm25_rank": hit["bm25_rank"],
    }
    if hit["kind"] == "turn":
        return TurnBite(turn=Turn(**hit["item"]), **parts)
    return MemoryBite(
        memory=assertions.judged(Memory(**hit["item"]), lost),
        trace=hit["trace"],
        final=None if similarity is None else tracerank.final(similarity, hit["trace"], by),
        **parts,
    )
