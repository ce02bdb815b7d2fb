"""Find passages to consolidate, and the beliefs near them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from graphmem.consolidation import ConsolidationPolicy
from graphmem.english.passages import Passage, informative_sentences, prefix_speaker
from graphmem.graph import catalog
from graphmem.model import Status, roles
from graphmem.ports import OnProgress, RequestContext
from graphmem.rules import claims, drafts, read_options, scoring
from graphmem.rules.claims import Claim

if TYPE_CHECKING:
    from graphmem.model.terms import Embedding


PAGE = 200
"""Passages per read, with three vector searches each."""
BELIEFS = 8
"""Nearest beliefs considered for each passage."""
WAIT_S, WAITS = 0.1, 100
"""Seconds between checks, and number of checks, for the indexes to contain the last commit."""

PASSAGES = catalog.query("consolidate/passages", dict)
WAITING = catalog.query("consolidate/waiting", dict)
VISIBLE = catalog.query("consolidate/indexed", lambda row: row["visible"])

NEIGHBOR_PAGE = 16
"""Beliefs per read, with two vector searches each."""
MOST = 200
"""Nearest turns, and nearest episodes, considered for each belief."""

AROUND = catalog.query("consolidate/near_passages", dict)


@dataclass(frozen=True, slots=True)
class ScopeSnapshot:
    """The bounds of what a run reads."""

    known: datetime
    """Known time of the run; later records are invisible to it."""
    since: datetime
    """Only records after this time are new."""


@dataclass(frozen=True, slots=True)
class NearBelief:
    """A belief whose statement is close to a passage."""

    claim: Claim
    status: str
    similarity: float
    """Calibrated cosine of the passage and the statement, or the quote."""
    quote: str | None = None
    """Source of the belief that is near the passage; None if its statement is. A model may have
    worded the statement in quite another way."""

    @property
    def wording(self) -> str:
        """Text to compare the passage with."""
        return self.claim.statement if self.quote is None else self.quote


@dataclass(slots=True)
class Neighborhood:
    """Passages with their neighbours, by index in `passages`."""

    passages: list[Passage] = field(default_factory=list)
    near: list[dict[int, float]] = field(default_factory=list)
    """Other passages of the same speaker, with their similarity."""
    same: dict[int, tuple[NearBelief, ...]] = field(default_factory=dict)
    """Near beliefs, nearest first; only for passages that have some."""
    fresh: int = 0
    """Number of new passages, which come first; an earlier run read the others."""


async def ground(
    context: RequestContext,
    seen: ScopeSnapshot,
    policy: ConsolidationPolicy,
    on_progress: OnProgress,
    *,
    retry: bool = False,
) -> Neighborhood:
    """Return the new passages, the older ones near them, and the neighbours of both.

    Neighbours are near enough to have a clause in common; `statements.relate` keeps those that do.
    The passages of clusters that failed count as new, so that a later run tries them again; with
    `retry` also those of clusters that were given up.
    """
    await _indexed(context, seen.known)
    basket = _PassageCollector(context)
    asked: dict[str, Any] = {
        "since": seen.since,
        "known": seen.known,
        "human_roles": sorted(roles.HUMAN_ROLES),
        "neighbours": policy.neighbours,
        "beliefs": BELIEFS,
        "min_score": index_score(context, policy.clause_similarity),
        "min_score_same": least_same(context, policy),
    }
    for label in ("Turn", "Episode"):
        fetch = partial(context.fetch, PASSAGES, label=label, ids=None, **asked)
        async for rows in read_options.pages(fetch, at="recorded_at", size=PAGE, start=seen.since):
            basket.take(rows)
            on_progress("passage", len(rows))
    failed = [
        passage_id
        for one in await waiting(context, seen.known)
        if retry or one["attempts"] < policy.max_attempts
        for passage_id in one["passage_ids"]
    ]
    await _take(context, basket, sorted({*failed} - basket.ids), asked)
    fresh = len(basket.found.passages)
    # An older passage may have neighbours from more episodes than a new one.
    await _take(context, basket, basket.missing(), asked)
    return basket.joined(fresh)


async def waiting(context: RequestContext, known: datetime) -> list[dict[str, Any]]:
    """Return the clusters of the scope that failed and still have passages without a belief."""
    found: list[dict[str, Any]] = []
    after = ""
    while rows := await context.fetch(WAITING, known=known, after=after, limit=PAGE):
        after = rows[-1]["id"]
        found += rows
    return found


async def _take(
    context: RequestContext, basket: _PassageCollector, ids: Sequence[str], asked: Mapping[str, Any]
) -> None:
    for part in drafts.batches(ids, PAGE):
        page = {"label": "", "after_at": read_options.BEGINNING, "after_id": "", "limit": PAGE}
        rows: list[dict[str, Any]] = await context.fetch(PASSAGES, ids=part, **page, **asked)
        basket.take(rows)


class _PassageCollector:
    """Collects passages and the ids of their neighbours."""

    def __init__(self, context: RequestContext) -> None:
        self.found = Neighborhood()
        self._to = context
        self._place: dict[str, int] = {}
        self._near: list[Sequence[tuple[str, float]]] = []

    def take(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add the rows that contain a factual statement."""
        for row in rows:
            passage = row_passage(row)
            if passage.id in self._place or not informative_sentences(passage.text):
                continue
            place = self._place[passage.id] = len(self.found.passages)
            same = [_same(self._to, one) for one in (*row["same"], *row["quoted"])]
            if same:
                self.found.same[place] = tuple(
                    sorted(same, key=lambda one: (-one.similarity, one.claim.id))
                )
            self.found.passages.append(passage)
            self._near.append([(other, similarity(self._to, s)) for other, s in row["near"]])

    @property
    def ids(self) -> set[str]:
        """Ids of the passages collected so far."""
        return set(self._place)

    def missing(self) -> list[str]:
        """Return the ids of neighbours that were not added."""
        return sorted({other for near in self._near for other, _ in near} - self._place.keys())

    def joined(self, fresh: int) -> Neighborhood:
        """Return the collected passages with their neighbours; the first `fresh` are new."""
        self.found.fresh = fresh
        for near in self._near:
            known = ((self._place[other], s) for other, s in near if other in self._place)
            self.found.near.append(dict(known))
        return self.found


async def _indexed(context: RequestContext, known: datetime) -> None:
    """Wait until the vector indexes contain the last commit; continue without it after 10 s."""
    for _ in range(WAITS):
        [visible] = await context.fetch(VISIBLE, known=known)
        if visible:
            return
        await context.services.clock.sleep(WAIT_S)


def row_passage(row: Mapping[str, Any]) -> Passage:
    """Return the passage of a row."""
    fields = {name: row["passage"][name] for name in ("label", "episode_id", "name", "text", "at")}
    return Passage(id=row["id"], **fields)


def _same(context: RequestContext, row: Mapping[str, Any]) -> NearBelief:
    text = informative_sentences(row.get("text") or "")
    return NearBelief(
        claims.stored_claim(row),
        row["status"],
        similarity(context, row["score"]),
        prefix_speaker(row["name"], text) if text else None,
    )


def least_same(context: RequestContext, policy: ConsolidationPolicy) -> float:
    """Return the lowest index score at which a passage may be evidence for or against a belief."""
    return index_score(context, min(policy.match_similarity, policy.refute_similarity))


def index_score(context: RequestContext, similarity: float) -> float:
    """Return the index score of a calibrated cosine."""
    return scoring.to_neo4j(scoring.raw_cosine(similarity, context.model.mu_document))


def similarity(context: RequestContext, score: float) -> float:
    """Return the calibrated cosine of an index score."""
    return scoring.calibrate(scoring.from_neo4j(score), context.model.mu_document)


@dataclass(frozen=True, slots=True)
class NewBelief:
    """A belief that the run creates."""

    claim: Claim
    embedding: Embedding | None
    """Embedding of the statement; None if it is stored already."""


async def around(
    context: RequestContext,
    seen: ScopeSnapshot,
    made: Mapping[str, NewBelief],
    matched_ids: Collection[str],
    policy: ConsolidationPolicy,
) -> Neighborhood:
    """Return the passages near the beliefs that this run created.

    Args:
        made: beliefs by id; older ones are skipped.
        matched_ids: ids of passages that are evidence for or against another belief.
    """
    passages: dict[str, Passage] = {}
    same: dict[str, list[NearBelief]] = defaultdict(list)
    ids = sorted(made)
    for part in drafts.batches(ids, NEIGHBOR_PAGE):
        for row in await _read_neighbors(context, seen, [made[one] for one in part], policy):
            passage = row_passage(row)
            if passage.id in matched_ids or not informative_sentences(passage.text):
                continue
            passages[passage.id] = passage
            near = similarity(context, row["score"])
            same[passage.id].append(NearBelief(made[row["belief_id"]].claim, Status.CURRENT, near))
    return Neighborhood(
        passages=list(passages.values()),
        same={
            place: tuple(sorted(same[one], key=lambda near: (-near.similarity, near.claim.id)))
            for place, one in enumerate(passages)
        },
    )


async def _read_neighbors(
    context: RequestContext, seen: ScopeSnapshot, made: list[NewBelief], policy: ConsolidationPolicy
) -> list[dict[str, Any]]:
    beliefs = [
        {"id": one.claim.id, "vector": one.embedding and one.embedding.vector} for one in made
    ]
    return await context.fetch(
        AROUND,
        beliefs=beliefs,
        known=seen.known,
        human_roles=sorted(roles.HUMAN_ROLES),
        limit=MOST,
        min_score=least_same(context, policy),
    )
