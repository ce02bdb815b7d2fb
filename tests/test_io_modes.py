"""Several things at once on the running loop: bounded, in order, all of them or none."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from graphmem.io_modes import run_concurrently
from graphmem.ports import in_turn, run_now


class Crowd:
    """Counts who is inside."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.done: list[int] = []

    async def work(self, n: int) -> int:
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            for _ in range(5 - n % 5):
                await asyncio.sleep(0)
            if n < 0:
                raise ValueError(n)
        finally:
            self.inside -= 1
        self.done.append(n)
        return n


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_no_more_than_so_many_at_once_and_in_order(limit: int) -> None:
    crowd = Crowd()
    found = asyncio.run(run_concurrently([partial(crowd.work, n) for n in range(20)], limit))
    assert found == list(range(20))
    assert crowd.most == min(limit, 20)


def test_when_one_fails_the_others_have_ended() -> None:
    crowd = Crowd()
    works = [partial(crowd.work, n) for n in (0, -1, *range(1, 30))]
    with pytest.raises(ValueError, match="-1"):
        asyncio.run(run_concurrently(works, 3))
    assert crowd.inside == 0
    assert len(crowd.done) < 30


def test_without_a_loop_they_are_done_in_turn() -> None:
    done: list[int] = []

    async def work(n: int) -> int:
        done.append(n)
        return n

    assert run_now(in_turn([partial(work, n) for n in range(4)], 9)) == done == [0, 1, 2, 3]
