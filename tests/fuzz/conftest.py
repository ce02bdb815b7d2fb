"""One client for all that is fuzzed."""

from __future__ import annotations

import pytest

from graphmem import GraphMem


@pytest.fixture(scope="session")
def client(_blocking: GraphMem) -> GraphMem:
    """The blocking client: arguments are checked once for both."""
    return _blocking
