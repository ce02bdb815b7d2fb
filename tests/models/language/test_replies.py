"""Parsing of chat completions of any shape."""

from __future__ import annotations

from types import SimpleNamespace as Shape
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from graphmem.models.language import ReplyProblem, parse_reply, reply_text, token_counts


class Closed(BaseModel):
    """A record that takes no other key."""

    model_config = ConfigDict(extra="forbid")

    a: int
    b: int = 0
    c: int = 0
    d: int = 0
    e: int = 0
    f: int = 0


def test_a_reason_says_nothing_of_the_reply() -> None:
    """An unknown key is the reply's own word."""
    found = parse_reply('{"a": 1, "hush": "hush"}', Closed)
    assert isinstance(found, ReplyProblem)
    assert found.reason == "Extra inputs are not permitted"


def test_a_reason_names_five_faults_at_most() -> None:
    found = parse_reply('{"a": "x", "b": "x", "c": "x", "d": "x", "e": "x", "f": "x"}', Closed)
    assert isinstance(found, ReplyProblem)
    assert found.reason.count("; ") == 4


def completion(content: Any) -> Any:
    return Shape(choices=[Shape(message=Shape(content=content))])


@pytest.mark.parametrize(
    "response",
    [
        None,
        Shape(),
        Shape(choices=None),
        Shape(choices=[]),
        Shape(choices=[None]),
        Shape(choices=[Shape()]),
        Shape(choices=[Shape(message=None)]),
        completion(None),
        completion(["parts"]),
        completion(" \n"),
    ],
)
def test_no_text_is_empty(response: Any) -> None:
    assert reply_text(response) == ""


def test_a_text_is_stripped() -> None:
    assert reply_text(completion(" x\n")) == "x"


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (Shape(prompt_tokens=3, completion_tokens=2), (3, 2)),
        (Shape(prompt_tokens=None, completion_tokens="2"), (0, 0)),
        (Shape(prompt_tokens=-3), (0, 0)),
        (None, (0, 0)),
    ],
)
def test_tokens_that_nobody_counted_are_none(usage: Any, tokens: tuple[int, int]) -> None:
    assert token_counts(Shape(usage=usage)) == tokens
    assert token_counts(Shape()) == (0, 0)
