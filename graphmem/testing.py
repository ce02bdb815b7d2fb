"""Test doubles: a clock set by hand, and an embedder and a language model that need no model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from pydantic import BaseModel

from graphmem.errors import InvalidInputError, ModelReplyError, ModelUnavailableError
from graphmem.models.embedding import HashEmbedder
from graphmem.models.language import ReplyProblem, parse_reply
from graphmem.ports import Answer, Prompt
from graphmem.rules.prompts import M

__all__ = ["FrozenClock", "HashEmbedder", "ScriptedLlm"]

Reply: TypeAlias = BaseModel | Mapping[str, Any] | str | Exception
"""Reply of a scripted model: a record, its JSON as a mapping or text, or an exception to raise."""


class FrozenClock:
    """A clock that moves only by `set`, `advance` and `sleep`."""

    def __init__(self, at: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.set(at)

    def now(self) -> datetime:
        """Return the time it was set to, in UTC."""
        return self._at

    def ticks(self) -> float:
        """Return the time it was set to, in seconds."""
        return self._at.timestamp()

    def set(self, at: datetime) -> None:
        """Set the time.

        Raises:
            InvalidInputError: `at` has no time zone.
        """
        if at.utcoffset() is None:
            raise InvalidInputError("`at` must have a time zone.", hint="Add tzinfo=UTC.")
        self._at = at.astimezone(UTC)

    async def sleep(self, seconds: float) -> None:
        """Advance the clock by this many seconds, without waiting."""
        self.advance(timedelta(seconds=seconds))

    def advance(self, by: timedelta) -> None:
        """Advance the clock."""
        self._at += by


class ScriptedLlm:
    """A language model with scripted replies. Never suspends; repairs nothing.

        llm = ScriptedLlm([{"statement": None, "confidence": 0, "episodes": []}])
        GraphMem.open(llm=llm)
        len(llm.prompts)

    Each answer counts as one request with 100 tokens sent and 10 received, at no cost.
    """

    def __init__(
        self, replies: Iterable[Reply] | Callable[[Prompt[Any]], Reply], *, name: str = "scripted"
    ) -> None:
        """Use replies in their order, or a callable that returns one for each prompt."""
        self.prompts: list[Prompt[Any]] = []
        """All prompts received, in order."""
        self._name = name
        self._reply = replies if callable(replies) else _in_order(replies)

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._name

    async def answer(self, prompt: Prompt[M]) -> Answer[M]:
        """Return the next reply as the record that the prompt requires.

        Raises:
            ModelReplyError: the reply does not fit the record.
            ModelUnavailableError: there are no more replies.
        """
        self.prompts.append(prompt)
        reply = self._reply(prompt)
        if isinstance(reply, Exception):
            raise reply
        raw = reply if isinstance(reply, str) else _json(reply)
        value = parse_reply(raw, prompt.reply)
        if isinstance(value, ReplyProblem):
            raise ModelReplyError(f"The scripted reply does not fit: {value.reason}.", raw=raw)
        return Answer(
            value=value,
            raw=raw,
            model=self.name,
            requests=1,
            tokens_in=100,
            tokens_out=10,
            cost_usd=0.0,
        )


def _in_order(replies: Iterable[Reply]) -> Callable[[Prompt[Any]], Reply]:
    script = iter(replies)

    def following(_: Prompt[Any]) -> Reply:
        for reply in script:
            return reply
        raise ModelUnavailableError("The scripted replies are used up.")

    return following


def _json(reply: BaseModel | Mapping[str, Any]) -> str:
    if isinstance(reply, BaseModel):
        return reply.model_dump_json()
    return json.dumps(dict(reply), ensure_ascii=False)
