"""What a language model answered: the text, the record in it, its price."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from graphmem.adapters.models.service import imported

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")

_FENCED = re.compile(r"```[a-zA-Z]*+(.*?)```", re.DOTALL)
_FAULTS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ReplyProblem:
    """Why a reply cannot be used."""

    reason: str
    """In words, without what was replied."""


def said(response: Any) -> str:
    """Return the text of a chat completion, empty when there is none."""
    choices = getattr(response, "choices", None) or [None]
    content = getattr(getattr(choices[0], "message", None), "content", None)
    return content.strip() if isinstance(content, str) else ""


def read(raw: str, reply: type[M]) -> M | ReplyProblem:
    """Return the record in a reply, which may stand in a code fence or between other words."""
    if not raw:
        return ReplyProblem("it is empty")
    try:
        return reply.model_validate_json(_bare(raw))
    except ValidationError as error:
        return ReplyProblem("; ".join(_faults(error)))


def _bare(raw: str) -> str:
    """Return the JSON object of a reply: alone, fenced, or from the first brace to the last."""
    if raw.startswith("{"):
        return raw
    if fenced := _FENCED.search(raw):
        return fenced[1].strip()
    start, end = raw.find("{"), raw.rfind("}")
    return raw[start : end + 1] if 0 <= start < end else raw


def _faults(error: ValidationError) -> list[str]:
    """Return what is wrong, each with its place; nothing of the reply itself.

    An unknown key is the reply's own word, so it is left out of the place.
    """
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return [
        f"{'.'.join(map(str, place))}: {fault['msg']}" if place else fault["msg"]
        for fault in found[:_FAULTS_SHOWN]
        for place in [fault["loc"][:-1] if fault["type"] == "extra_forbidden" else fault["loc"]]
    ]


def tokens_of(response: Any) -> tuple[int, int]:
    """Return the tokens sent and received, 0 where the service did not count them."""
    usage = getattr(response, "usage", None)
    sent, received = (getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
    return _count(sent), _count(received)


def _count(given: object) -> int:
    return max(0, given) if isinstance(given, int) else 0


def cost_of(model: str, response: Any) -> float | None:
    """Return the price in US dollars, or None when litellm does not know it.

    Without counted tokens litellm would count them itself, for which it may fetch a tokenizer.
    """
    if not any(tokens_of(response)):
        return None
    try:
        cost = imported().completion_cost(completion_response=response, model=model)
    except Exception:  # noqa: BLE001 - litellm raises a bare Exception for a model it does not know
        return None
    return float(cost)
