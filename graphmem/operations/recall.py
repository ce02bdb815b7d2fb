"""Recall with one embedding and two queries in one transaction, without writing a trace."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.model import (
    AnyBite,
    AsOf,
    BeliefBite,
    EmbeddingModel,
    Memory,
    MemoryBite,
    OtherValue,
    Rating,
    Reason,
    RecallPolicy,
    Recollection,
    Score,
    ScoreBreakdown,
    Status,
    TraceRank,
    Turn,
    TurnBite,
)
from graphmem.ports import Query, RequestContext, Tx
from graphmem.rules import (
    claims,
    dates,
    formulas,
    fulltext,
    identity,
    late_interaction,
    rating,
    read_options,
    scoring,
    transcripts,
    versions,
)

CURRENT = catalog.query("recall/current", dict)
FILTERED = catalog.query("recall/filtered", dict)
HITS = catalog.query("recall/hits", dict)

OUTVOTED = "outvoted"
"""Reason for hiding a value of a ONE slot that another value leads."""
WIDER = 5
"""Factor by which a search with filters that the index cannot apply widens its candidate pool."""
MAX_DESCRIBED = 5_000
"""Maximum number of memories, found by tag and source, whose similarity is computed exactly."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """Filters and limits of a recall."""

    memories: bool = True
    beliefs: bool = True
    turns: bool = False
    include_hidden: bool = False
    """Whether to include hidden and outvoted items, with their successors."""
    tags: tuple[str, ...] = ()
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: AsOf | None = None
    limit: int = 10

    @property
    def narrows(self) -> bool:
        """Whether the request has filters that an index search cannot apply."""
        described = self.tags or self.source is not None or self.since or self.until
        return bool(described) or (self.as_of is not None and self.as_of != AsOf())

    def facets(self, tenant: str) -> list[str]:
        """Return the full-text tokens of memories with these tags and this source."""
        return identity.facet_keys(tenant, self.tags, [self.source] if self.source else [])

    def kinds(self) -> list[str]:
        """Return the kinds as query parameters; only memories have tags, and turns no source."""
        beliefs, turns = self.beliefs and not self.tags, self.turns and not self.tags
        turns = turns and self.source is None
        asked = (("memory", self.memories), ("belief", beliefs), ("turn", turns))
        return [kind for kind, on in asked if on]


async def recall(
    context: RequestContext, text: str, want: RecallRequest, policy: RecallPolicy
) -> Recollection:
    """Return the best matches for a question, each once, best first.

    Equal scores are ordered by id.

    Raises:
        InvalidInputError: `as_of.known` is in the future.
    """
    times = want.as_of or AsOf()
    vector, tokens = await context.services.embed_question(text, tokens=policy.uses_tokens)
    statuses = [*Status, OUTVOTED] if want.include_hidden else [str(Status.CURRENT)]
    by = scoring.score_params(policy, tokens=tokens is not None)
    limit = min(want.limit, policy.max_results or want.limit)
    now = context.services.clock.now()
    settings = context.services.settings
    asked = read_options.read_params(read_options.ReadOptions(times), settings, now)
    # A memory that is current now may have been superseded then, and vice versa.
    kept = [*Status] if times != AsOf() else statuses
    asked |= {
        "statuses": statuses,
        "kinds": want.kinds(),
        "embedding": vector,
        "words": _words(context, text if by["words"] else "", kept, want.facets(context.tenant)),
        "query_words": scoring.question_words(text),
        "dates": [list(span) for span in dates.date_spans(text, asked["valid"])]
        if by["dated"]
        else [],
        "non_human_roles": sorted(transcripts.NON_HUMAN_ROLES),
        "pool": max(policy.pool, limit),
        "limit": limit,
        "scoring": by,
        "mu": context.model.mu_query,
        "trace": formulas.trace_params(policy.trace),
        "rating_decay": rating.decay_params(),
    }
    asked |= {"late": tokens is not None}
    query = FILTERED if want.narrows else CURRENT
    if want.narrows:
        asked |= _narrower(context, asked, want, kept)

    async def work(tx: Tx) -> Recollection:
        [row] = await tx.fetch(query, **_of(query, asked))
        candidates = row["candidates"]
        best, least = _relevance(context.model, policy, candidates)
        if best is not None and least is not None and best < least:
            candidates = []
        elif tokens is not None:
            candidates = late_interaction.scored(tokens, candidates)
        [found] = await tx.fetch(HITS, found=row | {"candidates": candidates}, **_of(HITS, asked))
        # Rows are converted here, because the transaction is retried if that fails.
        reader = _RowDecoder(context.model.mu_query, policy.trace, found["lost"], times == AsOf())
        bites = tuple(reader.bite(hit) for hit in found["hits"])
        return Recollection(
            bites=versions.mark_outdated(bites, text) if policy.mark_outdated else bites,
            hidden=dict(found["hidden_counts"]),
            best_similarity=best,
            min_score=least,
            provisional=read_options.is_provisional(times, found["now"]),
        )

    return await context.read(work)


def _relevance(
    model: EmbeddingModel, policy: RecallPolicy, candidates: Sequence[Mapping[str, Any]]
) -> tuple[float | None, float | None]:
    """Return the greatest calibrated similarity of the candidates, and the least that is wanted."""
    scores = [one["vector"] for one in candidates if one["vector"] is not None]
    least = policy.min_score
    if least is None and policy.score is Score.BLENDED:
        least = scoring.relevance_floor(model.name, len(scores))
    if not scores:
        return None, least
    return scoring.calibrate(scoring.from_neo4j(max(scores)), model.mu_query), least


def _of(query: Query[Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a query declares."""
    return {name: value for name, value in asked.items() if name in query.params}


def _narrower(
    context: RequestContext, asked: Mapping[str, Any], want: RecallRequest, kept: Sequence[str]
) -> dict[str, Any]:
    """Return the additional parameters of recall/filtered, compared with recall/current."""
    since, until = want.since or read_options.BEGINNING, want.until or read_options.FOREVER
    described = fulltext.facet_query(context.tenant_scope, kept, want.facets(context.tenant))
    return {
        "cached_statuses": list(kept),
        "tags": list(want.tags),
        "source": want.source,
        "since": since,
        "until": until,
        "window": {
            "known": asked["known"] or read_options.FOREVER,
            # The cached created_at covers all events; the earliest visible one is never earlier.
            "since": since if asked["known"] is None else read_options.BEGINNING,
            "until": min(until, read_options.next_instant(asked["valid"])),
        },
        "words": asked["words"] | {"facets": described},
        "wide_pool": WIDER * asked["pool"],
        "max_faceted": MAX_DESCRIBED,
    }


def _words(
    context: RequestContext, text: str, statuses: Sequence[str], facets: Sequence[str]
) -> dict[str, str]:
    return {
        "memory": fulltext.memory_query(text, context.tenant_scope, statuses, facets),
        "belief": fulltext.belief_query(text, context.tenant_scope, statuses),
        "turn": fulltext.turn_query(text, context.tenant_scope),
    }


@dataclass(frozen=True, slots=True)
class _RowDecoder:
    """Converts result rows to bites."""

    mu: float
    by: TraceRank
    lost: Collection[str]
    is_now: bool

    def bite(self, hit: dict[str, Any]) -> AnyBite:
        score = hit["vector_score"]
        common = {
            "score": hit["score"],
            "parts": ScoreBreakdown(**hit["parts"]),
            "similarity": None
            if score is None
            else scoring.calibrate(scoring.from_neo4j(score), self.mu),
            "vector_rank": hit["vector_rank"],
            "bm25": hit["bm25"],
            "bm25_rank": hit["bm25_rank"],
            "rating": self._rating(hit["rating"]),
        }
        if hit["kind"] == "turn":
            return TurnBite(turn=Turn(**hit["item"]), **common)
        common["reasons"] = tuple(_reason(one) for one in hit["reasons"])
        if hit["kind"] == "memory":
            return self._memory(hit, common)
        return _belief(hit, common)

    def _rating(self, found: Mapping[str, Any] | None) -> Rating | None:
        if found is None or not self.is_now:
            return None
        return Rating(tier=rating.tier(found["elo"]), **found)

    def _memory(self, hit: Mapping[str, Any], common: dict[str, Any]) -> MemoryBite:
        similarity, trace = common["similarity"], hit["trace"]
        return MemoryBite(
            memory=claims.mark_lost_claims(Memory(**hit["item"]), self.lost),
            trace=trace,
            final=None if similarity is None else formulas.trace_score(similarity, trace, self.by),
            **common,
        )


def _belief(hit: dict[str, Any], common: dict[str, Any]) -> BeliefBite:
    return BeliefBite(
        belief=read_options.parse_belief(hit | {"card": hit["item"], "score": hit["belief"]}),
        last_at=hit["last_at"],
        ambiguous=hit["ambiguous"] or False,
        lost=hit["lost"],
        head_ids=tuple(hit["head_ids"]),
        others=tuple(
            sorted(
                (OtherValue(**one) for one in hit["other_candidates"]),
                key=lambda one: one.last_at,
                reverse=True,
            )
        ),
        found_by=hit["found_by"],
        **common,
    )


def _reason(event: Mapping[str, Any]) -> Reason:
    fields = {name: value for name, value in event.items() if name != "polarity"}
    return Reason(**fields, kind=read_options.evidence_kind(event.get("polarity")))
