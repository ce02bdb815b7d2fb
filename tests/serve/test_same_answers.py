"""Fifty generated requests have the same answers in Python, over HTTP, from MCP and the CLI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, NamedTuple

from graphmem import AsOf, Handle
from graphmem.rules.plain import plain as plain_data
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.mcp.conftest import Opened, data
from tests.mcp.conftest import environ as environ
from tests.mcp.conftest import opened as opened
from tests.mcp.conftest import settings as settings
from tests.plugins.clients import on_tenant
from tests.plugins.service import Api
from tests.plugins.texts import unlike

REQUESTS = 50


class Request(NamedTuple):
    """One request, and what of its answer each surface shows."""

    method: str
    arguments: dict[str, Any]
    verb: str
    path: str
    command: Sequence[str]
    """Words of the command, before the values of positional arguments."""
    tool: str
    core: Callable[[Any], Any]
    """Returns the part of the answer that a model is shown too."""


def ids(rows: Sequence[Any], *names: str) -> list[Any]:
    """Return the first of these fields that each row has."""
    return [next(row[name] for name in names if name in row) for row in rows]


def written(memory: Handle) -> tuple[list[str], list[str], list[datetime]]:
    """Write memories and beliefs; return their ids, and the times of the writes."""
    memories, beliefs, times = list[str](), list[str](), list[datetime]()
    for n in range(1, 7):
        memories.append(str(memory.remember(unlike(n), tags=["odd"] if n % 2 else []).memory_id))
        value = f"Project {n % 3}"
        at = datetime(2025, n, 1, tzinfo=UTC)
        name = ("alice", "bob")[n % 2]
        beliefs.append(str(memory.observe(name, "works_on", value, at=at).belief_id))
        beliefs.append(memory.believe(unlike(n + 10), confidence=0.6).belief_id)
        times.append(datetime.now(UTC))
    memory.memories.deprecate(memories[0])
    return memories, beliefs, times


def made(by: Random, memories: list[str], beliefs: list[str]) -> Request:
    """Return a request."""
    texts = [unlike(n) for n in (1, 2, 12, 40)] + ["Project 1", "works"]
    limit = by.choice([1, 3, 10])
    kind = by.choice(["recall", "context", "current", "slots", "why", "history", "evidence"])
    if kind == "recall":
        arguments = {"query": by.choice(texts), "limit": limit}
        if by.random() < 0.5:
            arguments["tags"] = ["odd"]
        return Request(
            *("recall", arguments, "POST", "/recall", ["recall"], "recall"),
            lambda found: ids(found["bites"], "item_id", "id"),
        )
    if kind == "context":
        arguments = {"about": by.choice(texts), "tokens": by.choice([150, 400, 800])}
        return Request(
            *("context", arguments, "POST", "/context", ["context"], "context"),
            lambda found: (found["text"], list(found["ids"]), found["left_out"]),
        )
    if kind == "current":
        subject = by.choice(["alice", "bob", "Alice", "carol"])
        arguments = {"subject": subject, "predicate": "works_on", "limit": limit}
        return Request(
            *("current", arguments, "GET", "/beliefs/current", ["belief", "current"], "current"),
            lambda found: ids(found["candidates"], "belief_id", "id"),
        )
    if kind == "slots":
        return Request(
            *("beliefs.slots", {"limit": limit}, "GET", "/beliefs/slots", ["belief", "slots"]),
            "belief_slots",
            lambda found: [(one["subject"], one["predicate"]) for one in found["slots"]],
        )
    if kind == "why":
        one = by.choice(memories)
        return Request(
            *("why", {"item_id": one}, "GET", f"/why/{one}", ["why"], "why"),
            lambda found: ids(found.get("history") or found["memory"]["history"], "event_id", "id"),
        )
    if kind == "history":
        one = by.choice(memories)
        path, command = f"/memories/{one}/history", ["memory", "history"]
        return Request(
            *("memories.history", {"memory_id": one, "limit": limit}, "GET", path, command),
            "memory_history",
            lambda found: ids(
                found if isinstance(found, list) else found["events"], "event_id", "id"
            ),
        )
    one = by.choice(beliefs)
    return Request(
        *("evidence_for", {"belief_id": one}, "GET", f"/beliefs/{one}/evidence"),
        *(["belief", "evidence-for"], "evidence_for"),
        lambda found: ids(found["lines"], "event_id", "id"),
    )


def of_python(memory: Handle, one: Request, moment: dict[str, Any]) -> Any:
    method: Any = memory
    for name in one.method.split("."):
        method = getattr(method, name)
    positional = [one.arguments[name] for name in ("query", "about") if name in one.arguments]
    named = {name: value for name, value in one.arguments.items() if name not in ("query", "about")}
    return plain_data(method(*positional, **named, **moment))


def of_command(run: Run, one: Request, moment: Sequence[str]) -> Any:
    words = list(one.command)
    for name, value in one.arguments.items():
        if name in ("limit", "tokens"):
            words += [f"--{name}", str(value)]
        elif name == "tags":
            words += ["--tag", *value]
    positional = [
        value for name, value in one.arguments.items() if name not in ("limit", "tokens", "tags")
    ]
    done = run(*words, *moment, "--json", "--", *positional)
    assert done.code in (0, 1), done.err
    return done.data


def test_fifty_requests(api: Api, client: Handle, tenant: str, opened: Opened, run: Run) -> None:
    by, memory = Random(43), on_tenant(client, tenant)
    memories, beliefs, times = written(memory)
    call, end = api.of(api.key(tenant)), datetime.now(UTC) + timedelta(seconds=1)
    requests = [
        (one, end if one.arguments.keys() & {"item_id", "memory_id", "belief_id"} else at)
        for one, at in ((made(by, memories, beliefs), by.choice(times)) for _ in range(REQUESTS))
    ]

    async def of_tools() -> list[Any]:
        async with opened(tenant=tenant, scope="global") as tools:
            return [
                await data(tools, one.tool, **one.arguments, as_of=at.isoformat())
                for one, at in requests
            ]

    answers = asyncio.run(of_tools())
    for (one, at), shown in zip(requests, answers, strict=True):
        valid = at.isoformat()
        own = of_python(memory, one, {"as_of": AsOf(valid=at)})
        in_path = {name for name in one.arguments if f"/{one.arguments[name]}" in one.path}
        given = {k: v for k, v in one.arguments.items() if k not in in_path} | {"as_of": valid}
        assert call(one.verb, one.path, given) == own, one
        assert of_command(run, one, ["--as-of", valid]) == own, one
        assert one.core(shown) == one.core(own), one
