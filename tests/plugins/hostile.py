"""Texts that would command a terminal, reorder or hide what it shows, or be read as markup."""

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
"""What a graph can hold: UTF-8 has no halves of surrogate pairs."""

_PARTS = st.sampled_from([*TEXTS, "\x1b[", "\x1b]", "\x07", "[", "]", "/", "\\", "\u202e", "\n"])
stored: st.SearchStrategy[str] = st.lists(
    st.one_of(_PARTS, st.text(st.characters(exclude_categories=["Cs"]), max_size=20)), max_size=5
).map("".join)
"""Texts that a graph can hold."""
texts: st.SearchStrategy[str] = st.one_of(
    stored, st.text(st.characters(codec=None), max_size=30), st.sampled_from(SURROGATES)
)
"""Any texts."""

_STYLES = re.compile(r"\x1b\[[0-9;]*m")
PROGRESS = re.compile(r"\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A|\r")
"""What rich's progress bars write to move the cursor."""
_JOINERS = "\u200c\u200d"


def without_styles(written: str) -> str:
    """Return an output without its colours."""
    return _STYLES.sub("", written)


def found_in(written: str, *, styled: bool = False) -> set[str]:
    """Return the characters of an output that a terminal obeys, or does not show.

    Args:
        written: to standard output or error.
        styled: whether the output has colours of its own.
    """
    text = without_styles(written) if styled else written
    known = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    bad = {one for one in text if unicodedata.category(one) in known} - {"\n", *_JOINERS}
    joined = {
        one
        for one, before, after in zip(text[1:], text, text[2:] + " ", strict=False)
        if one in _JOINERS and (before.isascii() or after.isascii())
    }
    return bad | joined
