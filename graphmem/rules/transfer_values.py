"""The types of values in an export: what a file may hold, and as what the graph takes it."""

from __future__ import annotations

import base64
import binascii
import json
import math
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import AfterValidator, Field, PlainValidator, Strict, ValidationInfo

from graphmem.model import Name, Text
from graphmem.rules import nesting

LONGEST_NORM = 1e6
"""Length of an embedding. Those of models are about 1; the squares of much longer ones overflow."""
LONGEST_KEY = 6_500
"""Octets of UTF-8: an index takes some 8,000, of which tenant and scope need up to 1,600."""


def _only(given: object, name: str) -> Any:
    """Return what a map of one entry holds: how a file writes what JSON lacks."""
    if not isinstance(given, dict) or list(given) != [name]:
        raise ValueError(f'must be a map with the one entry "{name}"')
    return given[name]


def _instant(given: object) -> datetime:
    text = _only(given, "instant")
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError("must be an instant in ISO 8601 with its time zone, in the years 1 to 9999")


def _recorded(at: datetime) -> datetime:
    # Readers reckon some time back and forth from it.
    if not 1970 <= at.year < 9999:
        raise ValueError("must be an instant at which a server can have recorded something")
    return at


def _days(given: object) -> object:
    if given == {"float": "inf"}:
        return math.inf
    if isinstance(given, float | int) and not isinstance(given, bool) and 0 < given < math.inf:
        return float(given)
    raise ValueError('must be a number greater than 0 or {"float": "inf"}')


def _vector(given: object, info: ValidationInfo) -> Any:
    dimension = (info.context or {})["dimension"]
    try:
        octets = base64.b64decode(_only(given, "vector"), validate=True)
    except (TypeError, binascii.Error):
        raise ValueError("must be 32-bit floats in base64") from None
    if len(octets) != 4 * dimension:
        raise ValueError(f"must have {dimension} dimensions, as the header says")
    found = np.frombuffer(octets, dtype="<f4").astype(np.float32)
    # The server refuses to compare a vector without a direction; NaN fails this, too.
    if not 0 < float(np.linalg.norm(found.astype(np.float64))) <= LONGEST_NORM:
        raise ValueError("must be finite numbers, not all of them 0")
    return found


def loaded(text: str) -> dict[str, Any]:
    """Return the JSON object that a text holds.

    Raises:
        ValueError: it holds something else, or is nested too deeply.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("must be JSON") from None
    if not isinstance(found, dict) or nesting.is_too_deep(found):
        raise ValueError(f"must be a JSON object of at most {nesting.MOST_LEVELS} levels")
    return found


def _fits_index(text: str) -> str:
    if len(text.encode()) > LONGEST_KEY:
        raise ValueError(f"must have at most {LONGEST_KEY:,} octets")
    return text


When: TypeAlias = Annotated[datetime, PlainValidator(_instant)]
Recorded: TypeAlias = Annotated[When, AfterValidator(_recorded)]
Days: TypeAlias = Annotated[float, PlainValidator(_days)]
"""inf: what never fades."""
Vector: TypeAlias = Annotated[Any, PlainValidator(_vector)]
"""float32[n]; n is `dimension` of the validation's context."""
Id: TypeAlias = Annotated[Text, Field(min_length=1, max_length=500)]
"""Those that callers give have at most 200 characters, and some are made of these."""
Key: TypeAlias = Annotated[Text, Field(min_length=1), AfterValidator(_fits_index)]
"""A folded name."""
Scope: TypeAlias = Name
Count: TypeAlias = Annotated[int, Strict(), Field(ge=0, le=2**53)]
Number: TypeAlias = Annotated[float, Strict(), Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Unit: TypeAlias = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
Strength: TypeAlias = Annotated[float, Strict(), Field(ge=0.1, le=0.9, allow_inf_nan=False)]
"""As the sequential test counts it: its logarithm is finite."""
Rate: TypeAlias = Annotated[float, Strict(), Field(ge=0, le=1_000, allow_inf_nan=False)]
Flag: TypeAlias = Annotated[bool, Strict()]
Begun: TypeAlias = Annotated[list[Count], Field(min_length=2, max_length=2)]
"""When, and in which place of a batch."""
