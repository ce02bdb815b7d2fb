"""Frames that cannot be read: answered at once, on stdin and over HTTP, and then the next one."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.mcp.frames import MAX_FRAME, refusal
from tests.mcp.conftest import INITIALIZE, ROOT, Environ, over_http
from tests.plugins.loops import run_apart as run

PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


def frame(message: Any) -> bytes:
    """Return a message as JSON in UTF-8; halves of surrogate pairs as escapes."""
    return json.dumps(message).encode()


UNREADABLE: dict[str, tuple[bytes, int, Any]] = {
    "cut": (frame(PING)[:-5], types.PARSE_ERROR, None),
    "text": (b"hello", types.PARSE_ERROR, None),
    "bytes": (b"\x00\xfe", types.PARSE_ERROR, None),
    "latin": (frame(PING).replace(b"ping", b"p\xefng"), types.PARSE_ERROR, None),
    "utf-16": (json.dumps(PING).encode("utf-16-le"), types.PARSE_ERROR, None),
    "deep": (b"[" * 100_000, types.PARSE_ERROR, None),
    "half pair": (frame(PING | {"params": {"a": ["x\ud83d"]}}), types.PARSE_ERROR, 7),
    "second half": (frame(PING | {"params": {"\udca9": 1}}), types.PARSE_ERROR, 7),
    "half id": (frame(PING | {"id": "\ud83d"}), types.PARSE_ERROR, None),
    "batch": (frame([PING, PING]), types.INVALID_REQUEST, None),
    "empty batch": (b"[]", types.INVALID_REQUEST, None),
    "number": (b"5", types.INVALID_REQUEST, None),
    "null": (b"null", types.INVALID_REQUEST, None),
    "old": (frame(PING | {"jsonrpc": "1.0"}), types.INVALID_REQUEST, 7),
    "number as version": (frame(PING | {"jsonrpc": 2.0, "id": "a"}), types.INVALID_REQUEST, "a"),
    "no version": (frame({"id": 7, "method": "ping"}), types.INVALID_REQUEST, 7),
    "no method": (frame({"jsonrpc": "2.0", "id": 7}), types.INVALID_REQUEST, 7),
    "method": (frame(PING | {"method": 5}), types.INVALID_REQUEST, 7),
    "params": (frame(PING | {"params": [1]}), types.INVALID_REQUEST, 7),
    "null id": (frame(PING | {"id": None}), types.INVALID_REQUEST, None),
    "broken id": (frame(PING | {"id": 1.5}), types.INVALID_REQUEST, None),
    "list id": (frame(PING | {"id": [1]}), types.INVALID_REQUEST, None),
    "true id": (frame(PING | {"id": True}), types.INVALID_REQUEST, None),
    "huge": (frame(PING | {"params": {"a": "x" * MAX_FRAME}}), types.INVALID_REQUEST, 7),
    "huge text": (b"x" * (MAX_FRAME + 1), types.INVALID_REQUEST, None),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_frame_has_an_error_with_its_id(name: str) -> None:
    given_, code, message_id = UNREADABLE[name]
    found = refusal(given_)
    assert found is not None
    assert (found.error.code, found.id) == (code, message_id)
    assert found.model_dump_json(exclude_unset=True)
    assert len(found.error.message) < 200


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_a_message_or_have_an_error(given_: bytes) -> None:
    if refusal(given_) is None:
        types.jsonrpc_message_adapter.validate_json(given_)


@given(
    message_id=st.integers() | st.text(),
    params=st.dictionaries(st.text(), st.none() | st.text() | st.integers() | st.lists(st.text())),
)
def test_a_message_has_none(message_id: int | str, params: dict[str, Any]) -> None:
    named = {"jsonrpc": "2.0", "method": "tools/call", "params": params}
    for message in (named, named | {"id": message_id}):
        for text in (json.dumps(message), json.dumps(message, ensure_ascii=False)):
            assert refusal(text.encode()) is None
    answer = {"jsonrpc": "2.0", "id": message_id, "result": params}
    assert refusal(frame(answer)) is None


def test_stdin_answers_every_unreadable_frame_and_goes_on(environ: Environ) -> None:
    async def session() -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "graphmem", "mcp"),
            env=environ,
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        async def answer(line: bytes) -> Any:
            stdin.write(line + b"\n")
            await stdin.drain()
            found = await asyncio.wait_for(stdout.readline(), 60)
            return json.loads(found)

        assert (await answer(frame(INITIALIZE)))["id"] == 1
        for name, (line, code, message_id) in UNREADABLE.items():
            found = await answer(line)
            assert (found["error"]["code"], found["id"]) == (code, message_id), name
            # A blank line is not a frame.
            assert (await answer(b"\r\n" + frame(PING | {"id": name})))["id"] == name
        stdin.close()
        assert await asyncio.wait_for(process.wait(), 60) == 0

    run(session())


def test_http_answers_every_unreadable_frame_and_goes_on(environ: Environ, tmp_path: Path) -> None:
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }

    async def session() -> None:
        async with (
            over_http(environ, errors=tmp_path / "errors.txt") as server,
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
        ):
            http.headers["Authorization"] = f"Bearer {server.key}"
            began = await http.post(server.url, json=INITIALIZE)
            known = {"Mcp-Session-Id": began.headers["mcp-session-id"]}
            for more in (known, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "ping"}):
                for name, (body, code, message_id) in UNREADABLE.items():
                    found = await http.post(server.url, content=body, headers=more)
                    assert found.status_code == (413 if len(body) > MAX_FRAME else 400), name
                    error = found.json()
                    if len(body) > MAX_FRAME:
                        assert error["code"] == "body_too_large"
                        continue
                    assert (error["error"]["code"], error["id"]) == (code, message_id), name
            assert (await http.post(server.url, json=PING, headers=known)).status_code == 200

    run(session())
