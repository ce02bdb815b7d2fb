"""One memory behind three interfaces: Python, MCP and the command line."""

from __future__ import annotations

import asyncio
import contextlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from mcp import Client

from graphmem import Handle
from graphmem.errors import GraphmemError
from graphmem.mcp import server
from graphmem.mcp.connection import Caller, MemoryConnection
from graphmem.mcp.server import RequestHandler
from graphmem.mcp.tools import TOOLS
from graphmem.settings import Settings
from tests.cli.conftest import Run
from tests.mcp.conftest import answer, text_of

GLOBAL = "global"


class RefusedError(Exception):
    """An interface refused a write; contains its words."""


class Surface(ABC):
    """The operations of a user on a tenant, through one interface."""

    @abstractmethod
    def remember(self, text: str, scope: str = GLOBAL) -> str:
        """Store a text and return the id of its memory.

        Raises:
            RefusedError: nothing was stored.
        """

    @abstractmethod
    def supersede(self, memory_id: str, text: str, scope: str = GLOBAL) -> None:
        """Replace a memory.

        Raises:
            RefusedError: nothing was stored.
        """

    @abstractmethod
    def observe(self, subject: str, predicate: str, value: str, scope: str = GLOBAL) -> str:
        """Record a fact and return the id of its event."""

    @abstractmethod
    def retract(self, event_id: str, scope: str = GLOBAL) -> None:
        """Take an event of evidence back."""

    @abstractmethod
    def reject(self, subject: str, predicate: str, value: str, scope: str = GLOBAL) -> None:
        """Reject a value that was observed."""

    @abstractmethod
    def current(self, subject: str, predicate: str, scope: str = GLOBAL) -> list[str]:
        """Return the values of a slot that are believed, best first."""

    @abstractmethod
    def forget(self, memory_id: str, scope: str = GLOBAL) -> None:
        """Erase a memory."""

    @abstractmethod
    def recall(self, query: str, scope: str = GLOBAL, limit: int = 10) -> list[str]:
        """Return the texts that match a question."""

    @abstractmethod
    def prompt(self, query: str, scope: str = GLOBAL, tokens: int = 800) -> str:
        """Return the block for a prompt; empty if nothing matches."""


class InPython(Surface):
    """The Python client."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def remember(self, text: str, scope: str = GLOBAL) -> str:
        done = self._handle.scope(scope).remember(text)
        return stored(done.memory_id, done.hygiene_reasons)

    def supersede(self, memory_id: str, text: str, scope: str = GLOBAL) -> None:
        self._handle.scope(scope).supersede(memory_id, text)

    def observe(self, subject: str, predicate: str, value: str, scope: str = GLOBAL) -> str:
        return self._handle.scope(scope).observe(subject, predicate, value).event_id

    def retract(self, event_id: str, scope: str = GLOBAL) -> None:
        self._handle.scope(scope).beliefs.retract(event_id)

    def reject(self, subject: str, predicate: str, value: str, scope: str = GLOBAL) -> None:
        self._handle.scope(scope).reject((subject, predicate, value), reason="wrong")

    def current(self, subject: str, predicate: str, scope: str = GLOBAL) -> list[str]:
        found = self._handle.scope(scope).current(subject, predicate).candidates
        return [one.object for one in found if one.belief > 0]

    def forget(self, memory_id: str, scope: str = GLOBAL) -> None:
        self._handle.scope(scope).forget("memory", memory_id, dry_run=False)

    def recall(self, query: str, scope: str = GLOBAL, limit: int = 10) -> list[str]:
        return [one.text for one in self._handle.scope(scope).recall(query, limit=limit).bites]

    def prompt(self, query: str, scope: str = GLOBAL, tokens: int = 800) -> str:
        return self._handle.scope(scope).context(query, tokens=tokens).text


def stored(memory_id: str | None, why: object) -> str:
    """Return the id of a memory that was stored."""
    if memory_id is None:
        raise RefusedError(str(why))
    return memory_id


class OverMcp(Surface):
    """The MCP server in this process, with all its tools; each call is a session of its own."""

    def __init__(self, settings: Settings, tenant: str, person: Handle) -> None:
        self._settings = settings
        self._tenant = tenant
        self._person = person
        self._calls = 0

    def call(self, scope: str, name: str, /, **arguments: Any) -> tuple[str, Any]:
        """Call a tool and return its text and its data.

        Raises:
            RefusedError: the tool returned an error.
        """
        return asyncio.run(self._call(scope, name, arguments))

    async def _call(self, scope: str, name: str, arguments: dict[str, Any]) -> tuple[str, Any]:
        caller = Caller(self._tenant, scope, False)
        connection = MemoryConnection(self._settings, wait_s=300)
        handler = RequestHandler(connection, lambda _: caller, "full")
        made = server.create_server(handler)
        async with Client(made, mode="legacy") as client:
            result = await answer(client, name, arguments)
        if result.is_error:
            raise RefusedError(text_of(result))
        return text_of(result), result.structured_content

    def _session(self) -> str:
        # A text that one session returned is an echo there and a statement elsewhere.
        self._calls += 1
        return f"session {self._calls}"

    def remember(self, text: str, scope: str = GLOBAL) -> str:
        _, done = self.call(scope, "remember", content=text, session_id=self._session())
        return stored(done.get("memory_id"), done.get("hygiene_reasons"))

    def supersede(self, memory_id: str, text: str, scope: str = GLOBAL) -> None:
        named = {"memory_id": memory_id, "content": text, "session_id": self._session()}
        self.call(scope, "supersede", **named)

    def observe(self, subject: str, predicate: str, value: str, scope: str = GLOBAL) -> str:
        named = {"subject": subject, "predicate": predicate, "object": value}
        _, done = self.call(scope, "observe", **named, cardinality="ONE")
        return str(done["event_id"])

    def retract(self, event_id: str, scope: str = GLOBAL) -> None:
        self.call(scope, "belief_retract", event_id=event_id)

    def reject(self, subject: str, predicate: str, value: str, scope: str = GLOBAL) -> None:
        # No tool rejects: a person decides.
        self._person.scope(scope).reject((subject, predicate, value), reason="wrong")

    def tools(self) -> list[str]:
        """Return the names of all tools."""
        return list(TOOLS)

    def current(self, subject: str, predicate: str, scope: str = GLOBAL) -> list[str]:
        _, slot = self.call(scope, "current", subject=subject, predicate=predicate)
        return [one["object"] for one in slot["candidates"] if one["belief"] > 0]

    def forget(self, memory_id: str, scope: str = GLOBAL) -> None:
        _, plan = self.call(scope, "forget", item_id=memory_id)
        self.call(scope, "forget", item_id=memory_id, confirm=plan["confirm"])

    def recall(self, query: str, scope: str = GLOBAL, limit: int = 10) -> list[str]:
        _, found = self.call(scope, "recall", query=query, limit=limit)
        return [one["text"] for one in found["bites"]]

    def prompt(self, query: str, scope: str = GLOBAL, tokens: int = 800) -> str:
        return self.call(scope, "context", about=query, tokens=tokens)[0]


class OnCommandLine(Surface):
    """`graphmem`, in this process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._runs = 0

    def _printed(self, *args: str) -> str:
        ran = self._run(*args)
        if ran.code:
            raise RefusedError(ran.out + ran.err)
        return ran.out

    def _data(self, *args: str) -> Any:
        return json.loads(self._printed(*args, "--json"))

    def _session(self) -> tuple[str, str]:
        self._runs += 1
        return ("--session", f"session {self._runs}")

    def remember(self, text: str, scope: str = GLOBAL) -> str:
        done = self._data("memory", "remember", text, "--scope", scope)
        return stored(done.get("memory_id"), done.get("hygiene_reasons"))

    def supersede(self, memory_id: str, text: str, scope: str = GLOBAL) -> None:
        self._data("memory", "supersede", memory_id, text, "--scope", scope)

    def observe(self, subject: str, predicate: str, value: str, scope: str = GLOBAL) -> str:
        done = self._data("belief", "observe", subject, predicate, value, "--scope", scope)
        return str(done["event_id"])

    def retract(self, event_id: str, scope: str = GLOBAL) -> None:
        self._data("belief", "retract", event_id, "--scope", scope)

    def reject(self, subject: str, predicate: str, value: str, scope: str = GLOBAL) -> None:
        given = (subject, predicate, value, "--reason", "wrong", "--scope", scope)
        self._data("belief", "reject", *given)

    def current(self, subject: str, predicate: str, scope: str = GLOBAL) -> list[str]:
        slot = self._data("belief", "current", subject, predicate, "--scope", scope)
        return [one["object"] for one in slot["candidates"] if one["belief"] > 0]

    def forget(self, memory_id: str, scope: str = GLOBAL) -> None:
        self._data("memory", "forget", "memory", memory_id, "--apply", "--scope", scope)

    def recall(self, query: str, scope: str = GLOBAL, limit: int = 10) -> list[str]:
        given = ("recall", query, "--limit", str(limit), "--scope", scope, *self._session())
        return [one["text"] for one in self._data(*given)["bites"]]

    def prompt(self, query: str, scope: str = GLOBAL, tokens: int = 800) -> str:
        given = ("context", query, "--tokens", str(tokens), "--scope", scope, *self._session())
        return self._printed(*given)


def refused(write: Callable[[], object]) -> bool:
    """Return whether a write was refused."""
    with contextlib.suppress(RefusedError, GraphmemError):
        write()
        return False
    return True
