"""The messages that a model is sent: the caller's, and the block of what is remembered."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from graphmem.conversation.messages import ReadMessage
from graphmem.model import Message
from graphmem.model.roles import SYSTEM_ROLES, is_human


class PromptMessages(list[Any]):
    """Messages to send to a model: the caller's, and the block as a message of the system.

    A list in the shape of the caller's messages. An API that takes the system's text apart from
    the messages gets `system` and `messages`.
    """

    def __init__(self, read: Sequence[ReadMessage], block: str) -> None:
        kept = [one for one in read if not one.is_block]
        self.messages = [one.original for one in kept]
        """The caller's messages, without the block, and without blocks of earlier calls."""
        self.system = block
        """The block; empty if there is nothing to show."""
        place = _place_of_block(kept)
        added = [_system_message(kept, block)] if block else []
        super().__init__([*self.messages[:place], *added, *self.messages[place:]])


def _place_of_block(messages: Sequence[ReadMessage]) -> int:
    """Return the place before the newest message of a person, so that a prompt begins as before.

    Among objects of a library, whose adapters may refuse a later message of the system, return the
    place after those at the start.
    """
    if all(isinstance(one.original, Message | Mapping) for one in messages):
        for place in range(len(messages) - 1, -1, -1):
            if is_human(messages[place].role):
                return place
    turns = (place for place, one in enumerate(messages) if one.role not in SYSTEM_ROLES)
    return next(turns, len(messages))


def _system_message(messages: Sequence[ReadMessage], block: str) -> object:
    """Return the block as a message like the others: of their library, or a mapping."""
    for message in (one.original for one in messages):
        if isinstance(message, Message):
            return Message(role="system", content=block)
        if not isinstance(message, Mapping) and (made := _of_library(message, block)) is not None:
            return made
        if isinstance(message, Mapping) and "role" not in message and "content" in message:
            return {"type": "system", "content": block}  # LangChain
        if isinstance(message, Mapping) and "parts" in message:
            parts = [{"part_kind": "system-prompt", "content": block}]
            return {"kind": "request", "parts": parts}  # pydantic-ai
    developer = any(one.role == "developer" for one in messages)
    return {"role": "developer" if developer else "system", "content": block}


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
