"""Whether a text repeats a stored one, or says something new in nearly the same words.

Similarity cannot tell the two apart: "the limit is 100" and "… 200" lie closer than most
paraphrases do. So a near duplicate must also say the same facts: the same counted words in the
same order. Every doubt counts as a difference, because a second memory costs little and a
swallowed update costs the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem.rules.facts import FactToken, words
from graphmem.rules.lexicon import FactKind


@dataclass(frozen=True, slots=True)
class SimilarMemory:
    """One stored memory that lies near the offered text."""

    memory_id: str
    content: str
    similarity: float
    """Calibrated cosine, at most 1."""


@dataclass(frozen=True, slots=True)
class RepeatedMemory:
    """The memory that the offered text repeats."""

    memory_id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class UpdatedMemory:
    """The memory closest to the offered text that says something else."""

    memory_id: str
    similarity: float
    kinds: frozenset[FactKind]


def choose(content: str, candidates: Iterable[SimilarMemory], threshold: float) -> RepeatedMemory | UpdatedMemory | None:
    """Return the memory that `content` repeats, else the one it may update, else None.

    Args:
        content: the offered text.
        candidates: stored memories, in any order.
        threshold: calibrated cosine from which a candidate is considered, in (0, 1].

    Returns:
        Near: the most similar candidate at the threshold or above that says the same.
        Update: none does; the most similar one. Equal similarities go to the smaller id.
        None: no candidate reaches the threshold.
    """
    close = sorted(
        (c for c in candidates if c.similarity >= threshold),
        key=lambda c: (-c.similarity, c.memory_id),
    )
    if not close:
        return None
    offered = words(content)
    update: UpdatedMemory | None = None
    for candidate in close:
        kinds = _difference(offered, words(candidate.content))
        if not kinds:
            return RepeatedMemory(candidate.memory_id, candidate.similarity)
        update = update or UpdatedMemory(candidate.memory_id, candidate.similarity, kinds)
    return update


def difference(a: str, b: str) -> frozenset[FactKind]:
    """Return the kinds of facts in which the two texts differ; empty: they say the same.

    Symmetric, and empty for a text and itself. Punctuation, case, articles, fillers,
    contractions, agreement with the subject, a loose plural, a progressive form and a date moved
    from one end to the other make no difference.
    """
    return _difference(words(a), words(b))


def _difference(a: Sequence[FactToken], b: Sequence[FactToken]) -> frozenset[FactKind]:
    keys_a, keys_b = _keys(a, b), _keys(b, a)
    if keys_a == keys_b:
        return frozenset()
    count_a, count_b = Counter(keys_a), Counter(keys_b)
    if count_a != count_b:
        extra = (count_a - count_b) + (count_b - count_a)
        both = (*zip(keys_a, a, strict=True), *zip(keys_b, b, strict=True))
        return frozenset(word.kind for key, word in both if key in extra)
    return _order_difference(a, keys_a, b, keys_b)


def _keys(text: Sequence[FactToken], other: Sequence[FactToken]) -> list[str]:
    """Return the key of each word, an inflection of a word in `other` as their common base."""
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


def _order_difference(
    a: Sequence[FactToken], keys_a: list[str], b: Sequence[FactToken], keys_b: list[str]
) -> frozenset[FactKind]:
    """Return in which kinds the same words stand in another order that may change the meaning."""
    if _negated(a) or _negated(b):
        return frozenset({FactKind.NEGATION})
    undated_a, moved_a = _parted(a, keys_a)
    undated_b, moved_b = _parted(b, keys_b)
    if undated_a == undated_b and moved_a == moved_b and moved_a:
        return frozenset()
    kinds = frozenset(kind for kind in FactKind if _only(kind, a, keys_a) != _only(kind, b, keys_b))
    return kinds or frozenset({FactKind.VALUE})


def _negated(text: Sequence[FactToken]) -> bool:
    return any(word.kind is FactKind.NEGATION for word in text)


def _only(kind: FactKind, text: Sequence[FactToken], keys: Sequence[str]) -> list[str]:
    return [key for word, key in zip(text, keys, strict=True) if word.kind is kind]


def _parted(text: Sequence[FactToken], keys: list[str]) -> tuple[list[str], list[str]]:
    """Return the keys without the text's only date, and that date when it stands at an end."""
    dated = [n for n, word in enumerate(text) if word.kind is FactKind.DATE]
    if not dated:
        return keys, []
    start, end = dated[0], dated[-1] + 1
    if end - start > len(dated) or (start > 0 and end < len(text)):
        return keys, []
    return keys[:start] + keys[end:], keys[start:end]
