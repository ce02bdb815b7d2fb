"""Arguments as models write them, and errors that help a model to correct a call.

Dates are texts, a single value may replace a list, and an id keeps the name it has in results. A
predicate whose cardinality is unknown needs one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails

from graphmem.errors import InvalidInputError
from graphmem.model import AsOf, Instant
from graphmem.rules import claims
from graphmem.rules.predicates import SINGLE_VALUED

if TYPE_CHECKING:
    from graphmem.client import AsyncSession

M = TypeVar("M", bound=BaseModel)
Schema = Mapping[str, Any]

MAX_PROBLEMS = 5
"""Maximum number of invalid arguments that an error lists."""
MAX_STEP = 80
"""Maximum number of characters of an argument's name in an error."""
_DATES = '"2025-06-01" or "2025-06-01T10:00+02:00" (UTC without a zone)'


def _moment(given: object) -> object:
    """Return the datetime of an ISO 8601 text, UTC without a zone; other values as they are."""
    if not isinstance(given, str):
        return given
    with suppress(ValueError):
        return datetime.combine(date.fromisoformat(given.strip()), time(), UTC)
    with suppress(ValueError):
        at = datetime.fromisoformat(given.strip())
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return given


def _as_of(given: object) -> object:
    """Return the fields of an `AsOf` for a valid time; other values as they are."""
    if isinstance(given, Mapping):
        return {name: _moment(value) for name, value in given.items()}
    return {"valid": _moment(given)} if isinstance(given, str) else given


def _listed(given: object) -> object:
    """Return a single value as a list; other values as they are."""
    return [given] if isinstance(given, str | Mapping) else given


def _without_brackets(given: object) -> object:
    """Return an id without the brackets in which `context` shows it."""
    return given.strip().removeprefix("[").removesuffix("]") if isinstance(given, str) else given


Moment: TypeAlias = Annotated[
    Instant, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""A timestamp, as ISO 8601 text; a date is its midnight, and a time without a zone is in UTC."""
ReadTime: TypeAlias = Annotated[
    AsOf, BeforeValidator(_as_of), WithJsonSchema({"type": "string", "format": "as-of"})
]
"""A valid time as text, or a map of valid and known time, each as text."""
ONE_OR_MORE = BeforeValidator(_listed)
"""Accepts a single value where a list is expected."""


BRACKETS = BeforeValidator(_without_brackets)
"""Accepts an id in the brackets in which `context` shows it."""


def also(description: str, *names: str) -> Any:
    """Return the field of an argument that is accepted under several names.

    Args:
        description: description of the argument.
        names: its name and then the others, which are not listed.
    """
    return Field(description=description, validation_alias=AliasChoices(*names))


def read(arguments: type[M], given: Mapping[str, Any], schema: Schema) -> M:
    """Return the validated arguments of a call.

    Args:
        arguments: record of the arguments.
        given: the arguments by name.
        schema: complete schema of the record, without references.

    Raises:
        InvalidInputError: an argument is invalid; the message names it and what is allowed.
    """
    try:
        return arguments(**given)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
    except RecursionError:
        raise InvalidInputError("The arguments must not be nested so deeply.") from None
    # Without its invalid items a list is too short as well.
    found = [one for one in found if one["type"] != "too_short"] or found
    # Raised outside `except`: the validation error holds the values and would be chained.
    problems = list(dict.fromkeys(_problem(one, schema) for one in found))
    more = len(problems) - MAX_PROBLEMS
    rest = f" And {more:,} more." if more > 0 else ""
    raise InvalidInputError(" ".join(problems[:MAX_PROBLEMS]) + rest)


def _problem(error: ErrorDetails, schema: Schema) -> str:
    """Return the name of an invalid argument and what is allowed, as a sentence."""
    name = ".".join(str(step)[:MAX_STEP] for step in error["loc"])
    place = _place(error["loc"], schema)
    match error["type"]:
        case "extra_forbidden":
            return f"{name}: is not an argument.{_nearest(error['loc'], schema)}"
        case "missing":
            about = f" ({place['description']})" if "description" in place else ""
            return f"{name}: is missing; it must be {_allowed(place)}{about}."
        case "value_error" if place.get("format") is None:
            return f"{name or 'arguments'}: {error['msg'].removeprefix('Value error, ')}."
        case "string_pattern_mismatch":
            return f"{name}: must not be blank."
        case _:
            return f"{name}: must be {_allowed(place)}."


def _nearest(loc: tuple[int | str, ...], schema: Schema) -> str:
    names = _place(loc[:-1], schema).get("properties", {})
    near = difflib.get_close_matches(str(loc[-1])[:MAX_STEP], names, 1)
    return f" Did you mean {near[0]}?" if near else ""


def _place(loc: tuple[int | str, ...], schema: Schema) -> Schema:
    """Return the part of a schema that an error is about: the innermost one that is known."""
    for step in loc:
        inner = schema.get("items") if isinstance(step, int) else None
        inner = inner or schema.get("properties", {}).get(step)
        if inner is None:
            break
        schema = inner
    return schema


def _allowed(place: Schema) -> str:
    """Return what a part of a schema allows, in words."""
    if "enum" in place:
        return " or ".join(f'"{value}"' for value in place["enum"])
    match place.get("format"), place.get("type"):
        case "date-time", _:
            return f"a date such as {_DATES}"
        case "as-of", _:
            return f'a date such as {_DATES}, or {{"valid": date, "known": date}}'
        case _, "integer" | "number" as kind:
            word = "a whole number" if kind == "integer" else "a number"
            return word + _bounds(place, "minimum", "maximum", "")
        case _, "boolean":
            return "true or false"
        case _, "array":
            size = _bounds(place, "minItems", "maxItems", " items")
            return f"a list{size}, each {_allowed(place['items'])}"
        case _, "object":
            return f"an object with {', '.join(place.get('properties', {}))}"
    return "text" + _bounds(place, "minLength", "maxLength", " characters")


def _bounds(place: Schema, lower: str, upper: str, unit: str) -> str:
    low, high = place.get(lower), place.get(upper)
    if high is None:
        return "" if low is None else f" of at least {low:,}{unit}"
    return f" of at most {high:,}{unit}" if low is None else f" from {low:,} to {high:,}{unit}"


EXAMPLE = (
    'Example: {"subject": "alice", "predicate": "likes", "object": "chess", "cardinality": "MANY"}'
)


async def require_cardinalities(session: AsyncSession, predicates: Iterable[str]) -> None:
    """Check that each predicate is declared or on the built-in list.

    An agent rarely declares a predicate, and its values would coexist by default, so that a new
    value would not replace an old one. It therefore states the cardinality once.

    Raises:
        InvalidInputError: memory does not know the cardinality of a predicate.
    """
    unlisted = {claims.predicate_key(name) for name in predicates} - SINGLE_VALUED
    if not unlisted:
        return
    declared = {claims.predicate_key(one.name) for one in await session.predicates.list()}
    if unlisted - declared:
        raise InvalidInputError(
            "cardinality: is missing, and memory does not know this predicate. It must be "
            '"ONE" if there is one value at a time, so that a new value replaces the old one '
            '(lives_in), or "MANY" if there are several at once, so that a new value is added '
            "(likes).",
            hint=f"Call observe with cardinality once for the predicate. {EXAMPLE}",
        )
