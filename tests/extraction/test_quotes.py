"""Quotes match their turn word for word; text that memory supplied is an echo."""

from __future__ import annotations

import unicodedata
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.extraction.quotes import (
    SuppliedText,
    TextSpan,
    blank_spans,
    echo_spans,
    find_quote,
    is_echo,
    occurs,
)
from tests.plugins.sayings import SAID, turn

LISBON = "Alice lives in Lisbon."


def supply(text: str, *, query: str = "", minutes: int = -5, item: str = "m1") -> SuppliedText:
    return SuppliedText(item, text, SAID + timedelta(minutes=minutes), query)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I moved to Lisbon", "Well, I moved to Lisbon last week."),
        ("I moved to Lisbon", "I  moved\n\tto Lisbon"),
        ("I'm in Lisbon", "I’m in Lisbon"),
        ('the "big" one', "the “big” one"),
        ("café", unicodedata.normalize("NFD", "the café")),
        ("里斯本", "我住在里斯本"),
        ("Lisbon.", "Lisbon."),
        ("🙂", "yes🙂"),
    ],
)
def test_a_quote_is_found(quote: str, text: str) -> None:
    assert any(find_quote(quote, unicodedata.normalize("NFC", text)))


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I moved to Porto", "I moved to Lisbon"),
        ("i moved", "I moved to Lisbon"),
        ("I moved to Lisbon.", "I moved to Lisbon"),
        ("moved Lisbon", "moved to Lisbon"),
        ("art", "the party"),
        ("1", "I have 12 cats"),
        ("   ", "I moved"),
        ("", "I moved"),
        (".*", "anything"),
        ("I moved to Lisbon", ""),
    ],
)
def test_a_quote_is_not_found(quote: str, text: str) -> None:
    assert list(find_quote(quote, text)) == []


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_any_whole_words_of_a_text_are_found_where_they_stand(text: str, a: int, b: int) -> None:
    words = text.split()
    quote = " ".join(words[min(a, b) : max(a, b)])
    if quote:
        found = list(find_quote(quote, unicodedata.normalize("NFC", text)))
        assert found
        for start, end in found:
            part = unicodedata.normalize("NFC", text)[start:end]
            assert part.split() == unicodedata.normalize("NFC", quote).split()


@given(st.text(max_size=30), st.text(max_size=60))
def test_what_does_not_stand_there_is_not_found(quote: str, text: str) -> None:
    joined = " ".join(unicodedata.normalize("NFC", text).split())
    if " ".join(unicodedata.normalize("NFC", quote).split()) not in joined:
        shapes = set("'’‘‛ʼ＇`´\"“”„‟«»＂")
        if shapes.isdisjoint(quote):
            assert not any(find_quote(quote, unicodedata.normalize("NFC", text)))


def test_a_fence_is_memorys_own_closed_or_not() -> None:
    fenced = '<graphmem>\n[b1] "Alice lives in Lisbon."\n</graphmem> I live in Porto.'
    fenced_turn = turn(fenced)
    assert is_echo("Alice lives in Lisbon.", fenced_turn, [])
    assert not is_echo("I live in Porto.", fenced_turn, [])
    assert is_echo("I live in Porto.", turn("<GRAPHMEM-memory> I live in Porto."), [])


def test_what_was_supplied_is_an_echo_alone_or_among_other_words() -> None:
    known = [supply(LISBON)]
    for text in (LISBON, "alice lives in  lisbon", "As you know, Alice lives in Lisbon, right."):
        assert is_echo(text, turn(text), known)
        assert is_echo("lives in", turn(text), known)
    assert not is_echo("I live in Lisbon", turn("I live in Lisbon"), known)


def test_part_of_what_was_supplied_is_one_from_five_words_on() -> None:
    known = [supply("Alice deploys the payments service from Atlas every Friday")]
    part = "deploys the payments service from"
    assert is_echo(part, turn(f"So {part} there"), known)
    assert not is_echo("from Atlas every Friday", turn("from Atlas every Friday"), known)


def test_whoever_says_it_elsewhere_too_says_it_themselves() -> None:
    known = [supply("Alice lives in Lisbon")]
    own_turn = turn("<graphmem>I like tea</graphmem> I like tea")
    assert not is_echo("I like tea", own_turn, known)


@pytest.mark.parametrize(
    "known",
    [
        supply(LISBON, minutes=5),
        supply(LISBON, query="Alice lives in Lisbon. Where does she work?"),
        supply(LISBON, item="t0"),
        supply("Alice", item="m2"),
    ],
    ids=["later", "asked", "itself", "a name"],
)
def test_what_was_not_supplied_before_is_no_echo(known: SuppliedText) -> None:
    assert not is_echo(LISBON, turn(LISBON), [known])


def test_what_is_memorys_own_can_be_blanked() -> None:
    echoing = turn("Yes: Alice lives in Lisbon. I moved to Porto")
    spans = echo_spans(echoing, [supply(LISBON)])
    assert spans == [TextSpan(5, 26)]
    assert blank_spans(echoing.text, spans) == "Yes:                      . I moved to Porto"


def test_words_stand_in_any_case() -> None:
    assert occurs("porto", "I love PORTO!")
    assert not occurs("port", "I love PORTO!")
