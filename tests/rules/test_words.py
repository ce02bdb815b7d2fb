"""Nothing of what a user types is Lucene syntax."""

from __future__ import annotations

import re
from itertools import takewhile

from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.model import Status, Wall
from graphmem.rules import identity, words

WALL = Wall(tenant="acme", scope="a", scopes=("a", "global"))
KEYS = " ".join(identity.scope_key("acme", scope) for scope in WALL.scopes)
WALLED = f"+tenant_key:{identity.tenant_key('acme')}^0 +scope_key:({KEYS})^0"
MEMORY = re.compile(re.escape(f"{WALLED} +status:(current)^0 +(content:(") + r"([\w ]+)\)\^1\)")
TURN = re.compile(re.escape(f"{WALLED} +(text:(") + r"([\w ]+)\)\^1 name:\(([\w ]+)\)\^2\)")
SYNTAX = "+-&|!(){}[]^\"~*?:\\/ \tandornottoANDORNOTTO*:*_<>=@#$%'`;,."

hostile = st.text(SYNTAX) | st.text() | st.text(st.characters(codec="utf-8"))


@given(hostile)
@example("a AND b OR NOT c TO d")
@example('tenant_key:* OR "x" /r.*/ (a^9)~2')
def test_only_words_are_left(text: str) -> None:
    query = words.memory_query(text, WALL, [Status.CURRENT])
    if query:
        found = MEMORY.fullmatch(query)
        assert found
        kept = found[1].split(" ")
        assert not {"AND", "OR", "NOT", "TO"} & set(kept)
        assert len(set(kept)) == len(kept)
        assert all(word.strip() for word in kept)
    else:
        assert not re.search(r"\w", text)


@given(hostile)
def test_turns_are_searched_by_words_and_speaker(text: str) -> None:
    query = words.turn_query(text, WALL)
    if query:
        found = TURN.fullmatch(query)
        assert found
        assert found[1] == found[2]
    else:
        assert not re.search(r"\w", text)


@given(st.lists(st.text("abc漢ぁ²", min_size=1, max_size=400), max_size=400).map(" ".join))
@example("x" * 100_000)
@example("漢" * 100_000)
@example(" ".join(f"w{n}" for n in range(5_000)))
def test_a_query_stays_below_what_lucene_takes(text: str) -> None:
    query = words.memory_query(text, WALL, [Status.CURRENT])
    found = MEMORY.fullmatch(query)
    tokens = found[1].split(" ") if found else []
    # An analyser makes at most a token of each character that is not ASCII, and cuts long words.
    cost = sum(1 + len(t) // 255 if t.isascii() else len(t) for t in tokens)
    assert cost <= words.MOST_TOKENS
    distinct = list(dict.fromkeys(re.findall(r"\w+", text.lower())))
    whole = [
        t for t, word in takewhile(lambda p: p[0] == p[1], zip(tokens, distinct, strict=False))
    ]
    assert len(tokens) - len(whole) <= 1


def test_the_first_words_count() -> None:
    query = words.memory_query(" ".join(f"w{n}" for n in range(300)), WALL, [Status.CURRENT])
    assert " w255)" in query
    assert "w256" not in query


def test_every_status_asked_for_is_in_the_query() -> None:
    query = words.memory_query("x", WALL, tuple(Status))
    assert "+status:(current superseded deprecated)^0" in query


def test_another_tenant_has_another_wall() -> None:
    there = WALL.model_copy(update={"tenant": "other"})
    ours, theirs = (words.turn_query("x", wall) for wall in (WALL, there))
    assert not set(re.findall(r"[0-9a-f]{32}", ours)) & set(re.findall(r"[0-9a-f]{32}", theirs))
