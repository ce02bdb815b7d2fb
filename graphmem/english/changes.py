"""How two sentences differ: in a value of one thing, or in the thing that they are about.

A sentence has a subject, a verb and what follows. Two sentences state versions of one fact only if
everything is equal but a value after the verb, and the thing has one such value at a time. Another
word before the verb means another thing: a person, a host, an invoice, a size, a time slot. So does
another qualifier after the value, another object of a verb that has many ("likes", "takes"), and
another identifier that is acted upon. A denial excludes one of many values, and an event happens
again. English only: where no verb is found, nothing is certain.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from graphmem.english import differing, facts
from graphmem.english.differing import Span
from graphmem.english.facts import FactToken, cached_if_short
from graphmem.english.mentions import (
    ATTRIBUTES,
    EVENT,
    HAPPENED,
    PLANNED,
    ROLES,
    STATES,
    STOP_WORDS,
    is_statement,
    sentence_texts,
    stem,
    words_of,
)
from graphmem.english.quantities import BOUNDS, COMMON, DETERMINERS, FactKind
from graphmem.english.verbs import ADDED, AUXILIARIES, CONTRACTED, looks_finite
from graphmem.english.wordings import ACTED, Wording

MIN_FRAME = 0.6
"""Minimum share of their words, without negations, that two versions of a fact have in common."""
MIN_FRAME_CHANGED = 0.5
"""The same, if only one has a word of change."""
MAX_CHANGED_WORDS = 4
"""Maximum number of words of a changed value: São Paulo, Belo Horizonte."""
MAX_CHANGES = 12
"""Maximum number of words that only one of two versions of a fact has."""
_MIN_SHARED = 2
"""Minimum words of content that two versions have in common, unless one is an attribute."""
_FUNCTION_WORDS = COMMON | CONTRACTED
_EMPTY_WORDS = STOP_WORDS | CONTRACTED
_QUESTIONS = frozenset(words_of("when where what who how"))
_LINKS = frozenset(words_of("to by for from at of until"))
"""Words that come with a word of change or a negation: is at 8, was moved to 9."""
_PLACES = frozenset(words_of("in at from by near under through behind"))
"""Prepositions of which a thing has one at a time: it sleeps in the kitchen."""
RELATIONS = frozenset(words_of("of to with about against"))
"""Prepositions of which a thing has many: allergic to, afraid of, works with."""
_PREPOSITIONS = (
    _PLACES
    | RELATIONS
    | frozenset(words_of("on for as into within during between via over since until than per"))
)
_EMPLOYED = frozenset(words_of("in at for as to by"))
"""Prepositions after a state: lives in, works as, moved to."""
_RUNNING = frozenset(words_of("run runs use uses"))
"""Verbs of which the object has a version: runs Debian 12."""
_PLANS = frozenset(words_of("planned scheduled set booked moved due at on by for until end of"))
"""Words between a verb and the date that it plans."""
PARTICIPLE = re.compile(r"\w+(?:ed|en|ept|uilt|orn)|set|put|sent|held|made|sold|paid")

_STATES = frozenset(map(stem, STATES | {"be", "was"}))


class Change(IntEnum):
    """How surely a sentence states a new value of the fact that another one states."""

    OTHER = -1
    """Another fact in the same words: of another thing, or one of many values."""
    NONE = 0
    """The same fact, or other words."""
    POSSIBLE = 1
    """The value may be one of many: a proposal, and never a replacement."""
    CERTAIN = 2


@dataclass(frozen=True, slots=True)
class _Side:
    """One of two sentences, and its words that the other one lacks."""

    words: Sequence[FactToken]
    only: Sequence[int]
    """Positions of a changed value, in order."""
    verb: int | None

    @property
    def value(self) -> list[FactToken]:
        return [self.words[n] for n in self.only]

    @property
    def is_after_verb(self) -> bool:
        return self.verb is not None and self.verb < self.only[0]

    @property
    def is_doubtful(self) -> bool:
        """Whether the verb may be a noun: the fast trains at gate 3 leave at 9."""
        if self.verb is None or not looks_finite(self.words, self.verb):
            return False
        after = [
            word.kind is FactKind.VALUE and word.key not in STOP_WORDS | _PREPOSITIONS and word.key
            for word in self.words[self.only[-1] + 1 :][:2]
        ]
        if self.value[-1].kind is FactKind.NUMBER and not _names_its_thing(self):
            # 40 big pallets, but not the trains with 3 wagons leave.
            return len(after) == 2 and all(after) and not str(after[1]).endswith("s")
        return any(after[:1])

    def key(self, place: int) -> str:
        """Return the word at a place; "" outside the sentence."""
        return self.words[place].key if 0 <= place < len(self.words) else ""


def between(a: str, b: str) -> Change:
    """Return how surely two texts state one fact with two values; their other sentences agree.

    Questions and conditions are never certain.
    """
    left, right = _sentences(a), _sentences(b)
    if len(left) != len(right):
        return Change.NONE
    pairs = zip(left, right, strict=True)
    found = [
        _limited(one, other) for one, other in pairs if one.wording.words != other.wording.words
    ]
    return min(found, default=Change.NONE)


class _Sentence(NamedTuple):
    """A sentence and its words."""

    text: str
    wording: Wording


def _limited(a: _Sentence, b: _Sentence) -> Change:
    change = compare(a.wording, b.wording)
    if change > Change.POSSIBLE and not (is_statement(a.text) and is_statement(b.text)):
        return Change.POSSIBLE
    return change


@cached_if_short
def _sentences(text: str) -> tuple[_Sentence, ...]:
    return tuple(_Sentence(one, Wording.of(facts.fact_tokens(one))) for one in sentence_texts(text))


def compare(left: Wording, right: Wording) -> Change:
    """Return how surely two sentences, as words, state one fact with two values. Symmetric."""
    a, b = left.words, right.words
    keys_a, keys_b = _keys(left, right)
    in_both = {*keys_a}.intersection(keys_b)
    shared = len(in_both)
    if len({*keys_a}) < len(a) and len({*keys_b}) < len(b):  # else each is in one of them once
        shared = sum(min(keys_a.count(key), keys_b.count(key)) for key in in_both)
    if shared == len(a) == len(b):
        # Two words changed places: Alice manages Bob, Bob manages Alice.
        swapped = sum(one != other for one, other in zip(keys_a, keys_b, strict=True)) == 2
        dated = any(word.kind is FactKind.DATE for word in a)
        return Change.POSSIBLE if swapped and not dated else Change.NONE
    # Cheap, and true of all but a few of the texts near one another.
    if max(len(a), len(b)) > shared + MAX_CHANGES or _FUNCTION_WORDS.issuperset(in_both):
        return Change.NONE
    spans = differing.changed_spans(keys_a, keys_b)
    flipped = ((k, n, i, j) for i, j, k, n in spans)
    changed = _has_change(left, right, spans) or _has_change(right, left, flipped)
    sides = [_values(left, right, span, changed=changed) for span in spans]
    denies = left.negated != right.negated
    # Other words show nothing.
    if not denies and any(bool(one) != bool(other) for one, other in sides):
        return Change.NONE
    size = len(a) - sum(j - i for i, j, _, _ in spans)
    only = sum(_weight(a, one, b, other) for one, other in sides)
    share = MIN_FRAME_CHANGED if changed else MIN_FRAME
    if 2 * size < share * (2 * size + only):
        return Change.NONE
    apart = {n for i, j, _, _ in spans for n in range(i, j)}
    frame = [n for n in range(len(a)) if n not in apart]
    if _FUNCTION_WORDS.issuperset(keys_a[n] for n in frame):
        return Change.NONE
    common = _Common([a[n] for n in frame], (left, right), changed)
    pairs = [
        (_Side(a, one, left.verb), _Side(b, other, right.verb))
        for one, other in sides
        if one or other
    ]
    if denies:
        return _negated(pairs, common)
    return _least(pairs, common, denied=left.negated)


def _keys(left: Wording, right: Wording) -> tuple[list[str], list[str]]:
    """Return the keys of both sentences, with verbs that agree with two subjects made equal."""
    keys_a, keys_b = left.keys_beside(right), right.keys_beside(left)
    if left.verb is not None and right.verb is not None:
        third, first = keys_a[left.verb], keys_b[right.verb]
        if third.removesuffix("s") == first.removesuffix("s"):
            keys_b[right.verb] = third  # the user lives, I live
    return keys_a, keys_b


@dataclass(frozen=True, slots=True)
class _Common:
    """The words that two sentences share, and both sentences."""

    frame: Sequence[FactToken]
    both: tuple[Wording, Wording]
    changed: bool
    """Whether only one has a word of change, such as "now"."""

    def shows(self, sign: re.Pattern[str]) -> bool:
        """Return whether one of the sentences has such words."""
        return any(sign in one.signs for one in self.both)

    def is_sure(self, more: int = 0) -> bool:
        """Return whether they share enough to be about one thing, and happen at no single time.

        `more` is the number of further words of content that they share.
        """
        if any(map(self.shows, HAPPENED)):
            return False
        content = [
            word for word in self.frame if word.key not in _EMPTY_WORDS and word.key[0].isalpha()
        ]
        least = 1 if self.changed else _MIN_SHARED
        return len(content) + more >= least or any(
            word.key in STATES or stem(word.key) in ATTRIBUTES for word in content
        )


def _negated(pairs: Sequence[tuple[_Side, _Side]], common: _Common) -> Change:
    """Return the change of a statement to its denial, or back."""
    left, right = (
        [stem(w.key) for pair in pairs for w in pair[n].value if w.key not in _FUNCTION_WORDS]
        for n in (0, 1)
    )
    if left == right:
        return Change.CERTAIN if common.is_sure(len(left)) else Change.POSSIBLE
    return Change.OTHER if (left and right) or len(left + right) > 1 else Change.POSSIBLE


def _least(pairs: Sequence[tuple[_Side, _Side]], common: _Common, *, denied: bool) -> Change:
    """Return the least sure change of several values.

    A denial excludes one of many values: never on Fridays.
    """
    least = Change.CERTAIN if pairs else Change.NONE
    for left, right in pairs:
        least = min(least, Change.OTHER if denied else _pair(left, right, common))
        if least is Change.OTHER:
            break
    return least


def _pair(a: _Side, b: _Side, common: _Common) -> Change:
    """Return the change of one value; both sides of it must allow it."""
    if max(len(a.only), len(b.only)) > MAX_CHANGED_WORDS:
        return Change.NONE
    if all(side.verb is not None and side.verb > side.only[-1] for side in (a, b)):
        return _subject(a, b)
    kinds = {word.kind for word in (*a.value, *b.value)}
    if a.verb in a.only or b.verb in b.only:
        modal = {word.key for word in (*a.value, *b.value)} <= AUXILIARIES
        tense = [stem(w.key) for w in a.value] == [stem(w.key) for w in b.value]
        return Change.POSSIBLE if modal or tense else Change.OTHER
    keys = {word.key for word in (*a.value, *b.value)}
    if keys <= BOUNDS:
        return Change.CERTAIN if common.is_sure() else Change.POSSIBLE
    if keys <= _PREPOSITIONS:
        return Change.POSSIBLE
    if FactKind.NUMBER not in kinds and FactKind.DATE not in kinds and not _same_verb(a, b):
        return Change.NONE
    by_kind = _number if FactKind.NUMBER in kinds else _date if FactKind.DATE in kinds else _name
    change = by_kind(a, common)
    return change if change is Change.OTHER else min(change, by_kind(b, common))


def _same_verb(a: _Side, b: _Side) -> bool:
    """Return whether two sentences have one verb, or both a state: is at 8, moved to 9."""
    verbs = {"" if side.verb is None else stem(side.words[side.verb].key) for side in (a, b)}
    return len(verbs) == 1 or verbs <= _STATES


def _subject(a: _Side, b: _Side) -> Change:
    """Return the change of words before the verb: another thing, but for two forms.

    A role has one holder at a time ("Anna leads the project", "Anna is the owner"), and a value may
    come first ("Monday is when the lease ends").
    """
    if all(_is_whole(side) and _has_role(side) for side in (a, b)):
        return Change.CERTAIN
    placed = all(
        side.key(side.only[-1] + 1) == "be"
        and (
            side.key(after := side.only[-1] + 2) in _QUESTIONS
            or stem(side.key(after)) in ATTRIBUTES
        )
        for side in (a, b)
    )
    return Change.POSSIBLE if placed and _is_whole(a) and _is_whole(b) else Change.OTHER


def _is_whole(side: _Side) -> bool:
    """Return whether a change is the whole subject, such as the X-22 of "X-22 leads"."""
    named = (FactKind.NAME, FactKind.NUMBER, FactKind.DATE)
    return side.only[0] == 0 or all(w.kind in named for w in side.words[: side.only[-1] + 1])


def _has_role(side: _Side) -> bool:
    """Return whether a subject has a role of one holder: leads the project, is my dentist."""
    verb = side.only[-1] + 1
    if stem(side.key(verb)) in ROLES:
        return True
    owned = side.key(verb + 1) in DETERMINERS or side.key(verb + 2) == "'s"
    after = (stem(word.key) for word in side.words[verb + 2 : verb + 5])
    return side.key(verb) == "be" and owned and not ATTRIBUTES.isdisjoint(after)


def _number(side: _Side, common: _Common) -> Change:
    """Return the change of a number, which may name its thing: the port 8080, the ticket 501."""
    if FactKind.NAME in {word.kind for word in side.value}:
        return _name(side, common)
    first = side.only[0]
    if common.shows(ACTED) or common.shows(EVENT) or side.is_doubtful:
        return Change.OTHER
    if side.verb is None:
        return Change.POSSIBLE if first > 1 and not _names_its_thing(side) else Change.OTHER
    if not side.is_after_verb:
        return Change.OTHER
    sure = Change.CERTAIN if common.is_sure() else Change.POSSIBLE
    before, label = side.key(first - 2), side.key(first - 1)
    if side.words[first].key.startswith("#"):
        return Change.POSSIBLE if label in _PREPOSITIONS | {"be"} else Change.OTHER
    if not _names_its_thing(side) or stem(label) in ATTRIBUTES:
        return sure
    if before in _PLACES or (before == "on" and side.key(first - 3) == "be"):
        return sure
    upgraded = first - 2 == side.verb and before in _RUNNING | {"be"}
    return Change.POSSIBLE if upgraded else Change.OTHER


def _names_its_thing(side: _Side) -> bool:
    """Return whether a number is a part of the word before it: port 8080, AB-12."""
    first = side.only[0]
    word = side.words[first - 1]
    is_verb = first - 1 == side.verb
    return (
        not is_verb
        and word.kind in (FactKind.VALUE, FactKind.NAME)
        and word.key not in STOP_WORDS | _PREPOSITIONS | BOUNDS
    )


def _date(side: _Side, common: _Common) -> Change:
    """Return the change of a date, which may belong to one of many events."""
    shared = " ".join(word.key for word in common.frame)
    if common.shows(ACTED) or EVENT.search(shared) or side.is_doubtful:
        return Change.OTHER
    if side.verb is None or not side.is_after_verb:
        return Change.POSSIBLE if side.verb is None and side.only[0] > 1 else Change.OTHER
    between = side.words[side.verb + 1 : side.only[0]]
    if any(
        word.kind is FactKind.NUMBER and before.key != "at"
        for before, word in zip(side.words[side.verb :], between, strict=False)
    ):
        return Change.OTHER  # 900 euros in summer
    if not common.is_sure() or not common.shows(PLANNED):
        return Change.POSSIBLE
    direct = all(word.key in _PLANS or word.kind is not FactKind.VALUE for word in between)
    return Change.CERTAIN if direct or common.changed else Change.POSSIBLE


def _name(side: _Side, common: _Common) -> Change:
    """Return the change of a name or word; a thing has many of most, and one of a few."""
    words, first, verb = side.words, side.only[0], side.verb
    if verb is None:
        placed = first > _MIN_SHARED and side.key(first - 1) in _PREPOSITIONS - RELATIONS
        return Change.POSSIBLE if placed else Change.OTHER
    if not side.is_after_verb or words[0].key == "there" or side.is_doubtful:
        return Change.OTHER
    between = [w.key for w in words[verb + 1 : first] if w.key not in DETERMINERS | ADDED]
    if len(between) > 1 and between[-1] not in _PREPOSITIONS:
        between.pop()  # the room of "in room Aspen"
    if words[verb].key in {"be", "was"}:
        return _complement(side, common, between)
    return _object(side, common, between)


def _object(side: _Side, common: _Common, between: Sequence[str]) -> Change:
    """Return the change of what follows another verb, and of what is `between` them."""
    verb, first = side.key(-1 if side.verb is None else side.verb), side.words[side.only[0]]
    if not between:
        # An object is one of many, unless a word shows the change: we now use MySQL for billing.
        kept = side.key(side.only[-1] + 1) in {"for", "as"}
        sure = common.changed and kept and common.is_sure()
        some = common.changed or kept or verb.startswith("prefer")
        return Change.CERTAIN if sure else Change.POSSIBLE if some else Change.OTHER
    if len(between) > 1 or between[0] not in _PREPOSITIONS or any(c.isdigit() for c in first.key):
        return Change.OTHER
    if verb in STATES:
        sure = between[0] in _EMPLOYED and common.is_sure()
        return Change.CERTAIN if sure else Change.OTHER
    if between[0] in RELATIONS | {"for"}:
        return Change.OTHER
    return Change.CERTAIN if common.changed and common.is_sure() else Change.POSSIBLE


def _complement(side: _Side, common: _Common, between: Sequence[str]) -> Change:
    """Return the change of what a thing is: is Priya, is in Porto, is built on Jenkins."""
    sure = Change.CERTAIN if common.is_sure() else Change.POSSIBLE
    if not between:
        owned = any(stem(word.key) in ATTRIBUTES for word in side.words[: side.verb])
        return sure if owned else Change.POSSIBLE
    if len(between) == 1:
        if between[0] in {"in", "at"}:
            return sure
        plain = between[0] in _PREPOSITIONS or PARTICIPLE.fullmatch(between[0])
        return min(sure, _changed(common)) if plain else Change.OTHER
    state, *_, preposition = between
    if len(between) > 2 or not PARTICIPLE.fullmatch(state) or preposition in RELATIONS | {"for"}:
        return Change.OTHER
    return sure if state == "based" else min(sure, _changed(common))


def _changed(common: _Common) -> Change:
    """Return how sure a word of change makes a value of which a thing may have many."""
    return Change.CERTAIN if common.changed else Change.POSSIBLE


def _values(
    a: Wording, b: Wording, span: Span, *, changed: bool
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the positions of a value in a span of both sentences."""
    i, j, k, n = span
    left, right = _value(a, i, j, changed=changed), _value(b, k, n, changed=changed)
    if i < j and k < n and bool(left) != bool(right):
        return range(i, j), range(k, n)  # more than 5, less than 5
    return left, right


def _value(text: Wording, start: int, end: int, *, changed: bool) -> Sequence[int]:
    """Return the positions of a value in a span, without words that only mark an update."""
    if not changed and not text.added:
        return range(start, end)
    found = [n for n in range(start, end) if n not in text.added]
    if not changed:
        return found
    return [
        n for n in found if n not in text.changing and text.words[n].key not in AUXILIARIES | _LINKS
    ]


def _has_change(a: Wording, b: Wording, spans: Iterable[Span]) -> bool:
    """Return whether a sentence has a word of change that is not its value: the ticket is new."""
    return bool(a.changing) and any(
        not a.changing.isdisjoint(range(i, j))
        and (k == n or (_value(a, i, j, changed=True) and _value(b, k, n, changed=True)))
        for i, j, k, n in spans
    )


def _weight(
    a: Sequence[FactToken], left: Collection[int], b: Sequence[FactToken], right: Collection[int]
) -> int:
    """Return the number of words of a change; a value of several words counts as one."""
    total = len(left) + len(right)
    if total > 2 and max(len(left), len(right)) <= MAX_CHANGED_WORDS:
        kinds = {a[n].kind for n in left} & {b[n].kind for n in right}
        if not kinds <= {FactKind.VALUE}:
            return 2
    return total
