"""Where words stand in a turn, and which of a turn's words are memory's own.

A quote is found word for word. What may differ is white space, which is how a text was laid out,
and the shape of quotation marks and apostrophes; both are compared in Unicode NFC.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from graphmem.model import Turn
from graphmem.rules import hygiene

_SINGLE = "'’‘‛ʼ＇`´"
_DOUBLE = '"“”„‟«»＂'
_FENCED = re.compile(
    rf"{hygiene.FENCE}.*?(?:{hygiene.FENCE.replace('<', '</')}[^>]*>?|\Z)", re.DOTALL | re.I
)
_UNSPACED = "\u0e00"
"""From here on many scripts put no space between words."""
_LEAST_WORDS = 5
"""So many words in a row that memory supplied are no coincidence."""
_CLOSING = ".!?…。！？ \n\t"


class Span(NamedTuple):
    """From, and until, in characters of a text in NFC."""

    start: int
    end: int


class Supply(NamedTuple):
    """A text that memory gave to whoever took part in a session."""

    item_id: str
    text: str
    at: datetime
    """When."""
    query: str
    """What had been asked; empty for a look at one item."""


def plain(text: str) -> str:
    """Return a text in NFC, which spans are counted in."""
    return unicodedata.normalize("NFC", text)


def places(words: str, text: str, *, any_case: bool = False) -> list[Span]:
    """Return every place where words stand in a text, as whole words.

    Args:
        words: at least one character that is no white space, else there is no place.
        text: in NFC.
        any_case: whether capitals may differ.
    """
    pattern = _pattern(plain(words), any_case)
    return [] if pattern is None else [Span(*found.span()) for found in pattern.finditer(text)]


def stands(words: str, text: str) -> bool:
    """Return whether words stand in a text, whatever their case."""
    return bool(places(words, plain(text), any_case=True))


@lru_cache(maxsize=4_096)
def _pattern(words: str, any_case: bool) -> re.Pattern[str] | None:  # noqa: FBT001
    parts = words.split()
    if not parts:
        return None
    body = r"\s+".join("".join(map(_character, part)) for part in parts)
    before = r"(?<!\w)" if _is_edge(parts[0][0]) else ""
    after = r"(?!\w)" if _is_edge(parts[-1][-1]) else ""
    return re.compile(before + body + after, re.I if any_case else 0)


def _character(character: str) -> str:
    for alike in (_SINGLE, _DOUBLE):
        if character in alike:
            return f"[{re.escape(alike)}]"
    return re.escape(character)


def _is_edge(character: str) -> bool:
    return character.isalnum() and character < _UNSPACED


def echoes(turn: Turn, supplied: Iterable[Supply]) -> list[Span]:
    """Return which stretches of a turn are memory's own words.

    These are what stands inside the fence of a context block, closed or not, and every text that
    memory supplied before, unless the question that it was supplied for had these words already.

    Args:
        turn: as kept.
        supplied: to those who took part in its session.
    """
    text = plain(turn.text)
    found = [Span(*one.span()) for one in _FENCED.finditer(text)]
    for supply in supplied:
        if _may_be_echoed(supply, turn):
            found += places(supply.text.rstrip(_CLOSING), text, any_case=True)
    return found


def is_echo(quote: str, turn: Turn, supplied: Iterable[Supply]) -> bool:
    """Return whether a quote rests on memory's own words wherever it stands in its turn.

    Of a long text that memory supplied, five words in a row are enough.
    """
    known = list(supplied)
    within = echoes(turn, known)
    standing = places(quote, plain(turn.text))
    if standing and all(any(_meet(place, one) for one in within) for place in standing):
        return True
    if len(quote.split()) < _LEAST_WORDS:
        return False
    return any(
        _may_be_echoed(one, turn) and not stands(quote, one.query) and stands(quote, one.text)
        for one in known
    )


def without(text: str, spans: Iterable[Span]) -> str:
    """Return a text in NFC with these stretches blank."""
    kept = list(plain(text))
    for start, end in spans:
        kept[start:end] = " " * (end - start)
    return "".join(kept)


def _may_be_echoed(supply: Supply, turn: Turn) -> bool:
    """Return whether a turn may have its words from there.

    Not from itself, not from what was supplied later, and not from what the question said. One
    word is a name more often than a statement.
    """
    words = supply.text.split()
    return (
        (len(words) > 1 or not supply.text.isascii())
        and supply.item_id != turn.id
        and supply.at <= turn.recorded_at
        and not stands(supply.text.rstrip(_CLOSING), supply.query)
    )


def _meet(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
