"""Both clients offer the same, and blocking code never meets a real await."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

import graphmem
from graphmem import GraphMem
from graphmem.client.handle import Handle
from graphmem.errors import SuspendedInSyncError
from graphmem.model import (
    BeliefEvidence,
    EventSource,
    Hypothesis,
    NewMemory,
    Observation,
    Policy,
    Record,
)
from graphmem.ports import run_now
from graphmem.testing import HashEmbedder
from tests.plugins.clients import Door
from tests.plugins.twins import TWINS, methods, public

NOT_AWAITED = {"tenant", "scope", "session"}
RENAMED = {"__aenter__": "__enter__", "__aexit__": "__exit__"}


def members(owner: type) -> dict[str, Any]:
    return {
        name: inspect.getattr_static(owner, name)
        for name in dir(owner)
        if name in RENAMED or name in RENAMED.values() or not name.startswith("_")
    }


def plain(member: Any) -> Any:
    return member.__func__ if isinstance(member, classmethod) else member


@pytest.mark.parametrize(("awaited", "blocking"), TWINS, ids=lambda owner: owner.__name__)
def test_every_name_has_its_twin(awaited: type, blocking: type) -> None:
    assert {RENAMED.get(n, n) for n in members(awaited)} == set(members(blocking))


@pytest.mark.parametrize(("awaited", "blocking"), TWINS, ids=lambda owner: owner.__name__)
def test_twins_are_called_alike(awaited: type, blocking: type) -> None:
    for name, member in members(awaited).items():
        twin = members(blocking)[RENAMED.get(name, name)]
        if isinstance(member, property):
            assert isinstance(twin, property)
            assert member.__doc__ == twin.__doc__, name
            continue
        ours, theirs = inspect.signature(plain(member)), inspect.signature(plain(twin))
        assert list(ours.parameters.values()) == list(theirs.parameters.values()), name
        if name not in NOT_AWAITED:
            assert ours.return_annotation == theirs.return_annotation, name
        assert plain(twin).__doc__ or name in RENAMED, name


@pytest.mark.parametrize(("awaited", "blocking"), TWINS, ids=lambda owner: owner.__name__)
def test_only_one_of_them_is_awaited(awaited: type, blocking: type) -> None:
    for name, member in members(awaited).items():
        twin = plain(members(blocking)[RENAMED.get(name, name)])
        if isinstance(member, property):
            continue
        assert inspect.iscoroutinefunction(plain(member)) or name in NOT_AWAITED, name
        assert not inspect.iscoroutinefunction(twin), name


@pytest.mark.parametrize("owner", [awaited for awaited, _ in TWINS])
def test_every_keyword_is_in_the_signature(owner: type) -> None:
    for name, member in members(owner).items():
        if not isinstance(member, property):
            kinds = {one.kind for one in inspect.signature(plain(member)).parameters.values()}
            assert inspect.Parameter.VAR_KEYWORD not in kinds, name


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("observe", Observation),
        ("believe", Hypothesis),
        ("add_evidence", BeliefEvidence),
        ("beliefs.retract", EventSource),
        ("predicates.declare", Policy),
        ("remember", NewMemory),
        ("supersede", NewMemory),
    ],
)
def test_defaults_are_those_of_the_record(name: str, record: type[Record]) -> None:
    shown = inspect.signature(public()[name]).parameters
    shared = {n: p.default for n, p in shown.items() if p.default is not inspect.Parameter.empty}
    fields = {n: record.model_fields[n].default for n in shared.keys() & record.model_fields.keys()}
    assert fields
    assert {n: shared[n] for n in fields} == fields


def test_only_the_client_owns_the_connection() -> None:
    owning = {"open", "close", "health", "run_jobs", "tenant", "tenants"}
    assert set(methods(GraphMem)) - set(methods(Handle)) == owning
    assert not hasattr(Handle, "__enter__")


def test_every_public_name_is_there() -> None:
    assert {"AsyncHandle", "Handle", "AsyncSession", "Session"} <= set(graphmem.__all__)


def test_a_real_await_is_an_error_and_is_closed() -> None:
    closed: list[bool] = []

    async def suspends() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            closed.append(True)

    with pytest.raises(SuspendedInSyncError) as caught:
        run_now(suspends())
    assert (caught.value.code, closed) == ("suspended_in_sync", [True])


def test_what_is_raised_inside_comes_out() -> None:
    async def raises() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        run_now(raises())


class Suspending(HashEmbedder):
    """An embedder that waits for something, as only an awaited client may."""

    async def embed(self, *args: Any) -> Any:
        await asyncio.sleep(0)
        return await super().embed(*args)


@pytest.mark.usefixtures("both_clients")
def test_a_suspending_port_works_awaited_and_is_refused_blocking(door: Door) -> None:
    with door.opened(embedder=Suspending()) as memory:
        if door.name == "awaited":
            assert memory.remember("Alice deploys").memory_id
        else:
            with pytest.raises(SuspendedInSyncError):
                memory.remember("Alice deploys")


def test_the_blocking_client_works_inside_a_running_loop(plain_in_loop: list[str]) -> None:
    assert plain_in_loop == ["Alice deploys from Borealis"]


@pytest.fixture
def plain_in_loop(plain: Handle) -> list[str]:
    async def inside() -> list[str]:
        plain.remember("Alice deploys from Borealis")
        return [m.content for m in plain.memories.list().memories]

    return asyncio.run(inside())
