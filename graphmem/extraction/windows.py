"""Windows of turns, the prompt about them, and the words that ground a quote."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, FailFast, ValidationError

from graphmem import folding
from graphmem.english import facts
from graphmem.english.facts import FactToken
from graphmem.english.quantities import ARTICLES, COMMON, FactKind
from graphmem.extraction import DismissalReason, DismissedProposal, Proposal
from graphmem.extraction.quotes import nfc, occurs
from graphmem.model import EvidenceKind, Turn, roles
from graphmem.rules import identity
from graphmem.rules.claims import name_key, predicate_key
from graphmem.rules.prompts import Prompt, prompt_block, prompt_text

WINDOW_SIZE = 8
REACH = 4
"""Number of turns before and after a window that are shown for reference."""

GROUNDING_REACH = 2
"""Number of positions within which context may complete a quote: a question and its answer."""

FIRST_PERSON = frozenset(
    {
        *("i", "me", "my", "mine", "myself", "self", "user", "speaker", "human"),
        *("the user", "the speaker", "this user", "the human"),
    }
)
"""Words for the speaker."""
_SILENT = ARTICLES | {"s", "of", "and"}
_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)+|[^\W_]+")
"""A word, or a number with its separators: 5.1 is not 1.5, and 2031-05-04 not 2031-04-05."""
_CAPITAL = frozenset({FactKind.NAME, FactKind.NUMBER, FactKind.DATE})
_MIN_PLURAL_CHARS = 4

NAME = "extract"
"""Name of the prompt file."""
MAX_CHARS, MAX_REFERENCE_CHARS = 4_000, 500
"""Maximum characters of a message to read, and of one shown for reference."""
MAX_PROPOSALS = 100
"""Maximum number of proposals read from one reply; a model may repeat itself indefinitely."""
MAX_PREDICATES = 60
"""Maximum number of predicates in use that a model is offered, the most used first."""
_FAULTS_SHOWN = 3


def canonical_name(name: str, names: Mapping[str, str]) -> str:
    """Return the name by which an entity is known.

    This is the only place where extraction resolves the name of a subject or an object. A name that
    is not a key of `names`, which are folded, is canonical.
    """
    return names.get(name_key(name), name.strip())


def name_variants(name: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return every name that may denote an entity, the given one first."""
    canonical = canonical_name(name, names)
    others = (alias for alias, to in names.items() if name_key(to) == name_key(canonical))
    return tuple(dict.fromkeys((name, canonical, *others)))


def known_predicate(name: str, known: Mapping[str, str]) -> str:
    """Return a predicate as already known, else in lower case joined by underscores.

    `known` maps the keys of predicates to them.
    """
    key = predicate_key(name)
    return known.get(key, key)


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Position of a turn in its session."""

    id: str
    position: int
    read: bool
    """Whether this extractor has read the turn."""
    after: int = 0
    """Number of earlier turns in the session with the same timestamp. Messages added together
    share one timestamp but keep their order."""


@dataclass(frozen=True, slots=True)
class TurnWindow:
    """Turns to read, and the turns around them."""

    turns: tuple[Turn, ...]
    """Consecutive turns of every role, in order."""
    around: tuple[Turn, ...]
    """Turns before and after them, in order."""
    said_at: Mapping[str, datetime]
    """Timestamp of each of `turns`; ties are broken by adding microseconds in order."""

    @property
    def people(self) -> tuple[Turn, ...]:
        """Turns by people; the words of assistants and tools are not evidence."""
        return tuple(turn for turn in self.turns if is_person(turn))

    def turn(self, turn_id: str) -> Turn | None:
        """Return the turn of the window with this id; None if it is not in the window."""
        return next((turn for turn in self.turns if turn.id == turn_id), None)

    def neighbours(self, turn: Turn) -> list[Turn]:
        """Return the turns within `GROUNDING_REACH` positions, the turn itself first."""
        near = [
            other
            for other in (*self.around, *self.turns)
            if 0 < abs(turn.position - other.position) <= GROUNDING_REACH
        ]
        return [turn, *near]


def is_person(turn: Turn) -> bool:
    """Return whether a turn comes from a person, not an assistant, tool or system."""
    return roles.is_human(turn.role)


def turn_contexts(rows: Iterable[tuple[str, int, bool, Hashable]]) -> list[TurnContext]:
    """Return the turns of a session from rows of (id, position, read, timestamp)."""
    turns = list(rows)
    after = identity.ordinals(at for *_, at in turns)
    return [TurnContext(*row[:3], n) for row, n in zip(turns, after, strict=True)]


def build_window(group: Sequence[TurnContext], turns: Sequence[Turn]) -> TurnWindow:
    """Return the window for consecutive turns, with the turns around them.

    Args:
        group: positions of the turns to read.
        turns: turns of the session, from `REACH` before the group to `REACH` after it, in order.
    """
    contexts = {context.id: context for context in group}
    offered = tuple(turn for turn in turns if turn.id in contexts)
    return TurnWindow(
        turns=offered,
        around=tuple(turn for turn in turns if turn.id not in contexts),
        said_at={
            turn.id: turn.occurred_at + timedelta(microseconds=contexts[turn.id].after)
            for turn in offered
        },
    )


def unread_groups(contexts: Iterable[TurnContext]) -> list[Sequence[TurnContext]]:
    """Return the unread turns, grouped into runs of at most WINDOW_SIZE consecutive turns.

    An interrupted run has read whole groups, so the remaining turns fall into the same groups.
    """
    groups: list[list[TurnContext]] = []
    for context in contexts:
        if context.read:
            continue
        last = groups[-1] if groups else []
        if last and last[-1].position + 1 == context.position and len(last) < WINDOW_SIZE:
            last.append(context)
        else:
            groups.append([context])
    return list(groups)


@dataclass(frozen=True, slots=True)
class GroundingContext:
    """Texts that may ground a quote: its own turn, the neighbouring turns, and the speaker."""

    texts: tuple[str, ...]
    """The texts, without content that memory supplied."""
    known: frozenset[str]
    """Words of the texts, in every form they may be an inflection of."""


def grounding_context(texts: Iterable[str], speaker: str) -> GroundingContext:
    """Return the texts that may ground a quote.

    Args:
        texts: texts of its turn and the neighbouring turns, without content from memory.
    """
    normalised = tuple(nfc(text) for text in texts)
    return GroundingContext(
        normalised, FIRST_PERSON.union(*map(_word_forms, (*normalised, speaker)))
    )


def speaker_of(turn: Turn) -> str:
    """Return the speaker that a first-person word in a turn denotes: a name, else the role."""
    return turn.name or turn.role


def resolve_speaker(name: str, turn: Turn) -> str:
    """Return the speaker for a first-person word, else the name itself."""
    return speaker_of(turn) if name_key(name) in FIRST_PERSON else name


def is_grounded(name: str, within: GroundingContext) -> bool:
    """Return whether a name occurs in the context as written, or with every word inflected."""
    if any(occurs(name, text) for text in within.texts):
        return True
    tokens = [token for token in _tokens(name) if token not in _SILENT]
    if tokens and all(not within.known.isdisjoint(_base_forms(token)) for token in tokens):
        return True
    keys = [word.key for word in facts.fact_tokens(name)]
    return bool(keys) and all(key in within.known for key in keys)


def is_statement_grounded(statement: str, quote: str, within: GroundingContext) -> bool:
    """Return whether every name in a statement is grounded, and it shares a word with its quote.

    Names, numbers and dates must occur in the context; the extractor may choose other words.
    """
    if any(foreign_values(statement, within)):
        return False
    content_words = {token for token in _tokens(statement) if token not in COMMON}
    shared = {form for token in content_words for form in _base_forms(token)} & _word_forms(quote)
    return bool(shared)


def foreign_values(statement: str, within: GroundingContext) -> Iterator[FactToken]:
    """Yield the names, numbers and dates of a statement that do not occur in the context."""
    for word in facts.fact_tokens(statement):
        # A common word may be a date, too: May.
        is_value = word.kind in _CAPITAL and (
            word.kind is not FactKind.NAME or word.key not in COMMON
        )
        if is_value and within.known.isdisjoint(_base_forms(word.key)):
            yield word


@lru_cache(maxsize=1_024)
def _word_forms(text: str) -> frozenset[str]:
    """Return every word of a text in every form that it may be an inflection of.

    Results are cached, because all proposals of a window are checked against the same texts.
    """
    tokens = (form for token in _tokens(text) for form in _base_forms(token))
    read = (form for word in facts.fact_tokens(text) for form in (word.key, *word.bases))
    return frozenset((*tokens, *read))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(folding.fold(text))


def _base_forms(token: str) -> set[str]:
    """Return a word with the base forms of which it may be a plural or a third person."""
    forms = {token}
    if len(token) >= _MIN_PLURAL_CHARS and token.endswith("s") and not token.endswith("ss"):
        forms |= {token[:-1], token[:-2]} if token.endswith("es") else {token[:-1]}
        if token.endswith("ies"):
            forms.add(token[:-3] + "y")
    return forms


class ProposalReply(BaseModel):
    """One proposal as a model writes it; its values are checked later."""

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
    """Reply of a model. Unknown keys are ignored."""

    model_config = ConfigDict(frozen=True)

    # A reply may contain any number of proposals, and each error takes a kilobyte to describe.
    proposals: Annotated[tuple[ProposalReply, ...], FailFast()]


class Vocabulary(NamedTuple):
    """Names and predicates that a tenant uses, the most used first."""

    predicates: Sequence[tuple[str, str | None]] = ()
    """Predicates, each with its declared cardinality."""
    names: Sequence[str] = ()


def turn_keys(window: TurnWindow) -> dict[str, Turn]:
    """Return the turns to read by their short keys."""
    return {f"t{n}": turn for n, turn in enumerate(window.turns, 1)}


def extraction_prompt(window: TurnWindow, vocabulary: Vocabulary) -> Prompt[ExtractionReply]:
    """Return the prompt for one window."""
    first = window.turns[0].position
    earlier = [turn for turn in window.around if turn.position < first]
    later = [turn for turn in window.around if turn.position > first]
    blocks = (
        prompt_block(
            "predicates", (_predicate(*turn) for turn in vocabulary.predicates[:MAX_PREDICATES])
        ),
        prompt_block("names", ([name] for name in vocabulary.names)),
        prompt_block(
            "earlier",
            (_line(f"e{n}", turn, MAX_REFERENCE_CHARS) for n, turn in enumerate(earlier, 1)),
        ),
        prompt_block(
            "messages", (_line(key, turn, MAX_CHARS) for key, turn in turn_keys(window).items())
        ),
        prompt_block(
            "later", (_line(f"l{n}", turn, MAX_REFERENCE_CHARS) for n, turn in enumerate(later, 1))
        ),
        "Answer:",
    )
    return Prompt(NAME, prompt_text(NAME), "\n".join(blocks), ExtractionReply)


def _predicate(name: str, cardinality: str | None) -> Sequence[str]:
    return (name, cardinality) if cardinality else (name,)


def _line(key: str, turn: Turn, max_chars: int) -> Sequence[str]:
    at = turn.local_at.strftime("%Y-%m-%dT%H:%M")
    return key, at, speaker_of(turn), turn.text[:max_chars]


def parse_reply(
    reply: ExtractionReply, window: TurnWindow
) -> tuple[list[Proposal], list[DismissedProposal]]:
    """Return the valid proposals of a reply, and the malformed ones with their problems."""
    turns = turn_keys(window)
    accepted: list[Proposal] = []
    dismissed: list[DismissedProposal] = []
    for offer in reply.proposals[:MAX_PROPOSALS]:
        turn = turns.get(offer.turn)
        if turn is None:
            problem = f"message {offer.turn[:20]!r} does not exist"
            dismissed.append(_dismissal(DismissalReason.FOREIGN_TURN, problem, None))
            continue
        proposal = parse_proposal(_fields(offer, turn.id))
        if isinstance(proposal, DismissedProposal):
            dismissed.append(proposal)
        else:
            accepted.append(proposal)
    if (more := len(reply.proposals) - MAX_PROPOSALS) > 0:
        dismissed.append(dismiss_rest(more, None))
    return accepted, dismissed


def dismiss_rest(more: int, turn_id: str | None) -> DismissedProposal:
    """Return one dismissal for all proposals beyond `MAX_PROPOSALS`."""
    problem = f"{more} more than the {MAX_PROPOSALS} that are read"
    return _dismissal(DismissalReason.MALFORMED, problem, turn_id)


def parse_proposal(fields: Mapping[str, Any]) -> Proposal | DismissedProposal:
    """Return the proposal with these fields, or a dismissal that names the problem."""
    try:
        return Proposal(**{str(name): value for name, value in fields.items()})
    except ValidationError as error:
        turn_id = fields.get("turn_id")
        known = turn_id if isinstance(turn_id, str) else None
        return _dismissal(DismissalReason.MALFORMED, "; ".join(_describe_errors(error)), known)


def _fields(offer: ProposalReply, turn_id: str) -> dict[str, Any]:
    """Return the fields of a proposal; the statement is dropped if a triple is given."""
    is_triple = None not in (offer.subject, offer.predicate, offer.object)
    return {
        "turn_id": turn_id,
        "quote": offer.quote,
        "subject": _strip(offer.subject),
        "predicate": _strip(offer.predicate),
        "object": _strip(offer.object),
        "statement": None if is_triple else _strip(offer.statement),
        "kind": offer.polarity,
        "confidence": offer.confidence,
        "when": offer.when or None,
        "cardinality": offer.cardinality or None,
    }


def _strip(text: str | None) -> str | None:
    return None if text is None else text.strip()


def _describe_errors(error: ValidationError) -> Iterable[str]:
    """Yield the validation errors, each with its location and without the input."""
    details = error.errors(include_input=False, include_url=False, include_context=False)
    for detail in details[:_FAULTS_SHOWN]:
        place = ".".join(map(str, detail["loc"]))
        message = detail["msg"].removeprefix("Value error, ")
        yield f"{place}: {message}" if place and detail["type"] != "extra_forbidden" else message


def _dismissal(code: DismissalReason, problem: str, turn_id: str | None) -> DismissedProposal:
    return DismissedProposal(code=code, problem=problem, turn_id=turn_id, proposal=None)
