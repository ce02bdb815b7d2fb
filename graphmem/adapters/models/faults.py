"""What went wrong with a model's service, and whether to ask it again."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from graphmem.adapters.models.wire import UnreadReplyError
from graphmem.errors import GraphmemError, ModelReplyError, ModelUnavailableError

if TYPE_CHECKING:
    from graphmem.adapters.models.access import ModelAccess

DETAIL_CHARS = 300
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
LONGEST_WAIT_S = 60.0
"""A service that asks for more patience than this is reported instead."""

_UNREADABLE = {
    json.JSONDecodeError: "it is no JSON",
    UnicodeDecodeError: "it is no UTF-8",
    ValidationError: "its JSON has another shape",
    Warning: "its JSON has another shape",
}
"""Under litellm's error 500 these mean that the reply made no sense. Pydantic only warns of a
wrong type, which is an error where warnings are errors. What they say may quote the reply."""


class FaultKind(Enum):
    """What to do about a fault."""

    PASSING = "ask again"
    KEY = "mend the key"
    MODEL = "name another model"
    REPLY = "distrust the service"
    REQUEST = "send something else"


@dataclass(frozen=True, slots=True)
class RequestFault:
    """One failed request."""

    kind: FaultKind
    detail: str
    """What the service or the network said: one line, secrets struck out; no reply of a model."""
    wait_s: float | None = None
    """How long the service asks to wait, seconds."""


def fault_of(error: Exception, *, secrets: frozenset[str]) -> RequestFault:
    """Return what a litellm exception means; litellm puts nearly everything under error 500."""
    links = list(_chain(error))
    for link in links:
        if isinstance(link, UnreadReplyError):
            return RequestFault(FaultKind.REPLY, str(link))
        for unreadable, reason in _UNREADABLE.items():
            if isinstance(link, unreadable):
                return RequestFault(FaultKind.REPLY, reason)
    detail = _detail(error, secrets)
    if "missing credentials" in detail.casefold():
        return RequestFault(FaultKind.KEY, "no key was given")
    kind = _kind(int(getattr(error, "status_code", None) or 0))
    if kind is FaultKind.PASSING and "response_format" in str(error):
        # llama-cpp-python's server has read the request and refuses this part of it, by a 500.
        kind = FaultKind.REQUEST
    if kind is FaultKind.KEY:
        # Services repeat the refused key in their answer, half masked at best.
        return RequestFault(kind, "the key was refused")
    return RequestFault(kind, detail, _wait_s(links))


def _kind(status: int) -> FaultKind:
    if status in {401, 403}:
        return FaultKind.KEY
    if status == 404:
        return FaultKind.MODEL
    if status in {408, 429} or status >= 500:
        return FaultKind.PASSING
    return FaultKind.REQUEST


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _detail(error: Exception, secrets: frozenset[str]) -> str:
    text = " ".join(str(error).split())
    for secret in secrets:
        text = text.replace(secret, "***")
    return text[:DETAIL_CHARS]


def _wait_s(links: list[BaseException]) -> float | None:
    for link in links:
        for holder in (link, getattr(link, "response", None)):
            headers: Any = getattr(holder, "headers", None) or {}
            if wished := headers.get("retry-after"):
                return _seconds(wished)
    return None


def _seconds(retry_after: str) -> float | None:
    """Read a Retry-After header: seconds or an HTTP date (RFC 9110, 10.2.3)."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except ValueError:
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def pause_s(attempt: int, wait_s: float | None, jitter: float) -> float:
    """Return how long to wait before asking again, seconds.

    Args:
        attempt: how many times it was asked again before, from 0.
        wait_s: what the service asks for, if it does; never waited less than that.
        jitter: in [0, 1), so that many clients do not return at once.
    """
    growing = min(FIRST_PAUSE_S * 2.0**attempt, LONGEST_PAUSE_S) * (0.5 + jitter / 2)
    return growing if wait_s is None else wait_s + jitter * FIRST_PAUSE_S


def worth_another(fault: RequestFault) -> bool:
    """Tell whether the same request may succeed in a while."""
    return fault.kind is FaultKind.PASSING and (fault.wait_s or 0.0) <= LONGEST_WAIT_S


def error_of(fault: RequestFault, access: ModelAccess, requests: int) -> GraphmemError:
    """Return the error a caller gets.

    Args:
        fault: what happened last.
        access: the service.
        requests: how many were made.
    """
    said = f"{access.where} for model {access.model!r}"
    match fault.kind:
        case FaultKind.KEY:
            return ModelUnavailableError(
                f"Refused by {said}: {fault.detail}.",
                hint=f"Set {access.setting}_KEY to a valid key, or to any word if the service asks "
                "for none.",
            )
        case FaultKind.MODEL:
            return ModelUnavailableError(
                f"No such model or address at {said}: {fault.detail}",
                hint=f"Check {access.setting} and {access.setting}_URL.",
            )
        case FaultKind.REPLY:
            return ModelReplyError(f"Unreadable answer from {said}: {fault.detail}.")
        case FaultKind.REQUEST:
            return ModelReplyError(
                f"Request refused by {said}: {fault.detail}", hint=access.too_much
            )
        case FaultKind.PASSING:
            wait = "" if fault.wait_s is None else f" (it asks to wait {fault.wait_s:.0f} s)"
            return ModelUnavailableError(
                f"No answer from {said} after {requests} request(s){wait}: {fault.detail}",
                hint="Check that the service runs, or try again later.",
            )
