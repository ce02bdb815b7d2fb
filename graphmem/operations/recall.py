"""Find what is remembered: one embedding, one query, no trace left."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from graphmem import catalog
from graphmem.model import (
    AnyBite,
    BeliefBite,
    Kind,
    Memory,
    MemoryBite,
    OtherValue,
    Parts,
    Reason,
    RecallPolicy,
    Recollection,
    Status,
    TraceRank,
    Turn,
    TurnBite,
)
from graphmem.ports import Binding, Role
from graphmem.rules import (
    asking,
    assertions,
    believed,
    blending,
    calibration,
    dates,
    gathering,
    tracerank,
    words,
)

NOW = catalog.query("recall/now", dict)

OUTVOTED = "outvoted"
"""What a value of a ONE slot is that another value leads."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for."""

    memories: bool = True
    beliefs: bool = True
    turns: bool = False
    hidden: bool = False
    """Show what was superseded, deprecated or outvoted too, with what stands in its place."""
    limit: int = 10

    def kinds(self) -> list[str]:
        """Return them as a query is given them."""
        asked = (("memory", self.memories), ("belief", self.beliefs), ("turn", self.turns))
        return [kind for kind, on in asked if on]


async def recall(to: Binding, text: str, want: Wanted, policy: RecallPolicy) -> Recollection:
    """Return what fits a question, best first, each once.

    Equal scores stand in the order of their ids.
    """
    now = to.world.clock.now()
    [vector] = await to.world.embedder.embed([text], Role.QUERY)
    statuses = [*Status, OUTVOTED] if want.hidden else [str(Status.CURRENT)]
    by, limit = blending.sent(policy), min(want.limit, policy.most or want.limit)
    asked = asking.params(asking.Reading(), to.wall, to.world.settings, now) | {
        "statuses": statuses,
        "kinds": want.kinds(),
        "embedding": vector,
        "words": _words(to, text, statuses) if by["words"] else dict.fromkeys(KINDS, ""),
        "asked": blending.asked(text),
        "dates": [list(span) for span in dates.spans(text, now)] if by["dated"] else [],
        "machines": sorted(gathering.NOT_PEOPLE),
        "pool": max(policy.pool, limit),
        "limit": limit,
        "by": by,
        "mu": to.model.mu_query,
        "trace": tracerank.sent(policy.trace),
        "test": asking.sent(asking.bounds(to.world.settings)),
    }
    [found] = await to.world.graph.read(lambda tx: tx.fetch(NOW, **asked))
    reader = _Reader(to.model.mu_query, policy.trace, found["lost"])
    return Recollection(
        bites=tuple(reader.bite(hit) for hit in found["hits"]), hidden=dict(found["hidden"])
    )


KINDS = ("memory", "belief", "turn")


def _words(to: Binding, text: str, statuses: list[str]) -> dict[str, str]:
    return {
        "memory": words.memory_query(text, to.wall, [Status(s) for s in statuses if s != OUTVOTED]),
        "belief": words.belief_query(text, to.wall, statuses),
        "turn": words.turn_query(text, to.wall),
    }


@dataclass(frozen=True, slots=True)
class _Reader:
    """Makes bites of what a query found."""

    mu: float
    by: TraceRank
    lost: Collection[str]

    def bite(self, hit: dict[str, Any]) -> AnyBite:
        score = hit["vector_score"]
        common = {
            "score": hit["score"],
            "parts": Parts(**hit["parts"]),
            "similarity": None
            if score is None
            else calibration.calibrated(calibration.from_neo4j(score), self.mu),
            "vector_rank": hit["vector_rank"],
            "bm25": hit["bm25"],
            "bm25_rank": hit["bm25_rank"],
        }
        if hit["kind"] == "turn":
            return TurnBite(turn=Turn(**hit["item"]), **common)
        common["reasons"] = tuple(_reason(one) for one in hit["reasons"])
        if hit["kind"] == "memory":
            return self._memory(hit, common)
        return _belief(hit, common)

    def _memory(self, hit: Mapping[str, Any], common: dict[str, Any]) -> MemoryBite:
        similarity, trace = common["similarity"], hit["trace"]
        return MemoryBite(
            memory=assertions.judged(Memory(**hit["item"]), self.lost),
            trace=trace,
            final=None if similarity is None else tracerank.final(similarity, trace, self.by),
            **common,
        )


def _belief(hit: dict[str, Any], common: dict[str, Any]) -> BeliefBite:
    return BeliefBite(
        belief=believed.belief(hit | {"card": hit["item"], "score": hit["belief"]}),
        last_at=hit["last_at"],
        ambiguous=hit["ambiguous"] or False,
        lost=hit["lost"],
        head_ids=tuple(hit["head_ids"]),
        others=tuple(
            OtherValue(**one)
            for one in sorted(hit["rivals"], key=lambda one: one["last_at"], reverse=True)
        ),
        found_by=hit["found_by"],
        **common,
    )


def _reason(event: Mapping[str, Any]) -> Reason:
    fields = dict(event)
    polarity = fields.pop("polarity", None)
    kind = None if polarity is None else Kind.SUPPORTING if polarity > 0 else Kind.REFUTING
    return Reason(**fields, kind=kind)
