"""A sentence as words, and what is known about it before it is compared with another one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from graphmem.english import facts
from graphmem.english.facts import FactToken
from graphmem.english.mentions import CHANGES, HAPPENED, PAST, PLANNED, stem
from graphmem.english.quantities import FactKind
from graphmem.english.verbs import ADDED, verb_place

ACTED = re.compile(PAST.pattern.replace(r"(?:was|were)", "(?!)"), re.I)
"""Words of events other than `was`, which also leads to a plan: was set for Friday."""
_SIGNS = (ACTED, PLANNED, *HAPPENED)


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """A sentence as words, and what every comparison with another one needs."""

    words: tuple[FactToken, ...]
    keys: tuple[str, ...]
    """The key of each word."""
    inflected: tuple[int, ...]
    """Places of words that may be inflections."""
    forms: facts.Forms
    verb: int | None
    """Place of its verb."""
    added: frozenset[int]
    """Places of negations and of words that an update may add."""
    changing: frozenset[int]
    """Places of words of change."""
    negated: bool
    signs: tuple[re.Pattern[str], ...]
    """Patterns of ACTED, PLANNED and HAPPENED that match it: words of time and of plans."""

    @classmethod
    def of(cls, words: Iterable[FactToken]) -> Wording:
        """Return the wording of these words."""
        words = tuple(words)
        keys = tuple(word.key for word in words)
        text = " ".join(keys)
        return cls(
            words=words,
            keys=keys,
            inflected=tuple(n for n, word in enumerate(words) if word.bases),
            forms=facts.Forms.of(words),
            verb=verb_place(words),
            added=frozenset(
                n
                for n, word in enumerate(words)
                if word.key in ADDED or word.kind is FactKind.NEGATION
            ),
            changing=frozenset(
                n
                for n, word in enumerate(words)
                if word.kind is FactKind.VALUE and stem(word.key) in CHANGES
            ),
            negated=facts.is_negated(words),
            signs=tuple(sign for sign in _SIGNS if sign.search(text)),
        )

    def keys_beside(self, other: Wording) -> list[str]:
        """Return the key of each word; an inflection of a word of `other` is their common base."""
        keys = [*self.keys]
        for n in self.inflected:
            keys[n] = other.forms.key_of(self.words[n])
        return keys
