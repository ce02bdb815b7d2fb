"""Validate arguments that callers pass to the methods of a handle, messages among them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, cast

from pydantic import BeforeValidator, Field, ValidationInfo

from graphmem.english import spans
from graphmem.errors import InvalidInputError
from graphmem.model import (
    AsOf,
    Belief,
    EventSource,
    EvidenceReceipt,
    MappedRole,
    Name,
    Origin,
    Policy,
    Record,
    Tags,
    Text,
    Trust,
    zones,
)
from graphmem.model.terms import RepairedText
from graphmem.rules import read_options
from graphmem.settings import Settings
from graphmem.validation import As, ShortId, Whole, valid

AskedId: TypeAlias = Annotated[Text, Field(max_length=200), ShortId()]
"""Id to look up or a unique prefix of it, at most 200 characters; the error quotes it if nothing
has this id."""
ItemId: TypeAlias = Annotated[Name, ShortId()]
"""Name of something stored, or a unique prefix of its id."""
Question: TypeAlias = Annotated[
    RepairedText, Field(min_length=1, max_length=100_000, pattern=r"\S")
]
"""A question; it must have a character other than spaces."""
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


def role_map(settings: Settings, roles: RoleMap | None) -> dict[str, str]:
    """Return the meaning of roles: the caller's own, and the others of the settings."""
    return {**settings.message_roles, **(roles or {})}


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
