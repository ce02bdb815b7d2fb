"""Checks of proposals, and the evidence and the review events made from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from graphmem.english import dates
from graphmem.extraction import (
    AcceptedProposal,
    DismissalReason,
    DismissedProposal,
    PendingProposal,
    PendingRetraction,
    PendingUpdate,
    Proposal,
    assertions,
    quotes,
    windows,
)
from graphmem.extraction.quotes import SuppliedText, TextSpan
from graphmem.extraction.windows import TurnWindow, is_person
from graphmem.model import (
    Cardinality,
    EventType,
    EvidenceKind,
    EvidenceSource,
    TenantScope,
    Turn,
)
from graphmem.rules import claims, drafts, hygiene, identity
from graphmem.rules.claims import Claim, EvidenceDraft

Objection = tuple[DismissalReason, str]

_STATED = {
    DismissalReason.PASTED: "its words are quoted, pasted or to be worked on",
    DismissalReason.QUESTION: "its clause asks",
    DismissalReason.CONDITION: "its clause depends on a condition",
    DismissalReason.REPORT: "its clause reports another person's words or thoughts",
    DismissalReason.PAST: "its clause is about what once was",
    DismissalReason.PLAN: "its clause is a plan, a hope or a guess",
    DismissalReason.FICTION: "its clause belongs to a story, a dream, a role, an example or a joke",
    DismissalReason.TAKEN_BACK: "the words after it take it back",
    DismissalReason.NEGATED: "its clause denies it",
}
"""Problems of a quote that its clause does not state."""

SOURCE = "extraction"


@dataclass(frozen=True, slots=True)
class CheckContext:
    """Data that the proposals of a session are checked against."""

    scope: str
    session: Collection[str]
    """Ids of all turns of the session."""
    supplied: Sequence[SuppliedText] = ()
    """Texts that memory supplied to the participants."""
    rules: Sequence[hygiene.Rule] = ()
    weights: Mapping[str, float] | None = None
    """Weights by source type; None if every type has a weight."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Canonical names by folded name."""
    predicates: Mapping[str, str] = field(default_factory=dict)
    """Known predicates by their keys."""


class CheckedProposal(NamedTuple):
    """A proposal that passed every check."""

    proposal: Proposal
    claim: Claim
    quote: str
    """The quote as written in the turn."""
    at: datetime
    """Start of the fact's validity."""
    dated: bool
    """Whether the text states when the fact began."""


class _Case(NamedTuple):
    """A proposal, the turn it names, and the data it is checked against."""

    proposal: Proposal
    turn: Turn
    window: TurnWindow
    ground: CheckContext


_Check = Callable[[_Case], Objection | None]


def check_proposals(
    proposals: Iterable[Proposal], window: TurnWindow, ground: CheckContext
) -> tuple[list[CheckedProposal], list[DismissedProposal]]:
    """Return the proposals that pass, in the order of their turns, and the dismissals.

    If two proposals make the same claim about one turn, the first passes.
    """
    passed: dict[tuple[str, str], CheckedProposal] = {}
    dismissed: list[DismissedProposal] = []
    for proposal in proposals:
        checked = check_proposal(proposal, window, ground)
        if isinstance(checked, DismissedProposal):
            dismissed.append(checked)
            continue
        key = checked.claim.id, proposal.turn_id
        if key in passed:
            problem = "an earlier proposal makes the same claim from the same turn"
            dismissed.append(dismissal(proposal, DismissalReason.REPEATED, problem))
        else:
            passed[key] = checked
    order = {turn.id: n for n, turn in enumerate(window.turns)}
    return sorted(passed.values(), key=lambda p: order[p.proposal.turn_id]), dismissed


def check_proposal(
    proposal: Proposal, window: TurnWindow, ground: CheckContext
) -> CheckedProposal | DismissedProposal:
    """Return a proposal ready to write, or its dismissal by the first check that fails."""
    turn = window.turn(proposal.turn_id)
    if turn is None:
        return dismissal(proposal, *_check_turn(proposal, window, ground))
    case = _Case(proposal, turn, window, ground)
    for check in _CHECKS:
        if objection := check(case):
            return dismissal(proposal, *objection)
    at, dated = _validity_start(case)
    place = next(quotes.find_quote(proposal.quote, text := quotes.nfc(turn.text)))
    return CheckedProposal(proposal, _claim(case), text[place.start : place.end], at, dated)


def dismissal(proposal: Proposal, code: DismissalReason, problem: str) -> DismissedProposal:
    """Return the dismissal of a proposal, without the proposal if it must not be stored."""
    shown = None if code is DismissalReason.HYGIENE else proposal
    return DismissedProposal(code=code, problem=problem, turn_id=proposal.turn_id, proposal=shown)


def _check_turn(proposal: Proposal, window: TurnWindow, ground: CheckContext) -> Objection:
    if proposal.turn_id in ground.session or any(
        turn.id == proposal.turn_id for turn in window.around
    ):
        return (
            DismissalReason.NOT_OFFERED,
            "the turn was shown for reference only, or is read at another time",
        )
    return DismissalReason.FOREIGN_TURN, "the turn is not part of this session"


def _check_source_type(case: _Case) -> Objection | None:
    weights, kind = case.ground.weights, case.proposal.source_type
    if weights is None or kind in weights:
        return None
    return DismissalReason.UNWEIGHTED, f"the source type {kind!r} has no weight"


def _check_person(case: _Case) -> Objection | None:
    if is_person(case.turn):
        return None
    return DismissalReason.NOT_A_PERSON, f"a turn of the role {case.turn.role!r} is not evidence"


def _check_quote(case: _Case) -> Objection | None:
    if any(quotes.find_quote(case.proposal.quote, quotes.nfc(case.turn.text))):
        return None
    return DismissalReason.QUOTE_NOT_FOUND, "the quote does not occur in the turn"


def _check_echo(case: _Case) -> Objection | None:
    if not quotes.is_echo(case.proposal.quote, case.turn, case.ground.supplied):
        return None
    return DismissalReason.ECHO, "the quote repeats a text that memory supplied"


def _check_hygiene(case: _Case) -> Objection | None:
    reasons = hygiene.rejection_reasons(case.proposal.quote, case.ground.rules)
    reasons += hygiene.rejection_reasons(_claim(case).statement, case.ground.rules)
    if not reasons:
        return None
    return DismissalReason.HYGIENE, f"it must not be stored: {', '.join(dict.fromkeys(reasons))}"


def _check_grounding(case: _Case) -> Objection | None:
    """Check names against the text around the quote, without text that memory supplied."""
    near = (
        quotes.blank_spans(turn.text, quotes.echo_spans(turn, case.ground.supplied))
        for turn in case.window.neighbours(case.turn)
    )
    spoken = (turn.name for turn in case.window.neighbours(case.turn) if turn.name)
    within = windows.grounding_context((*near, *spoken), windows.speaker_of(case.turn))
    if case.proposal.statement is not None:
        if windows.is_statement_grounded(case.proposal.statement, case.proposal.quote, within):
            return None
        return (
            DismissalReason.UNGROUNDED_STATEMENT,
            "it names something absent from the text, or shares no word with its quote",
        )
    for name, code in (
        (case.proposal.subject, DismissalReason.UNGROUNDED_SUBJECT),
        (case.proposal.object, DismissalReason.UNGROUNDED_OBJECT),
    ):
        names = windows.name_variants(str(name), case.ground.names)
        if not any(windows.is_grounded(variant, within) for variant in names):
            return code, f"{_shorten(name)} occurs neither in the quote nor around it"
    return None


def _check_time(case: _Case) -> Objection | None:
    when = case.proposal.when
    if when is not None and not any(quotes.find_quote(when, quotes.nfc(case.turn.text))):
        return (
            DismissalReason.TIME_NOT_FOUND,
            f"the words {_shorten(when)} do not occur in the turn",
        )
    if _validity_start(case)[0] > case.window.said_at[case.turn.id]:
        return DismissalReason.FUTURE, "it begins after the time of its turn"
    return None


def _check_stated(case: _Case) -> Objection | None:
    """Judge the clause around each occurrence of the quote; one that states it is enough."""
    proposal, text = case.proposal, quotes.nfc(case.turn.text)
    objections = (
        _objection(proposal, text, place) for place in quotes.find_quote(proposal.quote, text)
    )
    first = next(objections, None)
    return None if first is None or any(one is None for one in objections) else first


def _objection(proposal: Proposal, text: str, quote: TextSpan) -> Objection | None:
    parts = (proposal.subject, proposal.predicate, proposal.object, proposal.statement)
    own = " ".join(part for part in parts if part)
    refuting = proposal.kind is EvidenceKind.REFUTING
    for thing in _things(text, quote, proposal.object):
        for reason in assertions.doubts(text, thing, own, refuting=refuting):
            return reason, _STATED[reason]
    if (
        proposal.subject is not None
        and claims.name_key(proposal.subject) in windows.FIRST_PERSON
        and assertions.has_other_subject(text, quote, str(proposal.predicate))
    ):
        return DismissalReason.OTHER_SUBJECT, "its clause is not about the speaker"
    return None


def _things(text: str, quote: TextSpan, object_: str | None) -> Iterator[TextSpan]:
    """Yield the places to judge: the object in its quote, else the quote and a near object."""
    places = list(quotes.find_quote(object_, text, any_case=True)) if object_ else []
    inside = [one for one in places if quote.start <= one.start and one.end <= quote.end]
    if inside:
        yield inside[0]
        return
    yield quote
    for one in assertions.sentence_spans(text):
        if one.start <= quote.start < one.end:
            yield from [near for near in places if one.start <= near.start < one.end][:1]


_CHECKS: tuple[_Check, ...] = (
    _check_source_type,
    _check_person,
    _check_quote,
    _check_echo,
    _check_hygiene,
    _check_grounding,
    _check_time,
    _check_stated,
)
"""Checks in order; the first that fails is reported."""


def _validity_start(case: _Case) -> tuple[datetime, bool]:
    """Return the start of the fact's validity, and whether the text states it."""
    turn_at = case.window.said_at[case.turn.id]
    if case.proposal.since is not None:
        return case.proposal.since, True
    if case.proposal.when is not None:
        start = dates.validity_start(case.proposal.when, case.turn.local_at)
        if start is not None and start != case.turn.occurred_at:
            return start, True
    return turn_at, False


def _claim(case: _Case) -> Claim:
    proposal, ground = case.proposal, case.ground
    if proposal.subject is None or proposal.predicate is None or proposal.object is None:
        return claims.statement_claim(ground.scope, str(proposal.statement))
    subject, object_ = (
        windows.canonical_name(windows.resolve_speaker(name, case.turn), ground.names)
        for name in (proposal.subject, proposal.object)
    )
    predicate = windows.known_predicate(proposal.predicate, ground.predicates)
    return claims.triple_claim(ground.scope, subject, predicate, object_)


def _shorten(name: str | None) -> str:
    """Return at most 40 characters of a name: an extractor may produce a text of any length."""
    return repr((name or "")[:40])


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """Evidence of one turn for one belief."""

    claim: Claim
    turn_id: str
    episode_id: str
    quote: str
    when: str | None
    """Words that state when the fact began, if they were understood."""
    at: datetime
    kind: EvidenceKind
    confidence: float
    source_type: str
    extractor: str
    dated: bool = False
    proposal_id: str | None = None
    """Id of the accepted proposal; None if it was not reviewed."""
    cardinality: Cardinality | None = None
    """Cardinality proposed for the predicate."""

    @property
    def event_id(self) -> str:
        """Id of the evidence event."""
        return claims.passage_evidence_id(self.claim.id, self.turn_id)

    @property
    def own_proposal_id(self) -> str:
        """Id of the proposal event."""
        return "prop_" + identity.digest(self.claim.id, self.turn_id)[:32]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of everything that it would add to the graph."""
        return (self.event_id, self.own_proposal_id, self.claim.id)

    def draft(self, now: datetime) -> EvidenceDraft:
        """Return the evidence event."""
        source = EvidenceSource(
            event_id=self.event_id,
            at=self.at,
            source=SOURCE,
            actor=self.extractor,
            episode_id=self.episode_id,
            turn_id=self.turn_id,
        )
        # The turn exists, so its time is accepted even if it is ahead of this machine's clock.
        now = max(now, self.at)
        drafted = claims.draft_event(self.claim, source, EventType.EVIDENCE, now, self._fields())
        return replace(drafted, payload={**drafted.payload, **self._words()})

    def proposal_row(self, tenant_scope: TenantScope) -> dict[str, Any]:
        """Return the PROPOSE event, a row for extract/propose."""
        scope, kind = tenant_scope.scope, EventType.PROPOSE
        payload = {"claim": asdict(self.claim), "turn_id": self.turn_id, **self._words()}
        payload |= {"cardinality": self.cardinality} if self.cardinality else {}
        asked = scope, kind, self.claim.id, self.turn_id
        return {
            **drafts.event(self.own_proposal_id, scope, kind, self.at, asked, payload),
            "source": SOURCE,
            "actor": self.extractor,
            "episode_id": self.episode_id,
            "turn_id": self.turn_id,
            **self._fields(),
        }

    def accepted(self, event_id: str, *, new: bool) -> AcceptedProposal:
        """Return the result for the caller."""
        return AcceptedProposal(**self.record_fields, event_id=event_id, dated=self.dated, new=new)

    @property
    def record_fields(self) -> dict[str, Any]:
        """Fields of the records of accepted and of pending proposals."""
        claim = self.claim
        return {
            "belief_id": claim.id,
            "statement": claim.statement,
            "subject": claim.subject,
            "predicate": claim.predicate,
            "object": claim.object,
            "kind": self.kind,
            "confidence": self.confidence,
            "source_type": self.source_type,
            "occurred_at": self.at,
            "episode_id": self.episode_id,
            "turn_id": self.turn_id,
            "quote": self.quote,
        }

    def _fields(self) -> dict[str, Any]:
        return {
            "polarity": self.kind.polarity,
            "confidence": self.confidence,
            "source_type": self.source_type,
        }

    def _words(self) -> dict[str, str]:
        given = {"quote": self.quote, "when": self.when, "proposal_id": self.proposal_id}
        return {name: words for name, words in given.items() if words is not None}


def proposal_evidence(
    passed: CheckedProposal, claim: Claim, episode_id: str, extractor: str
) -> TurnEvidence:
    """Return the evidence for an accepted proposal; its predicate's template words `claim`."""
    proposal = passed.proposal
    return TurnEvidence(
        claim=claim,
        turn_id=proposal.turn_id,
        episode_id=episode_id,
        quote=passed.quote,
        when=proposal.when if passed.dated else None,
        at=passed.at,
        kind=proposal.kind,
        confidence=proposal.confidence,
        source_type=proposal.source_type,
        extractor=extractor,
        dated=passed.dated,
        cardinality=proposal.cardinality,
    )


def parse_evidence(row: Mapping[str, Any]) -> TurnEvidence:
    """Return the evidence that a PROPOSE event proposes; see extract/proposals."""
    payload = json.loads(row["payload"])
    return TurnEvidence(
        claim=claims.recorded_claim(payload["claim"]),
        turn_id=payload["turn_id"],
        episode_id=row["episode_id"],
        quote=payload["quote"],
        when=payload.get("when"),
        at=row["occurred_at"],
        kind=EvidenceKind.of(row["polarity"]),
        confidence=row["confidence"],
        source_type=row["source_type"],
        extractor=row["actor"],
        proposal_id=row["id"],
        cardinality=Cardinality(given) if (given := payload.get("cardinality")) else None,
    )


def pending_update(row: Mapping[str, Any]) -> PendingUpdate:
    """Return a PROPOSE_UPDATE event in the form shown to callers."""
    ends = json.loads(row["payload"])
    texts = {memory["id"]: memory["content"] for memory in row["memories"]}
    names = ("id", "status", "scope", "occurred_at", "recorded_at")
    return PendingUpdate(
        **{name: row[name] for name in names},
        newer_id=ends["newer_id"],
        newer=texts.get(ends["newer_id"]),
        older_id=ends["older_id"],
        older=texts.get(ends["older_id"]),
    )


def pending_retraction(row: Mapping[str, Any]) -> PendingRetraction:
    """Return a PROPOSE_RETRACT event in the form shown to callers."""
    payload, belief = json.loads(row["payload"]), row["belief"] or {}
    names = ("id", "status", "scope", "occurred_at", "recorded_at")
    return PendingRetraction(
        **{name: row[name] for name in names},
        event_id=payload["event_id"],
        belief_id=belief.get("id"),
        statement=belief.get("statement"),
        note=payload.get("note"),
    )


def pending_proposal(row: Mapping[str, Any]) -> PendingProposal:
    """Return a PROPOSE event in the form shown to callers."""
    evidence = parse_evidence(row)
    return PendingProposal(
        **evidence.record_fields,
        id=row["id"],
        status=row["status"],
        scope=row["scope"],
        recorded_at=row["recorded_at"],
        extractor=evidence.extractor,
        cardinality=evidence.cardinality,
    )
