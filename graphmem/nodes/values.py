"""Types of the values of nodes in an export, and their conversion for the graph."""

from __future__ import annotations

import base64
import binascii
import json
import math
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    Strict,
    ValidationInfo,
)

from graphmem.items import rules
from graphmem.items.records import MAX_MINUTES, Label
from graphmem.model import Name, Status, Text

MAX_NORM = 1e6
"""Maximum norm of an embedding. Models give about 1; squares of much larger ones overflow."""
MAX_STATES_BYTES = 1_000_000
"""Maximum size of the token states of a node."""
MAX_SEALED = 10_000
"""Maximum number of entries of a seal: events and the nodes that they state."""
MAX_KEY_BYTES = 6_500
"""Bytes of UTF-8: an index accepts about 8,000, of which tenant and scope need up to 1,600."""

Id: TypeAlias = Annotated[Text, Field(min_length=1, max_length=500)]
"""Ids given by callers have at most 200 characters; some ids are derived from these."""

Digest: TypeAlias = Annotated[str, Strict(), Field(pattern=r"^[0-9a-f]{64}$")]
ImportPath: TypeAlias = Annotated[str, Strict(), Field(pattern=r"^([0-9a-f]{16}/){0,50}$")]
Leaves: TypeAlias = Annotated[str, Strict(), Field(pattern=r"^([0-9a-f]{64}){1,2}$")]
"""Salted digests of an entry of a seal."""
Scope: TypeAlias = Name
Count: TypeAlias = Annotated[int, Strict(), Field(ge=0, le=2**53)]
Number: TypeAlias = Annotated[float, Strict(), Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Unit: TypeAlias = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
Strength: TypeAlias = Annotated[float, Strict(), Field(ge=0.1, le=0.9, allow_inf_nan=False)]
"""Strength as used by the sequential test, so that its logarithm is finite."""
Rate: TypeAlias = Annotated[float, Strict(), Field(ge=0, le=1_000, allow_inf_nan=False)]
TrustRank: TypeAlias = Annotated[int, Strict(), Field(ge=0, le=4)]
"""Rank of a trust class: see rules/trust.py."""
Flag: TypeAlias = Annotated[bool, Strict()]
Rank: TypeAlias = Annotated[Count, Field(ge=1)]
"""Place in an order, from 1."""
CreationOrder: TypeAlias = Annotated[list[Count], Field(min_length=2, max_length=2)]
"""Time of creation, and position in a batch."""
Polarity: TypeAlias = Literal[-1, 1]
ReplyKind: TypeAlias = Literal["extraction", "summary"]
Reference: TypeAlias = Annotated[Text, Field(max_length=2_000)]
Digests: TypeAlias = Annotated[list[Digest], Field(min_length=1, max_length=100)]
NamespaceParts: TypeAlias = Annotated[list[Label], Field(max_length=100)]
Minutes: TypeAlias = Annotated[Number, Field(gt=0, le=MAX_MINUTES)]
SealEntries: TypeAlias = Annotated[list[Text], Field(min_length=1, max_length=MAX_SEALED)]
SealLeaves: TypeAlias = Annotated[list[Leaves], Field(min_length=1, max_length=MAX_SEALED)]
BeliefStatus: TypeAlias = Literal[
    Status.CURRENT, Status.SUPERSEDED, Status.ARCHIVED, Status.REJECTED
]


def _single_entry(value: object, name: str) -> Any:
    """Return the value of a map with one entry, which encodes a type that JSON lacks."""
    if not isinstance(value, dict) or list(value) != [name]:
        raise ValueError(f'must be a map with the one entry "{name}"')
    return value[name]


def _parse_instant(value: object) -> datetime:
    text = _single_entry(value, "instant")
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError("must be an ISO 8601 timestamp with a time zone, in the years 1 to 9999")


def _check_recorded(at: datetime) -> datetime:
    # Readers add and subtract durations.
    if not 1970 <= at.year < 9999:
        raise ValueError("must be in the years 1970 to 9998")
    return at


def _parse_days(value: object) -> object:
    if value == {"float": "inf"}:
        return math.inf
    if isinstance(value, float | int) and not isinstance(value, bool) and 0 < value < math.inf:
        return float(value)
    raise ValueError('must be a number greater than 0 or {"float": "inf"}')


def _parse_vector(value: object, info: ValidationInfo) -> Any:
    dimension = (info.context or {})["dimension"]
    try:
        data = base64.b64decode(_single_entry(value, "vector"), validate=True)
    except (TypeError, binascii.Error):
        raise ValueError("must be 32-bit floats in base64") from None
    if len(data) != 4 * dimension:
        raise ValueError(f"must have {dimension} dimensions, as in the header")
    found = np.frombuffer(data, dtype="<f4").astype(np.float32)
    # The server refuses to compare a vector of norm 0; NaN fails this check, too.
    if not 0 < float(np.linalg.norm(found.astype(np.float64))) <= MAX_NORM:
        raise ValueError("must be finite numbers, not all of them 0")
    return found


def _parse_bytes(value: object) -> bytes:
    try:
        data = base64.b64decode(_single_entry(value, "bytes"), validate=True)
    except (TypeError, binascii.Error):
        raise ValueError("must be bytes in base64") from None
    if len(data) > MAX_STATES_BYTES:
        raise ValueError(f"must have at most {MAX_STATES_BYTES:,} bytes")
    return data


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object in a text.

    Raises:
        ValueError: the text is not a JSON object, or is nested too deeply.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("must be JSON") from None
    if not isinstance(found, dict) or rules.is_too_deep(found):
        raise ValueError(f"must be a JSON object of at most {rules.MAX_LEVELS} levels")
    return found


def _check_key_length(text: str) -> str:
    if len(text.encode()) > MAX_KEY_BYTES:
        raise ValueError(f"must have at most {MAX_KEY_BYTES:,} bytes")
    return text


When: TypeAlias = Annotated[datetime, PlainValidator(_parse_instant)]
Recorded: TypeAlias = Annotated[When, AfterValidator(_check_recorded)]
Days: TypeAlias = Annotated[float, PlainValidator(_parse_days)]
"""Time constant in days; inf for no decay."""
TokenStates: TypeAlias = Annotated[bytes, PlainValidator(_parse_bytes)]
Vector: TypeAlias = Annotated[Any, PlainValidator(_parse_vector)]
"""float32[n]; n is `dimension` of the validation's context."""
Key: TypeAlias = Annotated[Text, Field(min_length=1), AfterValidator(_check_key_length)]
"""Folded name, short enough for an index."""
