"""Tools with arguments that no agent should send, and frames that are none: told, never fatal."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from mcp import Client, MCPError

from graphmem import Handle
from graphmem.langgraph import GraphMemStore
from graphmem.mcp import server
from graphmem.mcp.connection import Caller, MemoryConnection
from graphmem.mcp.server import RequestHandler
from graphmem.mcp.tools import TOOLS
from graphmem.settings import Settings
from tests.fuzz import wild
from tests.fuzz.wild import everything_of, refusal
from tests.mcp.conftest import Served, over_http, served_from
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples, few
from tests.plugins.graph import fresh_tenant

pytestmark = pytest.mark.timeout(3_600)

ROOT = Path(__file__).parents[2]
SENSIBLE = {name: dict(tool.example) for name, tool in TOOLS.items()}


@st.composite
def asks(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Draw a tool, what fits it, and one or two arguments that are wild."""
    tool = draw(st.sampled_from(sorted(TOOLS)))
    names = st.sampled_from([*TOOLS[tool].arguments.model_fields, "session_id", "x"])
    given_ = draw(st.dictionaries(names, wild.json_values.map(_sendable), max_size=2))
    return tool, SENSIBLE[tool] | given_


def _sendable(value: Any) -> Any:
    """Return a value as the SDK's client can send it: frames hold surrogates and NaN too."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=True)
    plain = re.sub(r"\b(NaN|-?Infinity)\b", "0", text)
    return json.loads(plain.encode("utf-8", "replace"))


async def answers_of(client: Client, asked: list[tuple[str, dict[str, Any]]]) -> str:
    """Call tools; return all answers and refusals, none of which may be an internal error."""
    answers = []
    for tool, arguments in asked:
        try:
            result = await client.call_tool(tool, arguments)
        except MCPError as error:
            answers.append(str(error))
        else:
            answers.append(json.dumps(result.model_dump(mode="json")))
            assert '\\"internal\\"' not in answers[-1], (tool, arguments)
    return "".join(answers)


@few
@given(asked=st.lists(asks(), min_size=5, max_size=5))
def test_a_tool_answers_or_tells_why_not(
    migrated: Settings, asked: list[tuple[str, dict[str, Any]]]
) -> None:
    assert migrated.password is not None
    known = Settings.load(
        {"GRAPHMEM_EMBEDDER": "hash", "GRAPHMEM_MODEL_KEY": wild.SECRET},
        uri=migrated.uri,
        password=migrated.password,
    )
    who = Caller(fresh_tenant(), "global", read_only=False)

    async def session() -> str:
        desk = RequestHandler(MemoryConnection(known, wait_s=300), lambda _: who, "full")
        async with Client(server.create_server(desk), mode="legacy") as client:
            return await answers_of(client, asked)

    written = asyncio.run(session())
    assert migrated.password.get_secret_value() not in written
    assert wild.SECRET not in written


@pytest.fixture(scope="module")
def environ(migrated: Settings) -> dict[str, str]:
    return served_from(migrated, fresh_tenant())


@pytest.fixture(scope="module")
def over_network(
    environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """One HTTP server for all examples; its log must have no traceback and no secret."""
    errors = tmp_path_factory.mktemp("http") / "errors.txt"
    secret = {"GRAPHMEM_MODEL_KEY": wild.SECRET}
    with asyncio.Runner() as runner:
        serving = over_http(environ | secret, errors=errors)
        found = runner.run(serving.__aenter__())
        yield found
        runner.run(serving.__aexit__(None, None, None))
    log = errors.read_text()
    assert "Traceback" not in log
    for one in (found.key, wild.SECRET, environ["GRAPHMEM_PASSWORD"]):
        assert one not in log


@pytest.mark.system
@hypothesis.settings(max_examples=examples(5, 20, 500))
@given(asked=st.lists(asks(), min_size=20, max_size=20))
def test_a_call_over_http_is_answered_or_refused(
    over_network: Served, environ: dict[str, str], asked: list[tuple[str, dict[str, Any]]]
) -> None:
    async def session() -> str:
        async with over_network.client() as client:
            seen = await answers_of(client, asked)
            assert (await client.list_tools()).tools
        return seen

    seen = asyncio.run(session())
    for secret in (over_network.key, wild.SECRET, environ["GRAPHMEM_PASSWORD"]):
        assert secret not in seen


FRAMES: st.SearchStrategy[bytes] = st.one_of(
    st.binary(max_size=200),
    wild.json_values.map(lambda found: json.dumps(found).encode()),
    st.fixed_dictionaries(
        {},
        optional={
            "jsonrpc": st.just("2.0") | wild.json_values,
            "id": st.integers(5, 99) | wild.json_values,
            "method": st.sampled_from(["tools/call", "tools/list", "resources/read", "ping", "x"])
            | wild.json_values,
            "params": wild.json_values
            | st.fixed_dictionaries(
                {},
                optional={
                    "name": st.sampled_from(sorted(TOOLS)) | wild.json_values,
                    "arguments": wild.json_values,
                    "uri": wild.json_values,
                },
            ),
        },
    ).map(lambda found: json.dumps(found).encode()),
    st.sampled_from([b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe\x00", b"{" + b" " * 10**6]),
).map(lambda frame: frame.replace(b"\n", b" "))


def _framed(number: int, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode()


def served(environ: dict[str, str], frames: list[bytes]) -> tuple[list[Any], str]:
    """Give a server frames on stdin, then a ping; return all that it answers, and its log."""
    hello = _framed(
        1,
        "initialize",
        protocolVersion="2025-06-18",
        capabilities={},
        clientInfo={"name": "fuzz", "version": "1"},
    )
    ready = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    given_ = b"\n".join([hello, ready, *frames, _framed(2, "ping"), b""])
    done = subprocess.run(
        [sys.executable, "-m", "graphmem", "mcp"],
        input=given_,
        env=environ,
        cwd=ROOT,
        capture_output=True,
        timeout=300,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


@hypothesis.settings(max_examples=hypothesis.settings().max_examples // 30)
@given(data=st.data())
def test_a_frame_that_is_none_ends_nothing(environ: dict[str, str], data: st.DataObject) -> None:
    """Many frames to one process: to start it costs more than to give it hundreds."""
    frames = data.draw(st.lists(FRAMES, min_size=20, max_size=60))
    answers, log = served(environ, frames)
    assert {"jsonrpc": "2.0", "id": 2, "result": {}} in answers
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert environ["GRAPHMEM_PASSWORD"] not in f"{answers} {log}"


PATHS = st.lists(wild.texts, max_size=3).map(tuple) | wild.values
OPS = st.one_of(
    st.tuples(PATHS, wild.texts | wild.values).map(lambda given: GetOp(*given)),
    st.tuples(PATHS, wild.texts, wild.values, wild.values).map(lambda given: PutOp(*given)),
    st.tuples(PATHS, wild.values, wild.values, wild.values, wild.values).map(
        lambda given: SearchOp(*given)
    ),
    st.tuples(wild.values, wild.values).map(lambda given: ListNamespacesOp(*given)),
    wild.values,
)


@few
@given(op=OPS)
def test_a_store_takes_an_operation_or_refuses_it(client: Handle, op: Any) -> None:
    store = GraphMemStore(on_tenant(client, fresh_tenant()))
    # LangGraph itself refuses a namespace that is none, before the store sees it.
    with contextlib.suppress(InvalidNamespaceError):
        assert wild.SECRET not in everything_of(refusal(lambda: store.batch([op])))
