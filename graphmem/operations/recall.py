"""Recall with one embedding and two queries in one transaction, without writing a trace."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem import stored
from graphmem.english import dates, rebuttals, versions
from graphmem.errors import GraphmemError, ModelReplyError
from graphmem.graph import catalog
from graphmem.model import (
    KINDS,
    AnyBite,
    AsOf,
    BeliefBite,
    Episode,
    EpisodeBite,
    Kind,
    Memory,
    MemoryBite,
    OtherValue,
    Rating,
    Reason,
    RecallPolicy,
    Recollection,
    Reranking,
    ScoreBreakdown,
    Status,
    TraceRank,
    Trust,
    Turn,
    TurnBite,
    roles,
    zones,
)
from graphmem.ports import Query, RequestContext, Services, Tx
from graphmem.rules import (
    absence,
    claims,
    cutoff,
    formulas,
    fulltext,
    identity,
    late_interaction,
    one_list,
    ranking,
    rating,
    read_options,
    scoring,
    trust,
    watching,
)

CURRENT = catalog.query("recall/current", dict)
FILTERED = catalog.query("recall/filtered", dict)
HITS = catalog.query("recall/hits", dict)
STORED: Query[Any] = catalog.query("recall/stored", dict)
VITALITY = catalog.query("recall/vitality", dict)

log = logging.getLogger("graphmem")

OUTVOTED = "outvoted"
"""Reason for hiding a value of a ONE slot that another value leads."""
WIDER = 5
"""Factor by which a search with filters that the index cannot apply widens its candidate pool."""
MAX_REACH = 1_000
"""Maximum number of results that are read, those that are not listed included."""
MAX_DESCRIBED = 5_000
"""Maximum number of memories, found by tag and source, whose similarity is computed exactly."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """Filters and limits of a recall."""

    kinds: tuple[Kind, ...] = KINDS
    include_hidden: bool = False
    """Whether to include hidden and outvoted items, with their successors."""
    tags: tuple[str, ...] = ()
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_trust: Trust | None = None
    as_of: AsOf | None = None
    limit: int = 10
    ends: bool = False
    """Whether the list ends where only noise follows."""
    apart: frozenset[str] = frozenset()
    """Ids of items that are not listed."""
    vitality: bool = False
    """Whether to compute the vitality of the beliefs found."""
    other_scopes: tuple[str, ...] = ()
    """Read scopes of the handle that are not searched."""

    @property
    def narrows(self) -> bool:
        """Whether the request has filters that an index search cannot apply."""
        return bool(self.filters()) or (self.as_of is not None and self.as_of != AsOf())

    def most(self, policy: RecallPolicy) -> int:
        """Return the maximum number of results."""
        return min(self.limit, policy.max_results or self.limit)

    def filters(self) -> list[str]:
        """Return the names of these filters, other than `as_of`."""
        names = "tags", "source", "since", "until", "min_trust"
        return [name for name in names if getattr(self, name) not in (None, ())]

    def facets(self, tenant: str) -> list[str]:
        """Return the full-text tokens of memories with these tags and this source."""
        return identity.facet_keys(tenant, self.tags, [self.source] if self.source else [])

    def searched(self) -> list[Kind]:
        """Return the kinds that can match the filters.

        Only memories have tags; turns and episodes have no source.
        """
        without: set[Kind] = set()
        if self.tags or self.source is not None:
            without |= {"turn", "episode"}
        if self.tags:
            without.add("belief")
        return [kind for kind in self.kinds if kind not in without]


async def recall(
    context: RequestContext,
    text: str,
    want: RecallRequest,
    policy: RecallPolicy,
    watch: watching.Watch = watching.UNWATCHED,
) -> Recollection:
    """Return the best matches for a question, each once, best first.

    Equal scores are ordered by id. A reranker then orders the best ones, after the transaction.
    """
    times = want.as_of or AsOf()
    vector, tokens = await context.services.embed_question(text, tokens=policy.uses_tokens)
    statuses = [*Status, OUTVOTED] if want.include_hidden else [str(Status.CURRENT)]
    by = scoring.score_params(policy, tokens=tokens is not None) | (
        {"machine": 1.0} if scoring.asks_of_model(text) else {}
    )
    count = _reranked_count(context.services, policy)
    # The list is cut last: what a newer version displaces depends on results beyond the limit.
    reach = min(want.most(policy) + len(want.apart), MAX_REACH)
    wanted = max(reach, count, versions.MAX_COMPARED)
    settings = context.services.settings
    traced, rule = read_options.trace_rank(settings, policy.trace), rating.from_settings(settings)
    names = HITS.params | VITALITY.params if want.vitality else HITS.params
    asked = read_options.read_params(
        names, read_options.ReadOptions(times), settings, context.services.clock.now()
    )
    # A memory that is current now may have been superseded then, and vice versa.
    kept = [*Status] if times != AsOf() else statuses
    asked |= {
        "statuses": statuses,
        "kinds": want.searched(),
        "embedding": vector,
        "words": fulltext.recall_queries(
            text if by["words"] else "", context.tenant_scope, kept, want.facets(context.tenant)
        ),
        "query_words": scoring.question_words(text),
        "dates": [
            list(span)
            for span in dates.date_spans(text, zones.local(asked["valid"], settings.time_zone))
        ]
        if by["dated"]
        else [],
        "human_roles": sorted(roles.HUMAN_ROLES),
        "min_trust": 0 if want.min_trust is None else trust.rank(want.min_trust),
        "pool": max(policy.pool, reach),
        "wide_pool": WIDER * max(policy.pool, reach),
        "limit": wanted,
        "scoring": by,
        "mu": context.model.mu_query,
        "trace": formulas.trace_params(traced),
        "rating_decay": rating.decay_params(rule),
        "late": tokens is not None,
    }
    query = FILTERED if want.narrows else CURRENT
    if want.narrows:
        asked |= _narrower(context, asked, want, kept)

    order = ranking.Ranking(
        by,
        mu=context.model.mu_query,
        trace_weight=traced.weight,
        pool=asked["pool"],
        limit=wanted,
    )

    async def work(tx: Tx) -> tuple[Recollection, cutoff.Likeness]:
        [row] = await tx.fetch(query, **_of(query, asked))
        every = candidates = ranking.Candidates.of(row["candidates"])
        best, least = scoring.relevance(context.model, policy, candidates.vector)
        if best is not None and least is not None and best < least:
            candidates = ranking.Candidates.of([])
        late = tokens and late_interaction.max_sim(tokens, candidates.states, candidates.before)
        ranked = order.best(candidates, late)
        watch.ranked(order, every, late or None, ranked)
        shortlist = [
            [candidates.nodes[i], candidates.ids[i], candidates.kinds[i], one.score]
            for one in ranked
            for i in [one.place]
        ]
        [found] = await tx.fetch(
            HITS,
            found={"candidates": shortlist, "filtered": row["filtered"]},
            **_of(
                HITS,
                asked | {"limit": max(wanted, sum(kind != "belief" for *_, kind, _ in shortlist))},
            ),
        )
        found = await stored.without_rejected(
            tx, context.tenant, found, None if want.include_hidden else asked
        )
        # Rows are converted here, because the transaction is retried if that fails.
        reader = _RowDecoder(
            candidates,
            {candidates.nodes[one.place]: one for one in ranked},
            context.model.mu_query,
            traced,
            rule,
            found["lost"],
            is_now=times == AsOf(),
        )
        if want.vitality:
            await _add_vitality(tx, found["hits"], asked)
        bites = tuple(map(reader.bite, found["hits"]))
        if want.min_trust is not None:
            bites = tuple(map(_without_others, bites))
        likeness = cutoff.Likeness.of(
            candidates,
            late or None,
            {bite.id: hit["node"] for bite, hit in zip(bites, found["hits"], strict=True)},
            context.model.name,
        )
        recollection = Recollection(
            bites=bites,
            hidden=dict(found["hidden_counts"]),
            best_similarity=best,
            min_score=least,
            provisional=read_options.is_provisional(times, found["now"]),
        )
        return await _with_reason(tx, context, recollection, want, asked), likeness

    found, likeness = await context.read(work)
    found = await _reranked(context.services, text, found, count)
    return _shown(found, text, want, policy, likeness, watch)


def _shown(
    found: Recollection,
    text: str,
    want: RecallRequest,
    policy: RecallPolicy,
    likeness: cutoff.Likeness,
    watch: watching.Watch,
) -> Recollection:
    """Return the results as one list, up to where only noise follows."""
    watch.listed("read", found.bites)
    every = _one_list(found.bites, text, want, policy)
    watch.listed("listed", every)
    listed = tuple(bite for bite in every if bite.id not in want.apart)[: want.most(policy)]
    if want.include_hidden:
        return absence.left(found, listed)
    found = absence.left(found, one_list.name_older(listed, every))
    if not want.ends or policy.min_score is not None:
        return found
    ending = cutoff.end(listed, text, likeness)
    watch.ended(listed, ending, likeness)
    reason = cutoff.reason(ending) or found.reason
    bites = one_list.name_older(ending.bites, every)
    return found.model_copy(update={"bites": bites, "left_out": ending.left_out, "reason": reason})


def _one_list(
    bites: tuple[AnyBite, ...], text: str, want: RecallRequest, policy: RecallPolicy
) -> tuple[AnyBite, ...]:
    """Return the results with each statement once and older versions marked."""
    found, count = bites, one_list.distinct(bites, versions.MAX_COMPARED)
    first = {bite.id for bite in bites[:count]}
    if not want.include_hidden:  # Audits need each item.
        bites = one_list.collapse(found, text, count)
    # The same are compared, however many are asked for.
    compared = sum(bite.id in first for bite in bites)
    if policy.mark_outdated:
        bites = (*versions.mark_outdated(bites[:compared], text), *bites[compared:])
    if want.include_hidden:
        return bites
    bites = one_list.join_repeats(bites, found, compared)
    compared = sum(bite.id in first for bite in bites)
    stating = cutoff.stating_first(bites[:compared], text)
    return (*one_list.newest_first(stating, text), *bites[compared:])


async def _with_reason(
    tx: Tx,
    context: RequestContext,
    found: Recollection,
    want: RecallRequest,
    asked: Mapping[str, Any],
) -> Recollection:
    """Return a recollection, with the reason if it is empty."""
    if found.bites:
        return found
    search = absence.Search(want.kinds, want.filters(), context.read_scopes, asked["statuses"])
    counting = {"others": list(want.other_scopes), "limit": absence.MAX_COUNTED}
    rows = await tx.fetch(STORED, **_of(STORED, {**asked, **counting}))
    return found.model_copy(update={"reason": absence.reason(rows, search, found)})


async def _add_vitality(tx: Tx, hits: Sequence[dict[str, Any]], asked: Mapping[str, Any]) -> None:
    """Add the vitality of the beliefs to their rows."""
    beliefs = {hit["item"]["id"]: hit for hit in hits if hit["kind"] == "belief"}
    if beliefs:
        for row in await tx.fetch(VITALITY, ids=list(beliefs), **_of(VITALITY, asked)):
            beliefs[row["id"]]["vitality"] = row["vitality"]


def _reranked_count(services: Services, policy: RecallPolicy) -> int:
    """Return the number of results to give to the reranker; 0 if it is not used."""
    if services.reranker is None or not policy.uses_reranker:
        return 0
    return services.settings.reranker_max_candidates


async def _reranked(
    services: Services, question: str, found: Recollection, count: int
) -> Recollection:
    """Return the results, of which the reranker orders the first `count`, and how it was used.

    Equal scores keep their order, and all results do if the reranker fails.
    """
    first, rest = found.bites[:count], found.bites[count:]
    if services.reranker is None or not first:
        return found
    use = Reranking(model=services.reranker.name, candidates=len(first))
    try:
        scores = await services.reranker.rerank(question, list(map(_reranked_text, first)))
        _check_scores(scores, len(first))
    except GraphmemError as error:
        log.warning("A reranking failed, so the local order stays: %s", error.code)
        use = use.model_copy(update={"reason": error.message})
        return found.model_copy(update={"reranked": use})
    except Exception as error:  # noqa: BLE001 - a reranker of a caller may raise anything
        log.warning("A reranking failed, so the local order stays: %s", type(error).__name__)
        use = use.model_copy(update={"reason": f"The reranker raised {type(error).__name__}."})
        return found.model_copy(update={"reranked": use})
    scored = [
        one.model_copy(update={"parts": one.parts.model_copy(update={"reranker": float(score)})})
        for one, score in zip(first, scores, strict=True)
    ]
    ranked = sorted(zip(scores, scored, strict=True), key=lambda pair: -pair[0])
    bites = (*(bite for _, bite in ranked), *rest)
    return found.model_copy(update={"bites": bites, "reranked": use})


def _check_scores(scores: Sequence[float], count: int) -> None:
    if len(scores) != count:
        raise ModelReplyError(f"The reranker returned {len(scores)} scores for {count} texts.")
    if not all(map(math.isfinite, scores)):
        raise ModelReplyError("The reranker returned a score that is not finite.")


def _reranked_text(bite: AnyBite) -> str:
    """Return the text to compare with the question; of a turn, with its speaker."""
    if isinstance(bite, TurnBite):
        return f"{bite.turn.name or bite.turn.role}: {bite.text}"
    return bite.text


def _without_others(bite: AnyBite) -> AnyBite:
    """Return a bite without the other values of its slot, whose trust is not read."""
    return bite.model_copy(update={"others": ()}) if isinstance(bite, BeliefBite) else bite


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
        "max_faceted": MAX_DESCRIBED,
    }


@dataclass(frozen=True, slots=True)
class _RowDecoder:
    """Converts result rows to bites."""

    candidates: ranking.Candidates
    ranked: Mapping[str, ranking.Ranked]
    """The shortlist, by element id."""
    mu: float
    by: TraceRank
    rule: rating.Rating
    lost: Collection[str]
    is_now: bool

    def bite(self, hit: dict[str, Any]) -> AnyBite:
        """Return the bite of a row."""
        ranked = self.ranked[hit["node"]]
        score = self.candidates.vector[ranked.place]
        common = {
            "score": hit["score"],
            "parts": ScoreBreakdown(**ranked.parts),
            "similarity": None
            if score is None
            else scoring.calibrate(scoring.from_neo4j(score), self.mu),
            "vector_rank": ranked.vector_rank,
            "bm25": self.candidates.words[ranked.place],
            "bm25_rank": ranked.bm25_rank,
            "trust": trust.parse(hit["trust"]),
            "rating": self._rating(hit["rating"]),
        }
        if hit["kind"] == "turn":
            turn = Turn(**hit["item"])
            return TurnBite(turn=turn, head_ids=_turn_heads(turn, hit), **common)
        if hit["kind"] == "episode":
            return EpisodeBite(episode=Episode(**hit["item"]), **common)
        common["reasons"] = tuple(_reason(one) for one in hit["reasons"])
        common["stated"] = hit["stated"]
        if hit["kind"] == "memory":
            return self._memory(hit["item"], self.candidates.traces[ranked.place], common)
        return _belief(hit, common)

    def _rating(self, found: Mapping[str, Any] | None) -> Rating | None:
        if found is None or not self.is_now:
            return None
        return Rating(tier=rating.tier(found["elo"], self.rule), **found)

    def _memory(self, item: Mapping[str, Any], trace: float, common: dict[str, Any]) -> MemoryBite:
        similarity = common["similarity"]
        memory = Memory(**item, trust=common["trust"])
        return MemoryBite(
            memory=claims.mark_lost_claims(memory, self.lost),
            trace=trace,
            final=None if similarity is None else formulas.trace_score(similarity, trace, self.by),
            **common,
        )


def _turn_heads(turn: Turn, hit: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what makes a turn outdated: the leaders of its slots, or the reply that rejects it."""
    reply = hit["reply"]
    if reply is None or roles.is_human(turn.role) or not roles.is_human(reply["role"]):
        return tuple(hit["head_ids"])
    return (reply["id"],) if rebuttals.rejects(reply["text"], turn.text) else ()


def _belief(hit: dict[str, Any], common: dict[str, Any]) -> BeliefBite:
    others = (OtherValue(**one) for one in hit["other_candidates"])
    return BeliefBite(
        belief=read_options.parse_belief(hit | {"card": hit["item"], "score": hit["belief"]}),
        last_at=hit["last_at"],
        ambiguous=hit["ambiguous"] or False,
        assumed_many=hit["assumed_many"],
        lost=hit["lost"],
        head_ids=tuple(hit["head_ids"]),
        others=tuple(sorted(others, key=lambda one: one.last_at, reverse=True)),
        found_by=hit["found_by"],
        **common,
    )


def _reason(event: Mapping[str, Any]) -> Reason:
    fields = {name: value for name, value in event.items() if name not in ("polarity", "quoted")}
    quoted = event["quoted"] or {}
    return Reason(
        **fields | {"trust": trust.parse(event["trust"])},
        kind=read_options.evidence_kind(event.get("polarity")),
        turn_id=quoted.get("id"),
        speaker=quoted.get("speaker"),
        time_zone=quoted.get("time_zone"),
    )
