"""One victim for all attacks."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from tests.isolation import victims
from tests.isolation.victims import Victim, disguises
from tests.plugins import everything


@pytest.fixture(scope="session")
def client(_blocking: GraphMem) -> GraphMem:
    """One client for every tenant."""
    return _blocking


@pytest.fixture(scope="session")
def victim(client: GraphMem) -> Victim:
    """A tenant with one of everything."""
    return victims.made(client)


@pytest.fixture(scope="session")
def twin(client: GraphMem, victim: Victim) -> GraphMem:
    """An attacker who has one of everything too, with the same ids."""
    memory = client.tenant(disguises(victim.name)[0])
    everything.write_everything(memory)
    memory.flush()
    return memory
