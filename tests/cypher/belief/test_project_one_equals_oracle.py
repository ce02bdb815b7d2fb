"""What a CALL shows of a slot is what the rules make of it, for values that compete or coexist."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.graph import catalog
from graphmem.model import AsOf, Policy
from graphmem.ports import run_now
from graphmem.rules.read_options import ReadOptions
from tests.plugins.belief_oracle import wrong_slot
from tests.plugins.examples import few
from tests.plugins.histories import PREDICATE, SUBJECT, Archive, Item, Written, accounts
from tests.rules.strategies_histories import END, both_policies

pytestmark = pytest.mark.timeout(3_600)

PROJECT_ONE = catalog.query("belief/slot_values", dict)


@few
@given(items=accounts(), by=both_policies, data=st.data())
def test_the_values_of_a_slot(
    archive: Archive,
    items: list[Item],
    by: Policy,
    data: st.DataObject,
) -> None:
    written = archive.write(items)
    as_of = data.draw(written.moments())
    slot = written.handle.current(SUBJECT, PREDICATE, as_of=as_of, policy=by, limit=1_000)
    assert wrong_slot(written, slot, as_of) == []
    shared = ("object", "belief", "ambiguous", "score", "status", "events", "belief_id")
    rows = read(written, as_of, by)
    assert [[row[name] for name in shared] for row in rows] == [
        [getattr(one, name) for name in shared] for one in slot.candidates
    ]


def read(written: Written, as_of: AsOf, policy: Policy) -> list[dict[str, Any]]:
    context = written.handle._state.context
    params = context.read_params(PROJECT_ONE, ReadOptions(as_of, policy), END)
    slot = {"subject": SUBJECT.casefold(), "predicate": PREDICATE}
    return run_now(context.fetch(PROJECT_ONE, **params, **slot, limit=1_000))
