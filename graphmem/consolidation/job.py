"""Run consolidation under a lease, with one transaction per cluster."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any

from graphmem import stored
from graphmem.consolidation import (
    BeliefChange,
    ClusterFailure,
    ConsolidationPolicy,
    ConsolidationReport,
    ConsolidationStatus,
    decisions,
    generalising,
    sources,
    statements,
    synthesis,
    writes,
)
from graphmem.consolidation.decisions import BeliefWrite, Cluster
from graphmem.consolidation.sources import Neighborhood, NewBelief, ScopeSnapshot
from graphmem.consolidation.statements import ClauseSimilarities
from graphmem.consolidation.synthesis import ClusterQuestion
from graphmem.consolidation.writes import Lease
from graphmem.errors import ModelUnansweredError, ModelUnavailableError
from graphmem.graph import catalog
from graphmem.model import EvidenceKind
from graphmem.ports import Llm, OnProgress, RequestContext, TokenUsage
from graphmem.rules import drafts, hygiene, identity, read_options
from graphmem.rules.claims import recorded_claim

CHUNK = 64
"""Clusters that are looked up and embedded together."""
DOWN = 3
"""Consecutive unanswered model requests after which a run stops."""

STATE = catalog.query("consolidate/state", dict)
REPLIES = catalog.query("consolidate/attempted", dict)


@dataclass(frozen=True, slots=True)
class ConsolidationOptions:
    """Options of a consolidation run."""

    policy: ConsolidationPolicy
    llm: Llm | None
    """Model that synthesises beliefs; None for the extractive method."""
    apply: bool
    """Whether to write; False for a preview."""
    if_due: bool
    """Whether to skip the run unless enough episodes are new or the last run is old enough."""
    on_progress: OnProgress
    """Progress callback; receives `passage`, `cluster` or `belief` and the number processed."""
    rules: Sequence[hygiene.Rule]
    retry: bool = False
    """Whether to try clusters that were given up again."""


@dataclass(slots=True)
class _ConsolidationRun:
    """A run and its state."""

    context: RequestContext
    options: ConsolidationOptions
    seen: ScopeSnapshot
    tried: set[str] = field(default_factory=set)
    """Reply ids of the clusters handled so far."""
    matched_ids: set[str] = field(default_factory=set)
    """Ids of passages that are evidence for or against a belief."""
    made: dict[str, NewBelief] = field(default_factory=dict)
    """New beliefs whose neighbourhood has not been searched yet."""
    supported: set[str] = field(default_factory=set)
    changes: list[BeliefChange] = field(default_factory=list)
    troubles: list[ClusterFailure] = field(default_factory=list)
    similarities: ClauseSimilarities = field(init=False)
    bill: TokenUsage = field(default_factory=TokenUsage)
    down: int = 0
    """Consecutive requests without an answer."""

    def __post_init__(self) -> None:
        """Start without similarities."""
        self.similarities = ClauseSimilarities(self.context)

    @property
    def name(self) -> str:
        """Name of the method that synthesises beliefs."""
        llm = self.options.llm
        return decisions.NAME if llm is None else synthesis.named(llm)

    def record(self, unit: BeliefWrite) -> None:
        """Record the evidence of a unit."""
        self.supported |= {
            one.claim.id for one in unit.evidence if one.kind is EvidenceKind.SUPPORTING
        }
        self.matched_ids |= {one.passage.id for one in unit.evidence}


async def consolidate(
    context: RequestContext, options: ConsolidationOptions
) -> ConsolidationReport:
    """Consolidate episodes into beliefs or preview it; see `AsyncJobs.consolidate`."""
    [state] = await context.fetch(STATE)
    counted = {"episodes": state["episodes"], "fresh": state["fresh"]}
    if why := _not_now(
        state, options.policy, if_due=options.if_due, modelled=options.llm is not None
    ):
        return ConsolidationReport(applied=False, skipped=why, **counted)
    if not options.apply:
        seen = _seen(state["open"] or state["now"], state["cursor"])
        done = await _run(_ConsolidationRun(context, options, seen), None)
        return done.model_copy(update=counted)
    owner = identity.event_id(context.services.clock.now())
    held = await writes.take(context, owner, writes.LEASE_S)
    if held is None:
        return ConsolidationReport(applied=False, skipped="another worker is running", **counted)
    seen = _seen(held["known"], held["cursor"])
    finished, away, failed = False, False, 0
    try:
        lease = Lease(owner, seen, writes.LEASE_S, held["resumed"])
        done = await _run(_ConsolidationRun(context, options, seen), lease)
        away = any(trouble.code == decisions.UNAVAILABLE for trouble in done.troubles)
        finished = not away
        failed = sum(not trouble.given_up for trouble in done.troubles)
    except ModelUnavailableError:
        away = True
        raise
    finally:
        await writes.give_back(context, owner, finished=finished, away=away, failed=failed)
    return done.model_copy(update=counted)


async def status(
    context: RequestContext, policy: ConsolidationPolicy, *, modelled: bool
) -> ConsolidationStatus:
    """Return what waits in the scope, and why; see `AsyncJobs.consolidation_status`."""
    [state] = await context.fetch(STATE)
    why = _not_now(state, policy, if_due=True, modelled=modelled)
    waiting = [
        ClusterFailure(
            reply_id=row["id"],
            code=(row["problem"] or "").partition(": ")[0],
            problem=(row["problem"] or "").partition(": ")[2],
            episode_ids=tuple(row["episode_ids"]),
            attempts=row["attempts"],
            given_up=row["attempts"] >= policy.max_attempts,
        )
        for row in await sources.waiting(context, state["now"])
    ]
    return ConsolidationStatus(
        episodes=state["episodes"],
        fresh=state["fresh"],
        due=why is None,
        reason=why or "a run is due",
        last_run_at=state["cursor"],
        open_since=state["open"],
        running=state["held"],
        unavailable_since=state["away_since"],
        retry_at=state["retry_at"],
        clusters=tuple(waiting),
    )


def _not_now(
    state: Mapping[str, Any], policy: ConsolidationPolicy, *, if_due: bool, modelled: bool
) -> str | None:
    if state["episodes"] < policy.min_episodes:
        return (
            f"consolidation starts at {policy.min_episodes} episodes; "
            f"the scope has {state['episodes']}"
        )
    if not if_due:
        return None
    if modelled and state["retry_at"] is not None and state["now"] < state["retry_at"]:
        since, until = (f"{state[name]:%Y-%m-%d %H:%M}" for name in ("away_since", "retry_at"))
        return f"the model has been unavailable since {since}; the next attempt is at {until} UTC"
    if state["cursor"] is None or state["retry_at"] is not None:
        return None
    waited = state["now"] - state["cursor"]
    if state["fresh"] >= policy.new_episodes or (
        (state["fresh"] or state["failed"]) and waited >= timedelta(hours=policy.interval_hours)
    ):
        return None
    failed = f", {state['failed']} clusters are to be tried again" if state["failed"] else ""
    return f"{state['fresh']} episodes are new{failed}, and the last run was {waited} ago"


def _seen(known: Any, cursor: Any) -> ScopeSnapshot:
    # Transactions open at the start of the last run may have committed since.
    since = (
        read_options.BEGINNING if cursor is None else cursor - 2 * read_options.MAX_OPEN_TRANSACTION
    )
    return ScopeSnapshot(known=known, since=since)


async def _run(run: _ConsolidationRun, lease: Lease | None) -> ConsolidationReport:
    options = run.options
    ground = await sources.ground(
        run.context, run.seen, options.policy, options.on_progress, retry=options.retry
    )
    ground.near = await statements.relate(
        run.similarities,
        ground.passages,
        ground.near,
        options.policy,
        modelled=options.llm is not None,
    )
    async for unit, existing in _units(run, ground):
        if lease is not None and not await writes.write(run.context, lease, unit, run.name):
            continue
        run.changes += synthesis.changes(unit, existing)
    return ConsolidationReport(
        applied=lease is not None,
        resumed=lease is not None and lease.resumed,
        synthesiser=decisions.NAME if options.llm is None else options.llm.name,
        known=run.seen.known,
        passages=len(ground.passages),
        clusters=len(run.tried),
        changes=tuple(run.changes),
        troubles=tuple(run.troubles),
        **asdict(run.bill),
    )


async def _units(
    run: _ConsolidationRun, ground: Neighborhood
) -> AsyncIterator[tuple[BeliefWrite, set[str]]]:
    """Yield the units to write, in order, each with the ids of beliefs it does not create."""
    async for one in _matched(run, ground):
        yield one
    async for one in _created(run, ground):
        yield one
    if run.down >= DOWN:
        return
    marks = await decisions.faint(run.context, run.seen, run.supported, run.options.policy)
    if marks:
        reply_id = decisions.reply_id(run.context.scope, "archive", run.seen.known.isoformat())
        yield BeliefWrite(reply_id, (), marks=tuple(marks)), set()


async def _created(
    run: _ConsolidationRun, ground: Neighborhood
) -> AsyncIterator[tuple[BeliefWrite, set[str]]]:
    """Yield the units that create beliefs, and the evidence of other passages for these.

    The remaining passages are clustered again until no cluster creates a belief. So a second run
    finds nothing more in them; it may generalise the beliefs of this run.
    """
    async for one in _generalised(run):
        yield one
    while run.down < DOWN:
        async for one in _round(run, ground):
            yield one
        if run.down >= DOWN or not run.made:
            return
        policy = run.options.policy
        near = await sources.around(run.context, run.seen, run.made, run.matched_ids, policy)
        run.made = {}
        async for one in _matched(run, near):
            yield one


async def _matched(
    run: _ConsolidationRun, ground: Neighborhood
) -> AsyncIterator[tuple[BeliefWrite, set[str]]]:
    """Yield evidence for and against existing beliefs."""
    matched = await decisions.matched(
        run.context.scope, ground, run.similarities, run.options.policy
    )
    for unit in matched:
        run.record(unit)
    for chunk in drafts.batches(matched, CHUNK):
        found = await run.context.fetch(REPLIES, ids=[unit.reply_id for unit in chunk])
        done = {row["id"] for row in found if row["done"]}
        waiting = [unit for unit in chunk if unit.reply_id not in done]
        for unit in await decisions.marked(run.context, run.seen, waiting):
            yield unit, {one.claim.id for one in unit.evidence}
        run.options.on_progress("belief", len(chunk))


async def _round(
    run: _ConsolidationRun, ground: Neighborhood
) -> AsyncIterator[tuple[BeliefWrite, set[str]]]:
    """Yield units for clusters of passages that are not yet evidence for or against a belief."""
    named = [
        (
            decisions.reply_id(run.context.scope, run.name, *sorted(one.id for one in cluster)),
            cluster,
        )
        for cluster in decisions.gathered(ground, run.matched_ids, run.options.policy)
    ]
    clusters = [one for one in named if one[0] not in run.tried]
    run.tried |= {reply_id for reply_id, _ in clusters}
    # A paid reply is written before the next request.
    step = CHUNK if run.options.llm is None else 1
    for part in drafts.batches(clusters, step):
        async for one in _clusters(run, ground, part):
            yield one
        run.options.on_progress("cluster", len(part))
        if run.down >= DOWN:
            return


async def _clusters(
    run: _ConsolidationRun, ground: Neighborhood, clusters: Sequence[tuple[str, Cluster]]
) -> AsyncIterator[tuple[BeliefWrite, set[str]]]:
    policy, llm = run.options.policy, run.options.llm
    waiting, attempts = await _sifted(run, clusters)
    if llm is None:
        units = await decisions.worded(run.context, waiting, run.similarities, policy)
    else:
        units = []
        for reply_id, cluster in waiting:
            near = decisions.candidates(ground, cluster, synthesis.MAX_BELIEFS)
            question = ClusterQuestion(reply_id, cluster, near)
            scope = run.context.scope
            ask = partial(synthesis.ask, scope, run.similarities, llm, question, policy)
            units.append(await _asked(run, BeliefWrite(reply_id, cluster), ask))
    async for found in _settled(run, units, attempts):
        yield found


async def _generalised(run: _ConsolidationRun) -> AsyncIterator[tuple[BeliefWrite, set[str]]]:
    """Yield units for clusters of beliefs; without a model there are none."""
    policy, llm = run.options.policy, run.options.llm
    if llm is None or policy.max_depth == 0:
        return
    for cluster in await generalising.clusters(run.context, run.seen, policy, run.name):
        run.tried.add(cluster.reply_id)
        waiting, attempts = await _sifted(run, [(cluster.reply_id, cluster.passages)])
        for reply_id, passages in waiting:
            ask = partial(generalising.ask, run.context, llm, cluster, policy)
            unit = await _asked(run, BeliefWrite(reply_id, passages, parts=cluster.ids), ask)
            async for found in _settled(run, [unit], attempts):
                yield found
        run.options.on_progress("cluster", 1)
        if run.down >= DOWN:
            return


async def _settled(
    run: _ConsolidationRun, units: Sequence[BeliefWrite], attempts: Mapping[str, int]
) -> AsyncIterator[tuple[BeliefWrite, set[str]]]:
    """Yield the units to write, and report the failed ones."""
    policy = run.options.policy
    units = [_storable(unit, run.options.rules) for unit in units]
    run.troubles += [
        _trouble(unit, attempts.get(unit.reply_id, 0) + (not unit.is_unanswered), policy)
        for unit in units
        if unit.problem is not None
    ]
    # Nothing is stored about a request without an answer. If the embedding model was unavailable
    # after an answer, its price is stored, and it does not count as an attempt either.
    kept = [unit for unit in units if unit.spent.calls or not unit.is_unanswered]
    async for found in _ready(run, kept):
        yield found


def _storable(unit: BeliefWrite, rules: Sequence[hygiene.Rule]) -> BeliefWrite:
    """Return a unit, or its problem without its words if it has a text that must not be stored."""
    claims = {one.claim.id: one.claim for one in unit.evidence}.values()
    texts = (
        text
        for one in claims
        for text in (
            one.statement,
            " ".join(filter(None, (one.subject, one.predicate, one.object))),
        )
        if text
    )
    found = [reason for text in texts for reason in hygiene.rejection_reasons(text, rules)]
    # A reply that is refused for another reason is kept, and so is what the reason quotes of it.
    found += filter(None, [hygiene.reply_secret(unit.raw)])
    if not found:
        return unit
    problem = f"it must not be stored: {', '.join(dict.fromkeys(found))}"
    return replace(unit, evidence=(), embeddings={}, raw=None, problem=("hygiene", problem))


async def _sifted(
    run: _ConsolidationRun, clusters: Sequence[tuple[str, Cluster]]
) -> tuple[list[tuple[str, Cluster]], dict[str, int]]:
    """Return the clusters still to process, by reply id, and the failed attempts of each."""
    found = await run.context.fetch(REPLIES, ids=[reply_id for reply_id, _ in clusters])
    known = {row["id"]: row for row in found}
    policy = run.options.policy
    attempts = {reply_id: row["attempts"] for reply_id, row in known.items()}
    waiting: list[tuple[str, Cluster]] = []
    for reply_id, cluster in clusters:
        if reply_id in known and known[reply_id]["done"]:
            _recall(json.loads(known[reply_id]["decided"]), run)
        elif attempts.get(reply_id, 0) >= policy.max_attempts and not run.options.retry:
            tried = attempts[reply_id]
            problem = f"it failed {tried} times; a retry or a passage that joins it tries it again"
            unit = BeliefWrite(reply_id, cluster, problem=("given_up", problem))
            run.troubles.append(_trouble(unit, tried, policy))
        else:
            waiting.append((reply_id, cluster))
    return waiting, attempts


def _recall(decided: Mapping[str, Any], run: _ConsolidationRun) -> None:
    """Apply an earlier decision about a cluster, from this run before it was interrupted or not."""
    for _, belief_id, passage_id, kind, _ in decided["evidence"]:
        run.matched_ids.add(passage_id)
        if kind == EvidenceKind.SUPPORTING:
            run.supported.add(belief_id)
    run.made |= {one["id"]: NewBelief(recorded_claim(one), None) for one in decided["beliefs"]}


async def _asked(
    run: _ConsolidationRun, unit: BeliefWrite, ask: Callable[[TokenUsage], Awaitable[BeliefWrite]]
) -> BeliefWrite:
    """Return what a model decided, or `unit` with the problem if it is unavailable."""
    bill = TokenUsage()
    try:
        unit = await ask(bill)
        run.down = 0
    except ModelUnavailableError as error:
        # A model that answers other requests is not down: this one counts as an attempt.
        run.down += not isinstance(error, ModelUnansweredError)
        unit = replace(unit, problem=(error.code, str(error)))
    # Count the answer even if the embedding model failed after it.
    run.bill.join(bill)
    return replace(unit, spent=bill)


async def _ready(
    run: _ConsolidationRun, units: Sequence[BeliefWrite]
) -> AsyncIterator[tuple[BeliefWrite, set[str]]]:
    """Yield units with flags and embeddings, each with the ids of beliefs that existed before."""
    context = run.context
    statements = {s.claim.id: s.claim.statement for unit in units for s in unit.evidence}
    found = await stored.find_existing(context, belief_ids=sorted(statements))
    existing = {row["id"] for row in found["beliefs"]}
    made = {belief_id: one for unit in units for belief_id, one in unit.embeddings.items()}
    new = [belief_id for belief_id in statements if belief_id not in existing | made.keys()]
    embeddings = {k: v for k, v in made.items() if k not in existing}
    if new:
        texts = [statements[belief_id] for belief_id in new]
        embeddings |= zip(new, await context.services.embed_documents(texts), strict=True)
    for unit in await decisions.marked(context, run.seen, units):
        run.record(unit)
        run.made |= {
            s.claim.id: NewBelief(s.claim, embeddings.get(s.claim.id)) for s in unit.evidence
        }
        own = {
            s.claim.id: embeddings[s.claim.id] for s in unit.evidence if s.claim.id in embeddings
        }
        yield replace(unit, embeddings=own), existing


def _trouble(unit: BeliefWrite, attempts: int, policy: ConsolidationPolicy) -> ClusterFailure:
    code, problem = unit.problem or ("", "")
    return ClusterFailure(
        reply_id=unit.reply_id,
        code=code,
        problem=problem,
        episode_ids=tuple(dict.fromkeys(one.episode_id for one in unit.passages)),
        attempts=attempts,
        given_up=attempts >= policy.max_attempts,
    )
