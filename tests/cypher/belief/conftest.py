"""Where histories are kept that the reading Cypher is held against."""

from __future__ import annotations

import pytest

from graphmem import Handle
from tests.plugins.graph import Look
from tests.plugins.histories import Archive, clocked


@pytest.fixture
def archive(plain: Handle, look: Look) -> Archive:
    """A tenant of many histories, to whose clock none of them lies in the future."""
    return Archive(clocked(plain), look)
