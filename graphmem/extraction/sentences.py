"""Facts from a few plain English sentences, without a model.

A sentence is read if it begins with "I" or "my" after openers like "well" or "by the way", and a
clause of it if all of it fits one of the forms in docs/explanation/extraction.md. A turn of which a
part is quoted, pasted, fiction or a text to work on is not read at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

from graphmem.english import dates, quantities
from graphmem.english.mentions import words_of
from graphmem.extraction import (
    DismissedProposal,
    Proposal,
    assertions,
    clause_words,
    quotes,
    windows,
)
from graphmem.extraction.quotes import TextSpan
from graphmem.extraction.windows import TurnWindow, is_person, speaker_of
from graphmem.model import Cardinality, EvidenceKind, Turn
from graphmem.rules.predicates import SINGLE_VALUED

NAME = "rules 1"
"""Version of this set of forms; a different set counts as another extractor."""
SOURCE_TYPE = "RULE"
CONFIDENCE = 0.9

_CLAUSE = re.compile(
    r"[\n;]\s*|, (?:and |but |so )?(?=(?:now )?(?:I|my)\b)|\b(?:and|but|so) (?=(?:now )?(?:I"
    r"|my)\b)",
    re.I,
)
_SPEAKER = re.compile(r"(?:I|my)\b", re.I)
_MONTH = "|".join(quantities.MONTHS)
_NOW = r"(?:(?:now|currently|still|just|recently|really|also) )?"
_I = rf"I {_NOW}"
_AM = rf"I(?: ?['’]m| am) {_NOW}"
_HAVE = rf"I(?: ?['’]ve| have)? {_NOW}"
_NOT = r"I (?:no longer|don['’]?t|do not) "
# Whitespace is collapsed to single spaces before matching, and no two adjacent repeats match the
# same characters, so each pattern is linear in the length of a clause.
_VALUE = re.compile(r" ?(?>(?:[^ ,;:.!?…]|(?<=\d)[.,:](?=\d))+)")
_WHEN = re.compile(
    rf",? (?P<when>since [\w ]++|(?:in|on) (?:\d{{1,2}} )?(?:{_MONTH})(?: \d{{4}})?"
    r"|in \d{4}|last \w++|yesterday|\w++ (?:days?|weeks?|months?|years?) ago|this \w++)",
    re.I,
)
_AFTER = (
    r"(?:[-–—]+ (?=\w)|(?:because|but|so)\b"
    r"|(?<=, )(?:not|any|what|how|where|who|can|could|do|does|is|are|would|right))"
)
_BESIDE = (
    r"(?<=, )(?:close to|next to|not far|opposite|above|below|behind|outside|a|an|the"
    r"|(?-i:[A-Z][\w’'-]*+(?>(?: [A-Z][\w’'-]*+)*))$)"
)
"""Words after a comma that describe a name: close to the river, a small town, Portugal."""
_REASON_AFTER = re.compile(
    rf",? (?:{_AFTER}|and (?=(?:I|it|we|they|my|he|she|so|do|don['’]t|have|am|can|want|often"
    r"|usually)\b))",
    re.I,
)
_ASIDE_AFTER = re.compile(
    rf",? (?:{_AFTER}|{_BESIDE}|and|with|as|where|which|who|for|near|until|till|on|every"
    r"|during|from|by"
    rf"|in (?!(?:{_MONTH})\b)(?-i:(?=[A-Z])))\b",
    re.I,
)
_FILLERS = (
    *(["now"], ["again"], ["these", "days"], ["at", "the", "moment"], ["anymore"], ["currently"]),
    *(["any", "more"], ["though"], ["too"], ["a", "lot"], ["so", "much"], ["very", "much"]),
    *(["remotely"], ["full-time"], ["part-time"], ["alone"], ["by", "the", "way"], ["actually"]),
    *(
        ["you", "know"],
        ["btw"],
        ["as", "well"],
        ["right", "now"],
        ["at", "all"],
        ["to", "be", "honest"],
        ["sorry"],
        ["thanks"],
        ["please"],
        ["haha"],
        ["lol"],
    ),
)
"""Words at the end of a clause that are ignored."""


_JOINED = frozenset(
    words_of("of the de da do du la le los las el van von der upon am y e and & del di")
)
"""Lower-case words inside names."""
_IDIOMS = frozenset(
    words_of(
        "living while bit time change hurry mess dream bubble rush pace minute day week month "
        "year night loop vacuum fantasy moment reason laugh lie nutshell way fashion manner sense "
        "limbo hopes"
    )
)
"""Last words of turns of phrase that name no place, work or firm: in a hurry, for a living."""

_TIMES = frozenset(
    (*quantities.MONTHS, *quantities.WEEKDAYS, *(f"{d}s" for d in quantities.WEEKDAYS))
)

_MINE = re.compile(
    r"my (?:(?:new|current|latest|present) )?(?P<noun>[a-z]++(?: [a-z]++){0,2}?) is (?:now )?", re.I
)
_CORRECTED = re.compile(
    r"(?:(?:sorry|oops|whoops|wait|no|hang on|hmm|my mistake)\b[,.!]? )*"
    r"(?:actually|I mean(?:t)?|make that|correction|scratch that|(?<=[,.!] )it(?:['’]s"
    r"| is))\b[,:!.]? "
    r"(?:no,? )?(?:it(?:['’]s| is) )?(?:to say )?(?:in |at )?",
    re.I,
)
_INSTEAD_OF = re.compile(r",? (?:not|instead of|rather than)\b", re.I)
_NUMBERED = frozenset(
    words_of(
        "birthday anniversary address age height size number email rent salary budget weight pin "
        "deadline code extension postcode zip score phone telephone mobile"
    )
)
"""Nouns that accept a number."""
_ATTRIBUTES = _NUMBERED | frozenset(
    words_of(
        "name nickname hometown nationality job profession occupation employer company timezone "
        "type"
    )
)
"""Nouns that accept a noun with its article, too; others accept only a name."""
_ORIGINS = frozenset(
    words_of(
        "german french dutch swiss greek thai american mexican canadian italian brazilian russian "
        "indian australian austrian norwegian belgian hungarian ukrainian romanian african "
        "european asian korean catholic christian muslim jewish buddhist hindu irish welsh czech "
        "arab persian cuban peruvian"
    )
)
_ORIGIN = re.compile(r"[A-Z][a-z]+(?:ish|ese)")
"""Words that look like names and say a person is."""
_FAVOURITE = re.compile(r"favou?rite(?![a-z])", re.I)
_ARTICLE = re.compile(r"^(?:a|an|the) ", re.I)
_NO_VALUE = (
    quantities.SUBJECTS
    | (quantities.DETERMINERS - quantities.ARTICLES)
    | quantities.NEGATIONS
    | {"him", "her", "them", "me", "to", "very", "so", "also", "thought"}
    | {"something", "anything", "everything", "myself", "us", "u", "as", "than", "more", "less"}
    | {"better", "best", "most", "both", "either", "when", "why", "which", "whom", "whose"}
    | {"otherwise", "later", "now", "then", "today", "tomorrow", "tonight", "yesterday"}
)
"""Words that make an object depend on its context, or mean that it is missing."""
_LIMITS = frozenset(
    words_of(
        "until till during at on since before after every if unless like except while who because "
        "by but about being sometimes always often usually"
    )
)
"""Words that limit a statement to a time, a place or a case, or begin another clause."""
_MARKUP = re.compile(r"[<>=|{}\[\]]")
_MAX_OBJECT_WORDS = 4
_MAX_CORRECTION_WORDS = 3
_END = " .!…\t\r"


def _is_name(words: list[str]) -> bool:
    """Return whether words are a name, and not that of a day or month."""
    words = words[words[0].lower() in quantities.ARTICLES :]
    if not words or words[0].lower() in _TIMES:
        return False
    return all(_is_capital(w) or w.lower() in _JOINED for w in words) and _is_capital(words[0])


def _is_capital(word: str) -> bool:
    return word[0].isalpha() and not word[0].islower()


def _is_name_or_noun(words: list[str]) -> bool:
    """Return whether words are a name, or a noun with its article: Acme, a small bank."""
    if words[0].lower() in quantities.RATE_ARTICLES:
        return len(words) > 1 and words[-1].lower() not in _IDIOMS and "in" not in words
    return _is_name(words)


class _Form(NamedTuple):
    pattern: re.Pattern[str]
    """Pattern of the words before the object."""
    predicate: str
    is_object: Callable[[list[str]], bool]
    """Whether words can be its object."""
    kind: EvidenceKind = EvidenceKind.SUPPORTING

    @property
    def aside(self) -> re.Pattern[str]:
        """Beginning of words after the object that do not belong to it.

        A name ends where another word follows. Any other object may be qualified, so that only
        a reason ends it.
        """
        return _REASON_AFTER if self.is_object is _is_anything else _ASIDE_AFTER


class _ParsedClause(NamedTuple):
    """Object and time of a clause, and the part of it to quote."""

    object: str
    when: str | None
    words: str
    """Text from the start of the clause to the end of the object."""
    words_with_when: str


def _is_anything(words: list[str]) -> bool:
    return _LIMITS.isdisjoint(word.lower() for word in words)


def _form(
    opening: str,
    predicate: str,
    is_object: Callable[[list[str]], bool] = _is_anything,
    kind: EvidenceKind = EvidenceKind.SUPPORTING,
) -> _Form:
    return _Form(re.compile(opening + " ", re.I), predicate, is_object, kind)


_FORMS = (
    _form(rf"{_AM}(?:living|based) in", "lives_in", _is_name_or_noun),
    _form(rf"{_I}live in", "lives_in", _is_name_or_noun),
    _form(rf"{_HAVE}moved (?:from [^,;:.!?]{{1,60}}? )?(?:back )?to", "lives_in", _is_name_or_noun),
    _form(rf"{_NOT}live in", "lives_in", _is_name_or_noun, EvidenceKind.REFUTING),
    _form(r"I used to live in", "lives_in", _is_name_or_noun, EvidenceKind.REFUTING),
    _form(rf"{_AM}working (?:at|for)", "works_at", _is_name_or_noun),
    _form(rf"{_I}work (?:at|for)", "works_at", _is_name_or_noun),
    _form(rf"{_NOT}work (?:at|for)", "works_at", _is_name_or_noun, EvidenceKind.REFUTING),
    _form(
        r"I(?: ?['’]ve| have)? (?:just "
        r"|recently )?started (?:working )?at",
        "works_at",
        _is_name_or_noun,
    ),
    _form(rf"{_I}work as", "works_as", _is_name_or_noun),
    _form(rf"{_AM}working on", "works_on", _is_name),
    _form(rf"{_I}work on", "works_on", _is_name),
    _form(rf"{_NOT}work on", "works_on", _is_name, EvidenceKind.REFUTING),
    _form(rf"{_I}(?:like|love|enjoy)", "likes"),
    _form(rf"{_NOT}(?:like|love|enjoy)", "likes", _is_anything, EvidenceKind.REFUTING),
    _form(rf"{_I}(?:hate|dislike)", "dislikes"),
    _form(rf"{_I}prefer", "prefers"),
    _form(rf"{_I}speak", "speaks", _is_name),
    _form(rf"{_AM}allergic to", "allergic_to"),
)
_COEXISTING = frozenset(form.predicate for form in _FORMS) - SINGLE_VALUED


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


def has_facts(turns: Iterable[Turn]) -> bool:
    """Return whether a turn of a person has a fact."""
    slots: dict[str, tuple[str, str]] = {}
    return any(is_person(turn) and any(_proposals(turn, slots)) for turn in turns)


def _proposals(
    turn: Turn, slots: dict[str, tuple[str, str]]
) -> Iterator[Proposal | DismissedProposal]:
    """Yield the proposals of one turn, and record each speaker's latest slot in `slots`."""
    text = quotes.nfc(turn.text)
    if assertions.is_framed(text):
        return
    speaker = speaker_of(turn)
    for span in assertions.sentence_spans(text):
        sentence = text[span.start : span.end]
        spoken = list(_sentence(sentence, span.start, turn))
        if not spoken and speaker in slots:
            corrected = _correction(sentence, span.start, turn, slots[speaker])
            spoken = [corrected] if corrected else []
        for one in spoken:
            if isinstance(one, Proposal):
                slots[speaker] = ("user", str(one.predicate))
        yield from spoken


def _sentence(sentence: str, at: int, turn: Turn) -> Iterator[Proposal | DismissedProposal]:
    """Yield the proposals of a sentence that begins at a place of its turn."""
    start = _opening_end(sentence, 0)
    if not _SPEAKER.match(sentence, start):
        return
    bounds = [start, *(cut for match in _CLAUSE.finditer(sentence, start) for cut in match.span())]
    bounds.append(len(sentence))
    for first, last in zip(bounds[::2], bounds[1::2], strict=True):
        first = _opening_end(sentence, first)
        if found := _clause(
            sentence[first:last].rstrip(_END), TextSpan(at + first, at + last), turn
        ):
            yield found


def _opening_end(sentence: str, start: int) -> int:
    match = clause_words.OPENING.match(sentence, start)
    return match.end() if match else start


def _clause(text: str, place: TextSpan, turn: Turn) -> Proposal | DismissedProposal | None:
    text = " ".join(text.split())
    for form in _FORMS:
        if (match := form.pattern.match(text)) and (
            parsed := _parse_clause(text, match.end(), form.is_object, form.aside)
        ):
            return _proposal(parsed, place, turn, ("user", form.predicate), form.kind)
    match = _MINE.match(text)
    # A noun that contains a name ("my pup Toby") is not an attribute.
    if match is None or not match["noun"].islower():
        return None
    noun = match["noun"]
    parsed = _parse_clause(
        text, match.end(), lambda words: _is_attribute(noun, words), _ASIDE_AFTER
    )
    if parsed is None:
        return None
    predicate = "_".join(noun.lower().split())
    return _proposal(parsed, place, turn, ("user", predicate), EvidenceKind.SUPPORTING)


def _correction(
    sentence: str, at: int, turn: Turn, slot: tuple[str, str]
) -> Proposal | DismissedProposal | None:
    text = " ".join(sentence.split()).rstrip(_END)
    match = _CORRECTED.match(text)
    # Require a name or a number: other sentences may also start with "actually".
    parsed = _parse_clause(text, match.end(), _is_corrected, _INSTEAD_OF) if match else None
    if parsed is None:
        return None
    place = TextSpan(at, at + len(sentence))
    return _proposal(parsed, place, turn, slot, EvidenceKind.SUPPORTING)


def _is_corrected(words: list[str]) -> bool:
    return len(words) <= _MAX_CORRECTION_WORDS and (words[0][0].isdigit() or _is_name(words))


def _parse_clause(
    clause: str, start: int, is_object: Callable[[list[str]], bool], aside: re.Pattern[str]
) -> _ParsedClause | None:
    """Return the shortest object at `start` whose remainder is empty, a time, or ignorable."""
    end = start
    for _ in range(_MAX_OBJECT_WORDS):
        if (word := _VALUE.match(clause, end)) is None:
            return None
        end = word.end()
        rest = _remainder(clause[end:], aside)
        when = _WHEN.fullmatch(rest)
        if when or not rest:
            object_ = clause[start:end].strip()
            if not _is_value(words := object_.split()) or not is_object(words):
                return None
            length = len(when[0]) if when else 0
            name = when["when"] if when else None
            return _ParsedClause(object_, name, clause[:end], clause[: end + length])
    return None


def _remainder(text: str, aside: re.Pattern[str]) -> str:
    """Return the text between an object and an aside, without trailing fillers."""
    found = aside.search(text)
    words = (text[: found.start()] if found else text).rstrip(" ,").split(" ")
    kept = [word.lower() for word in words]
    while filler := next((words for words in _FILLERS if kept[-len(words) :] == words), None):
        del kept[-len(filler) :]
    return " ".join(words[: len(kept)]).rstrip(" ,")


def _proposal(
    parsed: _ParsedClause, place: TextSpan, turn: Turn, slot: tuple[str, str], kind: EvidenceKind
) -> Proposal | DismissedProposal | None:
    text = quotes.nfc(turn.text)
    own = f"{slot[1]} {parsed.object}"
    spoken = next(one for one in quotes.find_quote(parsed.words, text) if one.start >= place.start)
    [*_, thing] = quotes.find_quote(parsed.object, text[spoken.start : spoken.end])
    thing = TextSpan(spoken.start + thing.start, spoken.start + thing.end)
    if any(assertions.doubts(text, thing, own, refuting=kind is EvidenceKind.REFUTING)):
        return None
    when = parsed.when
    if when is not None and dates.validity_start(when, turn.local_at) is None:
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
    if predicate.rpartition("_")[2] in _NUMBERED:
        return Cardinality.ONE
    return Cardinality.MANY if predicate in _COEXISTING else None


def _is_value(words: list[str]) -> bool:
    """Return whether words make sense without context: `the Netherlands` but not `the idea`."""
    if not 0 < len(words) <= _MAX_OBJECT_WORDS or any(map(_MARKUP.search, words)):
        return False
    if words[0].lower() == "the" and (len(words) == 1 or not words[1][0].isupper()):
        return False
    return _NO_VALUE.isdisjoint(word.lower() for word in words)


def _is_attribute(noun: str, words: list[str]) -> bool:
    *first, last = noun.lower().split()
    if _FAVOURITE.match(noun):
        return bool(first) and _is_anything(words) and not words[-1].endswith("ing")
    if words[0][0].isdigit() or "@" in words[0]:
        return last in _NUMBERED
    if last != "nationality" and (words[-1].lower() in _ORIGINS or _ORIGIN.fullmatch(words[-1])):
        return False
    return _is_name_or_noun(words) if last in _ATTRIBUTES else _is_name(words)
