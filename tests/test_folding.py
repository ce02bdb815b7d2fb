"""The one form of names and texts: which spellings are equal, and which are not."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.folding import fold
from graphmem.rules import claims

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
EQUAL = [
    ("Jürgen Groß", "JÜRGEN GROSS"),
    ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
    ("Σίσυφος", "Σίσυφοσ"),
    ("José", "Jose\u0301"),
    ("Jürgen  Groß", "Jürgen\nGroß"),
    ("Jürgen\u00a0Groß", "Jürgen\u3000Groß"),
    ("Jürgen\u2028Groß", " Jürgen\r\n\tGroß "),
    ("Jür\u00adgen", "Jür\u200bgen"),
    ("O'Brien", "O’Brien"),
    ("O'Brien", "Oʼ\u2060Brien"),
    ('"Bo"', "„Bo“"),
    ("Anna-Lena", "Anna‐Lena"),
    ("Anna-Lena", "Anna–Lena"),
    ("-5", "\u22125"),
    ("Ann", "Ａｎｎ"),
    ("ann", "𝐀𝐧𝐧"),
    ("office", "oﬃce"),
    ("Henry VIII", "Henry Ⅷ"),
    ("ガ", "ｶﾞ"),
    ("istanbul", "İstanbul"),
    ("wait...", "wait…"),
    ("heart ❤", "heart ❤\ufe0f"),
]
OTHER = [
    ("x²", "x2"),
    ("H₂O", "H2O"),
    ("1½", "11/2"),
    ("Brand™", "BrandTM"),
    ("①", "1"),
    ("résumé", "resume"),
    ("ısmail", "ismail"),
    ("a b", "ab"),
    ("a-b", "a b"),
    ("Иван", "Ivan"),
    ("a.", "a"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_two_spellings_are_equal(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert claims.name_key(one) == claims.name_key(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_two_names_are_not(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_no_character_depends_on_its_form_or_case() -> None:
    wrong = []
    for code in range(sys.maxunicode + 1):
        one = chr(code)
        if unicodedata.category(one) in ("Cs", "Cn", "Co"):
            continue
        others = {fold(one), one.lower(), unicodedata.normalize("NFD", one)}
        # The capital of a dotless i is the capital of every i.
        others |= {one.upper()} - {"I"}
        wrong += [(hex(code), other) for other in others if fold(other) != fold(one)]
    assert wrong == []


@given(TEXTS)
@example("Ά\u0301")
@example("İ")
@example("\u1ffd")
@example("ϓ")
@example("ﬆ\u200b\u00ad")
def test_a_folded_text_is_its_own(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(TEXTS, TEXTS)
def test_a_text_is_folded_as_its_decomposed_form(one: str, other: str) -> None:
    text = one + other
    assert fold(unicodedata.normalize("NFD", text)) == fold(text)
    assert fold(unicodedata.normalize("NFC", text)) == fold(text)


@given(st.text(alphabet=[chr(code) for code in range(128)]))
def test_ascii_is_folded_as_other_texts_are(text: str) -> None:
    assert fold(text) == fold(text + "é").removesuffix("é").rstrip(" ")


def test_a_name_that_is_not_drawn_is_a_name() -> None:
    assert claims.name_key("\u200b") == "\u200b"
