"""Extraction: what turns are proposed to say, what became of each proposal, and why."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from graphmem.model.belief import Cardinality, EvidenceKind, Part, Statement, Unit
from graphmem.model.terms import Instant, Name, Record, Text

_WHOLE = (0, 3)


class Proposal(Record):
    """What a turn is proposed to say: a triple, or a free statement."""

    turn_id: Name
    quote: Annotated[Text, Field(min_length=1, max_length=2_000, pattern=r"\S")]
    """Words of the turn, verbatim."""
    subject: Part | None = None
    predicate: Part | None = None
    object: Part | None = None
    statement: Statement | None = None
    kind: EvidenceKind = EvidenceKind.SUPPORTING
    """Refuting: the words say that it is not so, or no longer."""
    confidence: Unit = 0.8
    since: Instant | None = None
    """Since when it is so, or no longer so; None: as of when it was said."""
    when: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    """The words of the turn that say since when."""
    cardinality: Cardinality | None = None
    """Whether values of this predicate compete; a suggestion that nothing is read by."""
    source_type: Name = "EXTRACTOR"

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = sum(part is not None for part in (self.subject, self.predicate, self.object))
        if given not in _WHOLE:
            raise ValueError("subject, predicate and object are given together or not at all")
        if (given == 0) == (self.statement is None):
            raise ValueError("give a triple or a statement, one of the two")
        return self


class DismissalReason(StrEnum):
    """Why a proposal does not reach the graph; stable, programs may match on it."""

    MALFORMED = "malformed"
    """It is no proposal: a part is missing, too long or out of range."""
    UNWEIGHED = "unweighed"
    """No weight is set for its source type."""
    FOREIGN_TURN = "foreign_turn"
    """Its turn is none of this session's."""
    NOT_OFFERED = "not_offered"
    """Its turn is of this session and was not among those to be read."""
    MACHINE_TURN = "machine_turn"
    """Its turn was said by an assistant, a tool or a system."""
    INVENTED_QUOTE = "invented_quote"
    """Its quote does not stand in its turn."""
    ECHO = "echo"
    """Its quote stands in what memory itself had supplied."""
    HYGIENE = "hygiene"
    """What it quotes or says may not be stored: a credential, for example."""
    UNFOUNDED_SUBJECT = "unfounded_subject"
    """Who or what it is about is named neither in the quote nor around it."""
    UNFOUNDED_OBJECT = "unfounded_object"
    """What it says of it stands neither in the quote nor around it."""
    UNFOUNDED_STATEMENT = "unfounded_statement"
    """It names what stands nowhere around the quote, or shares no word with it."""
    INVENTED_TIME = "invented_time"
    """The words that are to say since when do not stand in its turn."""
    FUTURE = "future"
    """It is said to begin after it was said."""
    REPEATED = "repeated"
    """Another proposal of the same reply says the same of the same turn."""
    KNOWN = "known"
    """Those words are a piece of evidence for it, or an open proposal, already."""
    REJECTED = "rejected"
    """Somebody has rejected it."""


class DismissedProposal(Record):
    """A proposal that does not reach the graph."""

    code: DismissalReason
    problem: str
    """In words."""
    turn_id: str | None
    """None: it named no turn that is known."""
    proposal: Proposal | None
    """None: it is none, or holds what must not be shown."""


class AcceptedProposal(Record):
    """A proposal that passed every check."""

    event_id: str
    """Of its piece of evidence; under review, of the proposal that waits."""
    belief_id: str
    statement: str
    """As its triple reads aloud, or as given."""
    subject: str | None
    predicate: str | None
    object: str | None
    kind: EvidenceKind
    confidence: float
    source_type: str
    occurred_at: Instant
    """Since when the words say so; else when they were said."""
    dated: bool
    """The words say since when."""
    episode_id: str
    turn_id: str
    quote: str
    """As it stands in the turn."""
    new: bool
    """Nothing was known of its belief."""


class CardinalityProposal(Record):
    """A predicate that nobody declared, and what the extractor takes it for.

    Nothing is read by it until `predicate(name, cardinality=…)` declares it.
    """

    predicate: str
    cardinality: Cardinality


class FailedWindow(Record):
    """Turns that could not be read this time; nothing was written of them."""

    reply_id: str
    code: str
    """Of the error."""
    problem: str
    turn_ids: tuple[str, ...]
    attempts: int
    """So far that were answered, this one counted."""
    given_up: bool
    """They are not tried again under this model and prompt."""


class ExtractionReport(Record):
    """What an extraction wrote, or would write."""

    applied: bool
    """False for a dry run."""
    review: bool
    """What passed the checks waits to be accepted."""
    session_id: str
    episode_id: str
    extractor: str
    """Its name; of a language model with a digest of its prompt."""
    turns: int
    """That were read now."""
    passed: int
    """That this extractor had read before."""
    proposals: tuple[AcceptedProposal, ...] = ()
    """That passed every check, in the order of their turns."""
    refused: tuple[DismissedProposal, ...] = ()
    unread: tuple[FailedWindow, ...] = ()
    new_predicates: tuple[str, ...] = ()
    """That no belief in sight had before."""
    cardinalities: tuple[CardinalityProposal, ...] = ()
    calls: int = 0
    """Requests to the language model, retries and repairs included."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """As far as the price is known."""

    @property
    def new_beliefs(self) -> tuple[str, ...]:
        """Ids of beliefs that these are the first evidence for, each once."""
        return tuple(dict.fromkeys(one.belief_id for one in self.proposals if one.new))


class ProposalStatus(StrEnum):
    """What became of a proposal that was put up for review."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class PendingProposal(Record):
    """A proposal that waits for a decision, or had one."""

    id: str
    status: ProposalStatus
    scope: str
    belief_id: str
    """Of the belief that it is, or would be, evidence for."""
    statement: str
    subject: str | None
    predicate: str | None
    object: str | None
    kind: EvidenceKind
    confidence: float
    source_type: str
    occurred_at: Instant
    recorded_at: Instant
    """When it was put up."""
    extractor: str
    episode_id: str
    turn_id: str
    quote: str


class ProposalPage(Record):
    """Some proposals, oldest first."""

    proposals: tuple[PendingProposal, ...]
    next_cursor: str | None
    """Pass it on to get the next page; None on the last one."""


class ReviewReport(Record):
    """What `accept` or `reject` did."""

    proposal_ids: tuple[str, ...]
    """Decided now."""
    repeated: tuple[str, ...]
    """Decided so before."""
    event_ids: tuple[str, ...]
    """Of the evidence that accepted ones became."""
    belief_ids: tuple[str, ...]
    """That it is evidence for, in the same order."""
