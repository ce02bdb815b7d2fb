"""A request has a deadline as a whole, and a reply a limit, however the service behaves."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from graphmem.errors import ModelReplyError, ModelUnavailableError
from graphmem.models import open_llm
from graphmem.ports import Prompt
from graphmem.settings import Settings
from tests.models.language.conftest import GOOD, Colour, Connect
from tests.plugins.chat_service import KEY, ChatService
from tests.plugins.loopback import Reply, send

BUFFERS = 16_000_000
"""Bytes that the sockets of both sides may buffer in addition to those that were read."""
SLOW: dict[str, Callable[[ChatService], Reply]] = {
    "headers": lambda s: s.drip_headers,
    "hang": lambda s: s.hang,
}


@pytest.mark.usefixtures("both_clients")
@pytest.mark.parametrize("slow", SLOW.values(), ids=SLOW)
def test_a_request_ends_at_its_deadline(
    connect: Connect, service: ChatService, slow: Callable[[ChatService], Reply]
) -> None:
    service.script([GOOD, *[slow(service)] * 9])
    connect().ask()  # what is loaded for the first request takes time of its own
    start = time.monotonic()
    with pytest.raises(ModelUnavailableError, match=r"after 2 request\(s\)") as e:
        connect(model_timeout_s=0.3, model_max_retries=1).ask()
    # Far less than the service would take, whatever else the machine does.
    assert 0.6 <= time.monotonic() - start < 10
    assert e.value.code == "model_unavailable"
    # On a busy machine the time can be over before a request is sent.
    assert len(service.bodies) <= 3


def test_what_is_given_up_is_hung_up_and_leaves_no_thread(
    connect: Connect, service: ChatService
) -> None:
    talk = connect(model_timeout_s=0.2, model_max_retries=0)
    threads: list[int] = []
    for _ in range(2):
        service.hung_up.clear()
        received = len(service.bodies)
        # On a busy machine the time can be over before the request is sent.
        while len(service.bodies) == received:
            service.script([service.drip])
            with pytest.raises(ModelUnavailableError, match=r"no complete reply within 0\.2 s"):
                talk.ask()
        assert service.hung_up.wait(300)
        ours = [one for one in threading.enumerate() if one.name == "graphmem-models"]
        threads.append(len(ours))
    assert threads == [1, 1]


def test_who_is_cancelled_hangs_up(service: ChatService) -> None:
    llm = open_llm(
        Settings.load({}, model="openai/m", model_url=service.url, model_key=KEY), awaited=True
    )
    assert llm is not None
    service.script([service.drip])

    async def given_up() -> None:
        asking = asyncio.create_task(llm.answer(Prompt("n", "s", "u", Colour)))
        while not service.sent_bytes:
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(given_up())
    assert service.hung_up.wait(300)
    assert len(service.bodies) == 1


def announced(handler: Any) -> None:
    """Promise a long body."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000001")
    handler.end_headers()
    handler.close_connection = True


LONG: dict[str, Callable[[ChatService], Reply]] = {
    "endless": lambda s: s.endless,
    "announced": lambda _: announced,
    "whole": lambda s: s.chat(json.dumps(GOOD) + " " * 1_000_000),
    "refusal": lambda s: s.status(500, "x" * 1_000_000),
}


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
def test_a_long_reply_is_not_read_to_its_end(
    connect: Connect, service: ChatService, long: Callable[[ChatService], Reply]
) -> None:
    service.script([long(service)] * 9)
    with pytest.raises(ModelReplyError, match="longer than 1,000,000 bytes") as e:
        connect().ask()
    assert (e.value.code, e.value.raw) == ("model_reply", "")
    assert len(service.bodies) == 1
    assert service.sent_bytes < 1_000_000 + BUFFERS


def test_the_limit_is_a_setting(connect: Connect, service: ChatService) -> None:
    service.script([service.chat(json.dumps(GOOD) + " " * 2_000)] * 2)
    with pytest.raises(ModelReplyError, match="longer than 2,000 bytes"):
        connect(model_max_reply_bytes=2_000).ask()
    assert connect(model_max_reply_bytes=4_000).ask().value.name == "teal"


def test_a_transport_of_the_users_reads_all_and_the_reply_is_refused(
    connect: Connect, service: ChatService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISABLE_AIOHTTP_TRANSPORT", "True")
    service.script([service.chat("x" * 3_000)])
    # Another time limit is another client to litellm, which keeps them.
    with pytest.raises(ModelReplyError, match="longer than 2,000 bytes") as e:
        connect(model_max_reply_bytes=2_000, model_timeout_s=29.0).ask()
    assert e.value.raw == ""


def test_nothing_compressed_is_asked_for_or_read(connect: Connect, service: ChatService) -> None:
    asked: list[str | None] = []

    def bomb(handler: Any) -> None:
        asked.append(handler.headers["Accept-Encoding"])
        send(handler, 200, gzip.compress(b" " * 10_000_000), {"Content-Encoding": "gzip"})

    service.script([bomb])
    with pytest.raises(ModelReplyError, match="it is compressed"):
        connect().ask()
    assert asked == ["identity"]


SCRIPT = """
import asyncio, os
from graphmem.models.service import EVENT_LOOP
async def work(session):
    return 42
def check():
    assert EVENT_LOOP.submit(work).result(300) == 42
check()
async def never(session):
    await asyncio.sleep(60)
EVENT_LOOP.submit(never)
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
else:
    check()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no fork")
def test_a_fork_has_a_loop_of_its_own_and_an_exit_closes_it() -> None:
    command = [sys.executable, "-W", "default", "-W", "ignore::DeprecationWarning", "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
