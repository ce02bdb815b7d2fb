"""Full-text queries: no user text becomes Lucene syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.model import Status, TenantScope
from graphmem.rules import fulltext, identity

WALL = TenantScope(tenant="acme", scope="a", scopes=("a", "global"))
KEYS = " ".join(identity.scope_key("acme", scope) for scope in WALL.scopes)
WALLED = f"+tenant_key:{identity.tenant_key('acme')}^0 +scope_key:({KEYS})^0"
MEMORY = f"{WALLED} +status:(current)^0 +("
CLAUSE = re.compile(r"\(\+\((\w+):\(([^()]+)\) tenant_key:none\)\^0 \+\*:\*\^(\d+)\)")
"""A field, its words and the score of a match."""
PAIR = re.compile('"(\\w\\w)"')
SPECIAL = frozenset('+-&|!(){}[]^"~*?:\\/<>=')
"""Whatever means something to Lucene's query parser."""
SYNTAX = "".join(sorted(SPECIAL)) + " \tandornottoANDORNOTTO*:*_@#$%'`;,."

hostile = st.text(SYNTAX) | st.text() | st.text(st.characters(codec="utf-8"))


def clauses(query: str, opening: str) -> list[tuple[str, str, int]]:
    """Return the field, the words and the score of each clause that scores."""
    if not query:
        return []
    assert query.startswith(opening)
    assert query.endswith(")")
    found = CLAUSE.findall(query, len(opening))
    assert CLAUSE.sub("", query[len(opening) : -1]).strip() == ""
    return [(field, words, int(score)) for field, words, score in found]


def tokens(query: str) -> list[str]:
    """Return the words of a query on memories."""
    return [word for _, words, _ in clauses(query, MEMORY) for word in words.split(" ")]


@given(hostile)
@example("a AND b OR NOT c TO d")
@example('tenant_key:* OR "x" /r.*/ (a^9)~2')
@example("\u0301 \u200d")
def test_only_words_are_left(text: str) -> None:
    query = fulltext.memory_query(text, WALL, [Status.CURRENT])
    kept = tokens(query)
    assert bool(kept) == bool(query) == bool(re.search(r"\w", text))
    assert not {"AND", "OR", "NOT", "TO"} & set(kept)
    assert not SPECIAL & set("".join(PAIR.sub(r"\1", word) for word in kept))
    assert len({word.lower() for word in kept}) == len(kept)
    assert all(re.search(r"\w", word) for word in kept)


@given(st.text(st.characters(codec="utf-8")))
def test_nothing_of_a_word_is_lost(text: str) -> None:
    """Return whether the server's analysers count a character as part of a word."""
    kept = "".join(tokens(fulltext.memory_query(text, WALL, [Status.CURRENT]))).casefold()
    letters = {c for c in text.casefold() if c.isalnum()}
    assert len(text) > fulltext.MAX_TOKENS or letters <= set(kept)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ভাষা!", ["ভাষা"]),
        ("می‌روم", ["می‌روم"]),
        ("Zoe\u0308 Zoë", ["Zoe\u0308", "Zoë"]),
        ("İstanbul ISPARTA ılık", ["İstanbul", "ISPARTA", "ılık"]),
        ("the The THE", ["the"]),
        ("l'hôtel", ["l", "hôtel"]),
        ("snake_case 3.5", ["snake_case", "3", "5"]),
        ("AND and not NOT", ["and", "not"]),
    ],
)
def test_words_are_left_to_the_analyser_whole(text: str, wanted: list[str]) -> None:
    assert tokens(fulltext.memory_query(text, WALL, [Status.CURRENT])) == wanted


@given(hostile)
def test_turns_are_searched_by_words_and_speaker(text: str) -> None:
    query = fulltext.turn_query(text, WALL)
    if query:
        *texts, name = clauses(query, f"{WALLED} +(")
        assert {field for field, _, _ in texts} == {"text"}
        assert name == ("name", " ".join(words for _, words, _ in texts), fulltext.WEAK)
    else:
        assert not re.search(r"\w", text)


@given(st.lists(st.text("abc漢ぁ²\u093f", min_size=1, max_size=400), max_size=400).map(" ".join))
@example("x" * 100_000)
@example("漢" * 100_000)
@example(" ".join(f"w{n}" for n in range(5_000)))
def test_a_query_stays_below_what_lucene_takes(text: str) -> None:
    kept = tokens(fulltext.memory_query(text, WALL, [Status.CURRENT]))
    # An analyser makes at most a token of each character that is not ASCII, and cuts long words.
    cost = sum(1 + len(t) // 255 if t.isascii() else len(t.strip('"')) for t in kept)
    assert cost <= fulltext.MAX_TOKENS
    assert len(clauses(fulltext.memory_query(text, WALL, [Status.CURRENT]), MEMORY)) <= 18


def test_the_first_words_count() -> None:
    query = fulltext.memory_query(" ".join(f"w{n}" for n in range(300)), WALL, [Status.CURRENT])
    assert {*tokens(query)} == {f"w{n}" for n in range(128)}


@given(st.lists(st.text("abc", min_size=1), unique=True, min_size=1, max_size=40))
def test_a_score_names_the_matched_words(words: list[str]) -> None:
    query = fulltext.turn_query(" ".join(words), WALL)
    *terms, (_, _, weak) = clauses(query, f"{WALLED} +(")
    scores = [score for _, _, score in terms]
    # The sum is exact in a 32-bit float, and names the number of words and each of them.
    assert sum(scores) + weak < 2**24
    assert [divmod(score, fulltext.MATCH) for score in scores] == [
        (1, 2**bit) for bit in range(len(terms))
    ]
    assert weak == 2**fulltext.MAX_TERMS
    if len(words) > len(terms):
        assert min(map(len, (w for _, w, _ in terms[:-1]))) >= max(map(len, terms[-1][1].split()))


def test_runs_without_spaces_become_pairs() -> None:
    query = fulltext.memory_query("東京でラーメン, 茶", WALL, [Status.CURRENT])
    assert tokens(query) == ['"東京"', '"京で"', "ラーメン", "茶"]


def test_every_status_asked_for_is_in_the_query() -> None:
    query = fulltext.memory_query("x", WALL, tuple(Status))
    assert "+status:(current superseded deprecated archived rejected)^0" in query


facets = st.lists(
    st.builds(
        identity.facet_key, st.just("acme"), st.sampled_from(["tag", "source"]), st.text(max_size=5)
    ),
    max_size=4,
    unique=True,
)


@given(text=hostile, keys=facets)
def test_each_facet_is_a_clause_that_must_be_met_and_counts_nothing(
    text: str, keys: Sequence[str]
) -> None:
    clauses = "".join(f" +facet_keys:{key}^0" for key in keys)
    walled = f"{WALLED} +status:(current)^0"
    query = fulltext.memory_query(text, WALL, [Status.CURRENT], keys)
    plain = fulltext.memory_query(text, WALL, [Status.CURRENT])
    assert query == plain.replace(walled, walled + clauses)
    alone = fulltext.facet_query(WALL, [Status.CURRENT], keys)
    assert alone == (walled + clauses if keys else "")


def test_another_tenant_has_another_wall() -> None:
    there = WALL.model_copy(update={"tenant": "other"})
    ours, theirs = (fulltext.turn_query("x", scope) for scope in (WALL, there))
    assert not set(re.findall(r"[0-9a-f]{32}", ours)) & set(re.findall(r"[0-9a-f]{32}", theirs))
