"""Quote texts and escape ids, so that they can neither end a fence nor begin a line."""

from __future__ import annotations

import json
import re
import unicodedata

from graphmem.rules import fulltext

_SUSPECT = re.compile(r"`{3,}|[<>]|[^\x20-\x7e]")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, format characters (bidirectional overrides, tags), line separators."""
_SELECTORS = range(0xE0100, 0xE01F0)
"""Variation selectors, which can carry hidden text."""


def quote(text: str) -> str:
    """Return a text as a JSON string of one line that cannot contain a fence.

    In addition to what JSON requires, these are escaped: angle brackets, runs of three or more
    backticks, and invisible characters. `json.loads` restores the text.
    """
    return escape_json(json.dumps(text, ensure_ascii=False))


def escape_id(item_id: str) -> str:
    """Return an id as part of one line; an id chosen by a caller may need escapes."""
    return quote(item_id)[1:-1].replace("[", r"\u005b").replace("]", r"\u005d")


def escape_code(text: str) -> str:
    """Return a text as part of one line that cannot end a code span."""
    return quote(text)[1:-1].replace("`", r"\u0060")


def escape_json(data: str) -> str:
    """Return JSON with all suspect characters escaped; see `quote`."""
    return _SUSPECT.sub(_escape_match, data)


def _escape_match(match: re.Match[str]) -> str:
    text = match[0]
    if not text.isascii() and not is_invisible(text):
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def is_invisible(character: str) -> bool:
    """Return whether a character is invisible and not part of a word or an emoji."""
    if character in fulltext.JOINERS:
        return False  # These occur in words and emoji, and hide nothing.
    return unicodedata.category(character) in _UNSEEN or ord(character) in _SELECTORS
