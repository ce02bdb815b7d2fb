"""Where words stand in a turn, and which of a turn's words are memory's own.

A quote is found word for word. What may differ is white space, which is how a text was laid out,
and the shape of quotation marks and apostrophes; both are compared in Unicode NFC.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
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
_TOKEN = re.compile(r"(?P<space>\s+)|(?P<word>\w+)|[^\w\s]+")
_QUOTES = {ord(one): ord(alike[0]) for alike in (_SINGLE, _DOUBLE) for one in alike}
_EDGE = "\uffff"
"""Stands before and after each word; a character that no text needs."""
_CLOSING = ".!?…。！？ \n\t"


class TextSpan(NamedTuple):
    """From, and until, in characters of a text in NFC."""

    start: int
    end: int


class SuppliedText(NamedTuple):
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


def places(words: str, text: str, *, any_case: bool = False) -> list[TextSpan]:
    """Return every place where words stand in a text, as whole words.

    Args:
        words: at least one character that is no white space, else there is no place.
        text: in NFC.
        any_case: whether capitals may differ.
    """
    needle = _compared(plain(words).strip(), any_case=any_case)
    if not needle.text:
        return []
    wanted = needle.text
    if not needle.opens:
        wanted = wanted.removeprefix(_EDGE)
    if not needle.closes:
        wanted = wanted.removesuffix(_EDGE)
    hay = _of_text(text, any_case)
    found, at = [], hay.text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        found.append(TextSpan(hay.origin(at), hay.origin(end)))
        at = hay.text.find(wanted, end)
    return found


def stands(words: str, text: str) -> bool:
    """Return whether words stand in a text, whatever their case."""
    return bool(places(words, plain(text), any_case=True))


@dataclass(frozen=True, slots=True)
class _Comparable:
    """A text as it is compared: one kind of white space, of quotation marks, perhaps of capitals.

    Every word has an edge mark before and after it, so that whole words are found by searching a
    string. That takes linear time on any text; a pattern made of a long text does not.
    """

    text: str
    starts: list[int]
    """Of each piece, in `text`."""
    origins: list[int]
    """Of each piece, in the text that was given."""
    opens: bool
    """Whether a place must begin where a word begins."""
    closes: bool

    def origin(self, at: int) -> int:
        """Return the place in the text that was given."""
        piece = bisect_right(self.starts, at) - 1
        return self.origins[piece] + at - self.starts[piece]


def _compared(text: str, *, any_case: bool) -> _Comparable:
    made: list[str] = []
    starts, origins, length = [0], [0], 0
    for token in _TOKEN.finditer(text):
        piece = _alike(token[0], any_case=any_case)
        if token["word"]:
            # An edge belongs to the place where its word begins, or ends.
            made.append(_EDGE)
            starts += [length + 1, length + 1 + len(piece)]
            origins += [token.start(), token.end()]
            made += [piece, _EDGE]
            length += len(piece) + 2
            starts.append(length)
            origins.append(token.end())
        else:
            piece = " " if token["space"] else piece
            made.append(piece)
            starts.append(length)
            origins.append(token.start())
            length += len(piece)
            starts.append(length)
            origins.append(token.end())
    return _Comparable(
        "".join(made),
        starts,
        origins,
        opens=bool(text) and _is_edge(text[0]),
        closes=bool(text) and _is_edge(text[-1]),
    )


@lru_cache(maxsize=8)
def _of_text(text: str, any_case: bool) -> _Comparable:  # noqa: FBT001
    """Return a text to search in: the turns of a window are asked for many quotes."""
    return _compared(text, any_case=any_case)


def _alike(piece: str, *, any_case: bool) -> str:
    """Return a piece with one form for characters that count as the same; as long as before."""
    piece = piece.translate(_QUOTES)
    if not any_case:
        return piece
    folded = piece.casefold()
    return folded if len(folded) == len(piece) else "".join(map(_folded, piece))


def _folded(character: str) -> str:
    forms = (character.casefold(), character.lower(), character)
    return next(form for form in forms if len(form) == 1)


def _is_edge(character: str) -> bool:
    return character.isalnum() and character < _UNSPACED


def echoes(turn: Turn, supplied: Iterable[SuppliedText]) -> list[TextSpan]:
    """Return which stretches of a turn are memory's own words.

    These are what stands inside the fence of a context block, closed or not, and every text that
    memory supplied before, unless the question that it was supplied for had these words already.

    Args:
        turn: as kept.
        supplied: to those who took part in its session.
    """
    text = plain(turn.text)
    found = [TextSpan(*one.span()) for one in _FENCED.finditer(text)]
    for supply in supplied:
        if _may_be_echoed(supply, turn):
            found += places(supply.text.rstrip(_CLOSING), text, any_case=True)
    return found


def is_echo(quote: str, turn: Turn, supplied: Iterable[SuppliedText]) -> bool:
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


def without(text: str, spans: Iterable[TextSpan]) -> str:
    """Return a text in NFC with these stretches blank."""
    kept = list(plain(text))
    for start, end in spans:
        kept[start:end] = " " * (end - start)
    return "".join(kept)


def _may_be_echoed(supply: SuppliedText, turn: Turn) -> bool:
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


def _meet(one: TextSpan, other: TextSpan) -> bool:
    return one.start < other.end and other.start < one.end
