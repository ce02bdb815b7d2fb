"""What is remembered as a block for a prompt."""

from __future__ import annotations

from graphmem.model.terms import Record


class Context(Record):
    """What fits a question, fenced as data, within a number of tokens."""

    text: str
    """The block, ready for a prompt; empty when there is nothing to show."""
    ids: tuple[str, ...]
    """What is in the text, in its order: what an answer may cite."""
    tokens: int
    """Of the text, by an estimate that sides with too many."""
    left_out: int
    """How many recalled bites did not fit, or were only inferred and are not used."""
    reason: str = ""
    """Why there is nothing, in words; empty when there is something."""
    provisional: bool = False
    """Read at a `known` so recent that a write under way may still be recorded before it."""
