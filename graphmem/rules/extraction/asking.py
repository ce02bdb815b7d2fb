"""What a language model is asked about a window of turns, and what it may answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, FailFast, ValidationError

from graphmem.model import DismissalReason, DismissedProposal, EvidenceKind, Proposal, Turn
from graphmem.rules.extraction.grounding import speaker_of
from graphmem.rules.extraction.windows import TurnWindow
from graphmem.rules.prompting import Prompt, block, text

NAME = "extract"
"""Of the prompt's file."""
MOST_CHARACTERS, MOST_BESIDE = 4_000, 500
"""Of a message that is read, and of one shown for reference: a message may be a document."""
MOST_PROPOSALS = 100
"""Of one answer that are looked at: a model may go on for ever."""
MOST_PREDICATES = 60
"""In use that a model is offered, the most used."""
_FAULTS_SHOWN = 3


class ProposalReply(BaseModel):
    """One proposal as a model writes it; what its numbers and words are worth is checked later."""

    model_config = ConfigDict(frozen=True)

    turn: str
    """Key of the message."""
    quote: str
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    statement: str | None = None
    polarity: str = EvidenceKind.SUPPORTING
    confidence: float
    when: str | None = None
    cardinality: str | None = None


class ExtractionReply(BaseModel):
    """What a model may answer. Keys that nobody asked for are passed over."""

    model_config = ConfigDict(frozen=True)

    # A reply may hold any number of them, and each fault takes a kilobyte to tell.
    proposals: Annotated[tuple[ProposalReply, ...], FailFast()]


class Vocabulary(NamedTuple):
    """What a tenant calls things, the most used first."""

    predicates: Sequence[tuple[str, str | None]] = ()
    """Each with its declared cardinality."""
    names: Sequence[str] = ()


def keys(window: TurnWindow) -> dict[str, Turn]:
    """Return the turns to be read by the keys that stand for them."""
    return {f"t{n}": turn for n, turn in enumerate(window.turns, 1)}


def prompt(window: TurnWindow, known: Vocabulary) -> Prompt[ExtractionReply]:
    """Return the question for one window."""
    first = window.turns[0].position
    earlier = [turn for turn in window.around if turn.position < first]
    later = [turn for turn in window.around if turn.position > first]
    shown = (
        block("predicates", (_predicate(*one) for one in known.predicates[:MOST_PREDICATES])),
        block("names", ([name] for name in known.names)),
        block("earlier", (_line(f"e{n}", one, MOST_BESIDE) for n, one in enumerate(earlier, 1))),
        block("messages", (_line(key, one, MOST_CHARACTERS) for key, one in keys(window).items())),
        block("later", (_line(f"l{n}", one, MOST_BESIDE) for n, one in enumerate(later, 1))),
        "Answer:",
    )
    return Prompt(NAME, text(NAME), "\n".join(shown), ExtractionReply)


def _predicate(name: str, cardinality: str | None) -> Sequence[str]:
    return (name, cardinality) if cardinality else (name,)


def _line(key: str, turn: Turn, most: int) -> Sequence[str]:
    at = turn.occurred_at.strftime("%Y-%m-%dT%H:%M")
    return key, at, speaker_of(turn), turn.text[:most]


def proposals(reply: ExtractionReply, window: TurnWindow) -> tuple[list[Proposal], list[DismissedProposal]]:
    """Return an answer's proposals, and those that are none with what is wrong with them."""
    turns = keys(window)
    found: list[Proposal] = []
    refused: list[DismissedProposal] = []
    for offer in reply.proposals[:MOST_PROPOSALS]:
        turn = turns.get(offer.turn)
        if turn is None:
            problem = f"there is no message {offer.turn[:20]!r}"
            refused.append(_refused(DismissalReason.FOREIGN_TURN, problem, None))
            continue
        made = proposed(_fields(offer, turn.id))
        if isinstance(made, DismissedProposal):
            refused.append(made)
        else:
            found.append(made)
    if (more := len(reply.proposals) - MOST_PROPOSALS) > 0:
        problem = f"{more} more than the {MOST_PROPOSALS} that are looked at"
        refused.append(_refused(DismissalReason.MALFORMED, problem, None))
    return found, refused


def proposed(given: Mapping[str, Any]) -> Proposal | DismissedProposal:
    """Return the proposal that these fields make, or what is wrong with them."""
    try:
        return Proposal(**{str(name): value for name, value in given.items()})
    except ValidationError as error:
        turn_id = given.get("turn_id")
        known = turn_id if isinstance(turn_id, str) else None
        return _refused(DismissalReason.MALFORMED, "; ".join(_faults(error)), known)


def _fields(offer: ProposalReply, turn_id: str) -> dict[str, Any]:
    """Return the fields of a proposal; where there is a triple, its wording is ours."""
    whole = None not in (offer.subject, offer.predicate, offer.object)
    return {
        "turn_id": turn_id,
        "quote": offer.quote,
        "subject": _stripped(offer.subject),
        "predicate": _stripped(offer.predicate),
        "object": _stripped(offer.object),
        "statement": None if whole else _stripped(offer.statement),
        "kind": offer.polarity,
        "confidence": offer.confidence,
        "when": offer.when or None,
        "cardinality": offer.cardinality or None,
    }


def _stripped(given: str | None) -> str | None:
    return None if given is None else given.strip()


def _faults(error: ValidationError) -> Iterable[str]:
    """Yield what is wrong, each with its place and nothing of what was given."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    for fault in found[:_FAULTS_SHOWN]:
        place = ".".join(map(str, fault["loc"]))
        said = fault["msg"].removeprefix("Value error, ")
        yield f"{place}: {said}" if place and fault["type"] != "extra_forbidden" else said


def _refused(code: DismissalReason, problem: str, turn_id: str | None) -> DismissedProposal:
    return DismissedProposal(code=code, problem=problem, turn_id=turn_id, proposal=None)
