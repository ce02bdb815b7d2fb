"""Whether a passage supports a statement, refutes it, or is about something else.

Similarity shows that two texts share a topic; it cannot separate "she drinks coffee" from "she
no longer drinks coffee". The facts of both texts are therefore compared as well. Texts that agree
except for a negation or a number contradict each other. A negation on one side or another number
in different wording is a doubt, as is one word exchanged for another. A doubt is not evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from graphmem.model import EvidenceKind
from graphmem.rules.consolidation import Passage
from graphmem.rules.facts import FactToken, fact_tokens
from graphmem.rules.quantities import FactKind as Fact

SHARED = 0.6
"""Share of words, without negations and numbers, that a contradiction needs in common."""
NEARLY = 0.8
"""The same share for a changed number: two runs of 5 and of 10 km agree in less. Texts that agree
this much but each have a word of their own are about different things: tea and coffee."""
_NAME_PART = re.compile(r"\w+")


def relation(passage: Passage, statement: str) -> EvidenceKind | None:
    """Return how a passage near a statement relates to it; None if this cannot be determined.

    A statement by a named speaker about themselves is not evidence about others, so the statement
    must name the speaker.
    """
    if passage.name and not _names(passage.name, statement):
        return None
    return _word_relation(_words(passage.spoken), _words(statement))


@lru_cache(maxsize=4_096)
def _words(text: str) -> tuple[FactToken, ...]:
    # Cached: each passage is compared with several statements, and each statement with many.
    return tuple(fact_tokens(text))


def _word_relation(
    stated: Sequence[FactToken], claimed: Sequence[FactToken]
) -> EvidenceKind | None:
    agree = _agreement(stated, claimed)
    if _negated(stated) != _negated(claimed):
        return EvidenceKind.REFUTING if agree >= SHARED else None
    counts, claims = _numbers(stated), _numbers(claimed)
    if counts and claims and counts != claims:
        # "I have two cats", "I have three cats"; in different wording the topic may differ.
        return EvidenceKind.REFUTING if agree >= NEARLY else None
    return None if agree >= NEARLY and _exchanged(stated, claimed) else EvidenceKind.SUPPORTING


def _agreement(stated: Sequence[FactToken], claimed: Sequence[FactToken]) -> float:
    """Return the Dice coefficient of the words of two texts: twice the common ones over all."""
    one, other = _plain(stated), _plain(claimed)
    whole = one.total() + other.total()
    return 2 * (one & other).total() / whole if whole else 0.0


def _exchanged(stated: Sequence[FactToken], claimed: Sequence[FactToken]) -> bool:
    """Return whether each text has a word that the other lacks: tea for coffee, Anna for Marek."""
    one, other = _plain(stated), _plain(claimed)
    return bool(one - other) and bool(other - one)


def _plain(text: Sequence[FactToken]) -> Counter[str]:
    aside = (Fact.NEGATION, Fact.NUMBER)
    return Counter(min(word.bases, default=word.key) for word in text if word.kind not in aside)


def _negated(text: Sequence[FactToken]) -> bool:
    # "No longer" is two negating words but one negation.
    return any(word.kind is Fact.NEGATION for word in text)


def _names(speaker: str, statement: str) -> bool:
    named = set(_NAME_PART.findall(statement.casefold()))
    return any(part in named for part in _NAME_PART.findall(speaker.casefold()))


def _numbers(text: Sequence[FactToken]) -> Counter[str]:
    return Counter(word.key for word in text if word.kind is Fact.NUMBER)
