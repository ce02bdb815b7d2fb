"""Frames that cannot be read, and the errors that answer them at once.

The SDK drops such a frame on stdio, so that its client waits for an answer until it gives up.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import WriteStream
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_FRAME = 4 * 1024 * 1024
"""Maximum length of a frame in bytes."""

GRACE_S = 0.5
"""Seconds after the end of stdin in which requests are still answered."""


def refusal(frame: bytes) -> types.JSONRPCError | None:
    """Return the error that answers a frame; None if it is a message."""
    found: Any = None
    try:
        found = json.loads(frame.decode())
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeError as error:
        half = "; half of a surrogate pair is none" if isinstance(error, UnicodeEncodeError) else ""
        return _error(found, types.PARSE_ERROR, f"A message must be valid UTF-8{half}.")
    except (ValueError, RecursionError):
        if len(frame) <= MAX_FRAME:
            return _error(found, types.PARSE_ERROR, "A message must be valid JSON on one line.")
    if len(frame) > MAX_FRAME:
        long = f"A message must have at most {MAX_FRAME:,} bytes: send the content in parts."
        return _error(found, types.INVALID_REQUEST, long)
    if not isinstance(found, dict):
        return _error(found, types.INVALID_REQUEST, "A message must be one object, not a batch.")
    # Without a valid id a request would be taken for a notification, which has no answer.
    valid = "id" not in found or "method" not in found or _id(found) is not None
    with suppress(ValidationError):
        types.jsonrpc_message_adapter.validate_json(frame, by_name=False)
        if valid:
            return None
    shape = 'A request must have jsonrpc "2.0", id (text or a whole number), method, params.'
    return _error(found, types.INVALID_REQUEST, shape)


def _error(found: object, code: int, message: str) -> types.JSONRPCError:
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=_id(found), error=error)


def _id(found: object) -> str | int | None:
    """Return the id of a request, so that its caller stops waiting; None if it is invalid."""
    given = found.get("id") if isinstance(found, dict) else None
    if isinstance(given, str):
        return given if given == given.encode(errors="ignore").decode() else None
    return given if isinstance(given, int) and not isinstance(given, bool) else None


class StdinFrames:
    """Lines of stdin that are messages; the other ones are answered.

    Stdin points at the null device from then on, so that nothing else reads the client's lines.
    """

    def __init__(self) -> None:
        self.writing: WriteStream[SessionMessage] | None = None
        """Stream to answer on."""
        self._wire = os.fdopen(os.dup(0), "rb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each message as a line."""
        async for line in anyio.wrap_file(self._wire):
            refused = refusal(line) if line.strip() else None
            if refused is None:
                yield line.decode()
            elif self.writing is not None:
                await self.writing.send(SessionMessage(refused))
        # At the end of its input the SDK cancels what it is answering.
        await anyio.sleep(GRACE_S)


class FrameCheck:
    """Middleware that answers a request whose body is not a message."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        from starlette.responses import JSONResponse

        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body, more = bytearray(), True
        while more and len(body) <= MAX_FRAME:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
        received = bytes(body)
        refused = refusal(received)
        if refused is not None:
            status = 413 if len(body) > MAX_FRAME else 400
            answer = JSONResponse(refused.model_dump(exclude_unset=True), status)
            await answer(scope, receive, send)
            return

        frame: bytes | None = received

        async def replayed() -> Message:
            nonlocal frame
            if frame is None:
                return await receive()
            message = {"type": "http.request", "body": frame, "more_body": False}
            frame = None
            return message

        await self._app(scope, replayed, send)
