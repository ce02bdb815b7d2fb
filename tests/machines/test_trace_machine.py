"""Random sayings in any order: the cached trace is that of the events, and both the oracle's."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from graphmem import AsOf, Handle, Memory, MemoryBite, NewMemory, Status
from graphmem.errors import SelfSupersessionError
from graphmem.model import MemoryReasons, RecallPolicy, TraceRank
from graphmem.rules import formulas
from tests.oracles import tracerank as tracerank_oracle
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import fresh_tenant
from tests.plugins.histories import clocked
from tests.plugins.texts import restated, unlike

NOW = datetime(2025, 5, 5, tzinfo=UTC)
SEES = {"global": {"global"}, "alice": {"global", "alice"}}
TEXTS = [unlike(0), unlike(1), restated(0), restated(5)]
"""The last two are one and the same to a commit."""
EXAMPLES = examples(3, 100, 500)

scopes = st.sampled_from(sorted(SEES))
texts = st.sampled_from(TEXTS)
instants = st.one_of(
    st.integers(0, 8).map(lambda hours: timedelta(hours=6 * hours)),
    st.integers(0, 90).map(lambda days: timedelta(days=days)),
    st.integers(0, 10**7).map(lambda us: timedelta(days=1, microseconds=-us)),
).map(lambda ago: NOW - ago)
sayings = st.tuples(texts, instants)


class Sayings(RuleBasedStateMachine):
    """Two writers, one in `global`, one in a scope of her own, at instants in any order."""

    def __init__(self, memory: Handle) -> None:
        super().__init__()
        shared = clocked(on_tenant(memory, fresh_tenant()), NOW)
        self.handles = {name: shared.scope(name) for name in SEES}
        self.said: dict[str, list[tuple[str, datetime]]] = defaultdict(list)
        """By memory: in which scope and when."""

    @rule(scope=scopes, saying=sayings)
    def remember(self, scope: str, saying: tuple[str, datetime]) -> None:
        text, at = saying
        done = self.handles[scope].remember(text, at=at)
        self.said[str(done.memory_id)].append((scope, at))

    @rule(scope=scopes, many=st.lists(sayings, min_size=1, max_size=5))
    def remember_many(self, scope: str, many: list[tuple[str, datetime]]) -> None:
        wishes = [NewMemory(content=text, at=at) for text, at in many]
        done = self.handles[scope].remember_many(wishes)
        for (_, at), outcome in zip(many, done, strict=True):
            self.said[str(outcome.memory_id)].append((scope, at))

    @rule(scope=scopes, which=st.integers(0, 5), saying=sayings)
    def supersede(self, scope: str, which: int, saying: tuple[str, datetime]) -> None:
        handle, (text, at) = self.handles[scope], saying
        own = sorted(m.id for m in everything(handle) if m.scope == scope)
        if not own:
            return
        try:
            done = handle.supersede(own[which % len(own)], text, at=at, fork=True)
        except SelfSupersessionError:
            return
        self.said[done.newer_id].append((scope, at))

    @invariant()
    def every_reader_is_shown_what_the_oracle_says(self) -> None:
        for scope, handle in self.handles.items():
            for by in (TraceRank(), TraceRank(tau_days=3, window_hours=30.5, burst=0.5)):
                policy = RecallPolicy(trace=by)
                found = handle.recall(TEXTS[0], limit=100, include_hidden=True, policy=policy).bites
                traces = {b.memory.id: b.trace for b in found if isinstance(b, MemoryBite)}
                assert traces == pytest.approx(self.expected(scope, NOW, by), abs=1e-9)

    @rule(scope=scopes, at=instants)
    def explain(self, scope: str, at: datetime) -> None:
        for memory in everything(self.handles[scope]):
            seen = self.seen(memory.id, scope, at)
            # It is there since it was said in its own scope.
            if memory.scope not in {s for s, _ in seen}:
                continue
            reasons = self.handles[scope].why(memory.id, as_of=AsOf(valid=at))
            assert isinstance(reasons, MemoryReasons)
            times = [said for _, said in seen]
            assert reasons.trace.trace == pytest.approx(tracerank_oracle.trace(times, at), abs=1e-9)
            own = tracerank_oracle.trace_contributions(times)
            shown = reasons.trace.sayings
            assert [s.at for s in shown] == [s.at for s in own]
            for name in ("burst", "spacing"):
                wanted = [getattr(s, name) for s in own]
                assert [getattr(s, name) for s in shown] == pytest.approx(wanted)

    def seen(self, memory_id: str, scope: str, at: datetime) -> list[tuple[str, datetime]]:
        return [(s, t) for s, t in self.said[memory_id] if s in SEES[scope] and t <= at]

    def expected(
        self, scope: str, at: datetime, by: TraceRank = formulas.STANDARD_TRACE
    ) -> dict[str, float]:
        """Return the trace of each memory that a reader can see."""
        return {
            memory.id: tracerank_oracle.trace(
                (t for _, t in self.seen(memory.id, scope, at)), at, by
            )
            for memory in everything(self.handles[scope])
        }

    def teardown(self) -> None:
        assert self.handles["alice"].admin.verify().wrong == ()


def everything(handle: Handle) -> tuple[Memory, ...]:
    return handle.memories.list(statuses=list(Status), limit=1_000).memories


@pytest.mark.timeout(3_600)
def test_any_history_of_sayings_is_traced_as_the_oracle_says(plain: Handle) -> None:
    class Here(Sayings):
        def __init__(self) -> None:
            super().__init__(plain)

    run_state_machine_as_test(
        Here, settings=hypothesis.settings(max_examples=EXAMPLES, stateful_step_count=12)
    )
