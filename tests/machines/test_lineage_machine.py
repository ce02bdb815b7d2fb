"""Random histories of two writers, held against a model that keeps them in dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from graphmem import Handle, Outcome, Status
from graphmem.errors import (
    ForeignScopeError,
    ForkedChainError,
    NotFoundError,
    SelfSupersessionError,
)
from graphmem.model import Origin
from graphmem.rules import identity
from tests.oracles import lineage
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant, has_cycle
from tests.plugins.lineage_model import Model
from tests.plugins.texts import unlike
from tests.plugins.told import told

MAY = datetime(2025, 5, 5, tzinfo=UTC)
TEXTS = [unlike(n, about=f"topic{n}") for n in range(4)]
SEES = {"global": {"global"}, "alice": {"global", "alice"}}
SHOWN = (
    "content",
    "scope",
    "status",
    "tags",
    "created_at",
    "last_seen_at",
    "reinforce_count",
    "head_ids",
)


instants = st.integers(0, 3).map(lambda n: MAY + timedelta(hours=n))
texts = st.sampled_from(TEXTS)
scopes = st.sampled_from(sorted(SEES))
tags = st.sets(st.sampled_from("xyz"), max_size=2)


class Writers(RuleBasedStateMachine):
    """Two writers, one in `global`, one in a scope of her own, at instants in any order."""

    memories = Bundle("memories")

    def __init__(self, memory: Handle, look: Look) -> None:
        super().__init__()
        self.tenant = fresh_tenant()
        self.look = look
        self.handles = {name: on_tenant(memory, self.tenant).scope(name) for name in SEES}
        self.model = Model()
        self.sent = 0

    def next_id(self, scope: str) -> str:
        self.sent += 1
        # Ids that do not sort as they were made, so that ties are broken by the id alone.
        given = f"e{self.sent * 7 % 10}-{self.sent}"
        return identity.given_event_id(scope, "person", given)

    @rule(
        target=memories, scope=scopes, text=texts, at=instants, tags=tags, times=st.integers(1, 2)
    )
    def remember(self, scope: str, text: str, at: datetime, tags: set[str], times: int) -> str:
        event_id = self.next_id(scope)
        before = set(self.model.kept)
        expected = self.model.remember(scope, text, at, event_id, tags)
        for again in (False, True)[:times]:
            done = self.handles[scope].remember(text, at=at, event_id=event_id, tags=sorted(tags))
            assert done.memory_id == expected.id
            assert done.repeated is again
            assert done.outcome is (
                Outcome.EXACT_DUPE if expected.id in before else Outcome.INSERTED_NEW
            )
        return expected.id

    @rule(
        target=memories,
        scope=scopes,
        older=memories,
        text=texts,
        at=instants,
        tags=tags,
        times=st.integers(1, 2),
        fork=st.booleans(),
    )
    def supersede(
        self,
        scope: str,
        older: str,
        text: str,
        at: datetime,
        tags: set[str],
        times: int,
        *,
        fork: bool,
    ) -> str:
        event_id = self.next_id(scope)
        memory = self.model.kept[older]

        def act() -> str:
            done = self.handles[scope].supersede(
                older, text, at=at, origin=Origin(event_id=event_id), tags=sorted(tags), fork=fork
            )
            assert (done.older_id, done.requested_id or done.older_id) == (memory.id, older)
            return done.newer_id

        if self.is_refused(scope, older, act):
            return older
        heads = () if fork else self.model.heads(memory)
        if len(heads) > 1:
            with pytest.raises(ForkedChainError):
                act()
            return older
        memory = self.model.kept[heads[0]] if heads else memory
        if memory.content == text:
            with pytest.raises(SelfSupersessionError):
                act()
            return older
        newer = self.model.supersede(memory, text, at, event_id, tags)
        for _ in range(times):
            assert act() == newer.id
        return newer.id

    @rule(
        scope=scopes,
        memory=memories,
        at=instants,
        act=st.sampled_from(["deprecate", "restore"]),
        times=st.integers(1, 2),
    )
    def mark(self, scope: str, memory: str, at: datetime, act: str, times: int) -> None:
        event_id = self.next_id(scope)
        origin = Origin(event_id=event_id)

        def done() -> str:
            memories = self.handles[scope].memories
            return str(getattr(memories, act)(memory, at=at, origin=origin))

        if self.is_refused(scope, memory, done):
            return
        status = Status.DEPRECATED if act == "deprecate" else Status.CURRENT
        self.model.mark(self.model.kept[memory], status, at, event_id)
        for _ in range(times):
            assert done() == event_id

    def is_refused(self, scope: str, memory_id: str, act: Callable[[], str]) -> bool:
        """Whether the memory is another scope's; then trying must say so and change nothing."""
        own = self.model.kept[memory_id].scope
        if own == scope:
            return False
        with pytest.raises(ForeignScopeError if own in SEES[scope] else NotFoundError):
            act()
        return True

    @invariant()
    def every_reader_is_shown_what_the_model_has(self) -> None:
        for name, handle in self.handles.items():
            page = handle.memories.list(statuses=list(Status), limit=1_000)
            shown = {m.id: {key: getattr(m, key) for key in SHOWN} for m in page.memories}
            assert shown == self.model.seen(SEES[name])

    @invariant()
    def the_edges_are_those_of_the_model_and_make_no_cycle(self) -> None:
        edges = self.look.edges(self.tenant)
        found = {(e.newer, e.older, e.event_id, e.in_force) for e in edges}
        assert found == self.model.edges()
        assert not has_cycle(edges)

    def teardown(self) -> None:
        self.the_caches_follow_from_the_events()
        self.chains_agree()

    def the_caches_follow_from_the_events(self) -> None:
        """Replay from zero equals the live value."""
        effects = {m.id: m.effects() for m in told(self.look, self.tenant).values()}
        status = {m["id"]: m["status"] for m in cached(self.look, self.tenant)}
        assert status == {m: lineage.status_of(found) for m, found in effects.items()}
        for edge in self.look.edges(self.tenant):
            own = lineage.Effect(edge.occurred_at, edge.event_id, Status.SUPERSEDED)
            assert edge.in_force == lineage.in_force(own, effects[edge.older])

    def chains_agree(self) -> None:
        for memory in self.model.kept.values():
            chain = self.handles[memory.scope].memories.chain(memory.id)
            over = {link.older_id for link in chain.links if link.in_force}
            assert set(chain.head_ids) == {m.id for m in chain.memories} - over
            if memory.status is Status.SUPERSEDED:
                assert set(self.model.heads(memory)) <= set(chain.head_ids)


def cached(look: Look, tenant: str) -> list[dict[str, Any]]:
    return look.rows(
        "MATCH (m:Memory {tenant: $tenant}) WHERE m.id IS NOT NULL "
        "RETURN m.id AS id, m.status AS status",
        tenant=tenant,
    )


def test_any_history_reads_as_the_model_says(plain: Handle, look: Look) -> None:
    class Here(Writers):
        def __init__(self) -> None:
            super().__init__(plain, look)

    run_state_machine_as_test(
        Here,
        settings=hypothesis.settings(max_examples=examples(4, 60, 400), stateful_step_count=15),
    )
