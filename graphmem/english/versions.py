"""Recognition of versions of one fact among the results of a search, in English.

Two statements are versions of one fact if they share a frame of words and differ in a value.
Similarity does not distinguish a version from a repeat or another fact, so the words decide. Every
doubt counts against a mark, because a false mark hides what is true. Frames are shared if

- two sentences are the same but for a value that a later statement replaces; or
- the question asks for this kind of value, and the words around both values contain the same words
  of the question. A word of change ("now", "rescheduled") must be near the newer value, or the
  words around both must cover much of the question.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any

from graphmem import folding
from graphmem.english import changes, corrections, endings, frames
from graphmem.english.changes import Change
from graphmem.english.facts import MAX_CACHED_CHARS, FactToken, cached_if_short, fact_tokens
from graphmem.english.mentions import (
    ATTRIBUTES,
    STATES,
    Mention,
    Question,
    Sentence,
    clauses_of,
    sentences,
    stem,
)
from graphmem.english.quantities import FactKind
from graphmem.english.wordings import Wording
from graphmem.model import AnyBite, EpisodeBite, MemoryBite, Status, TurnBite, roles

MAX_COMPARED = 30
"""Maximum number of results that are compared, best first."""
MAX_VALUES = 24
"""Maximum number of values of a text that are compared."""
_MIN_SHARED, _MIN_SHARED_UNCHANGED = 2, 3
"""Minimum words of the question around both values, with and without a word of change."""
_MIN_WEIGHT, _MIN_WEIGHT_UNCHANGED = 0.15, 0.4
"""Minimum share of the question that they make up, weighted by rarity among the results."""
_MIN_SAME = 0.5
"""Minimum share of common words of two sentences that are compared word by word."""
_MIN_FRAME = 2
"""Minimum words of content that two sentences of one frame have in common."""

_SAME_SENTENCE, _CHANGED = 2.0, 1.0
"""Strength of two sentences that differ in a value, and the additional one of a word of change."""

_TIMES = frozenset({"date", "weekday", "clock"})
"""Kinds of which two values are often two events."""

_MAX_PAIRS = 24
"""Maximum pairs of sentences of two texts whose words are compared, which costs the most."""
_MAX_ENDED = 4
"""Maximum clauses of a text that are compared with the end of something."""
_MAX_REPLIES = 2
"""Maximum distance of a turn that patches another one: after the assistant's reply."""
_MAX_APART = 4
"""Maximum words of content that only one of two sentences has."""

_REPLACEABLE = frozenset(map(stem, STATES)) | ATTRIBUTES

_FIRST_PERSON = frozenset({"i", "me", "user"})
_I = FactToken("i", FactKind.VALUE, frozenset())
_OWN = FactToken("'s", FactKind.VALUE, frozenset())


@dataclass(frozen=True, slots=True)
class Statement:
    """One result of a search."""

    id: str
    text: str
    at: datetime | None
    """Time when it was last stated; None for a text that is not compared."""
    is_turn: bool = False
    """Whether it is a turn, so that `I` in it means its speaker."""
    speaker: str | None = None
    """Name, else role, of the speaker of a turn."""
    slot: tuple[str, str] | None = None
    """Subject and predicate of a belief; two beliefs with slots are compared by their evidence."""
    place: tuple[str, int] | None = None
    """Episode and position of a turn."""
    heads: tuple[str, ...] = ()
    """Ids of the items that are recorded as its successors; its text is not compared."""


def mark_outdated(bites: Sequence[AnyBite], question: str) -> tuple[AnyBite, ...]:
    """Return the bites with each outdated one marked and after its newest version."""
    newest = outdated([_statement(bite) for bite in bites], question)
    by_id = {bite.id: _outvoted(bite) for bite in bites}
    if not newest:
        return tuple(by_id.values())
    order = place_versions([bite.id for bite in bites], newest)
    return tuple(
        by_id[one].model_copy(update={"outdated_by": newest[one]}) if one in newest else by_id[one]
        for one in order
    )


def _outvoted(bite: AnyBite) -> AnyBite:
    """Return a bite, marked if it is a turn whose value lost its slot."""
    heads = bite.head_ids if isinstance(bite, TurnBite) else ()
    return bite.model_copy(update={"outdated_by": heads[0]}) if heads else bite


def _statement(bite: AnyBite) -> Statement:
    if isinstance(bite, TurnBite):
        turn = bite.turn
        # An assistant answers and proposes; it does not state facts.
        stated = roles.is_human(turn.role) and not bite.head_ids
        at = turn.occurred_at if stated else None
        who = turn.name or turn.role
        place = turn.episode_id, turn.position
        return Statement(turn.id, turn.text, at, True, who, place=place, heads=bite.head_ids)
    if isinstance(bite, MemoryBite):
        memory = bite.memory
        heads = memory.head_ids if memory.status is not Status.CURRENT else ()
        at = memory.last_seen_at if memory.status is Status.CURRENT else None
        return Statement(memory.id, memory.content, at, heads=tuple(heads))
    if isinstance(bite, EpisodeBite):
        # A summary states many facts at once.
        return Statement(bite.id, "", None)
    belief = bite.belief
    subject, predicate = belief.subject, belief.predicate
    slot = None if subject is None or predicate is None else (subject, predicate)
    at, heads = (None, bite.head_ids) if bite.lost else (bite.last_at, ())
    return Statement(belief.id, bite.text, at, slot=slot, heads=tuple(heads))


def outdated(statements: Sequence[Statement], question: str) -> dict[str, str]:
    """Return the id of the newest version by the id of each outdated one, newer ones first.

    A mark leads from an older statement to a newer one, never to one that is itself outdated.
    Equal times give no mark. The time is bounded: long texts are cut and only the first results are
    compared.
    """
    statements = statements[:MAX_COMPARED]
    newest = _compare(statements, question)
    found = {one.id for one in statements}
    for one in statements:
        head = next((head for head in one.heads if head in found), one.id)
        if (newer := newest.get(head, head)) != one.id:
            newest[one.id] = newer
    return newest


def _compare(statements: Sequence[Statement], question: str) -> dict[str, str]:
    dated = [one for one in statements if one.at is not None]
    if len(dated) < 2:
        return {}
    asked = Question.of(question)
    texts = [_Text.of(one) for one in sorted(dated, key=_age)]
    weights = _Weights.of(texts, asked)
    newest: dict[str, str] = {}
    # The newest comes first, so that the mark of a newer version is final.
    for n in reversed(range(len(texts))):
        older = texts[n].statement.id
        comparer = _Comparer(texts[:n], asked, weights)
        strengths = [(comparer.strength(texts[n], newer), newer) for newer in texts[n + 1 :]]
        strength, newer = max(reversed(strengths), key=lambda one: one[0], default=(0.0, texts[n]))
        if strength > 0:
            newest[older] = newest.get(newer.statement.id, newer.statement.id)
    return newest


def place_versions(ids: Sequence[str], newest: Mapping[str, str]) -> list[str]:
    """Return the ids with each outdated one after its newest version.

    A newest version that was below takes the place of its first outdated one, and those that were
    above it follow in the order of `newest`: what replaces a result is as relevant as the result.
    """
    place = {one: n for n, one in enumerate(ids)}
    above: dict[str, list[str]] = {}
    for older, head in newest.items():
        if place[head] > place[older]:
            above.setdefault(head, []).append(older)
    groups = {min(older, key=place.__getitem__): [head, *older] for head, older in above.items()}
    moved = {one for group in groups.values() for one in group}
    order: list[str] = []
    for one in ids:
        order += groups.get(one, [] if one in moved else [one])
    return order


@dataclass(slots=True)
class _Text:
    """A statement as sentences and values."""

    statement: Statement
    names: frozenset[str]
    """Parts of the name of its speaker, folded; empty unless it is a turn."""
    sentences: list[Sentence]
    mentions: list[tuple[Mention, Sentence]]
    """Its values, each with its sentence."""
    stems: frozenset[str]
    clauses: list[Sentence]
    """Its sentences, and their clauses."""
    stated: list[Sentence]
    """Those of them that state something."""
    ending: list[Sentence]
    """Those of them that may end or correct what another text states."""
    reading: frames.Reading

    @classmethod
    def of(cls, statement: Statement) -> _Text:
        speaker = (statement.is_turn and statement.speaker) or ""
        names = frozenset(folding.fold(speaker).split())
        return cls(statement, names, *_read(statement.text))


@cached_if_short  # The same texts are found again and again.
def _read(text: str) -> tuple[Any, ...]:
    """Return the fields of a `_Text` that follow from its text."""
    found = list(sentences(text))
    mentions = [(mention, sentence) for sentence in found for mention in sentence.mentions]
    stems = frozenset[str]().union(*(s.stems for s in found))
    clauses = [clause for sentence in found for clause in clauses_of(sentence)]
    stated = [one for one in clauses if one.is_statement]
    ending = [one for one in clauses if endings.ended(one.text) or corrections.read(one.text)]
    return found, mentions[:MAX_VALUES], stems, clauses, stated, ending, frames.read(found)


def _age(statement: Statement) -> tuple[float, str]:
    return (0.0 if statement.at is None else statement.at.timestamp()), statement.id


@dataclass(frozen=True, slots=True)
class _Weights:
    """Weight of each word of the question: rare words of the results count more."""

    by_stem: Mapping[str, float]
    total: float

    @classmethod
    def of(cls, texts: Sequence[_Text], asked: Question) -> _Weights:
        found = Counter(stem for text in texts for stem in asked.stems & text.stems)
        by_stem = {s: math.log((len(texts) + 1) / (n + 0.5)) for s, n in found.items()}
        return cls(by_stem, sum(by_stem.values()))

    def share(self, stems: Iterable[str]) -> float:
        return sum(self.by_stem.get(s, 0.0) for s in stems) / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class _Comparer:
    """Compares an older statement with newer ones."""

    earlier: Sequence[_Text]
    """Statements before the older one."""
    asked: Question
    weights: _Weights

    def strength(self, older: _Text, newer: _Text) -> float:
        """Return how clearly two statements are versions of one fact; 0 if they are not."""
        a, b = older.statement, newer.statement
        if a.at == b.at or (a.slot and b.slot):
            return 0.0
        if a.is_turn and b.is_turn and a.speaker != b.speaker:
            return 0.0
        if _differ_in_value(older, newer) or _is_given_up(older, newer):
            return _SAME_SENTENCE
        return self._answer_differently(older, newer)

    def _answer_differently(self, older: _Text, newer: _Text) -> float:
        """Return how clearly they give different values for what the question asks."""
        if not older.mentions or not newer.mentions:
            return 0.0
        values = {(mention.kind, mention.key) for mention, _ in newer.mentions}
        best = 0.0
        for b, new in newer.mentions:
            # A value that was stated before refers to the past.
            if any(_is_repeated(b, text) for text in (older, *self.earlier)):
                continue
            for a, old in older.mentions:
                if _is_changed(a, b) and _is_asked(a, b, self.asked):
                    if _change(older, old, newer, new) is Change.OTHER:
                        continue
                    again = (a.kind, a.key) in values
                    best = max(best, self._shared_frame(a, b, again=again))
        return best

    def _shared_frame(self, a: Mention, b: Mention, *, again: bool) -> float:
        """Return how clearly the words of the question around both values show one fact.

        `again` is whether the newer statement repeats the older value.
        """
        if (b.event and not b.changed) or _are_apart(a, b):
            return 0.0
        shared = (a.near | {*a.units}) & (b.near | {*b.units}) & self.asked.stems
        share = self.weights.share(shared)
        if b.changed and len(shared) >= _MIN_SHARED and share >= _MIN_WEIGHT:
            return _CHANGED + share
        if again or a.kind in _TIMES or len(shared) < _MIN_SHARED_UNCHANGED:
            return 0.0
        return share if share >= _MIN_WEIGHT_UNCHANGED else 0.0


def _is_repeated(value: Mention, text: _Text) -> bool:
    return any(_are_alike(one, value) and one.key == value.key for one, _ in text.mentions)


def _are_alike(a: Mention, b: Mention) -> bool:
    """Return whether two values are of one kind and, if they count, count the same thing."""
    if a.kind != b.kind:
        return False
    if a.kind != "number":
        return True
    if not a.units and not b.units:
        return a.label == b.label and a.label in ATTRIBUTES
    if not a.units or not b.units:
        # "150 commits" and "the commits have reached 165".
        counted, others = (a.units, b.before) if a.units else (b.units, a.before)
        return not others.isdisjoint(counted)
    shared = set(a.units) & set(b.units)
    return bool(shared) and (len(shared) > 1 or min(len(a.units), len(b.units)) == 1)


def _is_changed(a: Mention, b: Mention) -> bool:
    if not _are_alike(a, b) or a.key == b.key:
        return False
    if a.kind == "clock" and "?" in a.key + b.key:
        return False  # The half of the day is unknown.
    if a.kind == "date" and "----" in {a.key[:4], b.key[:4]}:
        return a.key[4:] != b.key[4:]
    return a.kind != "year"


def _is_asked(a: Mention, b: Mention, asked: Question) -> bool:
    if a.kind != "number":
        return a.kind in asked.kinds
    shared = set(a.units) & set(b.units) or {*a.units, *b.units} or {a.label}
    if not asked.counted.isdisjoint(shared):
        return True
    return not ATTRIBUTES.isdisjoint(asked.counted & a.near & b.near)


def _are_apart(a: Mention, b: Mention) -> bool:
    """Return whether numbers or names around two values show two things: sprint 1, sprint 2."""
    if a.names and b.names and a.names.isdisjoint(b.names):
        return True
    numbers = dict[str, set[str]]()
    for thing, number in a.labels:
        numbers.setdefault(thing, set()).add(number)
    others = dict[str, set[str]]()
    for thing, number in b.labels:
        others.setdefault(thing, set()).add(number)
    return any(numbers[thing].isdisjoint(others[thing]) for thing in numbers.keys() & others)


def _differ_in_value(older: _Text, newer: _Text) -> bool:
    """Return whether two sentences are the same but for a value that is replaced."""
    pairs = (
        (a, b) for b in newer.stated for a in older.stated if _are_close(a, b) and a.text != b.text
    )
    return any(
        change is Change.CERTAIN or (change is Change.POSSIBLE and _is_announced(b))
        for a, b in islice(pairs, _MAX_PAIRS)
        for change in [_change(older, a, newer, b)]
    )


def _is_announced(sentence: Sentence) -> bool:
    """Return whether a sentence announces a correction: "Wait, no, …"."""
    return corrections.without_opening(sentence.text) != sentence.text


def _is_given_up(older: _Text, newer: _Text) -> bool:
    """Return whether the newer statement ends or corrects what the older one states."""
    new, old = newer.reading, older.reading
    if frames.renews(new, old) or (_follows(newer, older) and frames.patches(new, old)):
        return True
    return bool(newer.ending) and any(
        endings.ends(b, a) or corrections.corrects(b, a)
        for b in newer.ending
        for a in older.clauses[:_MAX_ENDED]
    )


def _follows(newer: _Text, older: _Text) -> bool:
    """Return whether a turn comes right after another one, apart from replies."""
    before, after = older.statement.place, newer.statement.place
    if before is None or after is None or before[0] != after[0]:
        return False
    return 0 < after[1] - before[1] <= _MAX_REPLIES


def _change(older: _Text, a: Sentence, newer: _Text, b: Sentence) -> Change:
    compare = _compare_words if len(a.text) + len(b.text) > MAX_CACHED_CHARS else _compare_short
    return compare(a.text, b.text, older.names | newer.names)


def _compare_words(a: str, b: str, names: frozenset[str]) -> Change:
    """Compare two sentences with `i` for the user and, next to a turn, for its speaker."""
    return changes.compare(_wording(a, names), _wording(b, names))


_compare_short = lru_cache(maxsize=20_000)(_compare_words)
"""The same; one question after another finds the same sentences."""


@lru_cache(maxsize=1_000)
def _wording(text: str, names: frozenset[str]) -> Wording:
    tokens = fact_tokens(corrections.without_opening(text))
    return Wording.of(_in_first_person(tokens, names))


def _are_close(a: Sentence, b: Sentence) -> bool:
    common, sizes = a.stems & b.stems, (len(a.stems), len(b.stems))
    shared = len(common)
    apart = max(sizes) - shared
    if shared < _MIN_FRAME:
        if shared != 1 or apart > 2:
            return False
        return _is_announced(b) or not _REPLACEABLE.isdisjoint(common)
    return apart <= _MAX_APART and shared >= _MIN_SAME * min(sizes)


def _in_first_person(tokens: Iterable[FactToken], names: Set[str]) -> Iterator[FactToken]:
    for token in tokens:
        key = token.key
        if key in _FIRST_PERSON or folding.fold(key) in names:
            yield _I
        elif key == "my":
            yield from (_I, _OWN)
        else:
            yield token
