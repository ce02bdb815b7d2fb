"""Waiting for a condition, such as a row in an index."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(holds: Callable[[], object], *, seconds: float = 300.0) -> None:
    """Wait until a condition holds; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)
