"""What callers give about evidence and beliefs, and the records that it is checked by."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import Field, Strict

from graphmem.client.state import valid, yes_or_no
from graphmem.errors import InvalidInputError
from graphmem.model import (
    POLICIES,
    AsOf,
    Belief,
    EvidenceReceipt,
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
"""An id that is asked for, and quoted when nothing has it; none is longer."""

LONGEST_PATH = 4096
"""Characters; Linux takes no longer one, and the others none that is much longer."""
_T = TypeVar("_T")
_R = TypeVar("_R", bound=Record)


class Id(Record):
    """An id."""

    id: AskedId


class Target(Record):
    """The id of an event to act on."""

    event_id: Name


class Moment(Record):
    """When, if not now."""

    as_of: AsOf | None = None


class Named(Record):
    """A name, and how it reads aloud."""

    name: Part
    template: Name | None = None


class Because(Record):
    """Why."""

    reason: Note | None = None


class Asked(Record):
    """A slot."""

    subject: Part
    predicate: Part


class _By(Record):
    as_of: AsOf | None = None
    policy: Policy | None = None
    present_policy: Annotated[bool, Strict()] = False


BeliefLike = str | EvidenceReceipt | Belief
"""A belief's id, or what a call about it gave back."""


def reading_of(
    as_of: AsOf | None = None, policy: Policy | None = None, *, present_policy: bool = False
) -> read_options.ReadOptions:
    """Return the validated options of a read."""
    sure = yes_or_no("present_policy", present_policy)
    asked = valid(_By, as_of=as_of, policy=policy, present_policy=sure)
    return read_options.ReadOptions(asked.as_of or AsOf(), asked.policy, asked.present_policy)


def moment_of(given: AsOf | None) -> AsOf | None:
    """Return the pair of times that a caller gave, if any."""
    return valid(Moment, as_of=given).as_of


def recall_policy_of(given: object) -> RecallPolicy:
    """Return how to rank, of what a caller gave: a name or a policy.

    Raises:
        InvalidInputError: no policy has this name.
    """
    if isinstance(given, RecallPolicy):
        return given
    if not isinstance(given, str) or given not in POLICIES:
        raise InvalidInputError(
            "policy: there is none of this name.",
            hint=f"Give one of {', '.join(POLICIES)}, or a RecallPolicy.",
        )
    return POLICIES[given]


def belief_id_of(given: BeliefLike) -> str:
    """Return the id of a belief, of what a caller gave."""
    if isinstance(given, EvidenceReceipt):
        return given.belief_id
    return given.id if isinstance(given, Belief) else valid(Id, id=given).id


def several(name: str, given: Iterable[_T]) -> list[_T]:
    """Return a list that a caller gave.

    Raises:
        InvalidInputError: it is none.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInputError(f"{name} is no list.", hint="Give a list, even of one.")
    return list(given)


def file_of(name: str, given: str | os.PathLike[str]) -> Path:
    """Return the path of a file that a caller gave.

    Raises:
        InvalidInputError: it cannot be one.
    """
    text: object = None
    with suppress(TypeError):
        text = os.fspath(given)
    if not isinstance(text, str) or not text or "\0" in text or len(text) > LONGEST_PATH:
        raise InvalidInputError(f"{name}: this cannot be the name of a file.")
    return Path(text)


def records(name: str, record: type[_R], given: Iterable[_R | Mapping[str, Any]]) -> list[_R]:
    """Return the records that a caller gave as such, or as maps of their fields.

    Raises:
        InvalidInputError: one does not fit; names its place, from 0.
    """
    return [_record(f"{name}[{n}]", record, one) for n, one in enumerate(several(name, given))]


def _record(name: str, record: type[_R], given: _R | Mapping[str, Any]) -> _R:
    if isinstance(given, record):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"{name}: it is no map of fields.")
    try:
        return valid(record, **{str(key): value for key, value in given.items()})
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error.message}", hint=error.hint) from None
