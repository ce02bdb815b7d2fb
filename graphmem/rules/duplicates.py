"""Whether a text repeats a stored one, updates it, or states something else.

Similarity cannot separate them: "the limit is 100" and "… 200" are closer than most paraphrases.
A near duplicate must therefore also state the same facts: the same significant words in the same
order. Every doubt counts as a difference, because an extra memory costs little, but a lost update
makes the store wrong. `changes` decides what is an update.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.english import changes, facts
from graphmem.english.changes import Change
from graphmem.english.facts import (
    FactToken,
    comparable_keys,
    fact_tokens,
    is_negated,
)
from graphmem.english.quantities import FactKind
from graphmem.model import Outcome, Status
from graphmem.rules import scoring
from graphmem.rules.drafts import TextDraft

CANDIDATES = 5
"""Nearest memories compared with each text, in the graph and in its batch."""

Vector = npt.NDArray[np.float32]


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
    change: Change = Change.NONE
    """How surely the offered text states another version of the fact."""


def find_duplicate(
    content: str, candidates: Iterable[NearMatch], near: float, update: float
) -> Duplicate | None:
    """Return the memory that `content` repeats, else the one it may update, else None.

    The most similar candidate that states the same is returned; if none does, the one that most
    surely states another version of the fact, then the most similar. Ties go to the smaller id.

    Args:
        near: minimum similarity of a repeat.
        update: minimum similarity of an update.
    """
    close = sorted(
        (c for c in candidates if c.similarity >= min(near, update)),
        key=lambda c: (-c.similarity, c.id),
    )
    updated: Duplicate | None = None
    for candidate in close:
        if candidate.similarity >= near and repeats(content, candidate.content):
            return Duplicate(candidate, frozenset())
        if candidate.similarity >= update:
            change = changes.between(content, candidate.content)
            if change > (Change.NONE if updated is None else updated.change):
                differences = difference(content, candidate.content)
                updated = Duplicate(candidate, differences, change)
    return updated


def repeats(a: str, b: str) -> bool:
    """Return whether two texts state the same: whether they have no `difference`."""
    one, other = fact_tokens(a), fact_tokens(b)
    if len(one) != len(other):
        return False
    # Cheap, and true of almost all texts near one another: a word without its like.
    forms = {word.key for word in other}.union(*(word.bases for word in other))
    if any(word.key not in forms and word.bases.isdisjoint(forms) for word in one):
        return False
    return not _difference(_align(one, other))


def difference(a: str, b: str) -> frozenset[FactKind]:
    """Return the kinds of facts in which two texts differ; empty if they state the same.

    Symmetric, and empty for a text and itself. Punctuation, case (but for "IT"), articles, fillers,
    contractions, agreement with the subject, a loose plural, a progressive form and a date moved
    from one end to the other make no difference.
    """
    return _difference(_align(fact_tokens(a), fact_tokens(b)))


class _Texts(NamedTuple):
    """The words of two texts, and their keys with inflections made equal."""

    a: Sequence[FactToken]
    b: Sequence[FactToken]
    keys_a: list[str]
    keys_b: list[str]


def _align(a: Sequence[FactToken], b: Sequence[FactToken]) -> _Texts:
    return _Texts(a, b, comparable_keys(a, b), comparable_keys(b, a))


def _difference(texts: _Texts) -> frozenset[FactKind]:
    a, b, keys_a, keys_b = texts
    if facts.differ_in_case(a, b):
        return frozenset({FactKind.NAME})
    if keys_a == keys_b:
        return frozenset()
    count_a, count_b = Counter(keys_a), Counter(keys_b)
    if count_a != count_b:
        extra = (count_a - count_b) + (count_b - count_a)
        both = (*zip(keys_a, a, strict=True), *zip(keys_b, b, strict=True))
        return frozenset(word.kind for key, word in both if key in extra)
    return _order_difference(texts)


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
    """Memory of which the text may be another version."""
    change: Change = Change.NONE
    """How surely it is one."""
    restores: ExactMatch | None = None
    """Hidden memory that it restores."""

    @property
    def update_of(self) -> str | None:
        """Id of the memory of which the text may be another version; None if there is none."""
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
            change=duplicate.change if duplicate else Change.NONE,
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
        close = np.flatnonzero(cosines >= least)
        if len(close) > CANDIDATES:
            last = np.partition(cosines[close], -CANDIDATES)[-CANDIDATES]
            close = close[cosines[close] >= last]
        nearest = sorted(
            close.tolist(),
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
