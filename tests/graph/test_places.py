"""Transactions at once on an event loop: their number, their order, and how long one waits."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any, Self

import pytest

from graphmem.errors import GraphUnavailableError
from graphmem.graph.driver import AwaitedGraph
from graphmem.graph.places import Places
from graphmem.ports import ServerAddress, Tx
from graphmem.settings import Settings

PATIENCE_S = 60.0


class Counted:
    """A driver that counts its sessions; every seventh transaction fails."""

    def __init__(self) -> None:
        self.running = self.peak = 0
        self._numbers = itertools.count(1)

    def session(self, **_: object) -> Self:
        return self

    async def __aenter__(self) -> Self:
        self.running += 1
        self.peak = max(self.peak, self.running)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.running -= 1

    async def execute_read(self, unit: Callable[[Any], Awaitable[int]]) -> int:
        await asyncio.sleep(0)
        if next(self._numbers) % 7 == 0:
            raise GraphUnavailableError
        return await unit(None)

    async def close(self) -> None:
        pass


def test_a_thousand_reads_use_no_more_sessions_than_there_are_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = Counted()
    monkeypatch.setattr("neo4j.AsyncGraphDatabase.driver", lambda *_, **__: driver)

    async def work(_: Tx) -> int:
        return 1

    async def run() -> list[int | BaseException]:
        graph = AwaitedGraph(ServerAddress("bolt://x", "u", "p"), Settings(max_pool_size=8))
        reads = [asyncio.ensure_future(graph.read(work)) for _ in range(1_100)]
        await asyncio.sleep(0)
        for read in reads[::11]:  # some run already, others wait
            read.cancel()
        found = await asyncio.gather(*reads, return_exceptions=True)
        await graph.close()
        return found

    found = asyncio.run(run())
    answered, failed = found.count(1), sum(isinstance(x, GraphUnavailableError) for x in found)
    assert answered + failed == 1_000
    assert 800 < answered < 900
    assert (driver.peak, driver.running) == (8, 0)


def test_places_are_given_in_order_and_kept_by_none_that_ended() -> None:
    async def run() -> list[int]:
        places, order = Places(1, PATIENCE_S), list[int]()
        going = asyncio.Event()

        async def work(number: int) -> None:
            async with places.place():
                order.append(number)
                await going.wait()
                if number == 4:
                    raise ValueError

        tasks = [asyncio.ensure_future(work(number)) for number in range(8)]
        await asyncio.sleep(0)
        tasks[2].cancel()  # it waits
        tasks[0].cancel()  # it has the place, and gives it to the next one
        await asyncio.wait([tasks[0], tasks[2]])
        going.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(10), places.place():
            return order

    assert asyncio.run(run()) == [0, 1, 3, 4, 5, 6, 7]


def test_a_place_that_is_given_to_a_cancelled_transaction_goes_to_the_next() -> None:
    async def run() -> None:
        places = Places(1, PATIENCE_S)

        async def work() -> None:
            async with places.place():
                pass

        async with places.place():
            first, second = asyncio.ensure_future(work()), asyncio.ensure_future(work())
            await asyncio.sleep(0)
        first.cancel()  # its turn is done, but it has not run since
        async with asyncio.timeout(10):
            await asyncio.wait([first, second])
        assert (first.cancelled(), second.cancelled()) == (True, False)

    asyncio.run(run())


@pytest.mark.parametrize("succeeds", [True, False])
def test_a_transaction_waits_as_long_as_others_succeed(
    monkeypatch: pytest.MonkeyPatch, *, succeeds: bool
) -> None:
    async def run() -> list[BaseException | None]:
        loop, places = asyncio.get_running_loop(), Places(1, PATIENCE_S)
        now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: now)

        async def work() -> None:
            nonlocal now
            async with places.place():
                await asyncio.sleep(0)  # until all wait
                now += PATIENCE_S * 0.6
                for _ in range(5):
                    await asyncio.sleep(0)
                if not succeeds:
                    raise OSError

        return await asyncio.gather(*(work() for _ in range(9)), return_exceptions=True)

    found = asyncio.run(run())
    if succeeds:
        assert found == [None] * 9
    else:
        assert [isinstance(one, OSError) for one in found] == [True] * 2 + [False] * 7
        assert all(isinstance(one, GraphUnavailableError) for one in found[2:])
        assert "no transaction has succeeded for 60 s" in str(found[-1])
