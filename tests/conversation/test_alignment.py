"""Which messages of a list are new, one list at a time."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.conversation import alignment


def new(log: str, given_: str, *, repeats: bool = True) -> list[str]:
    """Return the messages that are new; those of a person begin with u or are names of games."""
    stored, sent = log.split(), given_.split()
    asked = max((n for n, one in enumerate(stored) if one[0] != "a"), default=-1)
    known = {n: one for n, one in enumerate(stored) if one in sent}
    found = alignment.align(sent, known, len(stored), asked, repeats=repeats)
    assert all(stored[place] == sent[i] for i, place in found.items())
    assert len(set(found.values())) == len(found)
    return [one for i, one in enumerate(sent) if i not in found]


@pytest.mark.parametrize(
    ("log", "sent", "expected"),
    [
        ("", "u1 a1", "u1 a1"),
        ("u1 a1", "u1 a1 u2", "u2"),
        ("u1 a1 u2 a2", "u1 a1 u2 a2", ""),
        ("u1 a1 u2 a2", "a2 u3", "u3"),
        ("u1 a1 u2 a2", "u2 a2 u3", "u3"),
        ("u1 a1 u2 a2", "u3", "u3"),
        # Repeats.
        ("higher", "higher", "higher"),
        ("higher a1", "higher", "higher"),
        ("u1 a1", "u1 a1", "u1 a1"),
        ("u1 a1 u1 a1", "u1 a1 u1 a1 u1 a1", "u1 a1"),
        ("u1 a1 u2 a2 u3 a3 u4 a4", "u2 a2 u5", "u2 a2 u5"),
        ("u1 a1 u2 a2 u3 a3 u4 a4", "u5 a5 u2 a2", "u5 a5 u2 a2"),
        ("u1 a1 u2 a2 u3 a3 u4 a4", "u5 u3 a2 a1", "u5 u3 a2 a1"),
        # Parts left out.
        ("u1 a1 u2 a2 u3 a3", "u1 a1 u3 a3 u4", "u4"),
        ("u1 b c a1 u2 b c a2", "u1 a1 u2 a2 u3", "u3"),
        ("u1 ok go ok go ok go ok", "u1 ok go ok go", "go"),
        # Other answers and questions.
        ("u1 a1 u2 a2", "u1 a1 u2", ""),
        ("u1 a1 u2 a2", "u1 a1 u2 a3", "a3"),
        ("u1 a1 u2 a2 u3 a3", "u2 a2 u3 a4", "a4"),
        ("u1 a1 u2 a2 u3 a3", "u2 a2 u4", "u4"),
        ("u1 a1 u2 a2 u3 a3", "u1 a1 u4", "u4"),
        ("u1 a1 u2 a2 u3 a3 u4 a4", "u1 a1 u3 a3 u5", "u5"),
        # Edited in their place.
        ("u1 a1 u2 a2", "u5 a1 u2 a2", "u5"),
        ("u1 a1 u2 a2 u5", "u5 a1 u2 a2", ""),
        ("u1 a1 u2 a2 u5", "u5 a1 u2 a2 u3", "u3"),
        ("u1 a1 u2 a2 u5 u3 a3", "u5 a1 u2 a2 u3 a3 u4", "u4"),
        ("u1 a1 u2 a2 u5 u3 a3", "u5 a1 u2 a2 u3 a4", "a4"),
        ("u1 a1 yes a2 yes a3 u6 u4 a4", "u1 a1 yes u6 yes a3 u9", "u9"),
        ("h a1 h a2 h a3 u6 h a4", "u6 a1 h a2 h a3 h a5", "a5"),
        ("u1 a1 u2 a2", "u0 u2 a2 u3", "u0 u2 a2 u3"),
        ("u1 a1 u2 a2", "u0 a1 u2 a2 u3", "u0 u3"),
    ],
)
def test_only_what_is_new_is_found_to_be(log: str, sent: str, expected: str) -> None:
    assert " ".join(new(log, sent)) == expected


def test_messages_that_await_a_reply_are_not_repeated() -> None:
    assert new("u1 a1 higher", "higher", repeats=False) == []
    assert new("u1 a1", "u1 a1", repeats=False) == []
    assert new("higher a1", "higher", repeats=False) == ["higher"]


tokens = st.lists(st.sampled_from("abc"), max_size=9)


@given(tokens, tokens)
def test_messages_are_placed_once_where_they_stand(log: list[str], sent: list[str]) -> None:
    for repeats in (False, True):
        new(" ".join(log), " ".join(sent), repeats=repeats)


@example(["a", "a"], ["a", "a", "b"])
@given(tokens, tokens)
def test_a_reply_may_begin_with_the_end_of_the_question(asked: list[str], reply: list[str]) -> None:
    longest = max(n for n in range(len(reply) or 1) if asked[len(asked) - n :] == reply[:n])
    assert alignment.overlap(reply, asked) == longest


class Token:
    """A token that counts how often it is compared or hashed."""

    steps = 0

    def __init__(self, name: int) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        Token.steps += 1
        return isinstance(other, Token) and self.name == other.name

    def __hash__(self) -> int:
        Token.steps += 1
        return self.name


def steps(size: int, kind: str) -> int:
    """Return the number of comparisons for a list as long as the conversation."""
    random = Random(5)
    names = {
        "different": range(size),
        "equal": [1] * size,
        "periodic": [n % 2 for n in range(size)],
        "mixed": [n if random.random() < 0.3 else random.randint(-3, -1) for n in range(size)],
    }[kind]
    log = [Token(name) for name in names]
    stored = dict(enumerate(log))
    Token.steps = 0
    for sent in (
        log,
        log[size // 2 :],
        [*log[: size // 3], *log[size // 2 :]],
        [one for n, one in enumerate(log) if n % 3],
        [Token(-9) if n % 7 == 3 else one for n, one in enumerate(log)],
        log[::-1],
        [*log[size // 2 :], *log[: size // 2]],
    ):
        alignment.align([*sent, Token(-5)], stored, size, size - 2, repeats=True)
    return Token.steps


@pytest.mark.parametrize("kind", ["different", "equal", "periodic", "mixed"])
def test_no_step_is_quadratic(kind: str) -> None:
    small, large = steps(1_000, kind), steps(10_000, kind)
    assert large < 12 * small
    assert large < 200 * 10_000


def test_ten_thousand_messages_take_less_than_seconds() -> None:
    log = [f"a{n % 400}" for n in range(10_000)]
    start = time.process_time()
    alignment.align(log[::-1], dict(enumerate(log)), len(log), 5, repeats=True)
    assert time.process_time() - start < 5
