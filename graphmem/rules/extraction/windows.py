"""Windows of turns, the prompt about them, and the words that ground a quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, FailFast, ValidationError

from graphmem.model import DismissalReason, DismissedProposal, EvidenceKind, Proposal, Turn
from graphmem.rules import facts, transcripts
from graphmem.rules.claims import folded
from graphmem.rules.consolidation import Prompt, block, text
from graphmem.rules.extraction.quoting import plain, stands
from graphmem.rules.quantities import ARTICLES, COMMON, FactKind

_APART = re.compile(r"[\W_]+")


def canonical(name: str, names: Mapping[str, str]) -> str:
    """Return the name by which an entity is known.

    The one place where extraction resolves the name of a subject or an object.

    Args:
        name: as it was said.
        names: canonical names by folded ones; what is not among them is its own.
    """
    return names.get(folded(name), name.strip())


def name_variants(name: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return every way in which an entity may have been named, the given one first."""
    known = canonical(name, names)
    others = (alias for alias, to in names.items() if folded(to) == folded(known))
    return tuple(dict.fromkeys((name, known, *others)))


def shape(predicate: str) -> str:
    """Return what is alike in `lives in`, `Lives-in` and `lives_in`."""
    return _APART.sub("_", folded(predicate)).strip("_")


def known_predicate(name: str, known: Mapping[str, str]) -> str:
    """Return a predicate as it is known, else in small letters joined by underscores.

    Args:
        name: as an extractor writes it.
        known: predicates by their shapes.
    """
    shaped = shape(name)
    return known.get(shaped, shaped or name)


SIZE = 8
"""Turns of a window at most."""
REACH = 4
"""Turns before a window, and after it, that are shown for reference."""


@dataclass(frozen=True, slots=True)
class TurnContext:
    """A turn as the session has it."""

    id: str
    position: int
    read: bool
    """This extractor has read it."""
    after: int = 0
    """How many of the session stand before it at the same instant: messages that were added
    together carry one, and their order is known all the same."""


@dataclass(frozen=True, slots=True)
class TurnWindow:
    """Turns to be read, and those about them."""

    turns: tuple[Turn, ...]
    """Consecutive, of every role, in order."""
    around: tuple[Turn, ...]
    """Before and after them, in order."""
    said_at: Mapping[str, datetime]
    """When each of `turns` was said; of equal instants the later turn is a microsecond later."""

    @property
    def people(self) -> tuple[Turn, ...]:
        """Those that people said: the words of others are no evidence."""
        return tuple(turn for turn in self.turns if is_person(turn))

    def turn(self, turn_id: str) -> Turn | None:
        """Return the turn to be read that has this id."""
        return next((turn for turn in self.turns if turn.id == turn_id), None)

    def beside(self, turn: Turn) -> list[Turn]:
        """Return the turns at most two places away, itself first."""
        near = [other for other in (*self.around, *self.turns) if 0 < _apart(turn, other) <= NEXT]
        return [turn, *near]


NEXT = 2
"""How far away what a quote leaves out may have been said: a question and its answer."""


def _apart(one: Turn, other: Turn) -> int:
    return abs(one.position - other.position)


def is_person(turn: Turn) -> bool:
    """Return whether a person said a turn, and no assistant, tool or system."""
    return turn.role.lower() not in transcripts.NOT_PEOPLE


def placed(rows: Iterable[tuple[str, int, bool, object]]) -> list[TurnContext]:
    """Return the turns of a session, of id, position, whether they were read, and instant each."""
    seen: dict[object, int] = {}
    found = []
    for turn_id, position, read, at in rows:
        found.append(TurnContext(turn_id, position, read, seen.get(at, 0)))
        seen[at] = seen.get(at, 0) + 1
    return found


def window(stretch: Sequence[TurnContext], turns: Sequence[Turn]) -> TurnWindow:
    """Return a stretch with its turns and those about it.

    Args:
        stretch: what is to be read.
        turns: of the session, from `REACH` before it to `REACH` after it, in order.
    """
    place = {one.id: one for one in stretch}
    offered = tuple(turn for turn in turns if turn.id in place)
    return TurnWindow(
        turns=offered,
        around=tuple(turn for turn in turns if turn.id not in place),
        said_at={
            turn.id: turn.occurred_at + timedelta(microseconds=place[turn.id].after)
            for turn in offered
        },
    )


def stretches(places: Iterable[TurnContext], size: int = SIZE) -> list[Sequence[TurnContext]]:
    """Return the turns that are still to be read, in stretches of consecutive ones.

    A run that was cut short has read whole stretches, so what is left falls into the same ones.
    """
    found: list[list[TurnContext]] = []
    for place in places:
        if place.read:
            continue
        last = found[-1] if found else []
        if last and last[-1].position + 1 == place.position and len(last) < size:
            last.append(place)
        else:
            found.append([place])
    return list(found)


FIRST = frozenset(
    {
        *("i", "me", "my", "mine", "myself", "self", "user", "speaker", "human"),
        *("the user", "the speaker", "this user", "the human"),
    }
)
"""Words for whoever is speaking."""
_SILENT = ARTICLES | {"s", "of", "and"}
_TOKEN = re.compile(r"[^\W_]+")
_CAPITAL = frozenset({FactKind.NAME, FactKind.NUMBER, FactKind.DATE})
_LEAST_PLURAL = 4


@dataclass(frozen=True, slots=True)
class GroundingContext:
    """What a quote may rest on: its own turn, those beside it, and who speaks."""

    texts: tuple[str, ...]
    """Without memory's own words."""
    known: frozenset[str]
    """Their words, in every form they may be an inflection of."""


def around(texts: Iterable[str], speaker: str) -> GroundingContext:
    """Return what a quote may rest on.

    Args:
        texts: of its turn and of those beside it, memory's own words left out.
        speaker: its name, or its role.
    """
    held = tuple(plain(text) for text in texts)
    return GroundingContext(held, FIRST.union(*map(_forms, (*held, speaker))))


def speaker_of(turn: Turn) -> str:
    """Return whom a first person in a turn means: its speaker's name, else its role."""
    return turn.name or turn.role


def meant(name: str, turn: Turn) -> str:
    """Return whom a name means: the speaker for a first person, else as it is."""
    return speaker_of(turn) if folded(name) in FIRST else name


def founded(name: str, within: GroundingContext) -> bool:
    """Return whether a name stands there as written, or all its words do in some inflection."""
    if any(stands(name, text) for text in within.texts):
        return True
    tokens = [token for token in _tokens(name) if token not in _SILENT]
    if tokens and all(not within.known.isdisjoint(_inflected(token)) for token in tokens):
        return True
    keys = [word.key for word in facts.words(name)]
    return bool(keys) and all(key in within.known for key in keys)


def statement_founded(statement: str, quote: str, within: GroundingContext) -> bool:
    """Return whether a statement names nothing that was not said, and shares a word with its quote.

    Names, numbers and dates must stand there; other words are the extractor's to choose.
    """
    named = [
        word.key
        for word in facts.words(statement)
        if word.kind in _CAPITAL and word.key not in COMMON
    ]
    if any(within.known.isdisjoint(_inflected(key)) for key in named):
        return False
    telling = {token for token in _tokens(statement) if token not in COMMON}
    shared = {form for token in telling for form in _inflected(token)} & _forms(quote)
    return bool(shared)


@lru_cache(maxsize=1_024)
def _forms(text: str) -> frozenset[str]:
    """Return every word of a text in every form that it may be an inflection of.

    Kept for the texts met last: every proposal of a window is held against the same ones.
    """
    tokens = (form for token in _tokens(text) for form in _inflected(token))
    read = (form for word in facts.words(text) for form in (word.key, *word.bases))
    return frozenset((*tokens, *read))


def _tokens(text: str) -> list[str]:
    return [token.casefold() for token in _TOKEN.findall(plain(text))]


def _inflected(token: str) -> set[str]:
    """Return a word and what it may be a plural or a third person of."""
    forms = {token}
    if len(token) >= _LEAST_PLURAL and token.endswith("s") and not token.endswith("ss"):
        forms |= {token[:-1], token[:-2]} if token.endswith("es") else {token[:-1]}
        if token.endswith("ies"):
            forms.add(token[:-3] + "y")
    return forms


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


def proposals(
    reply: ExtractionReply, window: TurnWindow
) -> tuple[list[Proposal], list[DismissedProposal]]:
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
