"""Extraction of evidence from the turns of a session, and review of proposals."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from graphmem.model.belief import Cardinality, EvidenceKind, Part, Statement, Unit
from graphmem.model.terms import Instant, Name, Record, Text

_WHOLE = (0, 3)


class Proposal(Record):
    """A proposed reading of a turn: a triple or a free statement."""

    turn_id: Name
    quote: Annotated[Text, Field(min_length=1, max_length=2_000, pattern=r"\S")]
    """Words of the turn, verbatim."""
    subject: Part | None = None
    predicate: Part | None = None
    object: Part | None = None
    statement: Statement | None = None
    kind: EvidenceKind = EvidenceKind.SUPPORTING
    """Refuting if the words say that it is not, or no longer, true."""
    confidence: Unit = 0.8
    since: Instant | None = None
    """Start of the validity, or its end for a refuting proposal; None for the time of the turn."""
    when: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    """Words of the turn that give `since`."""
    cardinality: Cardinality | None = None
    """Suggested cardinality of the predicate; accepting the proposal under review declares it."""
    source_type: Name = "EXTRACTOR"

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = sum(part is not None for part in (self.subject, self.predicate, self.object))
        if given not in _WHOLE:
            raise ValueError("subject, predicate and object must be given together or not at all")
        if (given == 0) == (self.statement is None):
            raise ValueError("give either a triple or a statement")
        return self


class DismissalReason(StrEnum):
    """Reason why a proposal is dismissed; stable, for use by programs."""

    MALFORMED = "malformed"
    """A part is missing, too long or out of range."""
    UNWEIGHTED = "unweighted"
    """Its source type has no weight in the settings."""
    FOREIGN_TURN = "foreign_turn"
    """Its turn is not in this session."""
    NOT_OFFERED = "not_offered"
    """Its turn is in this session but was not among the turns to read."""
    NOT_A_PERSON = "not_a_person"
    """Its turn comes from an assistant, a tool or a system."""
    QUOTE_NOT_FOUND = "quote_not_found"
    """Its turn does not contain its quote."""
    ECHO = "echo"
    """Its quote repeats text that memory had supplied."""
    HYGIENE = "hygiene"
    """Its quote or text must not be stored: a credential, for example."""
    UNGROUNDED_SUBJECT = "ungrounded_subject"
    """Its subject is named neither in the quote nor around it."""
    UNGROUNDED_OBJECT = "ungrounded_object"
    """Its object is named neither in the quote nor around it."""
    UNGROUNDED_STATEMENT = "ungrounded_statement"
    """It names something found nowhere around the quote, or shares no word with it."""
    PASTED = "pasted"
    """Its words are quoted or pasted text, not the speaker's own."""
    QUESTION = "question"
    """Its clause asks."""
    CONDITION = "condition"
    """Its clause depends on a condition."""
    REPORT = "report"
    """Its clause reports another person's words or thoughts."""
    PAST = "past"
    """Its clause is about what once was."""
    PLAN = "plan"
    """Its clause is a plan, a hope or a guess."""
    FICTION = "fiction"
    """Its clause belongs to a story, a dream, a role, an example or a joke."""
    TAKEN_BACK = "taken_back"
    """The words after it take it back."""
    NEGATED = "negated"
    """Its clause denies it, and it is not refuting."""
    OTHER_SUBJECT = "other_subject"
    """It is about the speaker, and its clause about another person."""
    TIME_NOT_FOUND = "time_not_found"
    """Its turn does not contain the words that give `since`."""
    FUTURE = "future"
    """Its `since` is later than its turn."""
    REPEATED = "repeated"
    """Another proposal of the same reply states the same about the same turn."""
    KNOWN = "known"
    """The quote is already evidence for it or part of an open proposal."""
    DISMISSED_BEFORE = "dismissed_before"
    """A person has dismissed it."""


class DismissedProposal(Record):
    """A dismissed proposal."""

    code: DismissalReason
    problem: str
    """The problem, as a sentence."""
    turn_id: str | None
    """Id of its turn; None if it named no known turn."""
    proposal: Proposal | None
    """The dismissed proposal; None if it was malformed or contains sensitive text."""


class AcceptedProposal(Record):
    """A proposal that passed every check."""

    event_id: str
    """Id of its evidence; under review, of the pending proposal."""
    belief_id: str
    statement: str
    """Text of its triple, or the statement as given."""
    subject: str | None
    predicate: str | None
    object: str | None
    kind: EvidenceKind
    confidence: float
    source_type: str
    occurred_at: Instant
    """Start of the validity if the words give one; otherwise the time of the turn."""
    dated: bool
    """Whether the words give the start of the validity."""
    episode_id: str
    turn_id: str
    quote: str
    """Words of the turn, verbatim."""
    new: bool
    """Whether its belief did not exist before."""


class CardinalityProposal(Record):
    """An undeclared predicate and its cardinality as the extractor takes it.

    Reads ignore it until `predicates.declare(name, cardinality=…)` declares it, or until the
    proposal is accepted under review.
    """

    predicate: str
    cardinality: Cardinality


class FailedWindow(Record):
    """Turns that were not read this time; nothing was written for them."""

    reply_id: str
    code: str
    problem: str
    turn_ids: tuple[str, ...]
    attempts: int
    """Number of attempts that got a reply, including this one."""
    given_up: bool
    """Whether they are not tried again under this model and prompt."""


class ExtractionReport(Record):
    """Result of an extraction or of its preview."""

    applied: bool
    """False for a preview."""
    review: bool
    """Whether proposals that pass the checks wait to be accepted."""
    session_id: str
    episode_id: str
    extractor: str
    """Name of the extractor; for a language model, with a digest of its prompt."""
    turns: int
    """Number of turns read now."""
    passed: int
    """Number of turns that this extractor had read before."""
    proposals: tuple[AcceptedProposal, ...] = ()
    """Proposals that passed every check, in the order of their turns."""
    refused: tuple[DismissedProposal, ...] = ()
    unread: tuple[FailedWindow, ...] = ()
    new_predicates: tuple[str, ...] = ()
    """Predicates that no belief in the read scopes had before."""
    cardinalities: tuple[CardinalityProposal, ...] = ()
    calls: int = 0
    """Number of requests to the language model, including retries and repairs."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """Cost in USD; None if the price is unknown."""

    @property
    def new_beliefs(self) -> tuple[str, ...]:
        """Return the ids of beliefs that these are the first evidence for, each once."""
        return tuple(dict.fromkeys(p.belief_id for p in self.proposals if p.new))


class ProposalStatus(StrEnum):
    """State of a proposal under review."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"


class PendingProposal(Record):
    """A proposal under review, with or without a decision."""

    id: str
    status: ProposalStatus
    scope: str
    belief_id: str
    """Id of the belief that it is, or would be, evidence for."""
    statement: str
    subject: str | None
    predicate: str | None
    object: str | None
    kind: EvidenceKind
    confidence: float
    source_type: str
    occurred_at: Instant
    recorded_at: Instant
    """Time when it was put under review."""
    extractor: str
    episode_id: str
    turn_id: str
    quote: str
    cardinality: Cardinality | None = None
    """Cardinality that its acceptance declares if the predicate is undeclared."""


class PendingUpdate(Record):
    """A proposal to replace a memory by a newer one, with or without a decision."""

    id: str
    status: ProposalStatus
    scope: str
    newer_id: str
    """Id of the memory that may replace the other."""
    newer: str | None
    """Its text; None if it was erased."""
    older_id: str
    """Id of the memory that may be replaced."""
    older: str | None
    """Its text; None if it was erased."""
    occurred_at: Instant
    """Time at which the newer text was stated."""
    recorded_at: Instant


class PendingRetraction(Record):
    """A proposal to take back what a person stated, with or without a decision."""

    id: str
    status: ProposalStatus
    scope: str
    event_id: str
    """Id of the event that may be taken back."""
    belief_id: str | None
    """Id of the belief that it is evidence for or against; None if it was erased."""
    statement: str | None
    """Text of that belief."""
    note: str | None
    """Why it should be taken back."""
    occurred_at: Instant
    recorded_at: Instant


class ProposalPage(Record):
    """A page of proposals, oldest first; all kinds count together."""

    proposals: tuple[PendingProposal, ...]
    """Proposals of evidence, from extraction."""
    updates: tuple[PendingUpdate, ...] = ()
    """Proposals to replace memories, from `remember(…, on_update="propose")`."""
    retractions: tuple[PendingRetraction, ...] = ()
    """Proposals to take back what a person stated, from handles of other classes."""
    next_cursor: str | None
    """Cursor of the next page; None on the last one."""


class ReviewReport(Record):
    """Result of `accept` or `dismiss`."""

    proposal_ids: tuple[str, ...]
    """Ids of proposals decided now."""
    repeated: tuple[str, ...]
    """Ids of proposals that had the same decision before."""
    event_ids: tuple[str, ...]
    """Ids of the evidence and of the supersessions created from accepted proposals."""
    belief_ids: tuple[str, ...]
    """Ids of the beliefs that the evidence is for, in the same order."""
    declared: tuple[str, ...] = ()
    """Predicates declared with the cardinality that the accepted proposals suggest."""
