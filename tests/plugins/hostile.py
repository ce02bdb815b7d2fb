"""Texts that control a terminal, reorder or hide its output, or look like markup."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import strategies as st

MARKUP = (
    "see [/etc/hosts] now",
    "[link=https://evil.example]https://bank.example[/link]",
    "[red]paid[/red] [@click=app.quit]here[/]",
    ":warning: [bold]:smile:",
    "[/yellow]x \\[/] [[]] ${a} {0} %s",
)
COMMANDS = (
    "a\x1b[2J\x1b[31mred",
    "b\x1b]0;owned\x07",
    "c\x1b]52;c;cm0gLXJmIH4=\x07",
    "d\x1b]8;;https://evil.example\x1b\\bank\x1b]8;;\x1b\\",
    "e\x9b2J\x9d0;owned\x9c\x85end",
    "f\rforged\x08\x08\x7f\x0b\x0c\x0e",
    "g\nmemory m_1 current\n\tindented",
)
UNSEEN = (
    "h\u202ereversed\u202c \u2066isolated\u2069",
    "i\u200bzero\u200c width\u200d\u2060\ufeff",
    "j\u2028line\u2029paragraph",
    "k\U000e0041\U000e0042tags\U000e007f",
    "l\xadsoft \u061carabic \u180emongolian \u3164filler",
    "m\ufe0f\ufe00variation\U000e0100",
)
SURROGATES = ("n\ud800half", "o\udcffoctet")
TEXTS = (*MARKUP, *COMMANDS, *UNSEEN)
"""Texts that a graph can store: UTF-8 cannot encode single surrogates."""

_PARTS = st.sampled_from([*TEXTS, "\x1b[", "\x1b]", "\x07", "[", "]", "/", "\\", "\u202e", "\n"])
stored: st.SearchStrategy[str] = st.lists(
    st.one_of(_PARTS, st.text(st.characters(exclude_categories=["Cs"]), max_size=20)), max_size=5
).map("".join)
"""Texts that a graph can store."""
texts: st.SearchStrategy[str] = st.one_of(
    stored, st.text(st.characters(codec=None), max_size=30), st.sampled_from(SURROGATES)
)
"""Any texts."""

_STYLES = re.compile(r"\x1b\[[0-9;]*m")
PROGRESS = re.compile(r"\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A|\r")
"""Sequences that rich's progress bars write to move the cursor."""
_JOINERS = "\u200c\u200d"


def without_styles(written: str) -> str:
    """Return an output without its colours."""
    return _STYLES.sub("", written)


def found_in(written: str, *, styled: bool = False) -> set[str]:
    """Return the characters of an output that a terminal obeys or does not display.

    Args:
        written: Text on standard output or error.
        styled: Whether the output has its own colours.
    """
    text = without_styles(written) if styled else written
    known = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    bad = {char for char in text if unicodedata.category(char) in known} - {"\n", *_JOINERS}
    joined = {
        char
        for char, before, after in zip(text[1:], text, text[2:] + " ", strict=False)
        if char in _JOINERS and (before.isascii() or after.isascii())
    }
    return bad | joined
