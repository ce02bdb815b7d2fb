"""An empty recall counts what its handle may read, and nothing that it may not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from graphmem import Handle
from tests.plugins.clients import on_tenant
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def ann(memory: Handle) -> Handle:
    """A person's handle that may read a team; others of the tenant and another tenant write."""
    team = memory.scope("team")
    team.remember(unlike(1), at=MAY)
    team.remember(unlike(2), at=MAY)
    for stranger in (memory.scope("ben"), on_tenant(memory, fresh_tenant()).scope("ann")):
        for n in range(10, 17):
            stranger.remember(unlike(n))
        stranger.session("s").add_messages([{"role": "user", "content": unlike(20)}])
    handle = memory.scope("ann", read_scopes=["ann", "team"])
    with handle.session("s") as session:
        session.add_messages([{"role": "user", "content": unlike(3), "at": MAY}])
        session.remember(unlike(4), tags=["tools"], at=MAY)
    return handle


Ask = Callable[[Handle], str]
CASES: dict[str, tuple[Ask, str]] = {
    "a kind": (
        lambda m: m.recall(unlike(3), kinds=["belief"]).reason,
        "not searched: 3 memories, 1 turn, 1 episode",
    ),
    "tags": (
        lambda m: m.recall(unlike(4), tags=["birds"]).reason,
        "excluded by tags: 3 memories, 1 turn, 1 episode",
    ),
    "a source": (
        lambda m: m.recall(unlike(4), source="wiki").reason,
        "excluded by source: 3 memories, 1 turn, 1 episode",
    ),
    "a period": (
        lambda m: m.recall(unlike(4), since=MAY + DAY).reason,
        "excluded by since: 3 memories, 1 turn, 1 episode",
    ),
    "before all": (
        lambda m: m.recall(unlike(4), as_of=MAY - DAY).reason,
        "later than as_of: 3 memories, 1 turn, 1 episode",
    ),
    "other scopes": (
        lambda m: m.recall(unlike(4), tags=["birds"], scopes=["team"]).reason,
        "excluded by tags: 2 memories; in other read scopes: 1 memory, 1 turn, 1 episode",
    ),
    "a prompt": (
        lambda m: m.context(unlike(4), tags=["birds"]).reason,
        "excluded by tags: 3 memories, 1 turn, 1 episode",
    ),
}


def test_an_empty_answer_counts_what_its_reader_may_read(ann: Handle) -> None:
    expected = {name: reason for name, (_, reason) in CASES.items()}
    assert {name: ask(ann) for name, (ask, _) in CASES.items()} == expected


def test_an_empty_scope_says_so_beside_full_ones(memory: Handle, ann: Handle) -> None:
    assert (
        memory.scope("cleo").recall(unlike(4)).reason
        == "nothing is stored in scope 'cleo' or 'global'"
    )
    assert ann.recall(unlike(4)).reason == ""


def test_a_hidden_belief_is_named(memory: Handle) -> None:
    memory.beliefs.archive(memory.believe(unlike(1)).belief_id)
    assert memory.recall(unlike(1)).reason == "1 hidden: archived"
