"""Facts from a few plain English sentences, without a model.

A clause matches if all of it, after openers like "well" or "by the way", fits one of the forms in
docs/extraction.md. Questions, conditionals and reported speech are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from graphmem.extraction import windows
from graphmem.extraction.records import DismissedProposal, Proposal
from graphmem.extraction.windows import TurnWindow, is_person, speaker_of
from graphmem.model import Cardinality, EvidenceKind, Turn
from graphmem.rules import dates, quantities
from graphmem.rules.predicates import SINGLE_VALUED

NAME = "rules 1"
"""Version of this set of forms; a different set counts as another extractor."""
SOURCE_TYPE = "RULE"
CONFIDENCE = 0.9

_SENTENCE = re.compile(r"[^.!?…\n]+(?:[.!?…](?!\s|\Z)[^.!?…\n]+)*[.!?…]*")
_CLAUSE = re.compile(r"(?:[,;]|,? (?:and|but|so)) (?=(?:I|I'm|I’m|my)\b)", re.I)
_OPENING = re.compile(
    r"(?:(?:well|so|oh|yes|yeah|yep|okay|ok|hi|hello|hey|anyway|by the way|btw|also|actually"
    r"|and|but|no|to be honest|honestly|you know)\b[,!:]? )*+",
    re.I,
)
_NOW = r"(?:(?:now|currently|still|just|recently|really|also) )?"
_I = rf"I {_NOW}"
_AM = rf"I(?: ?['’]m| am) {_NOW}"
_HAVE = rf"I(?: ?['’]ve| have)? {_NOW}"
_NOT = r"I (?:no longer|don['’]?t|do not) "
_MONTH = "|".join(quantities.MONTHS)
# Whitespace is collapsed to single spaces before matching, and no two adjacent repeats match the
# same characters, so each pattern is linear in the length of a clause.
_VALUE = re.compile(r" ?[^ ,;:.!?…]++")
_WHEN = re.compile(
    rf",? (?P<when>since [\w ]++|(?:in|on) (?:\d{{1,2}} )?(?:{_MONTH})(?: \d{{4}})?"
    r"|in \d{4}|last \w++|yesterday|\w++ (?:days?|weeks?|months?|years?) ago|this \w++)",
    re.I,
)
_ASIDE_AFTER = re.compile(
    r",? (?:because|with|and|but|so|as|when|while|where|which|who|for|near)\b", re.I
)
_FILLERS = (
    *(["now"], ["again"], ["these", "days"], ["at", "the", "moment"], ["anymore"]),
    *(["any", "more"], ["though"], ["too"]),
)
"""Words at the end of a clause that are ignored."""


class _Form(NamedTuple):
    pattern: re.Pattern[str]
    """Pattern of the words before the object."""
    predicate: str
    kind: EvidenceKind = EvidenceKind.SUPPORTING


class _ParsedClause(NamedTuple):
    """Object and time of a clause, and the part of it to quote."""

    object: str
    when: str | None
    words: str
    """Text from the start of the clause to the end of the object."""
    words_with_when: str


def _form(opening: str, predicate: str, kind: EvidenceKind = EvidenceKind.SUPPORTING) -> _Form:
    return _Form(re.compile(opening + " ", re.I), predicate, kind)


_FORMS = (
    _form(rf"{_AM}(?:living|based) in", "lives_in"),
    _form(rf"{_I}live in", "lives_in"),
    _form(rf"{_HAVE}moved to", "lives_in"),
    _form(rf"{_NOT}live in", "lives_in", EvidenceKind.REFUTING),
    _form(r"I used to live in", "lives_in", EvidenceKind.REFUTING),
    _form(rf"{_AM}working (?:at|for)", "works_at"),
    _form(rf"{_I}work (?:at|for)", "works_at"),
    _form(rf"{_NOT}work (?:at|for)", "works_at", EvidenceKind.REFUTING),
    _form(rf"{_I}work as", "works_as"),
    _form(rf"{_AM}working on", "works_on"),
    _form(rf"{_I}work on", "works_on"),
    _form(rf"{_NOT}work on", "works_on", EvidenceKind.REFUTING),
    _form(rf"{_I}(?:like|love|enjoy)", "likes"),
    _form(rf"{_NOT}(?:like|love|enjoy)", "likes", EvidenceKind.REFUTING),
    _form(rf"{_I}(?:hate|dislike)", "dislikes"),
    _form(rf"{_I}prefer", "prefers"),
    _form(rf"{_I}speak", "speaks"),
    _form(rf"{_AM}allergic to", "allergic_to"),
)
_COEXISTING = frozenset(form.predicate for form in _FORMS) - SINGLE_VALUED
_MINE = re.compile(r"my (?P<noun>[a-z]++(?: [a-z]++){0,2}?) is (?:now )?", re.I)
_CORRECTED = re.compile(r"actually\b,? (?:no,? )?(?:it(?:['’]s| is) )?(?:in |at )?", re.I)
_ATTRIBUTES = frozenset(
    {
        *("name", "nickname", "birthday", "anniversary", "hometown", "nationality", "job"),
        *("profession", "occupation", "employer", "company", "address", "timezone", "age"),
        *("height", "size", "type", "number", "email"),
    }
)
"""Nouns that accept any value; other nouns accept only a name or a number ("my sister is Anna")."""
_FAVOURITE = re.compile(r"favou?rite(?![a-z])", re.I)
_ARTICLE = re.compile(r"^(?:a|an|the) ", re.I)
_NO_VALUE = (
    quantities.SUBJECTS
    | (quantities.DETERMINERS - quantities.ARTICLES)
    | quantities.NEGATIONS
    | {"him", "her", "them", "me", "to", "very", "so", "also", "thought"}
    | {"something", "anything", "everything"}
)
"""Words that make an object depend on its context, or mean that it is missing."""
_MAX_OBJECT_WORDS = 4
_MAX_CORRECTION_WORDS = 3
_ASIDE = re.compile(r"\b(?:if|would|might|could|should|wish|was|were|had|that)\b", re.I)


def parse_window(window: TurnWindow) -> tuple[list[Proposal], list[DismissedProposal]]:
    """Return the proposals from the turns of a window, and those dismissed as too long.

    Turns shown for reference supply the slot for corrections ("actually, Porto since May"). A turn
    has at most `windows.MAX_PROPOSALS`: a pasted document is not a person's statements.
    """
    results: list[Proposal | DismissedProposal] = []
    slots: dict[str, tuple[str, str]] = {}
    offered = {turn.id for turn in window.turns}
    for turn in sorted((*window.around, *window.turns), key=attrgetter("position")):
        if not is_person(turn):
            continue
        proposals = list(_proposals(turn, slots))
        if turn.id not in offered:
            continue
        results += proposals[: windows.MAX_PROPOSALS]
        if (more := len(proposals) - windows.MAX_PROPOSALS) > 0:
            results.append(windows.dismiss_rest(more, turn.id))
    return (
        [result for result in results if isinstance(result, Proposal)],
        [result for result in results if isinstance(result, DismissedProposal)],
    )


def _proposals(
    turn: Turn, slots: dict[str, tuple[str, str]]
) -> Iterator[Proposal | DismissedProposal]:
    """Yield the proposals of one turn, and record each speaker's latest slot in `slots`."""
    speaker = speaker_of(turn)
    for sentence in _SENTENCE.findall(turn.text):
        if sentence.rstrip().endswith("?"):
            continue
        sentence = " ".join(sentence.split()).rstrip(" .!…")
        proposal = None
        for clause in _CLAUSE.split(sentence):
            if proposal := _clause(clause, turn):
                if isinstance(proposal, Proposal):
                    slots[speaker] = ("user", str(proposal.predicate))
                yield proposal
        if proposal is None and speaker in slots:
            corrected = _correction(sentence, turn, slots[speaker])
            if corrected is not None:
                yield corrected


def _clause(clause: str, turn: Turn) -> Proposal | DismissedProposal | None:
    opening = _OPENING.match(clause)
    text = clause[opening.end() :] if opening else clause
    if not text or _ASIDE.match(text):
        return None
    for form in _FORMS:
        if (match := form.pattern.match(text)) and (parsed := _parse_clause(text, match.end())):
            return _proposal(parsed, turn, ("user", form.predicate), form.kind)
    match = _MINE.match(text)
    # A noun that contains a name ("my pup Toby") is not an attribute.
    if match is None or not match["noun"].islower():
        return None
    parsed = _parse_clause(text, match.end())
    if parsed is None or not _is_attribute(match["noun"], parsed.object):
        return None
    predicate = "_".join(match["noun"].lower().split())
    return _proposal(parsed, turn, ("user", predicate), EvidenceKind.SUPPORTING)


def _correction(
    sentence: str, turn: Turn, slot: tuple[str, str]
) -> Proposal | DismissedProposal | None:
    match = _CORRECTED.match(sentence)
    parsed = _parse_clause(sentence, match.end()) if match else None
    if parsed is None or len(parsed.object.split()) > _MAX_CORRECTION_WORDS:
        return None
    # Require a name or a number: other sentences may also start with "actually".
    if not parsed.object[0].isupper() and not parsed.object[0].isdigit():
        return None
    return _proposal(parsed, turn, slot, EvidenceKind.SUPPORTING)


def _parse_clause(clause: str, start: int) -> _ParsedClause | None:
    """Return the shortest object at `start` whose remainder is empty, a time, or ignorable."""
    end = start
    for _ in range(_MAX_OBJECT_WORDS):
        if (word := _VALUE.match(clause, end)) is None:
            return None
        end = word.end()
        rest = _remainder(clause[end:])
        when = _WHEN.fullmatch(rest)
        if when or not rest:
            length = len(when[0]) if when else 0
            name = when["when"] if when else None
            return _ParsedClause(
                clause[start:end].strip(), name, clause[:end], clause[: end + length]
            )
    return None


def _remainder(text: str) -> str:
    """Return the text between an object and an aside, without trailing fillers."""
    aside = _ASIDE_AFTER.search(text)
    rest = text[: aside.start()] if aside else text
    words = rest.split(" ")
    kept = [word.lower() for word in words]
    while filler := next((words for words in _FILLERS if kept[-len(words) :] == words), None):
        del kept[-len(filler) :]
    return " ".join(words[: len(kept)])


def _proposal(
    parsed: _ParsedClause, turn: Turn, slot: tuple[str, str], kind: EvidenceKind
) -> Proposal | DismissedProposal | None:
    if not _is_value(parsed.object.split()):
        return None
    when = parsed.when
    if when is not None and dates.validity_start(when, turn.occurred_at) is None:
        when = None
    return windows.parse_proposal(
        {
            "turn_id": turn.id,
            "quote": parsed.words_with_when if when else parsed.words,
            "subject": slot[0],
            "predicate": slot[1],
            "object": _ARTICLE.sub("", parsed.object),
            "kind": kind,
            "confidence": CONFIDENCE,
            "when": when,
            "cardinality": _cardinality(slot[1]),
            "source_type": SOURCE_TYPE,
        }
    )


def _cardinality(predicate: str) -> Cardinality | None:
    """Return the cardinality of a predicate of the forms; None if its noun may have several."""
    if predicate in SINGLE_VALUED or _FAVOURITE.match(predicate):
        return Cardinality.ONE
    return Cardinality.MANY if predicate in _COEXISTING else None


def _is_value(words: list[str]) -> bool:
    """Return whether words make sense without context: `the Netherlands` but not `the idea`."""
    if not 0 < len(words) <= _MAX_OBJECT_WORDS:
        return False
    if words[0].lower() == "the" and (len(words) == 1 or not words[1][0].isupper()):
        return False
    return _NO_VALUE.isdisjoint(word.lower() for word in words)


def _is_attribute(noun: str, value: str) -> bool:
    last = noun.lower().split()[-1]
    named = value[0].isupper() or value[0].isdigit()
    return named or last in _ATTRIBUTES or _FAVOURITE.match(noun) is not None
