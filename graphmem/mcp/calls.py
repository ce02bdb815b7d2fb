"""Tools, their arguments, schemas and failures."""

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
from graphmem.rules.context import escaped

if TYPE_CHECKING:
    from graphmem.client import AsyncSession


Strength = Annotated[float, Field(ge=0.5, le=0.9, allow_inf_nan=False)]
"""Below 0.5 evidence would speak the other way; above 0.9 an agent is too sure."""
Prior = Annotated[float, Field(ge=0.1, le=0.9, allow_inf_nan=False)]
"""Of a hypothesis that nothing speaks for or against yet."""
Question = Annotated[Text, Field(min_length=1, max_length=100_000, pattern=r"\S")]
Rows = Annotated[int, Field(ge=1, le=100)]
"""So many that an answer still fits into a model's context."""
Reason = Annotated[Text, Field(max_length=10_000)]


Session = Annotated[
    Name | None, Field(description="Name of this conversation, the same in every call")
]
When = Annotated[
    AsOf | None,
    Field(description="Answer as of then: what was true (valid), what was recorded (known)"),
]
At = Annotated[Instant | None, Field(description="When it happened, with time zone; default now")]
Turn = Annotated[
    Name | None, Field(description="Id of the turn (of add_messages) whose words it rests on")
]
NotedWhy = Annotated[Reason | None, Field(description="Why, in words; kept")]


class SessionArguments(Record):
    """Arguments of a tool that belongs to a conversation."""

    session: Session = None


log = logging.getLogger("graphmem.mcp")

LONGEST = 500
"""Characters of a message: it may name an argument, which somebody made up."""
UNEXPECTED = {
    "code": "internal",
    "message": "The memory server made a mistake.",
    "hint": "Go on without memory; its log says where it happened.",
}


def told(error: Exception) -> dict[str, str]:
    """Return a failure as `{code, message, hint}`.

    What nobody expected is logged by its kind and its place: its text may hold anything.
    """
    if isinstance(error, GraphmemError):
        return {"code": error.code, "message": error.message[:LONGEST], "hint": error.hint}
    places = traceback.extract_tb(error.__traceback__)[-5:]
    way = " < ".join(f"{one.name} ({one.filename}:{one.lineno})" for one in reversed(places))
    log.error("A call failed with %s in %s", type(error).__name__, way)
    return dict(UNEXPECTED)


def answer(error: Exception) -> CallToolResult:
    """Return a failure as the result of a tool."""
    text = escaped(json.dumps(told(error), ensure_ascii=False))
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


Schema = dict[str, Any]

_UNSAID = frozenset({"title", "maxLength", "minLength", "pattern", "maxItems", "minItems"})
"""Checked, and said when they do not fit; a model is not helped by reading them before."""
_OF_ARGUMENTS = frozenset({"additionalProperties", "format"})
"""What whoever reads a result need not know."""


def asked(record: type[BaseModel]) -> Schema:
    """Return the schema of arguments; what it does not name is refused."""
    return _short(record, _UNSAID)


def given(record: type[BaseModel]) -> Schema:
    """Return the schema of a result, from which defaults and nulls are left out."""
    return _short(record, _UNSAID | _OF_ARGUMENTS)


def _short(record: type[BaseModel], unsaid: frozenset[str]) -> Schema:
    schema = record.model_json_schema()
    text = json.dumps(schema)
    whole: Mapping[str, Schema] = schema.pop("$defs", {})
    # Docstrings of classes are for programmers; a tool and its arguments have words of their own.
    parts = {n: {k: v for k, v in of.items() if k != "description"} for n, of in whole.items()}
    often = {name for name in parts if text.count(f'"{_path(name)}"') > 1}
    schema.pop("description", None)
    once = {name: part for name, part in parts.items() if name not in often}
    short = _plain(schema, once, unsaid)
    if often:
        short["$defs"] = {name: _plain(parts[name], once, unsaid) for name in sorted(often)}
    return short


def _path(name: str) -> str:
    return f"#/$defs/{name}"


def _plain(schema: Schema, once: Mapping[str, Schema], unsaid: frozenset[str]) -> Schema:
    """Return a schema with what it refers to put in place and its null alternatives left out."""
    own = {k: v for k, v in schema.items() if k not in unsaid}
    for name, part in once.items():
        if own.get("$ref") == _path(name):
            del own["$ref"]
            return _plain(part | own, once, unsaid)
    if "anyOf" in own:
        [some] = [one for one in own.pop("anyOf") if one.get("type") != "null"]
        return _plain(some | own, once, unsaid)
    if own.get("default", ...) in (None, [], "", "current"):
        del own["default"]
    if "properties" in own:
        own["properties"] = {k: _plain(v, once, unsaid) for k, v in own["properties"].items()}
    if "items" in own:
        own["items"] = _plain(own["items"], once, unsaid)
    return own


A = TypeVar("A", bound=Record)


@dataclass(frozen=True)
class ToolCall(Generic[A]):
    """One call of a tool."""

    on: AsyncSession
    """The conversation that it belongs to, on the caller's own tenant and scope."""
    asked: A
    actor: str | None
    """Which agent calls, as it calls itself."""

    def origin(self, *names: str) -> dict[str, Any]:
        """Return where a write comes from, and those of its arguments that were given."""
        told = {name: getattr(self.asked, name) for name in names}
        kept = {name: value for name, value in told.items() if value is not None}
        return {"source": "mcp", "actor": self.actor, **kept}


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One tool; it is named after the client's method that it calls."""

    name: str
    title: str
    does: str
    """For the model, in few words."""
    asked: type[A]
    gives: type[Record]
    run: Callable[[ToolCall[A]], Awaitable[Record]]
    reads: bool = False
    """Nothing that is remembered changes; the search log is no part of that."""
    idempotent: bool = False
    """The same call again adds nothing."""
    text: Callable[[Any], str] | None = None
    """The result for a reader; None: as JSON."""

    @cached_property
    def listed(self) -> Listed:
        """The tool as clients see it.

        Nothing is destructive: events are appended, and what a tool hides comes back by another.
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
