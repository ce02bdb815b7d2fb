"""How many examples a generated test takes, in each hypothesis profile.

Examples without a server cost nothing and keep the profile's number. Those that ask the server
take `few`, or a number of their own by `examples`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import hypothesis

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")

F = TypeVar("F", bound=Callable[..., None])


def is_deep() -> bool:
    """Return whether the tests run in the profile that takes its time."""
    return PROFILE == "deep"


def examples(dev: int, check: int, deep: int) -> int:
    """Return the number of the profile that the tests run in."""
    return {"dev": dev, "check": check, "deep": deep}[PROFILE]


def few(test: F) -> F:
    """Let a generated test that asks the server take few examples, but for the deep profile."""
    return hypothesis.settings(max_examples=examples(7, 200, 2_000))(test)
