"""What a tool is: its words, its schemas, what clients may expect of it, and the call it makes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mcp_types import Tool as Listed
from mcp_types import ToolAnnotations

from graphmem.mcp import schemas
from graphmem.model import Record

if TYPE_CHECKING:
    from graphmem.client import AsyncSession

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
            input_schema=schemas.asked(self.asked),
            output_schema=schemas.given(self.gives),
            annotations=ToolAnnotations(
                read_only_hint=self.reads,
                destructive_hint=False,
                idempotent_hint=self.reads or self.idempotent,
                open_world_hint=False,
            ),
        )
