"""How many examples a generated test takes, in each hypothesis profile."""

from __future__ import annotations

import os

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")


def is_deep() -> bool:
    """Return whether the tests run in the profile that takes its time."""
    return PROFILE == "deep"


def examples(dev: int, check: int, deep: int) -> int:
    """Return the number of the profile that the tests run in."""
    return {"dev": dev, "check": check, "deep": deep}[PROFILE]
