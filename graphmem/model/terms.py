"""What every record is made of: instants, texts, names, the wall around a tenant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, TypeAlias

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
)


def _utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies before the year 1 or after the year 9999 in UTC") from None


def _no_number(at: object) -> object:
    # Read as seconds or as milliseconds by its size, a number would be a guess.
    if isinstance(at, datetime) or (isinstance(at, str) and not at.lstrip("+-").isdecimal()):
        return at
    raise ValueError("is no instant: give a datetime, or a text in ISO 8601")


def _storable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"has a lone surrogate at position {error.start}") from None
    return text


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


Instant: TypeAlias = Annotated[AwareDatetime, BeforeValidator(_no_number), AfterValidator(_utc)]
"""A timezone-aware instant, kept in UTC to the microsecond."""
Text: TypeAlias = Annotated[str, Strict(), AfterValidator(_storable)]
"""A string that UTF-8 can hold."""
Name: TypeAlias = Annotated[Text, Field(min_length=1, max_length=200)]
"""A short label or an id given by a caller."""
Tags: TypeAlias = Annotated[tuple[Name, ...], Field(max_length=64)]

GLOBAL_SCOPE = "global"


class Record(BaseModel):
    """A value that cannot change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TenantScope(Record):
    """Whose memory a call is about, and which part of it; no query crosses it."""

    tenant: Name
    scope: Name = GLOBAL_SCOPE
    """Where writes go."""
    scopes: Annotated[
        tuple[Name, ...], Field(min_length=1, max_length=200), AfterValidator(_once)
    ] = (GLOBAL_SCOPE,)
    """What reads may see, each once."""


class AsOf(Record):
    """The pair of times a read is about; what is left out is now.

    A read at `known` can be repeated once `known` is older than the longest transaction allowed
    (30 s): until then a write that is under way may still be recorded before it.
    """

    valid: Instant | None = None
    """In the world: what happened later is not seen. It may lie in the future."""
    known: Instant | None = None
    """In the store, by the server's clock: what was recorded later is not seen."""
