"""Validate arguments that callers pass to the methods of a handle."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BeforeValidator, Field

from graphmem.client.state import valid
from graphmem.errors import InvalidInputError
from graphmem.model import (
    POLICIES,
    AsOf,
    Belief,
    EventSource,
    EvidenceReceipt,
    Hypothesis,
    Name,
    Note,
    Part,
    Policy,
    RecallPolicy,
    Record,
    Text,
)
from graphmem.rules import read_options

AskedId: TypeAlias = Annotated[Text, Field(max_length=200)]
"""Id to look up, at most 200 characters; the error quotes it if nothing has this id."""

AsOfLike: TypeAlias = AsOf | datetime | date | str
"""Valid and known time of a read, or a valid time: a datetime with a time zone, a date (its
midnight, UTC) or either as an ISO 8601 text."""

LONGEST_PATH = 4096
"""Maximum number of characters of a path, as on Linux; other systems allow hardly more."""
_T = TypeVar("_T")
_R = TypeVar("_R", bound=Record)


def _as_of(given: object) -> object:
    """Return the fields of an `AsOf` for a valid time; other values as they are."""
    if isinstance(given, str) and len(given) == len("2025-06-12"):
        with suppress(ValueError):
            given = date.fromisoformat(given)
    if isinstance(given, date) and not isinstance(given, datetime):
        given = datetime.combine(given, time(), UTC)
    return {"valid": given} if isinstance(given, datetime | str) else given


ReadTime: TypeAlias = Annotated[AsOf, BeforeValidator(_as_of)]


class Id(Record):
    """An id."""

    id: AskedId


class Target(Record):
    """The id of an event to act on."""

    event_id: Name


class Moment(Record):
    """Valid and known time of a read; None for now."""

    as_of: ReadTime | None = None


class Named(Record):
    """A name and the template of its sentence."""

    name: Part
    template: Name | None = None


class Because(Record):
    """Reason of a change."""

    reason: Note | None = None


class MemoryChange(Record):
    """A memory to change, and why."""

    memory_id: AskedId
    reason: Annotated[Text, Field(max_length=10_000)] | None = None


class Asked(Record):
    """Subject and predicate of a slot."""

    subject: Part
    predicate: Part


class _By(Record):
    as_of: ReadTime | None = None
    policy: Policy | None = None


BeliefLike = str | EvidenceReceipt | Belief
"""Id of a belief, or a receipt or record of it."""


def reading_of(
    as_of: AsOfLike | None = None, policy: Policy | None = None
) -> read_options.ReadOptions:
    """Return the validated options of a read."""
    given = valid(_By, as_of=as_of, policy=policy)
    return read_options.ReadOptions(given.as_of or AsOf(), given.policy)


def moment_of(given: AsOfLike | None) -> AsOf | None:
    """Return the validated (valid, known) time of a read; None for now."""
    return valid(Moment, as_of=given).as_of


def event_source(
    event_id: str | None,
    at: datetime | None,
    source: str,
    actor: str | None,
    artifact_ref: str | None,
    note: str | None = None,
) -> EventSource:
    """Return the validated origin of an event, given by a method's parameters."""
    fields = {"event_id": event_id, "at": at, "source": source, "actor": actor}
    return valid(EventSource, **fields, artifact_ref=artifact_ref, note=note)


def evidence_from(
    episode_id: str | None,
    turn_id: str | None,
    event_id: str | None,
    at: datetime | None,
    source: str,
    actor: str | None,
    artifact_ref: str | None,
    note: str | None,
) -> dict[str, Any]:
    """Return the fields of an `EvidenceSource`, to be validated with those of the evidence."""
    event = {"event_id": event_id, "at": at, "source": source, "actor": actor}
    origin = {"artifact_ref": artifact_ref, "note": note}
    return {"episode_id": episode_id, "turn_id": turn_id, **event, **origin}


def hypothesis(
    statement: str | None,
    subject: str | None,
    predicate: str | None,
    object: str | None,  # noqa: A002
    confidence: float,
    origin: Mapping[str, Any],
) -> Hypothesis:
    """Return a validated hypothesis, given by a method's parameters and its evidence fields."""
    triple = {"subject": subject, "predicate": predicate, "object": object}
    return valid(Hypothesis, statement=statement, confidence=confidence, **triple, **origin)


def recall_policy_of(given: object, default: RecallPolicy) -> RecallPolicy:
    """Return the recall policy for a policy or its name.

    Args:
        given: a policy or a name.
        default: the policy named "default".

    Raises:
        InvalidInputError: no policy has this name.
    """
    if isinstance(given, RecallPolicy):
        return given
    if not isinstance(given, str) or given not in POLICIES:
        raise InvalidInputError(
            "`policy` must be a RecallPolicy or the name of one.",
            hint=f"Give one of {', '.join(POLICIES)}, or a RecallPolicy.",
        )
    return default if given == "default" else POLICIES[given]


def belief_id_of(given: BeliefLike) -> str:
    """Return the id of a belief, given as an id, a receipt or a record."""
    if isinstance(given, EvidenceReceipt):
        return given.belief_id
    return given.id if isinstance(given, Belief) else valid(Id, id=given).id


def several(name: str, given: Iterable[_T]) -> list[_T]:
    """Return an iterable that a caller passed, as a list.

    Raises:
        InvalidInputError: the value is a text, a mapping or not iterable.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInputError(
            f"`{name}` must be a list.", hint="Put a single value into a list too."
        )
    return list(given)


def file_of(name: str, given: str | os.PathLike[str]) -> Path:
    """Return the path of a file that a caller passed.

    Raises:
        InvalidInputError: the value is not a possible file name.
    """
    text: object = None
    with suppress(TypeError):
        text = os.fspath(given)
    if not isinstance(text, str) or not text or "\0" in text or len(text) > LONGEST_PATH:
        raise InvalidInputError(
            f"`{name}` must be a file name of 1 to {LONGEST_PATH:,} characters without NUL."
        )
    return Path(text)


def records(name: str, record: type[_R], given: Iterable[_R | Mapping[str, Any]]) -> list[_R]:
    """Return records that a caller passed as records or as mappings of their fields.

    Raises:
        InvalidInputError: a record is invalid; the error gives its index, from 0.
    """
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
