"""Messages for a model, in the shape of the caller's own, with a block of memory among them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from graphmem.model import Message
from graphmem.rules import messages as reading

_SYSTEM_ROLES = frozenset({"system", "developer"})


class PromptMessages(list[Any]):
    """Messages to send to a model: the caller's, and the block as a message of the system.

    A list in the shape of the caller's messages. An API that takes the system's text apart from
    the messages gets `system` and `messages`.
    """

    def __init__(self, messages: Sequence[Any], block: str) -> None:
        self.messages = [one for one in messages if not reading.is_block(one)]
        """The caller's messages, without the block, and without blocks of earlier calls."""
        self.system = block
        """The block; empty if there is nothing to show."""
        place = _first_turn(self.messages)
        added = [_system_message(self.messages, block)] if block else []
        super().__init__([*self.messages[:place], *added, *self.messages[place:]])


def _first_turn(messages: Sequence[object]) -> int:
    """Return the number of messages of the system at the start."""
    for place, message in enumerate(messages):
        if _role(message) not in _SYSTEM_ROLES:
            return place
    return len(messages)


def _role(message: object) -> str | None:
    if isinstance(message, Message):
        return message.role
    with suppress(reading.MessageError):
        return reading.role_of(message)
    return None


def _system_message(messages: Sequence[object], block: str) -> object:
    """Return the block as a message like the others: of their library, or a mapping."""
    for message in messages:
        if isinstance(message, Message):
            return Message(role="system", content=block)
        if not isinstance(message, Mapping) and (made := _of_library(message, block)) is not None:
            return made
        if isinstance(message, Mapping) and "role" not in message and "content" in message:
            return {"type": "system", "content": block}  # LangChain
        if isinstance(message, Mapping) and "parts" in message:
            parts = [{"part_kind": "system-prompt", "content": block}]
            return {"kind": "request", "parts": parts}  # pydantic-ai
    roles = {_role(message) for message in messages}
    return {"role": "developer" if "developer" in roles else "system", "content": block}


def _of_library(message: object, block: str) -> object | None:
    """Return a message of the library that the caller imported; None of any other object."""
    langchain = sys.modules.get("langchain_core.messages")
    if langchain is not None and isinstance(message, langchain.BaseMessage):
        found: object = langchain.SystemMessage(block)
        return found
    pydantic_ai = sys.modules.get("pydantic_ai.messages")
    if pydantic_ai is not None and isinstance(
        message, pydantic_ai.ModelRequest | pydantic_ai.ModelResponse
    ):
        made: object = pydantic_ai.ModelRequest([pydantic_ai.SystemPromptPart(block)])
        return made
    return None
