"""Query plans of the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def operators(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the operators of a plan, a parent before its children."""
    yield plan
    for child in plan.get("children", ()):
        yield from operators(child)
