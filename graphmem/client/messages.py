"""Messages that a caller passes, as records, and those for a model, with a block of memory."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol, TypeAlias

from graphmem.client.state import valid
from graphmem.errors import InvalidInputError
from graphmem.model import MappedRole, Message, Name, Record
from graphmem.rules import messages as reading
from graphmem.rules import transcripts
from graphmem.settings import Settings


class _HasContent(Protocol):
    @property
    def content(self) -> Any: ...


class _HasParts(Protocol):
    @property
    def parts(self) -> Any: ...


AnyMessage: TypeAlias = Message | Mapping[str, Any] | _HasContent | _HasParts
"""A record, a mapping of role, content and optionally name, at, id, session, or a message of
OpenAI, Anthropic, LangChain or pydantic-ai: an object or its mapping."""

RoleMap: TypeAlias = Mapping[str, MappedRole]
"""Meaning of a caller's own roles: user, assistant, tool or system."""


class _Roles(Record):
    roles: dict[Name, MappedRole]


class GivenMessages(NamedTuple):
    """Messages to store, and what was left out or assumed."""

    messages: list[Message]
    keyed: bool
    """Whether each has an id or a time of its own, by which it is recognised at any position."""
    skipped: int
    notes: tuple[str, ...]
    originals: list[Any]
    """The messages as they were passed."""


def given_messages(
    messages: Iterable[AnyMessage], roles: RoleMap | None, settings: Settings
) -> GivenMessages:
    """Return messages that a caller passed, as records.

    One with words of several roles, such as results of tools before a question, becomes several
    records; one without words becomes none.

    Raises:
        InvalidInputError: a message or `roles` is invalid; the error gives the index, from 0.
    """
    if not isinstance(messages, Iterable):
        raise InvalidInputError("`messages` must be a list.")
    own = valid(_Roles, roles=roles).roles if roles is not None else {}
    reader = reading.MessageReader({**settings.message_roles, **own})
    found, originals, keyed = list[Message](), list[Any](), True
    for index, given in enumerate(messages):
        originals.append(given)
        is_plain = _is_plain(given)
        for message in _records(index, given, reader, is_plain=is_plain):
            found.append(message)
            keyed = keyed and is_plain and transcripts.have_keys([message])
    return GivenMessages(found, keyed, reader.skipped, reader.notes, originals)


def _is_plain(given: object) -> bool:
    """Return whether a message is graphmem's own, so that its id and time identify it.

    Libraries give a message an id at some point, or never: they are recognised by overlap.
    """
    if isinstance(given, Mapping):
        return "role" in given and "type" not in given
    return isinstance(given, Message)


def _records(
    index: int, given: object, reader: reading.MessageReader, *, is_plain: bool
) -> Iterator[Message]:
    try:
        texts = reader.read(given)
    except reading.MessageError as error:
        raise InvalidInputError(f"Message {index}: {error}.", hint=_HINT) from None
    fields = _fields(index, given, is_plain=is_plain)
    for n, one in enumerate(texts):
        own = {"role": one.role, "content": one.text, **({"at": one.at} if one.at else {})}
        if n and fields.get("id") is not None:
            own["id"] = f"{fields['id']}#{n + 1}"
        try:
            yield valid(Message, **{**fields, **own})
        except InvalidInputError as error:
            raise InvalidInputError(f"Message {index}: {error.message}", hint=error.hint) from None


_HINT = "Give {role, content}, or a message of OpenAI, Anthropic, LangChain or pydantic-ai."


def _fields(index: int, given: object, *, is_plain: bool) -> dict[str, Any]:
    """Return the other fields of a message: name, and of a plain one all that it has."""
    if isinstance(given, Message):
        return dict(given)
    if isinstance(given, Mapping) and "role" in given:
        names = {str(name) for name in given} - {"role", "content"}
        unknown = sorted(names - Message.model_fields.keys() - reading.FOREIGN_FIELDS)
        if unknown:
            raise InvalidInputError(
                f"Message {index}: {unknown[0][:80]}: is not a field of a message.",
                hint="Fields are role, content, name, at, id and session.",
            )
    if is_plain and isinstance(given, Mapping):
        return {name: given[name] for name in Message.model_fields if name in given}
    name = given.get("name") if isinstance(given, Mapping) else getattr(given, "name", None)
    return {"name": name} if isinstance(name, str) and name else {}


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
