"""Facts from a few plain English sentences, without a model.

A sentence is read when all of it, after words like "well" or "by the way", is one of the forms of
docs/extraction.md; whatever is asked, supposed or reported is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from graphmem.model import Kind, Proposal, Turn
from graphmem.rules import beginnings, lexicon
from graphmem.rules.extraction.grounding import speaker_of
from graphmem.rules.extraction.windows import Window, is_person

NAME = "rules 1"
"""Of this set of forms; another set is another extractor."""
SOURCE_TYPE = "RULE"
CONFIDENCE = 0.9

_SENTENCE = re.compile(r"[^.!?…\n]+(?:[.!?…](?!\s|\Z)[^.!?…\n]+)*[.!?…]*")
_CLAUSE = re.compile(r"(?:[,;]|,?\s+(?:and|but|so))\s+(?=(?:I|I'm|I’m|my)\b)", re.I)
_OPENING = re.compile(
    r"\s*(?:(?:well|so|oh|yes|yeah|yep|okay|ok|hi|hello|hey|anyway|by the way|btw|also|actually"
    r"|and|but|no|to be honest|honestly|you know)\b[,!:]?\s+)*",
    re.I,
)
_NOW = r"(?:(?:now|currently|still|just|recently|really|also)\s+)?"
_I = rf"I\s+{_NOW}"
_AM = rf"I\s*(?:['’]m|\s+am)\s+{_NOW}"
_HAVE = rf"I(?:\s*['’]ve|\s+have)?\s+{_NOW}"
_NOT = r"I\s+(?:no\s+longer|don['’]?t|do\s+not)\s+"
_X = r"(?P<object>[^,;:.!?…\n]+?)"
_MONTH = "|".join(lexicon.MONTHS)
_WHEN = (
    rf"(?P<when>since\s+[\w ]+?|(?:in|on)\s+(?:\d{{1,2}}\s+)?(?:{_MONTH})(?:\s+\d{{4}})?"
    r"|in\s+\d{4}|last\s+\w+|yesterday|\w+\s+(?:days?|weeks?|months?|years?)\s+ago|this\s+\w+)"
)
_TAIL = (
    rf"(?:,?\s+{_WHEN})?"
    r"(?:\s+(?:now|again|these\s+days|at\s+the\s+moment|any\s*more|though|too))*"
    r"(?:,?\s+(?:because|with|and|but|so|as|when|while|where|which|who|for|near)\b.*)?\s*$"
)


class _Form(NamedTuple):
    pattern: re.Pattern[str]
    predicate: str
    kind: Kind = Kind.SUPPORTING


def _form(opening: str, predicate: str, kind: Kind = Kind.SUPPORTING) -> _Form:
    return _Form(re.compile(opening + r"\s+" + _X + _TAIL, re.I), predicate, kind)


_FORMS = (
    _form(rf"{_AM}(?:living|based)\s+in", "lives_in"),
    _form(rf"{_I}live\s+in", "lives_in"),
    _form(rf"{_HAVE}moved\s+to", "lives_in"),
    _form(rf"{_NOT}live\s+in", "lives_in", Kind.REFUTING),
    _form(r"I\s+used\s+to\s+live\s+in", "lives_in", Kind.REFUTING),
    _form(rf"{_AM}working\s+(?:at|for)", "works_at"),
    _form(rf"{_I}work\s+(?:at|for)", "works_at"),
    _form(rf"{_NOT}work\s+(?:at|for)", "works_at", Kind.REFUTING),
    _form(rf"{_I}work\s+as", "works_as"),
    _form(rf"{_AM}working\s+on", "works_on"),
    _form(rf"{_I}work\s+on", "works_on"),
    _form(rf"{_NOT}work\s+on", "works_on", Kind.REFUTING),
    _form(rf"{_I}(?:like|love|enjoy)", "likes"),
    _form(rf"{_NOT}(?:like|love|enjoy)", "likes", Kind.REFUTING),
    _form(rf"{_I}(?:hate|dislike)", "dislikes"),
    _form(rf"{_I}prefer", "prefers"),
    _form(rf"{_I}speak", "speaks"),
    _form(rf"{_AM}allergic\s+to", "allergic_to"),
)
_MINE = re.compile(
    r"my\s+(?P<noun>[a-z]+(?:\s+[a-z]+){0,2}?)\s+is\s+(?:now\s+)?" + _X + _TAIL, re.I
)
_CORRECTED = re.compile(
    rf"\s*actually\b,?\s+(?:no,?\s+)?(?:it(?:['’]s|\s+is)\s+)?(?:in\s+|at\s+)?{_X}{_TAIL}", re.I
)
_ATTRIBUTES = frozenset(
    {
        *("name", "nickname", "birthday", "anniversary", "hometown", "nationality", "job"),
        *("profession", "occupation", "employer", "company", "address", "timezone", "age"),
        *("height", "size", "type", "number", "email"),
    }
)
"""After these any value is one; after another noun only a name or a number: my sister is Anna."""
_FAVOURITE = re.compile(r"favou?rite\b", re.I)
_ARTICLE = re.compile(r"^(?:a|an|the)\s+", re.I)
_NO_VALUE = (
    lexicon.SUBJECTS
    | (lexicon.DETERMINERS - lexicon.ARTICLES)
    | lexicon.NEGATIONS
    | {"him", "her", "them", "me", "to", "very", "so", "also", "thought"}
    | {"something", "anything", "everything"}
)
"""With one of these an object is what only the talk around it knows, or no object at all."""
_LONGEST_OBJECT = 4
_LONGEST_CORRECTION = 3
_ASIDE = re.compile(r"\b(?:if|would|might|could|should|wish|was|were|had|that)\b", re.I)


def read(window: Window) -> list[Proposal]:
    """Return what the turns of a window say in one of the known forms.

    Turns shown for reference say what a correction ("actually, Porto since May") corrects.
    """
    found: list[Proposal] = []
    slots: dict[str, tuple[str, str]] = {}
    offered = {turn.id for turn in window.turns}
    for turn in sorted((*window.around, *window.turns), key=lambda one: one.position):
        if not is_person(turn):
            continue
        said = list(_said(turn, slots))
        found += said if turn.id in offered else []
    return found


def _said(turn: Turn, slots: dict[str, tuple[str, str]]) -> Iterator[Proposal]:
    """Yield what one turn says; `slots` is what each speaker spoke of last."""
    speaker = speaker_of(turn)
    for sentence in _SENTENCE.findall(turn.text):
        if sentence.rstrip().endswith("?"):
            continue
        proposal = None
        for clause in _CLAUSE.split(sentence.strip().rstrip(".!…")):
            if proposal := _clause(clause, turn):
                slots[speaker] = ("user", str(proposal.predicate))
                yield proposal
        if proposal is None and speaker in slots:
            corrected = _corrected(sentence.strip().rstrip(".!…"), turn, slots[speaker])
            if corrected is not None:
                yield corrected


def _clause(clause: str, turn: Turn) -> Proposal | None:
    opening = _OPENING.match(clause)
    told = clause[opening.end() :] if opening else clause
    if not told or _ASIDE.match(told):
        return None
    for form in _FORMS:
        if found := form.pattern.match(told):
            return _proposal(found, turn, ("user", form.predicate), form.kind)
    found = _MINE.match(told)
    # A name in the noun, "my pup Toby", is no name of an attribute.
    if (
        found is None
        or not found["noun"].islower()
        or not _is_attribute(found["noun"], found["object"])
    ):
        return None
    predicate = "_".join(found["noun"].lower().split())
    return _proposal(found, turn, ("user", predicate), Kind.SUPPORTING)


def _corrected(sentence: str, turn: Turn, slot: tuple[str, str]) -> Proposal | None:
    found = _CORRECTED.match(sentence)
    if found is None or len(found["object"].split()) > _LONGEST_CORRECTION:
        return None
    # A name or a number, and no other sentence that begins so.
    if not found["object"][0].isupper() and not found["object"][0].isdigit():
        return None
    return _proposal(found, turn, slot, Kind.SUPPORTING)


def _proposal(
    found: re.Match[str], turn: Turn, slot: tuple[str, str], kind: Kind
) -> Proposal | None:
    if not _is_value(found["object"].split()):
        return None
    object_ = _ARTICLE.sub("", found["object"].strip())
    when = found["when"]
    if when is not None and beginnings.begin(when, turn.occurred_at) is None:
        when = None
    end = found.end("when") if when else found.end("object")
    return Proposal(
        turn_id=turn.id,
        quote=found.string[found.start() : end].strip(),
        subject=slot[0],
        predicate=slot[1],
        object=object_,
        kind=kind,
        confidence=CONFIDENCE,
        when=when,
        source_type=SOURCE_TYPE,
    )


def _is_value(words: list[str]) -> bool:
    """Return whether words can be understood alone: `the Netherlands` and not `the idea`."""
    if not 0 < len(words) <= _LONGEST_OBJECT:
        return False
    if words[0].lower() == "the" and (len(words) == 1 or not words[1][0].isupper()):
        return False
    return _NO_VALUE.isdisjoint(word.lower() for word in words)


def _is_attribute(noun: str, value: str) -> bool:
    last = noun.lower().split()[-1]
    named = value[0].isupper() or value[0].isdigit()
    return named or last in _ATTRIBUTES or _FAVOURITE.match(noun) is not None
