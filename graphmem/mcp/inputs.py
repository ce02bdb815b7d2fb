"""Types of times and ids in the tools' arguments, and errors that help a model to correct a call.

An id keeps the name that it has in results. A predicate whose cardinality is unknown needs one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails

from graphmem.errors import InvalidInputError
from graphmem.mcp.written import ArgumentReader, Schema
from graphmem.model import AsOf, Instant
from graphmem.rules import claims
from graphmem.rules.predicates import SINGLE_VALUED

if TYPE_CHECKING:
    from graphmem.client import AsyncSession

M = TypeVar("M", bound=BaseModel)

MAX_PROBLEMS = 5
"""Maximum number of invalid arguments that an error lists."""
MAX_STEP = 80
"""Maximum number of characters of an argument's name in an error."""
_DATES = '"2025-06-01" or "2025-06-01T10:00+02:00" (zone of the server without an offset from UTC)'


BELIEF = "b"
"""Prefix of the ids of beliefs."""
_KINDS = {"m": "memory", BELIEF: "belief", "t": "turn", "ep": "episode"}
_KIND = re.compile(r"([a-z]+)_[0-9a-f]+")

CARDINALITY = (
    "cardinality: is missing, and memory does not know this predicate. It must be "
    '"ONE" if there is one value at a time, so that a new value replaces the old one '
    '(lives_in), or "MANY" if there are several at once, so that a new value is added (likes).'
)
CALL_OBSERVE = "Call observe with cardinality once for the predicate."
EXAMPLE = (
    'Example: {"subject": "alice", "predicate": "likes", "object": "chess", "cardinality": "MANY"}'
)


def _time(form: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "format": form})


Moment: TypeAlias = Annotated[Instant, _time("start")]
"""A timestamp; of a day, a month or a year, the start."""
ZonedMoment: TypeAlias = Annotated[AwareDatetime, _time("start")]
"""A `Moment` that keeps its zone."""
LastMoment: TypeAlias = Annotated[Instant, _time("end")]
"""A timestamp; of a day, a month or a year, the end."""
ReadTime: TypeAlias = Annotated[AsOf, _time("as-of")]
"""A valid time as text, or a map of valid and known time, each as text; their ends."""


def id_of(*kinds: str) -> BeforeValidator:
    """Return a check that an id is of one of these kinds; it takes off the brackets of `context`.

    Args:
        kinds: kinds of item, such as `memory`; ids of events have no prefix.
    """

    def check(given: object) -> object:
        if not isinstance(given, str):
            return given
        item_id = given.strip().removeprefix("[").removesuffix("]")
        found = _KIND.fullmatch(item_id)
        kind = None if found is None else _KINDS.get(found[1])
        if kind is not None and kind not in kinds:
            raise ValueError(f"must be the id of {_one_of(kinds)}, and this is that of {_an(kind)}")
        return item_id

    return BeforeValidator(check)


def _an(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _one_of(kinds: tuple[str, ...]) -> str:
    *first, last = map(_an, kinds)
    return f"{', '.join(first)} or {last}" if first else last


def read(
    arguments: type[M], given: Mapping[str, Any], schema: Schema, zone: str | None
) -> tuple[M, list[str]]:
    """Return the validated arguments of a call, and the names that were ignored.

    Args:
        arguments: record of the arguments.
        given: the arguments by name.
        schema: complete schema of the record, without references.
        zone: zone of times without one; None: the machine's.

    Raises:
        InvalidInputError: an argument is invalid; the message names it and what is allowed.
    """
    reader = ArgumentReader(zone)
    try:
        return arguments(**reader.fields(given, schema)), reader.ignored
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
    except RecursionError:
        raise InvalidInputError("The arguments must not be nested so deeply.") from None
    # Without its invalid items a list is too short as well.
    found = [one for one in found if one["type"] != "too_short"] or found
    # Raised outside `except`: the validation error holds the values and would be chained.
    raise InvalidInputError(problems(found, schema))


def problems(found: Iterable[ErrorDetails], schema: Schema) -> str:
    """Return a sentence for each invalid argument, at most MAX_PROBLEMS."""
    sentences = list(dict.fromkeys(_problem(one, schema) for one in found))
    more = len(sentences) - MAX_PROBLEMS
    rest = f" And {more:,} more." if more > 0 else ""
    return " ".join(sentences[:MAX_PROBLEMS]) + rest


def _problem(error: ErrorDetails, schema: Schema) -> str:
    """Return the name of an invalid argument and what is allowed, as a sentence."""
    name = ".".join(str(step)[:MAX_STEP] for step in error["loc"]) or "it"
    place = _place(error["loc"], schema)
    match error["type"]:
        case "extra_forbidden":
            return f"{name}: is not an argument.{_nearest(error['loc'], schema)}"
        case "missing":
            about = f" ({place['description']})" if "description" in place else ""
            return f"{name}: is missing; it must be {_allowed(place)}{about}."
        case "value_error" if place.get("format") is None:
            return f"{name}: {error['msg'].removeprefix('Value error, ')}."
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
        case "start" | "end", _:
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


async def unknown_predicates(session: AsyncSession, predicates: Iterable[str]) -> set[str]:
    """Return the keys of the predicates that are neither declared nor on the built-in list.

    An agent rarely declares a predicate, and its values would coexist by default, so that a new
    value would not replace an old one. It therefore states the cardinality once.
    """
    unlisted = {claims.predicate_key(name) for name in predicates} - SINGLE_VALUED
    if not unlisted:
        return unlisted
    return unlisted - {claims.predicate_key(one.name) for one in await session.predicates.list()}


def cardinality_missing() -> InvalidInputError:
    """Return the error for a predicate whose cardinality memory does not know."""
    return InvalidInputError(CARDINALITY, hint=f"{CALL_OBSERVE} {EXAMPLE}")
