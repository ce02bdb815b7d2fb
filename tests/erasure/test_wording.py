"""Names are found in every spelling, as whole words, and doubtful texts are kept apart."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.erasure import wording
from graphmem.rules import claims
from tests.plugins.spellings import NAMES, named, sentences

SPACED = [
    name
    for name in NAMES
    if not any("\u0e00" <= one <= "\u0eff" or one >= "\u3000" for one in name)
]


def search(*people: str) -> wording.TextSearch:
    return wording.names([claims.name_key(name) for name in people])


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, str]:
    name = draw(st.sampled_from(NAMES))
    return name, draw(sentences(name))


@given(cases())
def test_a_name_is_found_in_every_spelling(case: tuple[str, str]) -> None:
    name, text = case
    found = search(name)
    assert named(name, [text]), "the oracle"
    assert found.finds([text])
    assert re.match(found.prefilter, text)


@given(cases())
def test_it_is_found_in_documents(case: tuple[str, str]) -> None:
    name, text = case
    found = search(name)
    for ascii_only in (True, False):
        values: list[object] = [{"note": text}, {text: [1, None, True, {"deep": []}]}]
        for value in values:
            document = json.dumps(value, ensure_ascii=ascii_only)
            assert found.finds(wording.strings(document))
            assert re.match(found.prefilter, document)


@given(st.sampled_from(SPACED), st.sampled_from("aßéЖωשم7"), st.sampled_from(["{1}{0}", "{0}{1}"]))
def test_it_is_not_found_in_a_longer_word(name: str, letter: str, word: str) -> None:
    text = f"saw {word.format(name, letter)} there"
    assert not search(name).finds([text])


@given(st.sampled_from(NAMES), st.text(max_size=40))
def test_the_prefilter_loses_nothing(name: str, text: str) -> None:
    found = search(name)
    if found.finds([text]) or found.doubts([text]):
        assert re.match(found.prefilter, text)


@given(st.text(alphabet="ann leë.’-\u00a0\n\t–&", max_size=30))
def test_the_prefilter_loses_nothing_of_what_is_similar(text: str) -> None:
    found = search("Ann Lee", "Ännë", "n.e")
    if found.finds([text]) or found.doubts([text]):
        assert re.match(found.prefilter, text)


def test_the_prefilter_spares_what_has_no_word_of_the_name() -> None:
    found = search("Jürgen Groß", "Ann Lee")
    spared = ["The shed has a blue door.", "It’s “naïve” — 5 € a day…", "GROSZ"]
    assert [one for one in spared if re.match(found.prefilter, one)] == []
    assert search(".*").prefilter == "(?s).*"


@pytest.mark.parametrize(
    ("name", "text", "certain"),
    [
        ("王小明", "昨天王小明来了", True),
        ("王 小明", "昨天王小明来了", True),
        ("すずき", "すずきさんは", True),
        ("アン", "アンケートに答えた", False),
        ("アン", "アンさんに", True),
        ("김철수", "김철수는 서울에 산다", True),
        ("철수", "김철수는 서울에 산다", False),
        ("Tom", "Tomさんは", True),
        ("Tom", "Tomas is here", False),
        ("राम", "रामा गया", False),
        ("สมชาย", "คุณสมชายมา", True),
        ("Jürgen Groß", "Jürgen\u200bGroß", True),
        ("Ann", "Ann² is a footnote", True),
        ("Ann", "user_ann_1", True),
        ("ısmail", "ISMAIL", True),
    ],
)
def test_words_end_as_their_script_ends_them(name: str, text: str, *, certain: bool) -> None:
    assert search(name).finds([text]) == certain


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("Groß called", True),
        ("jürgen called", True),
        ("J. Groß called", True),
        ("J.G. called", True),
        ("j. G. called", True),
        ("Groß, Jürgen", True),
        ("Jürgens Haus", False),
        ("JG called", False),
        ("a large house", False),
        ("Mr von Stein", False),
    ],
)
def test_a_part_of_a_name_is_doubtful(text: str, *, doubtful: bool) -> None:
    found = search("Jürgen von Groß", "Jürgen Groß")
    assert (found.finds([text]), found.doubts([text])) == (False, doubtful)


LETTERS = st.sampled_from("ABJKRŁÉΣЖ")


@st.composite
def initials(draw: st.DrawFn) -> tuple[str, str, int]:
    """Return a name with initials, the same name with them written otherwise, and its parts."""
    letters = draw(st.lists(LETTERS, min_size=1, max_size=4))
    first = draw(st.lists(st.sampled_from(["Anna", "Émile"]), max_size=1))
    last = draw(st.sampled_from(["Tolkien", "Żółć", "O'Brien"]))

    def written() -> str:
        period = draw(st.sampled_from([".", ""]))
        space = draw(st.sampled_from([" ", ""] if period else [" "]))
        run = draw(st.sampled_from([space, space])).join(f"{one}{period}" for one in letters)
        return " ".join([*first, run, last])

    return written(), written(), len(first) + len(letters) + 1


@given(initials())
def test_initials_are_found_with_and_without_periods(case: tuple[str, str, int]) -> None:
    name, other, parts = case
    found = search(name)
    text = f"We met {other} in May."
    certain = parts > 2 or claims.name_key(name) == claims.name_key(other) or "." in other
    assert found.finds([text]) == certain
    assert certain or found.doubts([text])
    assert re.match(found.prefilter, text)
    joined = "".join(one for one in other if one != ".")
    assert not found.finds([f"We met {joined.split()[-2]}x {joined.split()[-1]}."])


def test_an_article_is_no_initial() -> None:
    found = search("A. Brown")
    assert not found.finds(["a brown dog"])
    assert found.doubts(["a brown dog"])
    assert search("J.-P. Sartre").finds(["JP Sartre", ""])
    assert not search("Dr. Who").finds(["r who"])
    assert search("王 小明").needles == ("王小明",)


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [("Xanthippes Haus", True), ("Xanthippean", True), ("Xanthippesque", False)],
)
def test_a_name_with_an_ending_is_doubtful(text: str, *, doubtful: bool) -> None:
    found = search("Xanthippe")
    assert (found.finds([text]), found.doubts([text])) == (False, doubtful)


def test_a_sentence_is_found_without_its_period_and_in_other_case() -> None:
    found = wording.sentences(["Ann has Lupus."])
    assert found.finds(["They say: ANN  HAS LUPUS, alas"])
    assert not found.finds(["Ann has lupuses"])
    assert not found.doubts(["Ann has lupuses", "Ann"])
    assert not wording.sentences([]).needles
