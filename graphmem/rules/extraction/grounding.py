"""Whether names and statements stand in what was said, and whom first persons mean.

English where words are taken apart; a name in another language is found as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from graphmem.model import Turn
from graphmem.rules import facts
from graphmem.rules.claims import folded
from graphmem.rules.extraction.quoting import plain, stands
from graphmem.rules.lexicon import ARTICLES, COMMON, FactKind

FIRST = frozenset(
    {
        *("i", "me", "my", "mine", "myself", "self", "user", "speaker", "human"),
        *("the user", "the speaker", "this user", "the human"),
    }
)
"""Words for whoever is speaking."""
_SILENT = ARTICLES | {"s", "of", "and"}
_TOKEN = re.compile(r"[^\W_]+")
_CAPITAL = frozenset({FactKind.NAME, FactKind.NUMBER, FactKind.DATE})
_LEAST_PLURAL = 4


@dataclass(frozen=True, slots=True)
class GroundingContext:
    """What a quote may rest on: its own turn, those beside it, and who speaks."""

    texts: tuple[str, ...]
    """Without memory's own words."""
    known: frozenset[str]
    """Their words, in every form they may be an inflection of."""


def around(texts: Iterable[str], speaker: str) -> GroundingContext:
    """Return what a quote may rest on.

    Args:
        texts: of its turn and of those beside it, memory's own words left out.
        speaker: its name, or its role.
    """
    held = tuple(plain(text) for text in texts)
    return GroundingContext(held, FIRST.union(*map(_forms, (*held, speaker))))


def speaker_of(turn: Turn) -> str:
    """Return whom a first person in a turn means: its speaker's name, else its role."""
    return turn.name or turn.role


def meant(name: str, turn: Turn) -> str:
    """Return whom a name means: the speaker for a first person, else as it is."""
    return speaker_of(turn) if folded(name) in FIRST else name


def founded(name: str, within: GroundingContext) -> bool:
    """Return whether a name stands there as written, or all its words do in some inflection."""
    if any(stands(name, text) for text in within.texts):
        return True
    tokens = [token for token in _tokens(name) if token not in _SILENT]
    if tokens and all(not within.known.isdisjoint(_inflected(token)) for token in tokens):
        return True
    keys = [word.key for word in facts.words(name)]
    return bool(keys) and all(key in within.known for key in keys)


def statement_founded(statement: str, quote: str, within: GroundingContext) -> bool:
    """Return whether a statement names nothing that was not said, and shares a word with its quote.

    Names, numbers and dates must stand there; other words are the extractor's to choose.
    """
    named = [
        word.key
        for word in facts.words(statement)
        if word.kind in _CAPITAL and word.key not in COMMON
    ]
    if any(within.known.isdisjoint(_inflected(key)) for key in named):
        return False
    telling = {token for token in _tokens(statement) if token not in COMMON}
    shared = {form for token in telling for form in _inflected(token)} & _forms(quote)
    return bool(shared)


@lru_cache(maxsize=1_024)
def _forms(text: str) -> frozenset[str]:
    """Return every word of a text in every form that it may be an inflection of.

    Kept for the texts met last: every proposal of a window is held against the same ones.
    """
    tokens = (form for token in _tokens(text) for form in _inflected(token))
    read = (form for word in facts.words(text) for form in (word.key, *word.bases))
    return frozenset((*tokens, *read))


def _tokens(text: str) -> list[str]:
    return [token.casefold() for token in _TOKEN.findall(plain(text))]


def _inflected(token: str) -> set[str]:
    """Return a word and what it may be a plural or a third person of."""
    forms = {token}
    if len(token) >= _LEAST_PLURAL and token.endswith("s") and not token.endswith("ss"):
        forms |= {token[:-1], token[:-2]} if token.endswith("es") else {token[:-1]}
        if token.endswith("ies"):
            forms.add(token[:-3] + "y")
    return forms
