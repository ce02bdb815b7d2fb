"""A sentence as words, and what is known about it before it is compared with another one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from graphmem.english import facts
from graphmem.english.facts import FactToken
from graphmem.english.mentions import CHANGES, EVENT, PAST, PLANNED, is_past, stem
from graphmem.english.quantities import FactKind
from graphmem.english.verbs import ADDED, verb_place

_ACTED = re.compile(PAST.pattern.replace(r"(?:was|were)", "(?!)"), re.I)
"""Words of events other than `was`, which also leads to a plan: was set for Friday."""


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """A sentence as words, and what every comparison with another one needs."""

    words: tuple[FactToken, ...]
    forms: facts.Forms
    verb: int | None
    """Place of its verb."""
    added: frozenset[int]
    """Places of negations and of words that an update may add."""
    changing: frozenset[int]
    """Places of words of change."""
    negated: bool
    acted: bool
    """Whether it has a word of events other than `was`."""
    event: bool
    """Whether words place it in time, such as "yesterday"."""
    past: bool
    """Whether it states what happened."""
    planned: bool
    """Whether it has a word of sentences whose date can change."""

    @classmethod
    def of(cls, words: Iterable[FactToken]) -> Wording:
        """Return the wording of these words."""
        words = tuple(words)
        text = " ".join(word.key for word in words)
        return cls(
            words=words,
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
            acted=_ACTED.search(text) is not None,
            event=EVENT.search(text) is not None,
            past=is_past(text),
            planned=PLANNED.search(text) is not None,
        )
