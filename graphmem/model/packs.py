"""Packs: what is worth handing over within a number of tokens, and what became of the rest."""

from __future__ import annotations

from enum import StrEnum

from graphmem.model.rating import Tier
from graphmem.model.terms import Record


class DetailLevel(StrEnum):
    """How an item stands in a pack."""

    WHOLE = "whole"
    SUMMARY = "summary"
    """Signatures of code, headings of markdown, else the first sentences."""
    POINTER = "pointer"
    """One line that names it."""
    LEFT_OUT = "left_out"


class PackItem(Record):
    """What became of one item."""

    id: str
    kind: str
    ref: str
    """Its path or other name; empty when it has none."""
    elo: float | None
    """Its faded rating; None: never rated."""
    tier: Tier | None
    """None: never rated."""
    how: DetailLevel
    why: str
    """In words."""
    tokens: int
    """Of its part of the pack; 0 when it is left out."""
    sha256: str
    """Of its text, whole and in UTF-8: what the part was made of."""


class Pack(Record):
    """Items for a prompt, the most used whole and the least used left out."""

    text: str
    """In markdown; empty when nothing is in it."""
    items: tuple[PackItem, ...]
    """The manifest: every item once, in the order of the text; what is left out stands where it
    would have been."""
    budget: int
    """Tokens that it may have."""
    tokens: int
    """That it has, HIGH items whatever the budget."""
    overflow: int
    """Tokens over the budget, >= 0; only HIGH items are in a pack that is over it."""
    whole_tokens: int
    """That it would have with every item whole, those left out too."""
    saved_tokens: int
    """`whole_tokens` less `tokens`; below 0 when a line about an item is longer than its text."""
    saved_share: float
    """Of `whole_tokens`, at most 1; 0 without items."""
    counted_by: str
    """What counted the tokens: the name of a model, or of an estimate."""
    blocked_paths: tuple[str, ...]
    """Patterns; an item whose ref one of them matches is left out, HIGH too."""
