"""Validate arguments that callers pass to the methods of a handle, messages among them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from pydantic import BeforeValidator, Field, ValidationInfo

from graphmem.client import messages as reading
from graphmem.client.validation import As, ShortId, Whole, valid
from graphmem.english import spans
from graphmem.errors import InvalidInputError
from graphmem.model import (
    POLICIES,
    AsOf,
    Belief,
    EventSource,
    EvidenceReceipt,
    MappedRole,
    Message,
    Name,
    Origin,
    Policy,
    RecallPolicy,
    Record,
    Tags,
    Text,
    Trust,
    zones,
)
from graphmem.model.roles import SYSTEM_ROLES, is_human
from graphmem.model.terms import RepairedText
from graphmem.rules import read_options
from graphmem.settings import Settings

AskedId: TypeAlias = Annotated[Text, Field(max_length=200), ShortId()]
"""Id to look up or a unique prefix of it, at most 200 characters; the error quotes it if nothing
has this id."""
ItemId: TypeAlias = Annotated[Name, ShortId()]
"""Name of something stored, or a unique prefix of its id."""
Question: TypeAlias = Annotated[
    RepairedText, Field(min_length=1, max_length=100_000, pattern=r"\S")
]
"""A question; it must have a character other than spaces."""
MAX_CONTENT, MAX_NAME = 1_000_000, 200
"""Maximum number of characters of a message, and of its other fields."""
MAX_ROWS = 1_000
"""Maximum number of rows in a page or a list."""
Limit: TypeAlias = Annotated[int, Whole(1, MAX_ROWS)]
"""Maximum number of rows, 1 to 1,000."""
TagsLike: TypeAlias = Annotated[Sequence[str], As(Tags)]
TrustClass: TypeAlias = Annotated[Trust, As(Trust)]

LONGEST_PATH = 4096
"""Maximum number of characters of a path, as on Linux; other systems allow hardly more."""
_T = TypeVar("_T")
_R = TypeVar("_R", bound=Record)

RoleMap: TypeAlias = Annotated[Mapping[str, MappedRole], As(dict[Name, MappedRole])]
"""Meaning of a caller's own roles: user, assistant, tool or system."""

_HINT = "Give {role, content}, or a message of OpenAI, Anthropic, LangChain or pydantic-ai."


def _as_of(given: object, info: ValidationInfo) -> object:
    """Return the fields of an `AsOf` for a valid time; other values as they are."""
    if isinstance(given, date) and not isinstance(given, datetime):
        given = given.isoformat()
    if isinstance(given, str):
        namespace: Any = info.context
        services = namespace._state.context.services
        now = zones.local(services.clock.now(), services.settings.time_zone)
        with suppress(ValueError, OverflowError):
            return {"valid": spans.last_moment(given, now)}
    return {"valid": given} if isinstance(given, datetime | str) else given


AsOfLike: TypeAlias = Annotated[
    AsOf | datetime | date | str, As(Annotated[AsOf, BeforeValidator(_as_of)])
]
"""Valid and known time of a read, or a valid time: a datetime with a time zone or its ISO 8601
text; or a day, month or year (`date(2026, 5, 1)`, "2026-05"), which means its end by the clock of
GRAPHMEM_TIME_ZONE or the machine, and now if it has not ended."""


def moment_of(validated: AsOfLike | None) -> AsOf | None:
    """Return the (valid, known) time of a read to which validation converted the argument."""
    return cast("AsOf | None", validated)


def reading_of(as_of: AsOfLike | None, policy: Policy | None = None) -> read_options.ReadOptions:
    """Return the options of a read, of validated arguments."""
    return read_options.ReadOptions(moment_of(as_of) or AsOf(), policy)


def belief_id_of(given: str | EvidenceReceipt | Belief) -> str:
    """Return the id of a belief, given as an id, a receipt or a record."""
    if isinstance(given, EvidenceReceipt):
        return given.belief_id
    return given.id if isinstance(given, Belief) else given


BeliefLike: TypeAlias = Annotated[
    str | EvidenceReceipt | Belief, As(Annotated[AskedId, BeforeValidator(belief_id_of)])
]
"""Id of a belief, or a receipt or record of it."""


def event_source(
    origin: Origin | None, at: datetime | None, reason: str | None = None
) -> EventSource:
    """Return the source of an event, given by validated parameters; a reason becomes its note."""
    own = dict(origin or ())
    return EventSource(**own | {"at": at, "note": own.get("note") if reason is None else reason})


def recall_policy_of(given: object, default: RecallPolicy) -> RecallPolicy:
    """Return the recall policy for a policy or its name."""
    if isinstance(given, RecallPolicy):
        return given
    if not isinstance(given, str) or given not in POLICIES:
        raise InvalidInputError(
            "`policy` must be a RecallPolicy or the name of one.",
            hint=f"Give one of {', '.join(POLICIES)}, or a RecallPolicy.",
        )
    return default if given == "default" else POLICIES[given]


def several(name: str, given: Iterable[_T]) -> list[_T]:
    """Return an iterable that a caller passed, as a list."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInputError(
            f"`{name}` must be a list.", hint="Put a single value into a list too."
        )
    return list(given)


def file_of(name: str, given: str | os.PathLike[str]) -> Path:
    """Return the path of a file that a caller passed."""
    text: object = None
    with suppress(TypeError):
        text = os.fspath(given)
    if not isinstance(text, str) or not text or "\0" in text or len(text) > LONGEST_PATH:
        raise InvalidInputError(
            f"`{name}` must be a file name of 1 to {LONGEST_PATH:,} characters without NUL."
        )
    return Path(text)


def records(name: str, record: type[_R], given: Iterable[_R | Mapping[str, Any]]) -> list[_R]:
    """Return records that a caller passed as records or as mappings of their fields."""
    return [_record(f"{name}[{n}]", record, item) for n, item in enumerate(several(name, given))]


def _record(name: str, record: type[_R], given: _R | Mapping[str, Any]) -> _R:
    if isinstance(given, record):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"{name} must be a mapping of fields.")
    try:
        return valid(record, **{str(key): value for key, value in given.items()})
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error.message}", hint=error.hint) from None


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
    originals: list[Any]
    """The messages as they were passed."""


def given_messages(
    messages: Iterable[AnyMessage], roles: RoleMap | None, settings: Settings
) -> GivenMessages:
    """Return messages that a caller passed, as records.

    One with words of several roles, such as results of tools before a question, becomes several
    records; one without words becomes none.
    """
    if not isinstance(messages, Iterable):
        raise InvalidInputError("`messages` must be a list.")
    reader = reading.MessageReader({**settings.message_roles, **(roles or {})})
    found, originals, keyed, notes = list[Message](), list[Any](), list[bool](), list[str]()
    too_long = 0
    for index, given in enumerate(messages):
        originals.append(given)
        is_plain = _is_plain(given)
        repaired = reader.repaired
        for fields in _fields_of(index, given, reader, is_plain=is_plain):
            if reason := _excess(fields):
                notes.append(f"message {index}: not stored, {reason}")
                too_long += 1
                continue
            message = _message(index, fields)
            found.append(message)
            keyed.append(is_plain)
            names = (name for name in fields if isinstance(fields[name], str))
            reader.repaired += any(getattr(message, name) != fields[name] for name in names)
        if reader.repaired > repaired:
            notes.append(f"message {index}: half of a surrogate pair became U+FFFD")
    return GivenMessages(
        found, keyed, reader.skipped + too_long, (*notes, *reader.notes), originals
    )


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


def _fields_of(
    index: int, given: object, reader: reading.MessageReader, *, is_plain: bool
) -> Iterator[dict[str, Any]]:
    try:
        texts = reader.read(given)
    except reading.MessageError as error:
        raise InvalidInputError(f"Message {index}: {error}.", hint=_HINT) from None
    fields = _fields(index, given, is_plain=is_plain)
    for n, one in enumerate(texts):
        own = {"role": one.role, "content": one.text, **({"at": one.at} if one.at else {})}
        if n and fields.get("id") is not None:
            own["id"] = f"{fields['id']}#{n + 1}"
        yield {**fields, **own}


def _message(index: int, fields: Mapping[str, Any]) -> Message:
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
        place = _place_of_block(self.messages)
        added = [_system_message(self.messages, block)] if block else []
        super().__init__([*self.messages[:place], *added, *self.messages[place:]])


def _place_of_block(messages: Sequence[object]) -> int:
    """Return the place before the newest message of a person, so that a prompt begins as before.

    Among objects of a library, whose adapters may refuse a later message of the system, return the
    place after those at the start.
    """
    roles = [_role(message) or "" for message in messages]
    if all(isinstance(message, Message | Mapping) for message in messages):
        for place in range(len(messages) - 1, -1, -1):
            if is_human(roles[place]):
                return place
    turns = (place for place, role in enumerate(roles) if role not in SYSTEM_ROLES)
    return next(turns, len(roles))


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
