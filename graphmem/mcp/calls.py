"""Tool definitions, their argument types and schemas, and failure results."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mcp_types import Tool as Listed
from pydantic import BaseModel, Field

from graphmem.errors import GraphmemError
from graphmem.model import AsOf, Instant, Name, Record, Text
from graphmem.rules.context import escape_json

if TYPE_CHECKING:
    from graphmem.client import AsyncSession


Strength = Annotated[float, Field(ge=0.5, le=0.9, allow_inf_nan=False)]
"""Strength of evidence; below 0.5 it has the opposite effect, above 0.9 an agent is too
confident."""
Prior = Annotated[float, Field(ge=0.1, le=0.9, allow_inf_nan=False)]
"""Confidence of a hypothesis before any evidence."""
Question = Annotated[Text, Field(min_length=1, max_length=100_000, pattern=r"\S")]
Rows = Annotated[int, Field(ge=1, le=100)]
"""Number of rows; at most 100, so that an answer fits into a model's context."""
Reason = Annotated[Text, Field(max_length=10_000)]


Session = Annotated[
    Name | None, Field(description="Name of this conversation, the same in every call")
]
When = Annotated[
    AsOf | None,
    Field(description="Answer as of these times: true then (valid), recorded by then (known)"),
]
At = Annotated[Instant | None, Field(description="Time of the event, with time zone; default now")]
Turn = Annotated[
    Name | None, Field(description="Id of the turn (from add_messages) that it quotes")
]
NotedWhy = Annotated[Reason | None, Field(description="Reason, as text; stored")]


class SessionArguments(Record):
    """Arguments of a tool that belongs to a conversation."""

    session: Session = None


log = logging.getLogger("graphmem.mcp")

LONGEST = 500
"""Maximum length of a message, in characters; it may contain an argument of the caller."""
UNEXPECTED = {
    "code": "internal",
    "message": "The memory server failed unexpectedly.",
    "hint": "Continue without memory; the server's log has the details.",
}


def told(error: Exception) -> dict[str, str]:
    """Return an error as `{code, message, hint}`.

    An unexpected error is logged by type and location only: its text may contain anything.
    """
    if isinstance(error, GraphmemError):
        return {"code": error.code, "message": error.message[:LONGEST], "hint": error.hint}
    places = traceback.extract_tb(error.__traceback__)[-5:]
    way = " < ".join(
        f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in reversed(places)
    )
    log.error("A call failed with %s in %s", type(error).__name__, way)
    return dict(UNEXPECTED)


def answer(error: Exception) -> CallToolResult:
    """Return an error as the result of a tool."""
    text = escape_json(json.dumps(told(error), ensure_ascii=False))
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


Schema = dict[str, Any]

_UNLISTED = frozenset({"title", "maxLength", "minLength", "pattern", "maxItems", "minItems"})
"""Schema keywords that are validated but not listed: they do not help a model to choose values."""
_OF_ARGUMENTS = frozenset({"additionalProperties", "format"})
"""Schema keywords that matter for arguments only."""


def asked(record: type[BaseModel]) -> Schema:
    """Return the schema of arguments; unknown arguments are refused."""
    return _short(record, _UNLISTED)


def given(record: type[BaseModel]) -> Schema:
    """Return the schema of a result, without defaults and nulls."""
    return _short(record, _UNLISTED | _OF_ARGUMENTS)


def _short(record: type[BaseModel], unlisted: frozenset[str]) -> Schema:
    schema = record.model_json_schema()
    text = json.dumps(schema)
    whole: Mapping[str, Schema] = schema.pop("$defs", {})
    # Class docstrings are for programmers; tools and arguments have their own descriptions.
    parts = {n: {k: v for k, v in of.items() if k != "description"} for n, of in whole.items()}
    often = {name for name in parts if text.count(f'"{_path(name)}"') > 1}
    schema.pop("description", None)
    once = {name: part for name, part in parts.items() if name not in often}
    short = _plain(schema, once, unlisted)
    if often:
        short["$defs"] = {name: _plain(parts[name], once, unlisted) for name in sorted(often)}
    return short


def _path(name: str) -> str:
    return f"#/$defs/{name}"


def _plain(schema: Schema, once: Mapping[str, Schema], unlisted: frozenset[str]) -> Schema:
    """Return a schema with references resolved and null alternatives removed."""
    own = {k: v for k, v in schema.items() if k not in unlisted}
    for name, part in once.items():
        if own.get("$ref") == _path(name):
            del own["$ref"]
            return _plain(part | own, once, unlisted)
    if "anyOf" in own:
        [schema] = [part for part in own.pop("anyOf") if part.get("type") != "null"]
        return _plain(schema | own, once, unlisted)
    if own.get("default", ...) in (None, [], "", "current"):
        del own["default"]
    if "properties" in own:
        own["properties"] = {k: _plain(v, once, unlisted) for k, v in own["properties"].items()}
    if "items" in own:
        own["items"] = _plain(own["items"], once, unlisted)
    return own


A = TypeVar("A", bound=Record)


@dataclass(frozen=True)
class ToolCall(Generic[A]):
    """One call of a tool."""

    on: AsyncSession
    """Session of the conversation, on the caller's tenant and scope."""
    asked: A
    actor: str | None
    """Name that the calling agent gave for itself; None if it gave none."""

    def origin(self, *names: str) -> dict[str, Any]:
        """Return the source of a write and those of the named arguments that were given."""
        given = {name: getattr(self.asked, name) for name in names}
        kept = {name: value for name, value in given.items() if value is not None}
        return {"source": "mcp", "actor": self.actor, **kept}


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One tool, named after the client method that it calls."""

    name: str
    title: str
    does: str
    """Short description for the model."""
    asked: type[A]
    gives: type[Record]
    run: Callable[[ToolCall[A]], Awaitable[Record]]
    reads: bool = False
    """Whether it leaves the memory unchanged; writing the search log does not count."""
    idempotent: bool = False
    """Whether repeating the call adds nothing."""
    text: Callable[[Any], str] | None = None
    """Conversion of the result to text; None for JSON."""

    @cached_property
    def listed(self) -> Listed:
        """Return the tool as listed to clients.

        No tool is destructive: events are appended, and hidden items can be restored.
        """
        return Listed(
            name=self.name,
            title=self.title,
            description=self.does,
            input_schema=asked(self.asked),
            output_schema=given(self.gives),
            annotations=ToolAnnotations(
                read_only_hint=self.reads,
                destructive_hint=False,
                idempotent_hint=self.reads or self.idempotent,
                open_world_hint=False,
            ),
        )
