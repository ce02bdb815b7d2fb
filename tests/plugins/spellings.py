"""Names of several scripts, other spellings of them, and an oracle that finds all of these."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from hypothesis import strategies as st

NAMES = (
    "Jürgen Groß",
    "Σίσυφος Παπαδόπουλος",
    "José Ángel Núñez",
    "Niamh O'Brien",
    "Anna-Lena Weiß",
    "Фёдор Достоевский",
    "Xanthippe",
    "Łukasz Żółć",
    "İpek Yıldız",
    "Վարդան Այվազյան",
    "דוד בן־גוריון",
    "محمد الفاتح",
    "王小明",
    "すずき いちろう",
    "김철수",
    "राम प्रसाद",
    "สมชาย ใจดี",
)
SPACES = ("  ", "\n", "\r\n\t", "\u00a0", "\u3000", "\u2028", "\u2009", "\u200b ", " \u2060")
HIDDEN = ("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e")
DASHES = "-‐‑‒–—−－﹣"
QUOTES = "'’‘ʼ′`´＇"
SURROUND = ("", "dr. ", "(", "„", "— ", "a@", "🙂", "no. 5, ", "\n")
AFTER = (
    "",
    " has diabetes",
    "'s house",
    "’s house",
    ".",
    ", 44",
    ")",
    "”",
    "\n\nnext",
    "… and",
    "🙂",
)
LATIN = "abcdefghijklmnopqrstuvwxyz"


def wide(text: str) -> str:
    """Return the full-width form of the ASCII letters of a text."""
    return "".join(chr(ord(one) + 0xFEE0) if one.lower() in LATIN else one for one in text)


@st.composite
def spelt(draw: st.DrawFn, name: str) -> str:
    """Return another spelling of a name."""
    forms = [name, name.upper(), name.lower(), name.title(), name.casefold(), wide(name)]
    text = draw(st.sampled_from(forms))
    text = text.replace(" ", draw(st.sampled_from([" ", *SPACES])))
    text = text.replace("-", draw(st.sampled_from(DASHES)))
    text = text.replace("'", draw(st.sampled_from(QUOTES)))
    text = unicodedata.normalize(draw(st.sampled_from(["NFC", "NFD"])), text)
    if draw(st.booleans()):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(HIDDEN)) + text[place:]
    return text


@st.composite
def sentences(draw: st.DrawFn, name: str) -> str:
    """Return a text with another spelling of a name."""
    before, after = draw(st.sampled_from(SURROUND)), draw(st.sampled_from(AFTER))
    return before + draw(spelt(name)) + after


def bare(text: str) -> str:
    """Return a text as a reader who looks for a name compares it.

    It shares nothing with the code: full NFKC, letter by letter, by the names of the characters.
    """
    found = []
    for one in unicodedata.normalize("NFD", text):
        called, category = unicodedata.name(one, ""), unicodedata.category(one)
        if "APOSTROPHE" in called or "SINGLE" in called or called.endswith(("PRIME", "ACCENT")):
            found.append("'")
        elif category == "Pd" or "MINUS" in called:
            found.append("-")
        elif one.isspace():
            found.append(" ")
        elif category not in ("Cf", "Cc"):
            found.append(unicodedata.normalize("NFKD", one))
    # The case of a capital I is unknown, so every i is one letter.
    text = unicodedata.normalize("NFC", "".join(found)).upper().casefold()
    text = unicodedata.normalize("NFD", text).replace("ı", "i").replace("i\u0307", "i")
    return re.sub(" +", " ", text)


def named(name: str, texts: Iterable[str]) -> list[str]:
    """Return the texts that contain a name, in any spelling and as a part of a longer word too."""
    wanted = bare(name)
    return [one for one in texts if wanted in bare(one)]
