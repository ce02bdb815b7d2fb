"""Recognition of a statement that names what it corrects in another one, in English.

"Our office moved from Leeds to York", "not in Leeds but in York", "postponed to 11 May", "I don't
play squash any more" and "Wait, no, it is on Tuesday" name what changed, so that fewer words in
common are enough. The older statement must hold the value that is given up, or a value of the same
kind of the same thing. Every doubt counts against it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphmem import folding
from graphmem.english import quantities
from graphmem.english.facts import cached_if_short, fact_tokens, is_negated
from graphmem.english.mentions import (
    Sentence,
    content_of,
    is_past,
    names_of,
    read_tokens,
    stem,
    words_of,
)

_OPENING = re.compile(
    r"^\W*(?:(?:oh|no|nope|wait|sorry|oops|hmm|hang on|actually|correction|scratch that|i mean"
    r"|i meant|let me correct that|my mistake|i was wrong|on second thought|well|but|and)\b"
    r"[\W_]*)+",
    re.I,
)
_CORRECTING = re.compile(
    r"\b(?:no|wait|sorry|oops|actually|correction|scratch that|i mean|i meant|mistake|wrong)\b",
    re.I,
)
_MOVED = (
    r"(?:moved|relocated|transferred|switched|changed|shifted|rescheduled|postponed|delayed"
    r"|pushed(?: back)?|put (?:back|off)|brought forward|deferred|(?:went|gone|came) back)"
)
_FROM_TO = re.compile(
    rf"^(?>(?P<thing>[^,;:]*?)\b{_MOVED}\b)(?>(?P<object>[^,;:]*?)\bfrom )"
    r"(?>(?P<old>[^,;:]+?) (?:over )?to )(?P<new>[^,;]+)",
    re.I,
)
_NOT_BUT = re.compile(
    r"^(?P<thing>[^,;:]*?)\b(?:(?:is|are)(?:n['’]t| not)|not) (?P<old>[^,;:]{1,60}?),?"
    r" but (?P<new>.+)",
    re.I,
)
_MOVED_TO = re.compile(
    rf"^(?>(?P<thing>[^,;:]*?)\b(?:has been|have been|was|is|got|will be|gets)? ?{_MOVED}\b)"
    r"(?>(?P<object>[^,;:]*?) (?:to|until|till) )(?P<new>[^,;]+?)"
    r"(?: for (?P<use>(?:the|our|my) [\w ]{1,60}+))?(?=[,;]|$)",
    re.I,
)
_ANY_MORE = re.compile(
    r"^(?P<who>i|we|my [\w ]{1,30}?|our [\w ]{1,30}?)(?: (?:do not|am not|are not|is not|does not"
    r"|have not|has not)|(?: (?:do|are|is|does|have|has)|['’]m|['’]re)(?:n['’]t| not)"
    r"|(?: am| are| is|['’]m|['’]re)? no longer)\b(?P<rest>[^,;]*)",
    re.I,
)
_OVER = re.compile(r"\b(?:any ?more|any longer|no longer)\b", re.I)
_TIMES = frozenset({"date", "weekday", "clock"})
_MOVES = frozenset(
    map(stem, words_of("moved relocated transferred switched changed shifted been went gone came"))
)
_OWN = re.compile(r"^\W*(?:(?:so|and|well|oh|yes|also|currently)\W+)*(?:i|we|my|our|user)\b", re.I)
_OWNER = re.compile(r"\W*([A-Z]\w+)['’]s\b")
_IS_AT = re.compile(
    r"\b(?:is|are|['’]s|stands|sits)\b[\w ]{0,60}? (?:in|at|on|from|with|by) ", re.I
)
_MAX_WORDS = 6
"""Maximum words of content of a statement that is recognised by the given up value alone."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Subject and values of a correction."""

    thing: frozenset[str]
    """Stems of the words that name the thing; empty for the speaker."""
    old: frozenset[str]
    """Stems of the words and keys of the values that are given up; empty if they are not named."""
    new: frozenset[str]
    """Stems and keys of the new value."""
    timed: bool
    """Whether the new value is a time, and not a place or a name."""
    over: bool = False
    """Whether what is named is given up without a new value."""


def corrects(newer: Sentence, older: Sentence) -> bool:
    """Return whether a statement corrects an older one."""
    if not newer.is_statement or not older.is_statement:
        return False
    found = read(newer.text)
    if found is None:
        return False
    earlier = read(older.text)
    if earlier and found.new and earlier.new:
        return found.thing == earlier.thing and found.new.isdisjoint(earlier.new)
    if not found.thing <= content_of(older.text) or not _stands(older.text):
        return False
    owner = _OWNER.match(older.text)
    if owner and folding.fold(owner[1]) not in folding.fold(newer.text):
        return False
    if found.over:
        return bool(found.thing) and _OWN.match(older.text) is not None
    if found.new <= content_of(older.text):
        return False
    return _gives_up(found, older) if found.old else _moves(found, newer, older)


def _stands(text: str) -> bool:
    """Return whether a text states something of the present and corrects nothing itself."""
    return not is_past(text) and read(text) is None and not is_negated(fact_tokens(text))


def _gives_up(found: Correction, older: Sentence) -> bool:
    """Return whether an older statement has the value that is given up."""
    if not found.old <= content_of(older.text):
        return False
    own = _OWN.match(older.text) is not None and len(older.stems) <= _MAX_WORDS
    return bool(found.thing) or own


def _moves(found: Correction, newer: Sentence, older: Sentence) -> bool:
    """Return whether an older statement places the thing at another time or in another place."""
    if found.timed:
        tokens = read_tokens(older.text)
        names = names_of(tokens, tokens[0]) - frozenset(map(stem, quantities.MONTHS))
        return names <= newer.stems and _is_timed(older.text)
    place = _IS_AT.search(older.text)
    return place is not None and older.text[place.end() : place.end() + 1].isupper()


@cached_if_short
def without_opening(text: str) -> str:
    """Return a text without "Wait, no," and other words that only announce a correction."""
    match = _OPENING.match(text)
    return text[match.end() :] if match and _CORRECTING.search(match[0]) else text


@cached_if_short
def read(text: str) -> Correction | None:
    """Return what a statement corrects; None if it corrects nothing by name."""
    text = without_opening(text).strip(" .!")
    if match := _ANY_MORE.match(text):
        if not _OVER.search(text):
            return None
        what = content_of(f"{match['who']} {_OVER.sub('', match['rest'])}")
        return Correction(what, frozenset(), frozenset(), timed=False, over=True)
    for pattern in (_FROM_TO, _NOT_BUT):
        if match := pattern.match(text):
            named = f"{match['thing']} {match.groupdict().get('object') or ''}"
            old = content_of(match["old"])
            if not old or len(old) > _MAX_WORDS:
                return None
            return Correction(
                content_of(named) - _MOVES, old, content_of(match["new"]), timed=False
            )
    if match := _MOVED_TO.match(text):
        timed = _is_timed(match["new"])
        if not timed and not match["new"][:1].isupper():
            return None
        thing = content_of(f"{match['thing']} {match['object']} {match['use'] or ''}") - _MOVES
        return Correction(thing, frozenset(), content_of(match["new"]), timed) if thing else None
    return None


def _is_timed(text: str) -> bool:
    return any(one.kind in _TIMES or one.key in quantities.MONTHS for one in read_tokens(text))
