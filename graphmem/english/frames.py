"""Recognition of a sentence that gives a new value in the frame of an older one, in English.

"My desk is on the third floor again" and "From now on we pay 1,015 a month" say that they are new.
Subject and verb must then be equal, and of the phrases after the verb exactly one may differ. A
reply ("No, I mixed that up, the vet is called Mr Dalloway") and a new holder of a role ("I have a
new dentist, Dr Brekke") are read the same way. Every doubt counts against a new value: another
object of a verb that has many ("I play the banjo now") replaces nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from graphmem.english import changes, corrections
from graphmem.english.facts import FactToken, cached_if_short, fact_tokens, is_negated
from graphmem.english.mentions import (
    ATTRIBUTES,
    Sentence,
    is_past,
    read_tokens,
    split_sentences,
    stem,
    stems_of,
    words_of,
)
from graphmem.english.quantities import FactKind
from graphmem.english.verbs import AUXILIARIES, CONTRACTED, verb_place

_NEW = re.compile(
    r"\b(?:from now on|these days|nowadays|any ?more|instead|again|now|as of (?:today|now))\b", re.I
)
"""Words of a clause that say that it was not so before."""
_ADMITTED = re.compile(
    r"\b(?:mixed (?:\w+ ){1,3}up|mixed up|(?:is|was) wrong|the wrong \w+|misread|mistyped|misspoke"
    r"|confused|swapped|typo|mistake|meant)\b|['’]s wrong\b",
    re.I,
)
"""Words that admit or find a mistake."""
_PARTS = re.compile(
    r"[,;:]\s+|\s[–—-]\s|(?<!\s)\s++(?:and|but|so)\s+(?=(?:i|we|he|she|it|they)\b)", re.I
)
_PREPOSITIONS = frozenset(
    words_of("in at on from by near under behind through for as with to until into beside above")
)
_REST = re.compile(
    r"\s(?:and|or|but|so|than|because|since|while|during|which|who|that|when|if|al?though)\b"
)
"""Before the words that follow a value."""
_PARTICIPLE = re.compile(rf"{changes.PARTICIPLE.pattern}|due")
_OWNERS = frozenset(words_of("my our your user's"))
_PRONOUNS = frozenset(words_of("it he she they"))
_MAX_VALUE_WORDS = 4
_MAX_PARTS, _MAX_CHARS = 12, 1_000
"""Maximum number of clauses of a text that are read, and of characters."""
_NOT_THIS = re.compile(r"^\W*not (?P<old>[^,;:.!?]{1,60}), (?P<new>[^,;:!?]+)", re.I)
_NEW_ROLE = re.compile(
    r"\b(?:i|we)(?:['’]ve| have)?(?: now)? (?:have|got|found|hired)(?: got)? a new"
    r" (?P<role>[a-z][a-z -]{2,30}?)(?= (?:called|named|now|at|in|from)\b|[,:;.!]|$)"
    r"|\bmy new (?P<mine>[a-z][a-z -]{2,30}?) is\b|\bis (?:my|our) new (?P<his>[a-z][a-z -]{2,30})",
    re.I,
)
_ROLE = re.compile(
    r"^\W*(?:my|our) (?P<role>[a-z][a-z -]{2,30}?) (?:is|are)\b"
    r"|\bis (?:my|our) (?P<his>[a-z][a-z -]{2,30})",
    re.I,
)

_MEASURES = frozenset({FactKind.NUMBER, FactKind.DATE})
_NAMING = frozenset(map(stem, words_of("called named")))


@dataclass(frozen=True, slots=True)
class _Frame:
    """A clause as subject, verb and the phrases after it."""

    subjects: frozenset[tuple[str, ...]]
    """Keys of its subject; several of a pronoun, which may mean one thing or another."""
    verb: str
    phrases: Mapping[str, tuple[FactToken, ...]]
    """Words after the verb, by preposition; "" for those without one."""
    is_event: bool
    """Whether it states what happened or was done, which may happen again."""
    is_new: bool
    """Whether it has a word that it was not so before."""


@dataclass(frozen=True)
class Reading:
    """A text as clauses, which are read when they are asked for: few texts replace a value."""

    sentences: tuple[str, ...]
    """Its first sentences that state something."""
    text: str
    announced: bool
    """Whether it announces a correction: "Wait, no, …"."""

    @cached_property
    def frames(self) -> tuple[_Frame, ...]:
        """Its first clauses."""
        found = (frame for sentence in self.sentences for frame in _frames(sentence))
        return tuple(islice(found, _MAX_PARTS))

    @cached_property
    def new_frames(self) -> tuple[_Frame, ...]:
        """Those that may replace a value: all if it announces a correction."""
        if self.announced:
            return self.frames
        if not any(map(_NEW.search, self.sentences)):
            return ()
        return tuple(frame for frame in self.frames if frame.is_new)

    @cached_property
    def new_role(self) -> frozenset[str]:
        """Words of the role that has a new holder; empty if it names none."""
        return _role(_NEW_ROLE.search(self.text))

    @cached_property
    def role(self) -> frozenset[str]:
        """Words of the role of which it names the holder; empty for a new one, or none."""
        return frozenset() if _NEW_ROLE.search(self.text) else _role(_ROLE.search(self.text))


def _role(found: re.Match[str] | None) -> frozenset[str]:
    return frozenset() if found is None else _stems(next(filter(None, found.groups())))


def read(sentences: Sequence[Sentence]) -> Reading:
    """Return a text as its first sentences, of which those are read that state something."""
    text = " ".join(one.text for one in sentences)[:_MAX_CHARS]
    announced = corrections.without_opening(text) != text or _ADMITTED.search(text) is not None
    stated = tuple(one.text for one in sentences[:_MAX_PARTS] if one.is_statement)
    return Reading(stated, text, announced)


def renews(newer: Reading, older: Reading, *, reply: bool = False) -> bool:
    """Return whether a statement gives a value of an older one as replaced.

    Args:
        older: the older one, in the same grammatical person.
        reply: whether the newer one is a reply to the older one, so that it need not say that it is
            new, and may be about the past.
    """
    if newer.new_role and newer.new_role == older.role:
        return True
    replacing = newer.frames if reply else newer.new_frames
    return bool(replacing) and any(
        _differs(then, now, past=reply) for now in replacing for then in older.frames
    )


def patches(newer: Reading, older: Reading) -> bool:
    """Return whether a statement replaces words of the one just before: "Wait, no, for eight"."""
    opened = corrections.without_opening(newer.text)
    if found := _NOT_THIS.match(opened):
        given_up = _stems(found["old"])
        return bool(given_up) and given_up <= _stems(older.text)
    if opened == newer.text:
        return False
    words = fact_tokens(_PARTS.split(opened)[0].rstrip("."))
    if not words or len(words) > _MAX_VALUE_WORDS or is_negated(words):
        return False
    if verb_place(words) is not None:
        return False
    before = [_phrases(fact_tokens(one)) for one in split_sentences(older.text)]
    return any(
        _patches(content, old)
        for key, content in _phrases(words).items()
        for phrases in before
        for place, old in phrases.items()
        if key in {"", place}
    )


def _patches(new: Sequence[FactToken], old: Sequence[FactToken]) -> bool:
    """Return whether two phrases are of one kind and differ."""
    if {*_keys(new)} <= {*_keys(old)}:
        return False
    return bool(_kinds(new) & _kinds(old)) or not {*_keys(new)}.isdisjoint(_keys(old))


def _stems(text: str) -> frozenset[str]:
    return stems_of(read_tokens(text))


@cached_if_short
def _frames(sentence: str) -> tuple[_Frame, ...]:
    """Return the clauses of a sentence; a pronoun means what the clause before it is about."""
    found, meant = list[_Frame](), frozenset[tuple[str, ...]]()
    for part in _PARTS.split(corrections.without_opening(sentence)):
        plain = _NEW.sub(" ", part)
        words, verb = _words(_REST.split(plain)[0])
        if verb is None:
            words, verb = _words(plain)
        if not verb or is_negated(words):
            continue
        end, keys = _end_of_verb(words, verb), tuple(word.key for word in words)
        subjects = meant
        if verb > 1 or keys[0] not in _PRONOUNS:
            subjects = frozenset({keys[:verb]})
            meant = frozenset({keys[:verb], keys[end:]}) - {()}
        if subjects:
            main, helped = keys[end - 1], keys[verb : end - 1]
            done = "have" in helped or (main.endswith("ed") and "be" not in helped)
            event, new = done or is_past(part), plain != part
            found.append(_Frame(subjects, stem(main), _phrases(words[end:]), event, new))
    return tuple(found)


def _words(text: str) -> tuple[list[FactToken], int | None]:
    """Return the words of a clause, and the position of its verb."""
    words = [_in_person(word) for word in fact_tokens(text) if word.key not in _OWNERS]
    return words, verb_place(words)


def _in_person(word: FactToken) -> FactToken:
    """Return the word; "I" for the name that a belief gives its user."""
    return replace(word, key="i") if word.key in {"user", "me"} else word


def _end_of_verb(words: Sequence[FactToken], verb: int) -> int:
    """Return the position after a verb and its participle: will be painted."""
    end = verb + 1
    while end < len(words) and words[end - 1].key in AUXILIARIES | CONTRACTED:
        key = words[end].key
        if key not in AUXILIARIES and not _PARTICIPLE.fullmatch(key):
            break
        end += 1
    return end


def _phrases(words: Sequence[FactToken]) -> dict[str, tuple[FactToken, ...]]:
    found, key = dict[str, list[FactToken]](), ""
    for word in words:
        if word.key in _PREPOSITIONS | changes.RELATIONS:
            key = word.key
        else:
            found.setdefault(key, []).append(word)
    return {one: tuple(content) for one, content in found.items()}


def _differs(then: _Frame, now: _Frame, *, past: bool) -> bool:
    """Return whether two clauses differ in one phrase, which holds a value that is replaced."""
    if then.verb != now.verb or then.subjects.isdisjoint(now.subjects):
        return False
    if not past and (then.is_event or now.is_event):
        return False
    both = then.phrases.keys() & now.phrases.keys()
    changed = [key for key in both if _keys(then.phrases[key]) != _keys(now.phrases[key])]
    if len(changed) != 1 or (then.phrases.keys() - both and now.phrases.keys() - both):
        return False
    return _is_replaced(then, changed[0], now, shared=len(both) - 1)


def _is_replaced(then: _Frame, key: str, now: _Frame, *, shared: int) -> bool:
    """Return whether a thing has one value at a time in the phrase that differs."""
    old, new = then.phrases[key], now.phrases[key]
    if max(len(old), len(new)) > _MAX_VALUE_WORDS:
        return False
    kinds = _kinds(old) & _kinds(new)
    if kinds & _MEASURES and key in {"", *changes.RELATIONS}:
        return _others(old) == _others(new)
    if key:
        # I know Ada from work, and from the choir.
        return key not in changes.RELATIONS and not (key == "from" and "" in then.phrases)
    if then.verb == "be":
        owned = any(stem(word) in ATTRIBUTES for one in then.subjects for word in one)
        return owned or bool(kinds)
    if _PARTICIPLE.fullmatch(then.verb) or then.verb in _NAMING:
        return True
    return shared > 0 and old[-1].key == new[-1].key


def _keys(words: Sequence[FactToken]) -> tuple[str, ...]:
    return tuple(word.key for word in words)


def _kinds(words: Sequence[FactToken]) -> set[FactKind]:
    return {word.kind for word in words} - {FactKind.VALUE}


def _others(words: Sequence[FactToken]) -> tuple[str, ...]:
    """Return the words other than numbers and dates."""
    return tuple(word.key for word in words if word.kind not in _MEASURES)
