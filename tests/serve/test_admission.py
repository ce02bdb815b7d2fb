"""Many requests at once: the tenants take turns, memory is bounded, and health answers."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.types import Message, Receive, Scope, Send

from graphmem.serve import guard
from graphmem.serve.admission import MAX_RUNNING, MAX_WAITING, Places
from graphmem.serve.guard import GRANT, Guard, RateLimit
from graphmem.serve.keys import Grant
from graphmem.serve.logins import Logins, Secrets
from graphmem.serve.problems import Problem
from tests.mcp.conftest import Environ, Served, data, key_of, over_http
from tests.plugins.loops import run_apart

HOST = "localhost:1"


async def sent(app: Guard, path: str, receive: Receive | None = None) -> tuple[int, Any]:
    """Return status and body of a request."""
    answer = list[Message]()

    async def own() -> Message:
        return {"type": "http.request", "body": b"{}"}

    async def take(message: Message) -> None:
        answer.append(message)

    headers = [(b"host", HOST.encode())]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    await app(scope, receive or own, take)
    text = b"".join(one.get("body", b"") for one in answer)
    return answer[0]["status"], json.loads(text) if text else None


def guarded(app: Callable[[Scope, Receive, Send], Awaitable[None]], tenant: str = "a") -> Guard:
    """Return a guard that grants everything of a tenant."""
    grant, rate = Grant(tenant=tenant), RateLimit(100_000.0)
    logins = Logins(Secrets(), 0, grant, grant, ())
    return Guard(app, hosts=[HOST], origins=[], keys=grant, rate=rate, logins=logins)


async def ended(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.body"})


def test_a_thousand_waiting_requests() -> None:
    async def run() -> None:
        going, running, peak = asyncio.Event(), 0, 0

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            nonlocal running, peak
            if scope["path"] not in guard.HEALTH:
                running += 1
                peak = max(peak, running)
                await going.wait()
                running -= 1
            await ended(scope, receive, send)

        whole = guarded(app)
        many = [asyncio.ensure_future(sent(whole, "/v1/recall")) for _ in range(1_200)]
        await asyncio.sleep(0.1)
        for path in guard.HEALTH:
            assert await asyncio.wait_for(sent(whole, path), 1) == (200, None)
        refused = [task.result() for task in many if task.done()]
        assert len(refused) == 1_200 - MAX_RUNNING - MAX_WAITING
        assert {(status, body["code"]) for status, body in refused} == {(503, "busy")}
        going.set()
        statuses = Counter(status for status, _ in await asyncio.gather(*many))
        assert statuses[200] == MAX_RUNNING + MAX_WAITING
        assert peak == MAX_RUNNING
        assert whole._held == 0

    asyncio.run(run())


class Process:
    """Requests to a server in another process, each on a connection of its own."""

    def __init__(self, server: Served) -> None:
        self._url, self._status = urlsplit(server.url), Path(f"/proc/{server.process.pid}/status")
        self.answered = list[str]()
        """Keys of the answered requests, in order."""
        self.refused = 0

    async def recall(self, key: str) -> None:
        """Recall with a key."""
        body = json.dumps({"query": "Who rows?"}).encode()
        # On a slow machine some wait for too long, or are not read in time.
        with suppress(ConnectionResetError):
            self.refused -= await self._ask("POST /v1/recall", key, body) == 200
        self.refused += 1
        self.answered.append(key)

    async def probe(self) -> float:
        """Ask for both states of health; return the seconds that took."""
        began = time.monotonic()
        for path in guard.HEALTH:
            assert await self._ask(f"GET {path}", "", b"") == 200
        return time.monotonic() - began

    async def _ask(self, what: str, key: str, body: bytes) -> int:
        reader, writer = await asyncio.open_connection(self._url.hostname, self._url.port)
        head = f"{what} HTTP/1.1\r\nHost: {self._url.netloc}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        head += f"Authorization: Bearer {key}\r\n" if key else ""
        with closing(writer):
            writer.write(f"{head}\r\n".encode() + body)
            status = int((await reader.readline()).split()[1])
            await reader.read()
        return status

    def memory(self) -> int:
        """Return the resident memory of the process, in kB."""
        return int(re.findall(r"VmRSS:\s+(\d+) kB", self._status.read_text())[0])


@pytest.mark.system
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_a_thousand_waiting_requests_of_a_process(environ: Environ, tmp_path: Path) -> None:
    other = key_of(tmp_path / "keys.json", "modest")

    async def session() -> None:
        async with over_http(environ, errors=tmp_path / "errors.txt") as server:
            async with server.client() as one:
                await data(one, "recall", query="Who rows?")  # the database is open
            process = Process(server)
            await process.recall(server.key)
            before, waits, peak = process.memory(), list[float](), 0
            many = [asyncio.ensure_future(process.recall(server.key)) for _ in range(900)]
            await asyncio.sleep(1)
            few = [asyncio.ensure_future(process.recall(other)) for _ in range(100)]
            while not all(task.done() for task in many):
                waits.append(await process.probe())
                peak = max(peak, process.memory())
            await asyncio.gather(*many, *few)
            assert process.refused < 500
            last = max(n for n, key in enumerate(process.answered) if key == other)
            left = len(process.answered) - 1 - last
            assert max(waits) < 5
            assert peak - before < 200_000
            assert left > 300, "a tenant with few requests waited for one with many"

    run_apart(session())


def test_tenants_take_turns() -> None:
    async def run() -> None:
        places, order = Places(running=1, waiting=6), list[str]()

        async def work(tenant: str) -> None:
            await places.enter(tenant)
            order.append(tenant)
            await asyncio.sleep(0)
            places.leave()

        await places.enter("c")
        tasks = [asyncio.ensure_future(work("a")) for _ in range(7)]
        await asyncio.sleep(0)
        # Another tenant takes the place of the newest request of the one that has most.
        tasks += [asyncio.ensure_future(work("b")) for _ in range(3)]
        await asyncio.sleep(0)
        places.leave()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert sum(isinstance(one, Problem) for one in results[:7]) == 4
        assert results[7:] == [None] * 3
        assert order == ["a", "b"] * 3
        await places.enter("c")

    asyncio.run(asyncio.wait_for(run(), 10))


def test_a_request_that_gives_up_keeps_no_place() -> None:
    async def run() -> None:
        places = Places(running=1)
        await places.enter("a")
        waiting = [asyncio.ensure_future(places.enter("a")) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.wait([waiting[1]])
        await asyncio.sleep(0)
        assert not waiting[0].done()  # one that only waited has no place to give
        places.leave()
        waiting[0].cancel()  # it has just been given the place
        await asyncio.wait(waiting)
        assert [task.cancelled() for task in waiting] == [True, True, False]
        places.leave()
        assert (places._taken, len(places._queues)) == (0, 0)

    asyncio.run(asyncio.wait_for(run(), 10))


def test_slow_bodies_and_queues_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_S", 0.05)

    async def run() -> None:
        async def never() -> Message:
            await asyncio.sleep(60)
            raise AssertionError

        whole = guarded(ended)
        status, body = await sent(whole, "/v1/recall", never)
        assert (status, body["code"]) == (408, "body_too_slow")
        whole._places.running = 0
        status, body = await sent(whole, "/v1/recall")
        assert (status, body["code"]) == (503, "busy")
        assert not whole._places._queues

    asyncio.run(asyncio.wait_for(run(), 10))


def test_all_bodies_together_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MAX_BODIES", 3)

    async def run() -> None:
        going = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            assert scope[GRANT].tenant == "a"
            await going.wait()
            await ended(scope, receive, send)

        whole = guarded(app)
        first = asyncio.ensure_future(sent(whole, "/v1/recall"))
        await asyncio.sleep(0.01)
        assert (await sent(whole, "/v1/recall"))[0] == 503
        going.set()
        assert (await first)[0] == 200
        assert (await sent(whole, "/v1/recall"))[0] == 200

    asyncio.run(asyncio.wait_for(run(), 10))
