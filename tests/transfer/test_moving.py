"""A tenant that moves to another graph while it is written.

Most tests move to another tenant of the same server, which has the same records but for names.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest

from graphmem import CommitOutcome, Handle
from graphmem.client import GraphMem
from graphmem.client.admin import rebuilt
from graphmem.erasure import fence, guard
from graphmem.erasure.fence import Fence
from graphmem.errors import (
    GraphmemError,
    NotFoundError,
    RefusedError,
    TenantArrivingError,
    TenantMovedError,
)
from graphmem.items import PutItem
from graphmem.ports import OnProgress, run_now, silent
from graphmem.rules.read_options import FOREVER
from graphmem.transfer import MoveReport, exporting, importing, moving
from tests.client.test_transfer import whole
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike
from tests.transfer.test_interrupted import CutError, cut_after


@pytest.fixture(autouse=True)
def _one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the only record that is named after its tenant have one name in both."""

    async def renamed(*args: Any) -> exporting.Page:
        page = await read_page(*args)
        named = [one | ({"key": "t"} if one["kind"] == "Rater" else {}) for one in page.records]
        return page._replace(records=named)

    read_page = exporting.read_page
    monkeypatch.setattr(exporting, "read_page", renamed)


@pytest.fixture(autouse=True)
def _short_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a mark take effect at once: each move waits twice for it."""
    monkeypatch.setattr(guard, "TRUST_S", 0.1)


@pytest.fixture
def target(client: GraphMem) -> Handle:
    """A handle on the empty tenant to which one moves."""
    return client.tenant(fresh_tenant())


def tenant_of(memory: Handle) -> str:
    return memory._state.context.tenant


def mover(source: Handle, target: Handle, on_progress: OnProgress = silent) -> moving.Mover:
    contexts = source._state.context, target._state.context
    return moving.Mover(*contexts, lambda to: rebuilt(to, silent), on_progress)


def move(source: Handle, target: Handle, on_progress: OnProgress = silent) -> MoveReport:
    return run_now(mover(source, target, on_progress).move())


def is_moved(look: Look, source: Handle, target: Handle) -> bool:
    """Whether both tenants have the same nodes and relationships."""
    here, there = whole(look, tenant_of(source)), whole(look, tenant_of(target))
    assert there["nodes"] == here["nodes"]
    assert there["links"] == here["links"]
    return target.admin.verify().wrong == ()


def everyday(memory: Handle) -> None:
    for n in range(8):
        memory.remember(unlike(n), tags=[f"tag {n}"])
        memory.observe("alice", "works_on", f"project {n}")
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": unlike(n)} for n in range(5)])
        session.recall(unlike(3))
    memory.aliases.add("Al", "alice")
    memory.admin.seal()


def stored(outcome: CommitOutcome) -> str:
    """Return the id of the event of a text that was not rejected."""
    assert outcome.memory_id
    return outcome.event_id


WRITES: dict[str, Callable[[Handle, int], Any]] = {
    "remember": lambda memory, n: stored(memory.remember(unlike(2_000 + n))),
    "observe": lambda memory, n: memory.observe(f"p{n % 3}", "lives in", unlike(n)).event_id,
    "add_messages": lambda memory, n: memory.session("chat").add_messages(
        [{"role": "user", "content": unlike(500 + n), "id": f"m{n}"}]
    ),
    "add_evidence": lambda memory, n: (
        memory.add_evidence(
            memory.believe("the sky is blue", confidence=0.5).belief_id,
            kind="supporting",
            strength=0.6,
            event_id=f"ev {n}",
        ).event_id
    ),
    "items": lambda memory, n: memory.items.batch(
        [PutItem(namespace=("a",), key=f"k{n % 4}", value={"n": n})]
    ),
    "tags": lambda memory, n: stored(memory.remember(unlike(1), tags=[f"again {n}"])),
}


def test_a_move_under_writes_loses_nothing(plain: Handle, target: Handle, look: Look) -> None:
    everyday(plain)
    ends: dict[str, GraphmemError] = {}
    done: dict[str, list[Any]] = {name: [] for name in WRITES}
    started = threading.Barrier(len(WRITES) + 1)

    def write(name: str) -> None:
        started.wait()
        for n in count():
            try:
                done[name].append(WRITES[name](plain, n))
            except GraphmemError as error:
                ends[name] = error
                return

    with ThreadPoolExecutor(len(WRITES)) as pool:
        writing = [pool.submit(write, name) for name in WRITES]
        started.wait()
        report = move(plain, target)
        for one in writing:
            one.result()

    assert {name: error.code for name, error in ends.items()} == dict.fromkeys(
        WRITES, "tenant_moved"
    )
    assert all(len(some) > 1 for some in done.values())
    assert report.applied
    assert report.passes >= 3
    assert report.digest
    assert is_moved(look, plain, target)
    ids = set(look.events(tenant_of(target)))
    assert {one for name in ("remember", "observe", "tags") for one in done[name]} <= ids
    [chat] = [one for one in target.episodes.list().episodes if one.session_id == "chat"]
    assert chat.turns == len(done["add_messages"])
    # The target accepts writes from now on.
    assert target.remember(unlike(900)).memory_id


def cut_when_closed(memory: Handle) -> OnProgress:
    """Return a callback that ends the process once the source refuses writes."""

    def tell(kind: str, _count: int) -> None:
        if kind == "pass" and run_now(fence.find(memory._state.context)) is not None:
            raise CutError

    return tell


def test_a_move_that_was_cut_off_continues(
    plain: Handle, target: Handle, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "PAGE", 3)
    monkeypatch.setattr(importing, "BATCH", 3)
    everyday(plain)
    for n, cut in enumerate((cut_after(1), cut_after(8), cut_after(4), cut_when_closed(plain))):
        with pytest.raises(CutError):
            move(plain, target, cut)
        with pytest.raises(TenantArrivingError):
            target.remember(unlike(50))
        if n < 3:
            plain.remember(unlike(30 + n))
    with pytest.raises(TenantMovedError):
        plain.remember(unlike(50))

    report = move(plain, target)

    assert report.resumed
    assert is_moved(look, plain, target)
    assert move(plain, target).repeated


def test_what_changes_or_goes_meanwhile_does_so_in_the_copy(
    plain: Handle, target: Handle, look: Look
) -> None:
    everyday(plain)
    gone = plain.remember(unlike(40)).memory_id
    kept = plain.remember(unlike(41)).memory_id
    assert gone
    assert kept
    plain.items.batch([PutItem(namespace=("a",), key=key, value={"n": 1}) for key in "kl"])
    plain.aliases.add("Bo", "bob")
    arriving = Fence(what="arriving", address=moving.address(plain._state.context))
    run_now(fence.put(target._state.context, arriving))
    assert run_now(mover(plain, target)._pass(FOREVER)).changed > 0
    plain.forget("memory", gone, dry_run=False)
    plain.supersede(kept, unlike(42))
    plain.observe("alice", "works_on", "project 3", kind="refuting")
    plain.reject(str(plain.remember(unlike(43)).memory_id), reason="FALSE")
    plain.predicates.declare("works_on", cardinality="ONE")
    plain.items.batch([PutItem(namespace=("a",), key="k", value={"n": 2})])
    plain.items.batch([PutItem(namespace=("a",), key="l", value=None)])
    plain.aliases.remove("Bo")
    plain.usage.rate()
    plain.usage.roll_up(days=0, dry_run=False)
    plain.admin.seal()

    move(plain, target)

    assert is_moved(look, plain, target)
    assert target.memories.list().memories == plain.memories.list().memories


REFUSED: dict[str, Callable[[Handle], object]] = {
    "remember": lambda memory: memory.remember(unlike(7)),
    "evidence": lambda memory: memory.observe("alice", "likes", "tea"),
    "messages": lambda memory: memory.session("x").add_messages(
        [{"role": "user", "content": unlike(1)}]
    ),
    "item": lambda memory: memory.items.batch([PutItem(namespace=("a",), key="k", value={"n": 2})]),
    "forget": lambda memory: memory.forget("scope", "global", dry_run=False),
    "erase_person": lambda memory: memory.admin.erase_person("alice", dry_run=False),
}


def test_a_tenant_that_moved_is_read_and_not_written(
    client: GraphMem, plain: Handle, target: Handle
) -> None:
    everyday(plain)
    before = plain.memories.list()
    with plain.session("late") as session:
        session.recall(unlike(1))
        move(plain, target)
        # Its search is not logged; it counts as telemetry.
        assert session.recall(unlike(1)).bites

    assert plain.memories.list() == before
    address = moving.address(target._state.context)
    for write in REFUSED.values():
        with pytest.raises(TenantMovedError, match=address) as caught:
            write(plain)
        assert (caught.value.code, caught.value.tenant) == ("tenant_moved", tenant_of(plain))
    assert client.run_jobs(tenants=[tenant_of(plain)]).runs == ()
    assert target.recall(unlike(1)).bites

    plain.admin.erase_tenant(dry_run=False)

    assert plain.admin.is_empty()
    with pytest.raises(TenantMovedError):
        plain.remember(unlike(2))


def test_a_plan_and_a_move_that_is_given_up_leave_the_source_as_it_was(
    plain: Handle, target: Handle, look: Look
) -> None:
    with pytest.raises(NotFoundError, match="no data to move"):
        run_now(mover(plain, target).plan())
    everyday(plain)
    before = whole(look, tenant_of(plain))
    planned = run_now(mover(plain, target).plan())
    assert (planned.applied, planned.resumed, planned.digest) == (False, False, None)
    assert planned.records["Memory"] == 8
    assert target.remember(unlike(1)).memory_id
    with pytest.raises(RefusedError, match="exists there, with"):
        move(plain, target)
    assert whole(look, tenant_of(plain)) == before

    empty = on_tenant(target, fresh_tenant())
    with pytest.raises(RefusedError, match="No move of tenant"):
        run_now(mover(plain, empty).give_up(apply=True))
    with pytest.raises(CutError):
        move(plain, empty, cut_when_closed(plain))
    assert run_now(mover(plain, empty).give_up(apply=False)).records["Memory"] == 8
    assert run_now(mover(plain, empty).give_up(apply=True)).applied

    assert empty.admin.is_empty()
    assert whole(look, tenant_of(plain)) == before
    assert plain.remember(unlike(60)).memory_id
    assert empty.remember(unlike(60)).memory_id


def test_a_tenant_that_moved_can_be_moved_back(plain: Handle, target: Handle, look: Look) -> None:
    everyday(plain)
    move(plain, target)
    assert target.remember(unlike(70)).memory_id

    # Its new memory, the event of that, and the session of this test.
    assert move(target, plain).copied < 10

    assert is_moved(look, target, plain)
    assert plain.remember(unlike(71)).memory_id
    with pytest.raises(TenantMovedError):
        target.remember(unlike(71))
