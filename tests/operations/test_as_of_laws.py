"""Reads at any pair of times: equal to the oracle, repeatable, and the present when all is seen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle, Memory, Status
from graphmem.errors import NotFoundError, SelfSupersessionError
from graphmem.model import AsOf, MemoryChain, Origin
from graphmem.rules.read_options import FOREVER
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import restated, unlike
from tests.plugins.told import Moment, Told, cards, chain_ids, told

MAY = datetime(2025, 5, 5, tzinfo=UTC)
TEXTS = [*(unlike(n, about=f"topic{n}") for n in range(3)), restated(0), restated(5)]
"""The last two are near duplicates of one another."""
SEES = {"global": {"global"}, "alice": {"global", "alice"}}
MICROSECOND = timedelta(microseconds=1)
EXAMPLES = examples(6, 100, 1_000)

Step = tuple[str, str, int, int, int]
steps = st.tuples(
    st.sampled_from(
        ["remember", "remember", "supersede", "supersede", "memories.deprecate", "memories.restore"]
    ),
    st.sampled_from(["global", "global", "alice"]),
    st.integers(0, 4),
    st.integers(0, len(TEXTS) - 1),
    st.integers(0, 3),
)
"""What, in which scope, to which memory of those that scope has, with which text, when."""
histories = st.lists(steps, min_size=1, max_size=14)


class Written:
    """A history being written, and when each step of it was known."""

    def __init__(self, plain: Handle, look: Look) -> None:
        self.tenant = fresh_tenant()
        self.handles = {scope: on_tenant(plain, self.tenant).scope(scope) for scope in SEES}
        self.known: list[datetime] = []
        self._look = look

    def write(self, n: int, step: Step) -> None:
        """Do one step, unless there is nothing yet that it could be done to."""
        act, scope, which, text, hour = step
        handle, at = self.handles[scope], MAY + timedelta(hours=hour)
        own = sorted(m.id for m in everything(handle) if m.scope == scope)
        # Ids that do not sort as they were made, so that ties are broken by the id alone.
        event_id = f"e{n * 7 % 10}-{n}"
        if act == "remember" or not own:
            handle.remember(TEXTS[text], at=at, event_id=event_id)
        elif act == "supersede":
            try:
                handle.supersede(
                    own[which % len(own)], TEXTS[text], at=at, origin=Origin(event_id=event_id)
                )
            except SelfSupersessionError:
                return
        else:
            attrgetter(act)(handle)(own[which % len(own)], at=at, origin=Origin(event_id=event_id))
        self.known.append(self._last_recorded())

    def _last_recorded(self) -> datetime:
        [row] = self._look.rows(
            "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL "
            "RETURN max(e.recorded_at) AS at",
            tenant=self.tenant,
        )
        at: datetime = row["at"].to_native()
        return at

    def told(self) -> dict[str, Told]:
        return told(self._look, self.tenant)


def everything(handle: Handle, as_of: AsOf | None = None) -> tuple[Memory, ...]:
    return handle.memories.list(statuses=list(Status), limit=1_000, as_of=as_of).memories


def unmarked(memories: tuple[Memory, ...]) -> list[Memory]:
    """Return memories as they are told, whether that may still change or not."""
    return [m.model_copy(update={"provisional": False}) for m in memories]


def moment(as_of: AsOf) -> Moment:
    return Moment(as_of.valid or FOREVER, as_of.known or FOREVER)


@settings(max_examples=EXAMPLES)
@given(history=histories, data=st.data())
def test_a_read_at_any_pair_of_times_is_what_the_oracle_says(
    plain: Handle, look: Look, history: list[Step], data: st.DataObject
) -> None:
    written = Written(plain, look)
    for n, step in enumerate(history):
        written.write(n, step)
    memories = written.told()
    recorded = sorted({e["recorded_at"] for m in memories.values() for e in m.events})
    # Between any two events, those of one transaction too.
    knowns = st.sampled_from([recorded[0] - MICROSECOND, *recorded])
    for known in (None, data.draw(knowns), data.draw(knowns)):
        for valid in (None, *(MAY + timedelta(hours=hour) for hour in range(-1, 4))):
            for scope, handle in written.handles.items():
                lists_what_was(handle, memories, SEES[scope], AsOf(valid=valid, known=known))
    hour = data.draw(st.integers(0, 3))
    as_of = AsOf(valid=MAY + timedelta(hours=hour), known=data.draw(knowns))
    for scope, handle in written.handles.items():
        shows_what_was(handle, memories, SEES[scope], as_of)


def lists_what_was(
    handle: Handle, memories: dict[str, Told], scopes: set[str], as_of: AsOf
) -> None:
    expected = cards(memories, scopes, moment(as_of))
    listed = everything(handle, as_of)
    assert {m.id: {name: getattr(m, name) for name in expected[m.id]} for m in listed} == expected
    order = [(m.created_at, m.id) for m in listed]
    assert order == sorted(order, reverse=True)


def shows_what_was(
    handle: Handle, memories: dict[str, Told], scopes: set[str], as_of: AsOf
) -> None:
    listed = {m.id: m for m in everything(handle, as_of)}
    for memory_id, memory in memories.items():
        if memory_id not in listed:
            for read in (handle.memories.get, handle.memories.history, handle.memories.chain):
                with pytest.raises(NotFoundError):
                    read(memory_id, as_of=as_of)
            continue
        assert handle.memories.get(memory_id, as_of=as_of) == listed[memory_id]
        assert {e.id for e in handle.memories.history(memory_id, as_of=as_of)} == {
            e["id"] for e in memory.events if e["scope"] in scopes and moment(as_of).sees(e)
        }
        chain = handle.memories.chain(memory_id, as_of=as_of)
        assert {m.id for m in chain.memories} == chain_ids(
            memories, memory_id, scopes, moment(as_of)
        )
        untrusted = {"trust": None}
        assert all(m == listed[m.id].model_copy(update=untrusted) for m in chain.memories)
        agrees(chain, memories, moment(as_of))


def agrees(chain: MemoryChain, memories: dict[str, Told], at: Moment) -> None:
    """Hold the edges of a chain, and where it ends, to the events."""
    ids = {m.id for m in chain.memories}
    edges = {
        (event_id, newer, older, in_force)
        for older in ids
        for event_id, (newer, in_force) in memories[older].replacements(at).items()
    }
    assert {(x.event_id, x.newer_id, x.older_id, x.in_force) for x in chain.links} == edges
    assert set(chain.head_ids) == ids - {older for *_, older, in_force in edges if in_force}


@settings(max_examples=EXAMPLES)
@given(history=histories)
def test_a_read_of_what_was_known_is_the_read_that_was_made_then(
    plain: Handle, look: Look, history: list[Step]
) -> None:
    """Later writes change nothing of it; so it can be repeated."""
    written = Written(plain, look)
    then: list[dict[str, list[Any]]] = []
    for n, step in enumerate(history):
        written.write(n, step)
        if len(written.known) > len(then):
            then.append({scope: present(handle) for scope, handle in written.handles.items()})
    for known, was in zip(written.known, then, strict=True):
        for scope, handle in written.handles.items():
            assert present(handle, AsOf(known=known)) == was[scope]


@settings(max_examples=EXAMPLES)
@given(history=histories)
def test_everything_known_now_is_the_present(
    plain: Handle, look: Look, history: list[Step]
) -> None:
    written = Written(plain, look)
    for n, step in enumerate(history):
        written.write(n, step)
    now = datetime.now(UTC)
    for handle in written.handles.values():
        for as_of in (AsOf(), AsOf(valid=now, known=now)):
            assert present(handle, as_of) == present(handle)


def present(handle: Handle, as_of: AsOf | None = None) -> list[Any]:
    """Return everything a handle shows: every page, memory, history and chain."""
    listed = unmarked(everything(handle, as_of))
    found: list[Any] = [*listed]
    for memory in listed:
        one = handle.memories.get(memory.id, as_of=as_of)
        chain = handle.memories.chain(memory.id, as_of=as_of)
        found.append(unmarked((one,)))
        found.append(handle.memories.history(memory.id, as_of=as_of))
        found.append((unmarked(chain.memories), chain.links, chain.head_ids))
    return found
