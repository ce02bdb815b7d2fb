"""Waiting for a condition, such as a row in an index."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from graphmem.rules import identity

if TYPE_CHECKING:
    from tests.plugins.graph import Look


def eventually(holds: Callable[[], object], *, seconds: float = 300.0) -> None:
    """Wait until a condition holds; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


def until_erased(look: Look, tenant: str) -> None:
    """Wait until the first erasure of a tenant is decided: its tombstone refuses writes."""
    asked = "MATCH (t:Tombstone {tenant: $tenant}) RETURN 1"
    eventually(lambda: look.rows(asked, tenant=identity.tenant_key(tenant)))
