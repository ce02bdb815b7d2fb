"""Whether a text repeats a stored one, updates it, or states something else.

Similarity cannot separate them: "the limit is 100" and "… 200" are closer than most paraphrases.
A near duplicate must therefore also state the same facts: the same significant words in the same
order. Every doubt counts as a difference, because an extra memory costs little, but a lost update
makes the store wrong. An update has the same frame of words and another value in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.model import Outcome, Status
from graphmem.rules import scoring
from graphmem.rules.drafts import TextDraft
from graphmem.rules.facts import FactToken, fact_tokens, is_negated
from graphmem.rules.quantities import BOUNDS, COMMON, FactKind

CANDIDATES = 5
"""Nearest memories compared with each text, in the graph and in its batch."""
MIN_FRAME = 0.6
"""Minimum share of their words, without negations, that two versions of a fact have in common."""
MAX_CHANGED_WORDS = 3
"""Maximum number of words of a changed value: São Paulo, Belo Horizonte."""
MAX_CHANGES = 12
"""Maximum number of words that only one of two versions of a fact has."""
MAX_CACHED_CHARS = 500
MAX_ALIGNED = 64
"""Maximum number of words, from the first to the last that differs, of two versions of a fact."""
_CONTRACTED = frozenset({"'s", "'d"})
_FUNCTION_WORDS = COMMON | _CONTRACTED
_EXACT_KINDS = frozenset({FactKind.NUMBER, FactKind.DATE, FactKind.NAME})
_ADDED = frozenset({"now", "currently", "already", "again", "still", "any", "more", "anymore"})
"""Words that an update may add: the limit is now 200."""


@dataclass(frozen=True, slots=True)
class NearMatch:
    """A memory near the offered content."""

    id: str
    scope: str
    content: str
    tags: tuple[str, ...]
    similarity: float
    """Calibrated cosine, at most 1."""
    stated_at: datetime | None = None
    """Time of its newest statement; None if it does not matter."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A near match, compared fact by fact."""

    match: NearMatch
    differences: frozenset[FactKind]
    """Kinds of facts in which it differs; empty if the offered text repeats it."""


def find_duplicate(
    content: str, candidates: Iterable[NearMatch], near: float, update: float
) -> Duplicate | None:
    """Return the memory that `content` repeats, else the one it may update, else None.

    The most similar candidate that states the same is returned; if none does, the most similar one
    that states another version of the fact. Ties go to the smaller id.

    Args:
        content: the offered text.
        candidates: memories to compare it with.
        near: minimum similarity of a repeat.
        update: minimum similarity of an update.
    """
    close = sorted(
        (c for c in candidates if c.similarity >= min(near, update)),
        key=lambda c: (-c.similarity, c.id),
    )
    offered = _tokens(content) if close else ()
    updated: Duplicate | None = None
    for candidate in close:
        texts = _align(offered, _tokens(candidate.content))
        differences = _difference(texts)
        if not differences and candidate.similarity >= near:
            return Duplicate(candidate, differences)
        if not updated and candidate.similarity >= update and _is_update(texts):
            updated = Duplicate(candidate, differences)
    return updated


def _tokens(text: str) -> tuple[FactToken, ...]:
    # A text is compared with several, but a long one is too large to keep.
    return _cached_tokens(text) if len(text) <= MAX_CACHED_CHARS else fact_tokens(text)


_cached_tokens = lru_cache(maxsize=2_000)(fact_tokens)


def difference(a: str, b: str) -> frozenset[FactKind]:
    """Return the kinds of facts in which two texts differ; empty if they state the same.

    Symmetric, and empty for a text and itself. Punctuation, case, articles, fillers,
    contractions, agreement with the subject, a loose plural, a progressive form and a date moved
    from one end to the other make no difference.
    """
    return _difference(_align(fact_tokens(a), fact_tokens(b)))


def unshared(a: Sequence[FactToken], b: Sequence[FactToken]) -> tuple[list[int], list[int]]:
    """Return the positions of the words that only one of two texts has, for each of them."""
    keys_a, keys_b = _comparable_keys(a, b), _comparable_keys(b, a)
    return _not_in(keys_a, keys_b), _not_in(keys_b, keys_a)


def _not_in(keys: Sequence[str], others: Sequence[str]) -> list[int]:
    left = Counter(others)
    positions = []
    for n, key in enumerate(keys):
        if left[key]:
            left[key] -= 1
        else:
            positions.append(n)
    return positions


def is_update(a: str, b: str) -> bool:
    """Return whether two texts state one fact with another value, or once negated.

    They have most of their words in common, in the same order. The others are a number, date or
    name in place of another, one word in place of another, or a negation. Symmetric.
    """
    return _is_update(_align(fact_tokens(a), fact_tokens(b)))


class _Texts(NamedTuple):
    """The words of two texts, and their keys with inflections made equal."""

    a: Sequence[FactToken]
    b: Sequence[FactToken]
    keys_a: list[str]
    keys_b: list[str]


def _align(a: Sequence[FactToken], b: Sequence[FactToken]) -> _Texts:
    return _Texts(a, b, _comparable_keys(a, b), _comparable_keys(b, a))


def _difference(texts: _Texts) -> frozenset[FactKind]:
    a, b, keys_a, keys_b = texts
    if keys_a == keys_b:
        return frozenset()
    count_a, count_b = Counter(keys_a), Counter(keys_b)
    if count_a != count_b:
        extra = (count_a - count_b) + (count_b - count_a)
        both = (*zip(keys_a, a, strict=True), *zip(keys_b, b, strict=True))
        return frozenset(word.kind for key, word in both if key in extra)
    return _order_difference(texts)


def _comparable_keys(text: Sequence[FactToken], other: Sequence[FactToken]) -> list[str]:
    """Return the key of each word; inflections of a word in `other` become their common base."""
    exact = {word.key for word in other}
    progressive = _all_bases(w for w in other if w.progressive)
    loose = _all_bases(w for w in other if not w.fixed) | progressive
    every = _all_bases(other)
    keys = []
    for word in text:
        pool = every if word.progressive else progressive if word.fixed else loose
        shared = word.bases & pool
        keys.append(word.key if word.key in exact or not shared else min(shared))
    return keys


def _all_bases(text: Iterable[FactToken]) -> frozenset[str]:
    return frozenset().union(*(word.bases for word in text))


def _order_difference(texts: _Texts) -> frozenset[FactKind]:
    """Return the kinds whose order differs in a way that may change the meaning."""
    a, b, keys_a, keys_b = texts
    if is_negated(a) or is_negated(b):
        return frozenset({FactKind.NEGATION})
    undated_a, moved_a = _split_date(a, keys_a)
    undated_b, moved_b = _split_date(b, keys_b)
    if undated_a == undated_b and moved_a == moved_b and moved_a:
        return frozenset()
    kinds = frozenset(
        kind
        for kind in FactKind
        if _keys_of_kind(kind, a, keys_a) != _keys_of_kind(kind, b, keys_b)
    )
    return kinds or frozenset({FactKind.VALUE})


def _keys_of_kind(kind: FactKind, text: Sequence[FactToken], keys: Sequence[str]) -> list[str]:
    return [key for word, key in zip(text, keys, strict=True) if word.kind is kind]


def _split_date(text: Sequence[FactToken], keys: list[str]) -> tuple[list[str], list[str]]:
    """Return the keys without the text's only date, and that date if it is at an end."""
    dated = [n for n, word in enumerate(text) if word.kind is FactKind.DATE]
    if not dated:
        return keys, []
    start, end = dated[0], dated[-1] + 1
    if end - start > len(dated) or (start > 0 and end < len(text)):
        return keys, []
    return keys[:start] + keys[end:], keys[start:end]


def _is_update(texts: _Texts) -> bool:
    a, b, keys_a, keys_b = texts
    both = (Counter(keys_a) & Counter(keys_b)).total()
    if both == len(a) == len(b):
        return _is_exchanged(keys_a, keys_b) and bool(_difference(texts))
    # Cheap, and true of all but a few of the texts near one another.
    if max(len(a), len(b)) > both + MAX_CHANGES:
        return False
    spans = _changed_spans(keys_a, keys_b)
    changes = [(a[i:j], b[k:n]) for i, j, k, n in spans]
    common = 2 * (len(a) - sum(end - start for start, end, _, _ in spans))
    if common < MIN_FRAME * (common + sum(_changed_words(*change) for change in changes)):
        return False
    if not _has_content(keys_a, spans):
        return False
    if is_negated(a) != is_negated(b):
        return all(_is_short(side) for change in changes for side in change)
    return _replaces_values([change for change in changes if not _is_neutral(*change)])


def _is_exchanged(a: Sequence[str], b: Sequence[str]) -> bool:
    """Return whether two words changed places: Alice manages Bob, Bob manages Alice."""
    return sum(left != right for left, right in zip(a, b, strict=True)) == 2


def _changed_spans(a: list[str], b: list[str]) -> list[tuple[int, int, int, int]]:
    """Return the spans of `a` and of `b` that differ; one span if they are too long to align."""
    shorter = min(len(a), len(b))
    start = next((n for n in range(shorter) if a[n] != b[n]), shorter)
    end = next((n for n in range(shorter - start) if a[-1 - n] != b[-1 - n]), shorter - start)
    left, right = a[start : len(a) - end], b[start : len(b) - end]
    if max(len(left), len(right)) > MAX_ALIGNED:
        return [(start, len(a) - end, start, len(b) - end)]
    # The alignment depends on the order of its arguments, the result must not.
    flipped = right < left
    pair = (right, left) if flipped else (left, right)
    codes = SequenceMatcher(None, *pair, autojunk=False).get_opcodes()
    spans = [(i, j, k, n) for code, i, j, k, n in codes if code != "equal"]
    if flipped:
        spans = [(k, n, i, j) for i, j, k, n in spans]
    return [(start + i, start + j, start + k, start + n) for i, j, k, n in spans]


def _changed_words(a: Sequence[FactToken], b: Sequence[FactToken]) -> int:
    """Return the number of words of a change; a value of several words counts as one."""
    if _replaces_exact(a, b):
        return 2
    return sum(word.kind is not FactKind.NEGATION and word.key not in _ADDED for word in (*a, *b))


def _has_content(keys: Sequence[str], spans: Sequence[tuple[int, int, int, int]]) -> bool:
    """Return whether a word outside the changed spans carries meaning."""
    changed = {n for start, end, _, _ in spans for n in range(start, end)}
    return any(n not in changed and key not in _FUNCTION_WORDS for n, key in enumerate(keys))


def _is_short(side: Sequence[FactToken]) -> bool:
    """Return whether a changed span consists of negating and function words and one other."""
    content = [
        word
        for word in side
        if word.kind is not FactKind.NEGATION and word.key not in _FUNCTION_WORDS
    ]
    return len(content) <= 1


def _is_neutral(a: Sequence[FactToken], b: Sequence[FactToken]) -> bool:
    """Return whether a change adds words that only mark an update, or expands a contraction."""
    if a and b:
        return any(word.key in _CONTRACTED for word in (*a, *b))
    return all(word.key in _ADDED or word.key in _CONTRACTED for word in (*a, *b))


def _replaces_values(changes: Sequence[tuple[Sequence[FactToken], Sequence[FactToken]]]) -> bool:
    """Return whether each change replaces a number, date or name, or the only one a word."""
    if all(_replaces_exact(*change) for change in changes):
        return bool(changes)
    return len(changes) == 1 and all(len(side) == 1 for side in changes[0])


def _replaces_exact(a: Sequence[FactToken], b: Sequence[FactToken]) -> bool:
    """Return whether a number, date, name or bound replaces another of its kind."""
    kinds = _EXACT_KINDS.intersection(word.kind for word in a)
    short = len(a) <= MAX_CHANGED_WORDS and len(b) <= MAX_CHANGED_WORDS
    bounds = len(a) == len(b) == 1 and {a[0].key, b[0].key} <= BOUNDS
    return bounds or (short and any(word.kind in kinds for word in b))


Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """A memory with exactly the offered content."""

    id: str
    scope: str
    status: Status
    tags: tuple[str, ...]
    head_ids: tuple[str, ...] = ()
    """Heads of its chain, if it is superseded."""
    corrected_at: datetime | None = None
    """Time of the newest correction about it."""


@dataclass(frozen=True, slots=True)
class StoredMatches:
    """Stored memories that match a text."""

    exact: ExactMatch | None = None
    near: tuple[NearMatch, ...] = ()


@dataclass(frozen=True, slots=True)
class DuplicateVerdict:
    """Decision about a text."""

    outcome: Outcome
    memory_id: str
    tags: tuple[str, ...]
    """Tags of the memory after the decision."""
    score: float | None = None
    update: NearMatch | None = None
    """Memory of which the text is another version."""
    restores: ExactMatch | None = None
    """Hidden memory that it restores."""

    @property
    def update_of(self) -> str | None:
        """Id of the memory of which the text is another version; None if there is none."""
        return None if self.update is None else self.update.id

    @property
    def matched_id(self) -> str | None:
        """Id of the existing memory; None if a new one is inserted."""
        return None if self.outcome is Outcome.INSERTED_NEW else self.memory_id


@dataclass(slots=True)
class DuplicateResolver:
    """Decides a batch text by text, taking earlier texts of the batch into account.

    Args:
        scope: scope of the writer.
        near: calibrated cosine from which a memory may be repeated, in (0, 1].
        update: calibrated cosine from which it may be updated, in (0, 1].
        mu: mean cosine of the model between unrelated documents.
    """

    scope: str
    near: float
    update: float
    mu: float
    _exact: dict[str, ExactMatch] = field(default_factory=dict)
    _near: dict[str, tuple[NearMatch, ...]] = field(default_factory=dict)
    _new: list[TextDraft] = field(default_factory=list)
    _vectors: npt.NDArray[np.float32] | None = None
    """float32[room, d]; row i belongs to draft i of `_new`, further rows are unused."""
    _tags: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def decide(
        self, draft: TextDraft, matches: StoredMatches, vector: Vector | None
    ) -> DuplicateVerdict | None:
        """Return the verdict; None if it needs an embedding and `vector` is None."""
        exact = self._exact.get(draft.content_hash) or matches.exact
        if exact is not None:
            self._exact[draft.content_hash] = ExactMatch(
                exact.id, exact.scope, Status.CURRENT, exact.tags
            )
            return DuplicateVerdict(
                outcome=Outcome.EXACT_DUPE,
                memory_id=exact.id,
                tags=self._merge_tags(exact.id, exact.scope, exact.tags, draft),
                score=1.0,
                restores=None if exact.status is Status.CURRENT else exact,
            )
        if vector is None:
            return None
        return self._decide_near(draft, matches, vector)

    def _decide_near(
        self, draft: TextDraft, matches: StoredMatches, vector: Vector
    ) -> DuplicateVerdict:
        # A text that is repeated in the batch is searched for once.
        stored = self._near.setdefault(draft.content_hash, matches.near)
        near = (*stored, *self._near_in_batch(vector))
        duplicate = find_duplicate(draft.memory.content, near, self.near, self.update)
        if duplicate and not duplicate.differences:
            match = duplicate.match
            return DuplicateVerdict(
                outcome=Outcome.NEAR_DUPE,
                memory_id=match.id,
                tags=self._merge_tags(match.id, match.scope, match.tags, draft),
                score=match.similarity,
            )
        self._exact[draft.content_hash] = ExactMatch(
            draft.memory_id, self.scope, Status.CURRENT, ()
        )
        self._add_new(draft, vector)
        return DuplicateVerdict(
            outcome=Outcome.INSERTED_NEW,
            memory_id=draft.memory_id,
            tags=self._merge_tags(draft.memory_id, self.scope, (), draft),
            score=duplicate.match.similarity if duplicate else None,
            update=duplicate.match if duplicate else None,
        )

    def _add_new(self, draft: TextDraft, vector: Vector) -> None:
        count = len(self._new)
        if self._vectors is None:
            self._vectors = np.empty((16, len(vector)), dtype=np.float32)
        elif count == len(self._vectors):
            # The size doubles, so that a batch is copied a few times rather than once per text.
            self._vectors = np.resize(self._vectors, (2 * count, len(vector)))
        self._vectors[count] = vector
        self._new.append(draft)

    def _near_in_batch(self, vector: Vector) -> list[NearMatch]:
        if self._vectors is None:
            return []
        cosines = self._vectors[: len(self._new)] @ vector
        least = scoring.raw_cosine(min(self.near, self.update), self.mu) - scoring.ROUNDING
        nearest = sorted(
            np.flatnonzero(cosines >= least).tolist(),
            key=lambda i: (-cosines[i], self._new[i].memory_id),
        )
        return [
            NearMatch(
                id=self._new[i].memory_id,
                scope=self.scope,
                content=self._new[i].memory.content,
                tags=(),
                similarity=scoring.calibrate(float(cosines[i]), self.mu),
                stated_at=self._new[i].occurred_at,
            )
            for i in nearest[:CANDIDATES]
        ]

    def _merge_tags(
        self, memory_id: str, scope: str, stored: Sequence[str], draft: TextDraft
    ) -> tuple[str, ...]:
        known = self._tags.get(memory_id, tuple(stored))
        # A writer in a private scope reinforces a shared memory without changing its tags.
        added = draft.memory.tags if scope == self.scope else ()
        self._tags[memory_id] = tuple(sorted({*known, *added}))
        return self._tags[memory_id]
