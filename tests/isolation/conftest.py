"""One victim for all attacks."""

from __future__ import annotations

import pytest

from graphmem import Handle
from tests.isolation import victims
from tests.isolation.victims import Victim, disguises
from tests.plugins import everything
from tests.plugins.clients import on_tenant


@pytest.fixture(scope="session")
def victim(client: Handle) -> Victim:
    """A tenant with one of everything."""
    return victims.made(client)


@pytest.fixture(scope="session")
def twin(client: Handle, victim: Victim) -> Handle:
    """An attacker who has one of everything too, with the same ids."""
    memory = on_tenant(client, disguises(victim.name)[0])
    everything.write_everything(memory)
    memory.usage.flush()
    return memory
