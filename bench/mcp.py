"""Response times of the MCP server, compared with the client's own."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import Client, StdioServerParameters, stdio_client

from bench.figures import Cell, Report, Table, spread
from bench.server import KEPT, fresh_server
from graphmem import AsyncGraphMem
from graphmem.mcp.costs import CORE_BUDGET, TOKENIZER, costs

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.settings import Settings

RUNS = 9
CALLS = 100
WANTED_S = 2.0
"""Maximum seconds from process start to the answer to `initialize`; needs no database."""
_NOWHERE = Path(os.devnull).open("w")  # noqa: SIM115 - open for the life of the process
QUESTION = "where does Alice deploy from?"


def measure(steps: Steps) -> Report:
    """Return the times to the first answers of a new process, and of calls to a warm one."""
    return asyncio.run(_measured(steps))


async def _measured(steps: Steps) -> Report:
    with fresh_server(steps.say) as settings:
        first: list[tuple[float, float, float]] = []
        for run in steps.over(range(-1, RUNS), "starts"):
            took = await _started(settings)
            if run >= 0:  # the first fills the disk cache and the query plan cache
                first.append(took)
        steps.say("calling")
        over_mcp, own = await _called(settings)
    names = ("initialize is answered", "tools/list is answered", "recall is answered")
    tool_costs = costs("core")
    total = sum(cost.tokens for cost in tool_costs)
    listed: dict[str, Cell] = {
        "what": "tools/list",
        "tools": len(tool_costs),
        "tokens": total,
        "of them asked": sum(cost.tokens_asked for cost in tool_costs),
        "wanted": f"<= {CORE_BUDGET}",
        "met": total <= CORE_BUDGET,
    }
    return Report(
        name="mcp",
        tables=[
            Table(
                "from the start of the process, database running",
                [
                    _row(name, [took[n] for took in first], WANTED_S if n == 0 else None)
                    for n, name in enumerate(names)
                ],
            ),
            Table(
                "one recall after the other",
                [_row("over stdin", over_mcp), _row("by the client itself", own)],
            ),
            Table("what a model is given", [listed]),
        ],
        notes=[f"Tokens are those of the tokenizer {TOKENIZER}, of the core profile."],
    )


def _row(name: str, times: list[float], wanted: float | None = None) -> dict[str, Cell]:
    return {
        "what": name,
        **spread("seconds", times),
        "runs": len(times),
        "wanted": None if wanted is None else f"<= {wanted:g}",
        "met": None if wanted is None else statistics.median(times) <= wanted,
    }


def _client(settings: Settings) -> AbstractAsyncContextManager[Client]:
    environ = {name: os.environ[name] for name in KEPT if name in os.environ}
    environ |= {"GRAPHMEM_HOME": str(settings.home), "PYTHONPATH": str(Path.cwd())}
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "graphmem", "mcp"], env=environ
    )
    return Client(stdio_client(started, errlog=_NOWHERE), mode="legacy")


async def _started(settings: Settings) -> tuple[float, float, float]:
    began = time.perf_counter()
    async with _client(settings) as client:
        initialized = time.perf_counter() - began
        await client.list_tools()
        listed = time.perf_counter() - began
        while (await client.call_tool("recall", {"query": QUESTION})).is_error:
            pass
        return initialized, listed, time.perf_counter() - began


async def _called(settings: Settings) -> tuple[list[float], list[float]]:
    async with _client(settings) as client, await AsyncGraphMem.open(settings=settings) as memory:
        await memory.remember("Alice deploys from Atlas.")

        async def over_mcp() -> Any:
            return await client.call_tool("recall", {"query": QUESTION})

        async def own() -> Any:
            return await memory.recall(QUESTION)

        while (await over_mcp()).is_error:
            pass
        took: dict[str, list[float]] = {"mcp": [], "own": []}
        for _ in range(CALLS):  # in turn, so that both run under the same load
            took["mcp"].append(await _timed(over_mcp))
            took["own"].append(await _timed(own))
        return took["mcp"], took["own"]


async def _timed(work: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began
