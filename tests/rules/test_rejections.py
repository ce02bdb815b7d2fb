"""Normal forms of rejected values: spellings that are one value, and words that are not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.rules import rejections
from graphmem.rules.rejections import normal_form

LISBON = {
    "case": "LISBON",
    "width": "Ｌｉｓｂｏｎ",
    "mathematical": "𝗟𝗶𝘀𝗯𝗼𝗻",
    "circled": "Ⓛⓘⓢⓑⓞⓝ",
    "zero width": "Lis\u200bbo\u2060n",
    "soft hyphen": "Lis\u00adbon",
    "variation selector": "L\ufe0fisbon",
    "tag": "Lisbon\U000e0061",
    "direction": "\u202eLisbon\u202c",
    "filler": "Lis\u3164bon",
    "control": "Lis\x07bon",
    "spaces": "\u2003 Lisbon\t\n",
    "period": "Lisbon.",
    "exclamation": "Lisbon!",
    "Cyrillic": "Lіѕbоn",
    "Greek": "Lιsbοn",
    "Armenian": "Lisbօո",
    "dotless": "Lısbon",
    "small capitals": "Lɪꜱʙᴏɴ",
    "several": "ＬΙ\u200bЅbо\u00adɴ.",
}


@pytest.mark.parametrize("spelling", LISBON.values(), ids=LISBON.keys())
def test_other_spellings_of_a_value_are_the_value(spelling: str) -> None:
    assert normal_form(spelling) == normal_form("Lisbon") == "lisbon"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("don't", "don’t"),
        ("don't", "don`t"),
        ('"a"', "“a”"),
        ("a-b", "a–b"),
        ("New York", "Νew Yοrk"),
        ("NATO", "ΝΑΤΟ"),
        ("Hamburg", "Ηamburg"),
        ("ΑΘΗΝΑ", "αθηνα"),
        ("МОСКВА", "Москва"),
        ("Straße", "STRASSE"),
        ("café", "cafe\u0301"),
    ],
)
def test_spellings_that_are_equal(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lisbon", "Lisboa"),
        ("Lisbon", "not Lisbon"),
        ("Lisbon", "Lisbon?"),
        ("hot", "not"),
        ("100", "200"),
        ("l0ok", "look"),
        ("resume", "résumé"),
        ("a b", "ab"),
        ("москва", "моcква1"),
        ("жена", "žена"),
        ("5 May", "6 May"),
        ("a, b", "b, a"),
    ],
)
def test_other_words_are_other_values(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


@given(st.text())
@example("Ά\u0301")
@example("ῼ")
@example("Ιι.Γ\u200bx!")
def test_a_normal_form_is_its_own(text: str) -> None:
    form = normal_form(text)
    assert normal_form(form) == form


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.integers(0, 10))
@example("`", 0)
def test_what_is_not_drawn_never_counts(text: str, place: int) -> None:
    assert normal_form(text[:place] + "\u200d" + text[place:]) == normal_form(text)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ", min_size=1))
def test_case_and_width_never_count(text: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if c != " " else "\u3000" for c in text)
    assert unicodedata.normalize("NFKC", wide) == text
    assert normal_form(wide.upper()) == normal_form(text)


@pytest.mark.parametrize(
    "predicate",
    ["lives in", "Lives-In", "livesIn", "lives.in", "lives in:", "lives\u200bin", "Lіves/in"],
)
def test_a_value_is_the_sentence_of_its_parts(predicate: str) -> None:
    value = rejections.triple_digest("alice", "lives_in", "Lisbon")
    assert value == rejections.triple_digest("ALICE", predicate, "Lіsbon")
    assert value == rejections.text_digest("Alice lives in Lisbon.")
    others = [
        rejections.triple_digest("bob", "lives in", "Lisbon"),
        rejections.triple_digest("alice", "works in", "Lisbon"),
        rejections.triple_digest("alice", "lives in", "Porto"),
    ]
    assert len({value, *others}) == 4


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("Alice lives in Lisbon", "Alice\u200blives\u200bin\u200bLisbon", True),
        ("Alice lives in Lisbon", "alice lives_in lisbon!", True),
        ("Room 1 2", "Room 12", False),
        ("Room 1 2", "Room1 2", True),
        ("It is 5", "It is -5", False),
    ],
)
def test_only_numbers_are_divided_by_spaces(one: str, other: str, *, equal: bool) -> None:
    assert (rejections.text_digest(one) == rejections.text_digest(other)) is equal


def test_a_predicate_of_signs_is_itself() -> None:
    assert rejections.triple_digest("a", "->", "b") != rejections.triple_digest("a", "=", "b")


def test_a_key_belongs_to_a_tenant_and_contains_no_plain_digest() -> None:
    digest = rejections.text_digest("Alice lives in Lisbon")
    keys = {rejections.value_key(tenant, digest) for tenant in ("acme", "other")}
    assert len(keys | {digest}) == 3


def test_a_stored_belief_has_the_keys_of_its_claim() -> None:
    triple = {"subject_key": "alice", "predicate_key": "lives_in", "object_key": "lisbon"}
    plain = triple | {"statement": "alice lives in Lisbon"}
    value = rejections.triple_digest("Alice", "lives in", "LISBON")
    assert rejections.belief_digests(plain) == (value,)
    worded = triple | {"statement": "Alice has a flat in Lisbon"}
    memory = {"label": "Memory", "content": "alice has a flat in lisbon."}
    assert rejections.belief_digests(worded) == (value, *rejections.item_digests(memory))
    keys = rejections.belief_keys("acme", worded)
    assert keys == rejections.item_keys("acme", worded | {"label": "Belief"})
    assert keys["statement_key"] == rejections.text_key("acme", "Alice has a flat in Lisbon")
    assert rejections.belief_keys("acme", plain)["statement_key"] is None
    free = {"subject_key": None, "statement": "Alice lives in Lisbon."}
    assert rejections.belief_digests(free) == (value,)
