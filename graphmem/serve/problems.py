"""Answers to requests that fail: problem details of RFC 9457 with the stable error codes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from graphmem import errors
from graphmem.rules import display

log = logging.getLogger("graphmem.serve")
MEDIA_TYPE = "application/problem+json"
RETRY_S = 5
"""Seconds after which a client should repeat a call that failed for the moment."""
MAX_NAMED = 10
"""Maximum number of invalid parameters that a problem names."""
MAX_STEP = 80
"""Maximum length of the name of a parameter in a problem, in characters."""
STATUSES: tuple[tuple[type[errors.GraphmemError], int], ...] = (
    (errors.NotFoundError, 404),
    (errors.PersonOnlyError, 403),
    (errors.ForeignScopeError, 403),
    (errors.ContentRefusedError, 422),
    (errors.RefusedError, 409),
    (errors.InvalidInputError, 422),
    (errors.UnavailableError, 503),
    (errors.ModelReplyError, 502),
)
"""Status by class of the error; the first match wins, and any other error is the server's."""


class ProblemDetails(BaseModel):
    """Answer to a request that fails."""

    type: str = Field(description="URI of the kind of problem; it ends in the code.")
    title: str = Field(description="Name of the status.")
    status: int = Field(description="Status of the answer.")
    code: str = Field(description="Stable name of the error; programs may match on it.")
    detail: str = Field(description="Text for people: the argument, the constraint.")
    hint: str | None = Field(None, description="What to do about it.")


class Problem(Exception):  # noqa: N818 - the name of RFC 9457
    """A request is refused."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.hint = status, code, detail, hint
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """Return the answer."""
        body = {
            "type": f"urn:graphmem:error:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
        } | ({"hint": self.hint} if self.hint else {})
        return Response(
            display.json_text(body), self.status, media_type=MEDIA_TYPE, headers=self.headers
        )


def of_error(error: errors.GraphmemError) -> Problem:
    """Return the problem of an error of the client."""
    status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        # Its text is for the operator: it may name files and addresses of the server.
        log.error("%s: %s", error.code, error.message)
        return Problem(status, error.code, "The server cannot answer; its log has the reason.")
    headers = {"retry-after": str(RETRY_S)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Problem(status, error.code, error.message, hint=error.hint, headers=headers)


def of_invalid(found: Iterable[Mapping[str, Any]]) -> Problem:
    """Return the problem of invalid parameters, whose values it does not contain."""
    listed = list(found)
    if any(one["type"] == "json_invalid" for one in listed):
        return Problem(400, "invalid_json", "The body must be valid JSON.")
    named = [f"{_path(one['loc'])}: {_reason(one)}" for one in listed[:MAX_NAMED]]
    more = len(listed) - len(named)
    detail = "; ".join(named) + (f"; and {more:,} more." if more else ".")
    return Problem(422, errors.InvalidInputError.code, detail)


def _path(steps: Sequence[object]) -> str:
    inner = [str(step)[:MAX_STEP] for step in steps[1:]]
    return ".".join(inner) or str(steps[0])


def _reason(error: Mapping[str, Any]) -> str:
    if error["type"] == "extra_forbidden":
        return "no such parameter"
    text: str = error["msg"]
    return text.removeprefix("Value error, ")


async def answer_invalid(_: Request, error: Exception) -> Response:
    """Answer a request whose parameters are invalid."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it
    return of_invalid(error.errors()).response()


async def answer_problem(_: Request, error: Exception) -> Response:
    """Answer a request that is refused."""
    assert isinstance(error, Problem)  # noqa: S101 - registered for it
    return error.response()


async def answer_http(_: Request, error: Exception) -> Response:
    """Answer a request that has no route, or a body that is not JSON."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    code = {404: "no_route", 405: "method_not_allowed", 400: "invalid_json"}.get(
        error.status_code, "refused"
    )
    return Problem(error.status_code, code, str(error.detail), headers=error.headers).response()


async def answer_error(_: Request, error: Exception) -> Response:
    """Answer a request that the client refuses or fails."""
    assert isinstance(error, errors.GraphmemError)  # noqa: S101 - registered for it
    return of_error(error).response()


def of_fault(error: Exception, route: str) -> Problem:
    """Return the problem of a defect; the log has its place, without content."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    log.error("%s on %s at %s", type(error).__name__, route, place)
    return Problem(500, "internal", "The server failed; its log has the place.")
