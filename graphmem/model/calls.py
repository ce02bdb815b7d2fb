"""The call of a server's client that the current task answers."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Call:
    """A call that a server answers: its id, and the state of the graph that it must see."""

    id: str
    """Every transaction carries it, so that Neo4j's logs name the call."""
    bookmarks: tuple[str, ...] = ()
    """Bookmarks that its client has seen, on any server; the call sees these writes."""
    reached: tuple[str, ...] = ()
    """Bookmarks of its newest write, else of its newest read."""
    wrote: bool = False


CALL: ContextVar[Call | None] = ContextVar("graphmem_call", default=None)
"""The call that the current task answers."""
