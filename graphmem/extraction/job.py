"""Run extraction over the unread turns of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from graphmem.errors import ModelReplyError, ModelUnansweredError, ModelUnavailableError
from graphmem.extraction import (
    AcceptedProposal,
    CardinalityProposal,
    DismissalReason,
    DismissedProposal,
    ExtractionReport,
    FailedWindow,
    proposals,
    readers,
    windows,
)
from graphmem.extraction import review as extraction_review
from graphmem.extraction.proposals import CheckContext, CheckedProposal, TurnEvidence
from graphmem.extraction.readers import PendingLogEntry, ProposalReader, ReaderResult
from graphmem.extraction.review import WindowWrite
from graphmem.extraction.windows import TurnContext, TurnWindow, Vocabulary
from graphmem.graph import catalog
from graphmem.model import Cardinality, Episode, Turn
from graphmem.ports import OnProgress, RequestContext, TokenUsage
from graphmem.rules import hygiene, identity
from graphmem.rules.claims import predicate_key
from graphmem.rules.hygiene import Rule

ATTEMPTS = 5
"""Runs that try a window whose replies violate the contract, before it is given up."""
FACTS_PAGE = 100
"""Turns whose facts are written in one transaction."""
DOWN = 3
"""Consecutive unanswered model calls after which a run makes no more."""

_Named: TypeAlias = tuple[str | None, Cardinality | None]
"""A predicate and the cardinality proposed for it."""

REPLIES = catalog.query("consolidate/attempted", dict)
FIND_EXISTING = catalog.query("extract/find_existing", dict)
UNREAD = catalog.query("extract/unread_sessions", lambda row: row["session_id"])
"""Sessions with turns that an extractor has not read."""


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """Options of an extraction run."""

    reader: ProposalReader
    apply: bool
    """Whether to write; False for a preview."""
    review: bool
    """Whether accepted proposals wait for review."""
    rules: Sequence[Rule]
    names: Mapping[str, str]
    """Canonical entity names, by folded name."""
    waiting: Sequence[PendingLogEntry]
    """Searches of this process that are not in the log yet."""
    on_progress: OnProgress
    """Progress callback; receives `turn` and the number of turns processed."""


@dataclass(slots=True)
class _ExtractionRun:
    """A run and its state."""

    context: RequestContext
    options: ExtractionOptions
    episode_id: str
    ground: CheckContext
    known: Vocabulary
    attempts: Mapping[str, int]
    """Earlier attempts, by reply id of the window."""
    made: set[str] = field(default_factory=set)
    """Ids of beliefs that did not exist before this run."""
    bill: TokenUsage = field(default_factory=TokenUsage)
    down: int = 0
    """Consecutive model calls without an answer."""


@dataclass(frozen=True, slots=True)
class _WindowResult:
    """Result of one window."""

    turns: int
    passed: int = 0
    """Turns that another worker has read in the meantime."""
    extracted: Sequence[AcceptedProposal] = ()
    refused: Sequence[DismissedProposal] = ()
    unread: FailedWindow | None = None
    named: Sequence[_Named] = ()
    """Predicates of the accepted proposals."""


async def extract(
    context: RequestContext, episode_id: str, options: ExtractionOptions
) -> ExtractionReport:
    """Extract the unread turns of a session; see `AsyncJobs.extract`."""
    episode = await readers.session(context, episode_id)
    places = await readers.places(context, episode_id, options.reader.name)
    spans = windows.unread_groups(places)
    run = await _start_run(context, options, episode, places, spans)
    works: list[Callable[[], Coroutine[Any, Any, _WindowResult]]] = [
        partial(_window, run, span) for span in spans
    ]
    done = await context.services.gather(works, context.services.settings.model_concurrency)
    named = [one for part in done for one in part.named]
    return ExtractionReport(
        applied=options.apply,
        review=options.review,
        session_id=episode.session_id or episode.id,
        episode_id=episode_id,
        extractor=options.reader.name,
        turns=sum(part.turns for part in done),
        passed=sum(place.read for place in places) + sum(part.passed for part in done),
        proposals=tuple(one for part in done for one in part.extracted),
        refused=tuple(one for part in done for one in part.refused),
        unread=tuple(part.unread for part in done if part.unread is not None),
        new_predicates=_new_predicates(named, run.known),
        cardinalities=_cardinalities(named, run.known),
        **asdict(run.bill),
    )


async def extract_facts(
    context: RequestContext, session_id: str, turns: Sequence[Turn], options: ExtractionOptions
) -> list[str]:
    """Write the facts that rules read in the turns of a session; return the ids of new beliefs.

    Reads what was read before again, which costs less than to ask for it: evidence is written
    once, because its id follows from the turn and the belief.
    """
    contexts = windows.turn_contexts((t.id, t.position, False, t.occurred_at) for t in turns)
    ground = CheckContext(
        scope=context.scope,
        session=frozenset(turn.id for turn in turns),
        supplied=await readers.supplied(
            context, session_id, min(turn.recorded_at for turn in turns), options.waiting
        ),
        rules=options.rules,
        weights=context.services.settings.source_weights,
        names=options.names,
    )
    run = _ExtractionRun(context, options, turns[0].episode_id, ground, Vocabulary(), {})
    for first in range(0, len(turns), FACTS_PAGE):
        span = contexts[first : first + FACTS_PAGE]
        near = turns[max(0, first - windows.REACH) : first + FACTS_PAGE + windows.REACH]
        window = windows.build_window(span, near)
        read = await options.reader.read(window, run.known, run.bill)
        if read.proposals:
            unit = WindowWrite(
                _reply_id(context, options, span), options.reader.name, tuple(p.id for p in span)
            )
            await _written(run, window, unit, read)
    return sorted(run.made)


async def _start_run(
    context: RequestContext,
    options: ExtractionOptions,
    episode: Episode,
    places: Sequence[TurnContext],
    spans: Sequence[Sequence[TurnContext]],
) -> _ExtractionRun:
    """Return the initial state of a run; everything is read before anything is written."""
    if not spans:
        ground = CheckContext(context.scope, ())
        return _ExtractionRun(context, options, episode.id, ground, Vocabulary(), {})
    known = await readers.vocabulary(context, options.names)
    ids = [_reply_id(context, options, span) for span in spans]
    found = await context.fetch(REPLIES, ids=ids)
    ground = CheckContext(
        scope=context.scope,
        session=frozenset(place.id for place in places),
        supplied=await readers.supplied(
            context, episode.session_id, episode.recorded_at, options.waiting
        ),
        rules=options.rules,
        weights=context.services.settings.source_weights,
        names=options.names,
        predicates={predicate_key(name): name for name, _ in reversed(known.predicates)},
    )
    attempts = {row["id"]: row["attempts"] for row in found}
    return _ExtractionRun(context, options, episode.id, ground, known, attempts)


def _reply_id(
    context: RequestContext, options: ExtractionOptions, span: Sequence[TurnContext]
) -> str:
    return "x_" + identity.digest(context.scope, options.reader.name, *(p.id for p in span))[:32]


async def _window(run: _ExtractionRun, span: Sequence[TurnContext]) -> _WindowResult:
    """Read one window, check its proposals and write the accepted ones."""
    context, options = run.context, run.options
    reply_id = _reply_id(context, options, span)
    unit = WindowWrite(
        reply_id, options.reader.name, tuple(place.id for place in span), review=options.review
    )
    if run.attempts.get(reply_id, 0) >= ATTEMPTS:
        problem = f"the reply violated the contract {ATTEMPTS} times"
        return _unread(unit, ("given_up", problem), run)
    if run.down >= DOWN:
        return _unread(unit, (ModelUnavailableError.code, "earlier model calls failed"), run)
    window = await readers.window(context, run.episode_id, span)
    try:
        # Assistant and tool turns are not evidence, so a window of only those is not read.
        without_people = not window.people
        read = (
            ReaderResult(())
            if without_people
            else await options.reader.read(window, run.known, unit.bill)
        )
    except ModelUnavailableError as error:
        run.down += not isinstance(error, ModelUnansweredError)
        return _unread(unit, (error.code, str(error)), run)
    except ModelReplyError as error:
        problem = f"{error.code}: {error}"
        if options.apply:
            await extraction_review.write(
                context, replace(unit, raw=_kept(error.raw), problem=problem)
            )
        return _unread(unit, (error.code, str(error)), run, answered=True)
    run.down = 0
    run.bill.join(unit.bill)
    done = await _written(run, window, replace(unit, raw=_kept(read.raw)), read)
    options.on_progress("turn", len(span))
    return done


def _kept(raw: str | None) -> str | None:
    """Return a reply as it is stored: not at all if it is empty or contains a credential."""
    return None if hygiene.reply_secret(raw) else raw or None


async def _written(
    run: _ExtractionRun, window: TurnWindow, unit: WindowWrite, read: ReaderResult
) -> _WindowResult:
    context, options = run.context, run.options
    accepted, refused = proposals.check_proposals(read.proposals, window, run.ground)
    claims = await extraction_review.worded(context, [one.claim for one in accepted])
    evidence = [
        proposals.proposal_evidence(one, claims[one.claim.id], run.episode_id, options.reader.name)
        for one in accepted
    ]
    kept, known, new = await _sorted(run, list(zip(accepted, evidence, strict=True)))
    hidden = any(one.code is DismissalReason.HYGIENE for one in refused)
    unit = replace(unit, evidence=tuple(one for _, one in kept), raw=None if hidden else unit.raw)
    if options.apply and not await extraction_review.write(context, unit):
        return _WindowResult(0, passed=len(unit.turn_ids))
    return _WindowResult(
        turns=len(unit.turn_ids),
        extracted=[
            one.accepted(
                one.own_proposal_id if options.review else one.event_id, new=one.claim.id in new
            )
            for _, one in kept
        ],
        refused=[*read.refused, *refused, *known],
        named=[(one.claim.predicate, passed.proposal.cardinality) for passed, one in kept],
    )


async def _sorted(
    run: _ExtractionRun, accepted: Sequence[tuple[CheckedProposal, TurnEvidence]]
) -> tuple[list[tuple[CheckedProposal, TurnEvidence]], list[DismissedProposal], set[str]]:
    """Return new proposals, dismissed known ones, and the ids of beliefs new in this run."""
    if not accepted:
        return [], [], set()
    ids = [name for _, one in accepted for name in (one.event_id, one.own_proposal_id)]
    beliefs = sorted({one.claim.id for _, one in accepted})
    [found] = await run.context.fetch(FIND_EXISTING, event_ids=ids, belief_ids=beliefs)
    run.made |= set(beliefs) - set(found["beliefs"])
    stored = {event["id"]: event["dismissed"] for event in found["events"]}
    kept, known = [], []
    for passed, one in accepted:
        objection = _duplicate_reason(one, stored)
        if objection is None:
            kept.append((passed, one))
        else:
            known.append(proposals.dismissal(passed.proposal, *objection))
    return kept, known, run.made


def _duplicate_reason(
    one: TurnEvidence, stored: Mapping[str, bool]
) -> tuple[DismissalReason, str] | None:
    """Return why a proposal is not written again; None if it is new."""
    if one.event_id in stored:
        return DismissalReason.KNOWN, "this quote is already evidence for the belief"
    if one.own_proposal_id not in stored:
        return None
    if stored[one.own_proposal_id]:
        return DismissalReason.DISMISSED_BEFORE, "a reviewer dismissed the proposal"
    return DismissalReason.KNOWN, "the proposal already waits for review"


def _unread(
    unit: WindowWrite, why: tuple[str, str], run: _ExtractionRun, *, answered: bool = False
) -> _WindowResult:
    attempts = run.attempts.get(unit.reply_id, 0) + answered
    failed = FailedWindow(
        reply_id=unit.reply_id,
        code=why[0],
        problem=why[1],
        turn_ids=unit.turn_ids,
        attempts=attempts,
        given_up=attempts >= ATTEMPTS,
    )
    return _WindowResult(0, unread=failed)


def _new_predicates(named: Sequence[_Named], known: Vocabulary) -> tuple[str, ...]:
    stored = {predicate_key(name) for name, _ in known.predicates}
    names = (name for name, _ in named if name is not None)
    return tuple(dict.fromkeys(name for name in names if predicate_key(name) not in stored))


def _cardinalities(named: Sequence[_Named], known: Vocabulary) -> tuple[CardinalityProposal, ...]:
    """Return the most frequently proposed cardinality of each undeclared predicate."""
    declared = {predicate_key(name) for name, cardinality in known.predicates if cardinality}
    votes: dict[str, Counter[Cardinality]] = {}
    for name, cardinality in named:
        if name is not None and cardinality is not None and predicate_key(name) not in declared:
            votes.setdefault(name, Counter())[cardinality] += 1
    return tuple(
        CardinalityProposal(predicate=name, cardinality=count.most_common(1)[0][0])
        for name, count in votes.items()
    )
