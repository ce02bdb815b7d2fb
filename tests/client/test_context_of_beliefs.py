"""A belief that consolidation makes is in a context that asks for it, however old its sessions."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from graphmem import Handle
from graphmem.consolidation import BeliefChangeKind
from tests.plugins.clients import on_tenant
from tests.plugins.episodes import FEW
from tests.plugins.examples import sample
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike

CASES = 50
PER_TENANT = 10
DAY = timedelta(days=1)
PEOPLE = ("Anna", "Marek", "Noor", "Tomas", "Yuki", "Ines", "Paulo", "Greta", "Omar", "Lena")
HABITS = (
    "swims across the cold lake before breakfast",
    "repairs old wooden clocks in the cellar",
    "paints blue horses on kitchen tiles",
    "keeps three beehives behind the garage",
    "plays the cello in a village orchestra",
)


@pytest.mark.parametrize("part", sample(range(CASES // PER_TENANT), 3))
def test_a_new_belief_is_never_missing(plain: Handle, part: int) -> None:
    draw = random.Random(part)
    memory = on_tenant(plain, fresh_tenant())
    now = datetime.now(UTC)
    habit = HABITS[part]
    for n, person in enumerate(PEOPLE):
        newest = draw.uniform(9, 365)
        for again in range(3):
            at = now - newest * DAY - draw.uniform(0, 300) * DAY
            text = f"{unlike(n, about=person)} {person} {habit}."
            message = {"role": "user", "content": text, "at": at}
            memory.session(f"{part} {person} {again}").add_messages([message])
    done = memory.consolidate(policy=FEW)
    made = [one for one in done.changes if one.step is BeliefChangeKind.CREATE]
    assert len(made) == PER_TENANT
    for one in made:
        found = memory.context(one.statement)
        assert one.belief_id in found.ids
        assert one.statement in found.text
        belief = memory.beliefs.get(one.belief_id)
        assert belief.vitality is not None
        assert belief.vitality.derived
