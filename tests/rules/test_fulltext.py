"""Full-text queries: no user text becomes Lucene syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.model import Status, TenantScope
from graphmem.rules import fulltext, identity

WALL = TenantScope(tenant="acme", scope="a", scopes=("a", "global"))
KEYS = " ".join(identity.scope_key("acme", scope) for scope in WALL.scopes)
WALLED = f"+tenant_key:{identity.tenant_key('acme')}^0 +scope_key:({KEYS})^0"
# What stands in brackets is looked at apart: it holds no bracket, or the whole does not match.
MEMORY = re.compile(re.escape(f"{WALLED} +status:(current)^0 +(content:(") + r"([^()]+)\)\^1\)")
TURN = re.compile(re.escape(f"{WALLED} +(text:(") + r"([^()]+)\)\^1 name:\(([^()]+)\)\^0.1\)")
SPECIAL = frozenset('+-&|!(){}[]^"~*?:\\/<>=')
"""Whatever means something to Lucene's query parser."""
SYNTAX = "".join(sorted(SPECIAL)) + " \tandornottoANDORNOTTO*:*_@#$%'`;,."

hostile = st.text(SYNTAX) | st.text() | st.text(st.characters(codec="utf-8"))


def tokens(query: str) -> list[str]:
    """Return the words of a query on memories."""
    found = MEMORY.fullmatch(query)
    return found[1].split(" ") if found else []


@given(hostile)
@example("a AND b OR NOT c TO d")
@example('tenant_key:* OR "x" /r.*/ (a^9)~2')
@example("\u0301 \u200d")
def test_only_words_are_left(text: str) -> None:
    query = fulltext.memory_query(text, WALL, [Status.CURRENT])
    kept = tokens(query)
    assert bool(kept) == bool(query) == bool(re.search(r"\w", text))
    assert not {"AND", "OR", "NOT", "TO"} & set(kept)
    assert not SPECIAL & set("".join(kept))
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
        found = TURN.fullmatch(query)
        assert found
        assert found[1] == found[2]
    else:
        assert not re.search(r"\w", text)


@given(st.lists(st.text("abc漢ぁ²\u093f", min_size=1, max_size=400), max_size=400).map(" ".join))
@example("x" * 100_000)
@example("漢" * 100_000)
@example(" ".join(f"w{n}" for n in range(5_000)))
def test_a_query_stays_below_what_lucene_takes(text: str) -> None:
    kept = tokens(fulltext.memory_query(text, WALL, [Status.CURRENT]))
    # An analyser makes at most a token of each character that is not ASCII, and cuts long words.
    cost = sum(1 + len(t) // 255 if t.isascii() else len(t) for t in kept)
    assert cost <= fulltext.MAX_TOKENS
    distinct = [word for word in dict.fromkeys(text.split()) if re.search(r"\w", word)]
    whole = [t for t, word in takewhile(lambda p: p[0] == p[1], zip(kept, distinct, strict=False))]
    assert len(kept) - len(whole) <= 1


def test_the_first_words_count() -> None:
    query = fulltext.memory_query(" ".join(f"w{n}" for n in range(300)), WALL, [Status.CURRENT])
    assert " w255)" in query
    assert "w256" not in query


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
