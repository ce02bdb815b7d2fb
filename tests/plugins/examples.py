"""Number of examples of a generated test in each hypothesis profile.

Tests without a server are cheap and use the profile's number. Those that query the server use
`few`, or their own number from `examples`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import hypothesis
import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")

F = TypeVar("F", bound=Callable[..., None])


def is_deep() -> bool:
    """Return whether the tests run in the slow profile, `deep`."""
    return PROFILE == "deep"


def examples(dev: int, check: int, deep: int) -> int:
    """Return the number for the current profile."""
    return {"dev": dev, "check": check, "deep": deep}[PROFILE]


def sample(values: Iterable[object], every: int) -> list[ParameterSet]:
    """Return parameters: one in `every` for the default tier, the rest for the system tier.

    Only for a table of similar cases, such as one for each file.
    """
    return [
        pytest.param(value, marks=[pytest.mark.system] if number % every else [])
        for number, value in enumerate(values)
    ]


def few(test: F) -> F:
    """Limit a generated test that queries the server to few examples, except in `deep`."""
    return hypothesis.settings(max_examples=examples(5, 200, 2_000))(test)
