"""Positions of a quote in a turn, and the parts of a turn that memory supplied.

Quotes must match word for word. Only whitespace and the shape of quotation marks and apostrophes
may differ. Texts are compared in Unicode NFC.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from graphmem import folding
from graphmem.model import Turn
from graphmem.rules import hygiene

_FENCED = re.compile(
    rf"{hygiene.FENCE}.*?(?:{hygiene.FENCE.replace('<', '</')}[^>]*>?|\Z)", re.DOTALL | re.I
)
_UNSPACED = "\u0e00"
"""Lowest character of the scripts that mostly put no space between words."""
_MIN_ECHO_WORDS = 5
"""Minimum number of consecutive words that identify text that memory supplied."""
_TOKEN = re.compile(r"(?P<space>\s+)|(?P<word>\w+)|[^\w\s]+")
_QUOTES = str.maketrans(folding.QUOTES)
_EDGE = "\uffff"
"""Marker before and after each word; a character that does not occur in texts."""
_CLOSING = ".!?…。！？ \n\t"


class TextSpan(NamedTuple):
    """Start and end, in characters of a text in NFC."""

    start: int
    end: int


class SuppliedText(NamedTuple):
    """A text that memory supplied to a participant of a session."""

    item_id: str
    text: str
    at: datetime
    query: str
    """Query of the recall; empty if a single item was read."""


def nfc(text: str) -> str:
    """Return a text in NFC, the form in which spans are counted."""
    return unicodedata.normalize("NFC", text)


def find_quote(words: str, text: str, *, any_case: bool = False) -> Iterator[TextSpan]:
    """Yield every position where words occur in a text in NFC as whole words.

    The text is searched as far as positions are taken: many quotes of one text may each occur in
    it many times.
    """
    needle = _comparable(nfc(words).strip(), any_case=any_case)
    if not needle.text:
        return
    pattern = needle.text
    if not needle.opens:
        pattern = pattern.removeprefix(_EDGE)
    if not needle.closes:
        pattern = pattern.removesuffix(_EDGE)
    searched = _cached_comparable(text, any_case)
    at = searched.text.find(pattern)
    while at >= 0:
        end = at + len(pattern)
        yield TextSpan(searched.origin(at), searched.origin(end))
        at = searched.text.find(pattern, end)


def occurs(words: str, text: str) -> bool:
    """Return whether words occur in a text, ignoring case."""
    return any(find_quote(words, nfc(text), any_case=True))


@dataclass(frozen=True, slots=True)
class _Comparable:
    """Text normalised for comparison: one form of whitespace and quotation marks, optionally case.

    Every word has an edge marker before and after it, so that a string search finds whole words.
    The search is linear in time for any text; a regular expression from a long text is not.
    """

    text: str
    starts: list[int]
    """Start of each piece, in `text`."""
    origins: list[int]
    """Start of each piece, in the original text."""
    opens: bool
    """Whether a match must begin at the start of a word."""
    closes: bool

    def origin(self, at: int) -> int:
        """Return the position in the original text."""
        piece = bisect_right(self.starts, at) - 1
        return self.origins[piece] + at - self.starts[piece]


def _comparable(text: str, *, any_case: bool) -> _Comparable:
    parts: list[str] = []
    starts, origins = [0], [0]
    for token in _TOKEN.finditer(text):
        piece = " " if token["space"] else _unify(token[0], any_case=any_case)
        edge = _EDGE if token["word"] else ""
        parts += [edge, piece, edge]
        # An edge maps to the position at which its word begins or ends.
        start = starts[-1] + len(edge)
        starts += [start, start + len(piece), start + len(piece) + len(edge)]
        origins += [token.start(), token.end(), token.end()]
    return _Comparable(
        "".join(parts),
        starts,
        origins,
        opens=bool(text) and _is_edge(text[0]),
        closes=bool(text) and _is_edge(text[-1]),
    )


@lru_cache(maxsize=8)
def _cached_comparable(text: str, any_case: bool) -> _Comparable:  # noqa: FBT001
    """Return a text to search in; cached, because many quotes are searched in the same turns."""
    return _comparable(text, any_case=any_case)


def _unify(piece: str, *, any_case: bool) -> str:
    """Return a piece with equivalent characters unified; its length does not change.

    Spans are counted in the text, so a letter whose folded form is longer keeps its lower case.
    """
    piece = piece.translate(_QUOTES)
    if not any_case:
        return piece
    folded = folding.fold(piece)
    return folded if len(folded) == len(piece) else "".join(map(_fold_character, piece))


def _fold_character(character: str) -> str:
    forms = (folding.fold(character), character.lower(), character)
    return next(form for form in forms if len(form) == 1)


def _is_edge(character: str) -> bool:
    return character.isalnum() and character < _UNSPACED


def echo_spans(turn: Turn, supplied: Iterable[SuppliedText]) -> list[TextSpan]:
    """Return the spans of a turn that memory supplied.

    These are the text inside the fence of a context block, closed or not, and every text that
    memory supplied earlier. A text that its query already contained is not included.
    """
    text = nfc(turn.text)
    spans = [TextSpan(*match.span()) for match in _FENCED.finditer(text)]
    for supply in supplied:
        if _may_be_echoed(supply, turn):
            spans += find_quote(supply.text.rstrip(_CLOSING), text, any_case=True)
    return spans


def is_echo(quote: str, turn: Turn, supplied: Iterable[SuppliedText]) -> bool:
    """Return whether every occurrence of a quote in its turn overlaps text that memory supplied.

    A quote of five or more words from a longer supplied text is an echo, too.
    """
    known = list(supplied)
    spans = echo_spans(turn, known)
    free = (
        not any(_overlap(place, span) for span in spans)
        for place in find_quote(quote, nfc(turn.text))
    )
    if next(free, None) is False and not any(free):
        return True
    if len(quote.split()) < _MIN_ECHO_WORDS:
        return False
    return any(
        _may_be_echoed(supply, turn)
        and not occurs(quote, supply.query)
        and occurs(quote, supply.text)
        for supply in known
    )


def blank_spans(text: str, spans: Iterable[TextSpan]) -> str:
    """Return a text in NFC with these spans replaced by spaces."""
    characters = list(nfc(text))
    for start, end in spans:
        characters[start:end] = " " * (end - start)
    return "".join(characters)


def _may_be_echoed(supply: SuppliedText, turn: Turn) -> bool:
    """Return whether a turn may repeat a supplied text.

    False for the turn's own text, for text supplied later, and for text that the query contained.
    Also false for a single word, which is usually a name rather than a statement.
    """
    words = supply.text.split()
    return (
        (len(words) > 1 or not supply.text.isascii())
        and supply.item_id != turn.id
        and supply.at <= turn.recorded_at
        and not occurs(supply.text.rstrip(_CLOSING), supply.query)
    )


def _overlap(left: TextSpan, right: TextSpan) -> bool:
    return left.start < right.end and right.start < left.end
