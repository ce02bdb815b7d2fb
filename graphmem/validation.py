"""Validate what callers pass, by the types in the signatures of the methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, GetCoreSchemaHandler, StrictBool, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from graphmem.errors import InvalidInputError

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=BaseModel)

MAX_PROBLEMS = 10
"""Maximum number of invalid fields that an error lists."""
_LISTS = frozenset({"tuple_type", "list_type", "frozen_set_type"})
MAX_STEP = 80
"""Maximum number of characters of a field name in an error."""

Checks = Mapping[str, Callable[..., Any]]


def valid(record: type[M], /, **fields: Any) -> M:
    """Return a validated record of fields that a caller passed."""
    try:
        return record(**fields)
    except ValidationError as error:
        found = _details(error)
    except RecursionError:
        raise _nested(record.__name__) from None
    raise _invalid(found, record.__name__)


def valid_part(record: type[M], given: Mapping[str, Any]) -> M:
    """Return a validated record of those arguments of a method that are its fields."""
    return valid(record, **{name: given[name] for name in record.model_fields if name in given})


def validated(function: F) -> F:
    """Return a function that validates its arguments by their annotations.

    The first parameter is not validated, and neither are defaults. Only types that state a
    constraint are checked: `Annotated` ones, records and bool. Other values pass as they are, for
    the function to check, so that a generator is not consumed and a message keeps its class.
    The first one is the validators' context.
    """

    @wraps(function)
    def checked(first: Any, /, *args: Any, **kwargs: Any) -> Any:
        names, checks = _checks(function)
        given = dict(zip(names, args, strict=False))
        if len(given) < len(args) or given.keys() & kwargs.keys():
            return function(first, *args, **kwargs)  # which raises the usual TypeError
        given |= kwargs
        problems = list[ErrorDetails]()
        for name, value in given.items():
            if name in checks:
                try:
                    given[name] = checks[name](value, context=first)
                except ValidationError as error:
                    problems += [{**one, "loc": (name, *one["loc"])} for one in _details(error)]
                except RecursionError:
                    raise _nested(name) from None
        if problems:
            raise _invalid(problems, "arguments")
        return function(first, **given)

    return cast("F", checked)


@dataclass(frozen=True, slots=True)
class Whole:
    """Annotation of an int: a whole number within limits, and no bool."""

    minimum: int
    maximum: int

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        limits = f"from {self.minimum:,} to {self.maximum:,}"
        return core_schema.custom_error_schema(
            core_schema.int_schema(strict=True, ge=self.minimum, le=self.maximum),
            custom_error_type="whole_number",
            custom_error_message=f"must be a whole number {limits}",
        )


@dataclass(frozen=True, slots=True)
class As:
    """Annotation of what callers may pass for a value of another type, to which it is converted."""

    kind: Any

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.kind)


@dataclass(frozen=True, slots=True)
class ShortId:
    """Annotation of an id of what is stored: a prefix of it may be given, if it is unique."""


@cache
def _checks(function: Callable[..., Any]) -> tuple[tuple[str, ...], Checks]:
    """Return the names of positional parameters after the first, and the validators by name.

    Made at the first call: building them all would slow down the import.
    """
    parameters = list(inspect.signature(function).parameters.values())[1:]
    types = get_type_hints(function, include_extras=True)
    positional = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)
    return positional, {
        p.name: _check(types[p.name]) for p in parameters if _is_constrained(types[p.name])
    }


@cache
def id_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters for which short ids may be given."""
    types = get_type_hints(function, include_extras=True)
    return tuple(name for name, kind in types.items() if _takes_ids(kind))


def _takes_ids(kind: Any) -> bool:
    if isinstance(kind, As):
        return _takes_ids(kind.kind)
    return isinstance(kind, ShortId) or any(map(_takes_ids, get_args(kind)))


def _is_constrained(kind: Any) -> bool:
    if get_origin(kind) in (Union, UnionType):
        return any(map(_is_constrained, get_args(kind)))
    is_record = inspect.isclass(kind) and issubclass(kind, BaseModel)
    return kind is bool or is_record or get_origin(kind) is Annotated


@cache
def _check(kind: Any) -> Callable[[Any], Any]:
    # A text such as "no" would be a yes or a no; only True and False are meant.
    return TypeAdapter(StrictBool if kind is bool else kind).validator.validate_python


def _details(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_input=False, include_url=False)


def _nested(name: str) -> InvalidInputError:
    return InvalidInputError(f"{name}: must not be nested so deeply.")


def _invalid(errors: list[ErrorDetails], name: str) -> InvalidInputError:
    """Return an error about the first invalid fields; a list may have thousands."""
    problems = [f"{_path(one) or name}: {_reason(one)}" for one in errors[:MAX_PROBLEMS]]
    more = len(errors) - len(problems)
    message = "; ".join(problems) + (f"; and {more:,} more." if more else ".")
    return InvalidInputError(message, hint=_hint(errors))


def _path(error: ErrorDetails) -> str:
    """Return the path of an invalid field; long names, which a caller may choose, are truncated."""
    return ".".join(str(step)[:MAX_STEP] for step in error["loc"])


def _reason(error: ErrorDetails) -> str:
    """Return why a field is invalid, in words suitable for texts."""
    limits = error.get("ctx", {})
    match error["type"]:
        case "too_long" if limits.get("field_type") == "Value":
            return f"has more than {limits['max_length']:,} characters"
        case "too_short" if limits.get("field_type") == "Value":
            return "is empty"
        case "string_pattern_mismatch":
            return "is blank"
        case "bool_type":
            return "must be True or False"
        case kind if kind in _LISTS:
            return "must be a list"
    return error["msg"].removeprefix("Value error, ")


def _hint(errors: Iterable[ErrorDetails]) -> str:
    kinds = {one["type"] for one in errors}
    if "timezone_aware" in kinds:
        return "Give a datetime with a time zone, for example datetime.now(UTC)."
    return "Put a single value into a list too." if kinds & _LISTS else ""
