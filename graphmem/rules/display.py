r"""Safe display of text in a terminal: invisible and control characters are escaped.

Stored text comes from conversations, files and agents. Printed raw, it could move the cursor, set
the window's title, write the clipboard, or reorder or hide the text around it. Escapes are those of
Python: `\x1b`, `\u202e`, `\U000e0041`.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable

# Controls except line feed; DEL and C1; soft hyphen; the format characters of Unicode, including
# the bidirectional ones; line and paragraph separators; fillers and other invisible characters;
# surrogates; variation selectors other than those of text and emoji; tags.
_UNSEEN = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SYMBOLS = (
    "\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
# Joiners are part of Persian and Indian words, and of emoji; elsewhere they only hide text.
_JOINED = f"\u0620-\u06d3\u0750-\u077f\u0900-\u0dff\ufe0f{_SYMBOLS}"
_JOINER = f"(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
_SELECTOR = f"(?<![#*0-9\xa9\xae\u203c\u2049\u2122{_SYMBOLS}])[\ufe0e\ufe0f]"
_IN_BLOCK = re.compile(f"[{_UNSEEN}]|{_JOINER}|{_SELECTOR}")
_IN_LINE = re.compile(f"[\n{_UNSEEN}]|{_JOINER}|{_SELECTOR}")

BREAK = "\u2028"
"""Replacement for a line feed in a value; it cannot occur in escaped text otherwise."""


def line(text: str) -> str:
    r"""Return a text on one line: line feeds and tabs are also escaped, as `\n` and `\t`."""
    return escape_text(text, _as_python)


def block(text: str) -> str:
    """Return a text of several lines: line feeds are kept, and tabs become spaces."""
    plain = text.replace("\r\n", "\n").expandtabs()
    return _IN_BLOCK.sub(lambda match: _as_python(match[0]), plain)


def value(text: str) -> str:
    """Return a text as a value in a view; line feeds become `BREAK`, unlike those of the view."""
    return block(text).replace("\n", BREAK)


def json_text(data: object, *, indent: int | None = None) -> str:
    """Return plain data as JSON, with only invisible characters escaped."""
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    return _IN_BLOCK.sub(lambda match: json.dumps(match[0])[1:-1], text)


def escape_text(text: str, escape: Callable[[str], str]) -> str:
    """Return a text with each character that `line` would escape replaced by `escape`."""
    return _IN_LINE.sub(lambda match: escape(match[0]), text)


class LogFormatter(logging.Formatter):
    """Formatter of log records that cannot control a terminal or forge another record."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        """Return the line of a record."""
        return line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record and its traceback."""
        return block(super().format(record))


def _as_python(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
