"""What consolidation derived can be dropped and comes back: the same beliefs, ids and scores."""

from __future__ import annotations

import pytest

from graphmem import Handle
from graphmem.testing import ScriptedLlm
from tests.client.test_consolidating_by_model import GOOD
from tests.plugins.clients import Door
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.foreign import change
from tests.plugins.graph import Look


@pytest.mark.parametrize("modelled", [False, True])
def test_dropped_beliefs_come_back_without_a_model(
    door: Door,
    memory: Handle,
    look: Look,
    tenant: str,
    modelled: bool,  # noqa: FBT001
) -> None:
    tell(memory, SWIMS)
    llm = ScriptedLlm([GOOD]) if modelled else None
    door.on(memory, llm=llm).consolidate(policy=FEW)
    against = [f"I never swim across the cold lake before breakfast. {n}" for n in range(6)]
    tell(memory, against, first=10)
    for _ in range(2):  # The second archives it.
        memory.consolidate(policy=FEW)
    before = (
        look.graph(tenant),
        [b.model_dump() for b in memory.beliefs.list(include_archived=True).beliefs],
    )
    assert memory.admin.verify().wrong == ()

    change(look, "MATCH (b:Belief {tenant: $tenant}) DETACH DELETE b", tenant=tenant)
    assert memory.admin.verify().wrong
    memory.admin.rebuild()
    assert memory.admin.verify().wrong == ()
    at = [b.model_dump() for b in memory.beliefs.list(include_archived=True).beliefs]
    assert look.graph(tenant) == before[0]
    assert [_timeless(b) for b in at] == [_timeless(b) for b in before[1]]


def _timeless(belief: dict[str, object]) -> dict[str, object]:
    """Without what fades from one read to the next."""
    vital = belief["vitality"]
    assert isinstance(vital, dict)
    faded = {"retrieval", "gate"}
    return belief | {"vitality": {k: v for k, v in vital.items() if k not in faded}}
