"""Whether a passage speaks for a statement, against it, or of something else.

Similarity says that two texts are about the same; it cannot tell "she drinks coffee" from "she
no longer drinks coffee". So the two are also compared by their facts: the same words but for a
negation or a number contradict; a negation on one side only, or another number, in other words
is a doubt, and so is one word for another in words otherwise the same. A doubt is no evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from graphmem.model import EvidenceKind
from graphmem.rules.consolidation import Passage
from graphmem.rules.facts import FactToken, words
from graphmem.rules.quantities import FactKind as Fact

SHARED = 0.6
"""Share of the words, negations and numbers left aside, in which a contradiction agrees."""
NEARLY = 0.8
"""The same, for a number that has changed: two runs of 5 and of 10 km agree in less. Two texts
that agree in as much and each have a word of their own are of two things: tea and coffee."""
_WORD = re.compile(r"\w+")


def relation(passage: Passage, statement: str) -> EvidenceKind | None:
    """Return how a passage that lies near a statement speaks of it; None: it cannot be told.

    What a named speaker says of themselves is no evidence about anybody else: the statement has
    to name them.
    """
    if passage.name and not _names(passage.name, statement):
        return None
    return _said_of(_words(passage.spoken), _words(statement))


@lru_cache(maxsize=4_096)
def _words(text: str) -> tuple[FactToken, ...]:
    # A passage is compared with several statements, and a statement with many passages.
    return tuple(words(text))


def _said_of(said: Sequence[FactToken], claimed: Sequence[FactToken]) -> EvidenceKind | None:
    agree = _agreement(said, claimed)
    if _negated(said) != _negated(claimed):
        return EvidenceKind.REFUTING if agree >= SHARED else None
    counts, claims = _numbers(said), _numbers(claimed)
    if counts and claims and counts != claims:
        # "I have two cats", "I have three cats"; among other words it is another matter.
        return EvidenceKind.REFUTING if agree >= NEARLY else None
    return None if agree >= NEARLY and _exchanged(said, claimed) else EvidenceKind.SUPPORTING


def _agreement(said: Sequence[FactToken], claimed: Sequence[FactToken]) -> float:
    """Return how much two texts share of their words: twice the common ones over all of them."""
    one, other = _plain(said), _plain(claimed)
    whole = one.total() + other.total()
    return 2 * (one & other).total() / whole if whole else 0.0


def _exchanged(said: Sequence[FactToken], claimed: Sequence[FactToken]) -> bool:
    """Return whether each has a word that the other lacks: tea for coffee, Anna for Marek."""
    one, other = _plain(said), _plain(claimed)
    return bool(one - other) and bool(other - one)


def _plain(text: Sequence[FactToken]) -> Counter[str]:
    aside = (Fact.NEGATION, Fact.NUMBER)
    return Counter(min(word.bases, default=word.key) for word in text if word.kind not in aside)


def _negated(text: Sequence[FactToken]) -> bool:
    # "No longer" is two words that negate and one negation.
    return any(word.kind is Fact.NEGATION for word in text)


def _names(speaker: str, statement: str) -> bool:
    named = set(_WORD.findall(statement.casefold()))
    return any(part in named for part in _WORD.findall(speaker.casefold()))


def _numbers(text: Sequence[FactToken]) -> Counter[str]:
    return Counter(word.key for word in text if word.kind is Fact.NUMBER)
