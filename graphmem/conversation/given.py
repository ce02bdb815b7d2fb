"""Messages that callers and models give, as records to store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

from graphmem.conversation import alignment
from graphmem.conversation.messages import (
    FOREIGN_FIELDS,
    MessageError,
    MessageReader,
    ReadMessage,
    is_broken,
    reply_messages,
    with_words,
)
from graphmem.conversation.plans import message_key
from graphmem.errors import InvalidInputError
from graphmem.model import Message
from graphmem.model.roles import is_human
from graphmem.validation import valid

MAX_CONTENT, MAX_NAME = 1_000_000, 200
"""Maximum number of characters of a message, and of its other fields."""
_HINT = "Give {role, content}, or a message of OpenAI, Anthropic, LangChain or pydantic-ai."


class _HasContent(Protocol):
    @property
    def content(self) -> Any: ...


class _HasParts(Protocol):
    @property
    def parts(self) -> Any: ...


AnyMessage: TypeAlias = Message | Mapping[str, Any] | _HasContent | _HasParts
"""A record, a mapping of role, content and optionally name, at, id, session, or a message of
OpenAI, Anthropic, LangChain or pydantic-ai: an object or its mapping."""


class GivenMessages(NamedTuple):
    """Messages to store, and what was left out or assumed."""

    messages: list[Message]
    keyed: list[bool]
    """Whether the id or time of each is its own, by which it is recognised at any position."""
    skipped: int
    notes: tuple[str, ...]
    read: list[ReadMessage]
    """The messages as they were passed, and as they were read."""


def given_messages(messages: Iterable[AnyMessage], roles: Mapping[str, str]) -> GivenMessages:
    """Return messages that a caller passed, as records.

    One with words of several roles, such as results of tools before a question, becomes several
    records; one without words becomes none.
    """
    if not isinstance(messages, Iterable):
        raise InvalidInputError("`messages` must be a list.")
    reader = MessageReader(roles)
    found, read, keyed, notes = list[Message](), list[ReadMessage](), list[bool](), list[str]()
    too_long = 0
    for index, given in enumerate(messages):
        one, is_repaired = _read(index, given, reader), False
        read.append(one)
        is_plain = _is_plain(given)
        for fields in with_words(_fields(index, given, is_plain=is_plain), one.texts):
            if reason := _excess(fields):
                notes.append(f"message {index}: not stored, {reason}")
                too_long += 1
                continue
            found.append(_message(index, given, fields))
            keyed.append(is_plain)
            is_repaired |= is_broken(fields)
        if is_repaired:
            notes.append(f"message {index}: half of a surrogate pair became U+FFFD")
    return GivenMessages(found, keyed, reader.skipped + too_long, (*notes, *reader.notes), read)


def given_reply(reply: object, asked: GivenMessages, roles: Mapping[str, str]) -> GivenMessages:
    """Return the messages of a reply; words that no given message has are not a person's."""
    try:
        found = given_messages(reply_messages(reply), roles)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"complete: the reply is not a message: {error.message}", hint=error.hint
        ) from None
    keys = [message_key(message) for message in asked.messages]
    replied = [message_key(message) for message in found.messages]
    known = set(keys)
    made = [
        message.model_copy(update={"role": "assistant"})
        if is_human(message.role) and key not in known
        else message
        for message, key in zip(found.messages, replied, strict=True)
    ]
    # Some libraries return the question too. Ids of replies do not come back with them.
    made = made[alignment.overlap(replied, keys) :]
    notes = tuple(f"reply, {one}" if one.startswith("message ") else one for one in found.notes)
    return found._replace(messages=made, keyed=[False] * len(made), notes=notes)


def _read(index: int, given: object, reader: MessageReader) -> ReadMessage:
    try:
        return reader.read(given)
    except MessageError as error:
        raise InvalidInputError(f"Message {index}: {error}.", hint=_HINT) from None


def _excess(fields: Mapping[str, Any]) -> str:
    """Return which field of a message is longer than a record allows; empty if none is."""
    for name, text in fields.items():
        limit = MAX_CONTENT if name == "content" else MAX_NAME
        if isinstance(text, str) and len(text) > limit:
            return f"its {name} has more than {limit:,} characters"
    return ""


def _is_plain(given: object) -> bool:
    """Return whether a message is graphmem's own, so that its id and time identify it.

    Libraries give a message an id at some point, or never: they are recognised by their words.
    """
    if isinstance(given, Mapping):
        return "role" in given and "type" not in given
    return isinstance(given, Message)


def _message(index: int, given: object, fields: Mapping[str, Any]) -> Message:
    if isinstance(given, Message) and given.role == fields["role"]:
        return given
    try:
        return valid(Message, **fields)
    except InvalidInputError as error:
        raise InvalidInputError(f"Message {index}: {error.message}", hint=error.hint) from None


def _fields(index: int, given: object, *, is_plain: bool) -> dict[str, Any]:
    """Return the other fields of a message: name, and of a plain one all that it has."""
    if isinstance(given, Message):
        return dict(given)
    if isinstance(given, Mapping) and "role" in given:
        names = {str(name) for name in given} - {"role", "content"}
        unknown = sorted(names - Message.model_fields.keys() - FOREIGN_FIELDS)
        if unknown:
            raise InvalidInputError(
                f"Message {index}: {unknown[0][:80]}: is not a field of a message.",
                hint="Fields are role, content, name, at, id and session.",
            )
    if is_plain and isinstance(given, Mapping):
        return {name: given[name] for name in Message.model_fields if name in given}
    name = given.get("name") if isinstance(given, Mapping) else getattr(given, "name", None)
    return {"name": name} if isinstance(name, str) and name else {}
