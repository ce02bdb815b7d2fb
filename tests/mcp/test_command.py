"""`graphmem mcp`: printed configurations, token costs and a missing package."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from graphmem.cli import main
from graphmem.mcp import clients
from graphmem.mcp.clients import CLIENTS, Server
from graphmem.mcp.tools import TOOLS, offered
from graphmem.settings import Settings
from tests.cli.conftest import Run, in_process
from tests.mcp.conftest import ROOT, Environ, Opened, data, over_stdio
from tests.plugins.loops import run_apart as run


@pytest.fixture
def printed(
    environ: Environ, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Return a function that runs `graphmem …` in this process."""
    for name, value in environ.items():
        if name.startswith("GRAPHMEM_"):
            monkeypatch.setenv(name, value)

    return in_process(capsys)


def entry(name: str, text: str) -> dict[str, Any]:
    """Return the server entry of a printed block."""
    block = tomllib.loads(text) if name == "codex" else json.loads(text)
    [servers] = [value for key, value in block.items() if key != "inputs"]
    assert servers.keys() == {"graphmem"}
    found: dict[str, Any] = servers["graphmem"]
    return found


@pytest.mark.system
@pytest.mark.parametrize("name", CLIENTS)
def test_the_printed_configuration_starts_the_server(
    graphmem: Run, environ: Environ, name: str, tenant: str
) -> None:
    printed = graphmem("mcp", "--print-config", name, "--scope", "user:alice", "--read-only")
    assert printed.code == 0
    assert CLIENTS[name].title in printed.err
    password = environ["GRAPHMEM_PASSWORD"]
    assert password not in printed.out + printed.err
    found = entry(name, printed.out)
    assert found.get("type") in (None, "stdio")
    assert found["env"].pop("GRAPHMEM_PASSWORD") != password
    assert found["args"][-5:] == ["--tenant", tenant, "--scope", "user:alice", "--read-only"]

    async def session() -> None:
        # A client starts the server like this; its user supplies the secret.
        given = found["env"] | {"GRAPHMEM_PASSWORD": password, "PYTHONPATH": str(ROOT)}
        started = StdioServerParameters(command=found["command"], args=found["args"], env=given)
        async with Client(stdio_client(started), mode="legacy") as client:
            assert "remember" not in {tool.name for tool in (await client.list_tools()).tools}

    run(session())


@pytest.mark.parametrize("name", CLIENTS)
def test_a_printed_url_names_the_variable_of_the_key(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["mcp", "--print-config", name, "--url", "http://127.0.0.1:9999/"])
    printed = capsys.readouterr()
    if CLIENTS[name].url is None:
        assert (ended.value.code, "supports no URLs" in printed.err) == (2, True)
        return
    found = entry(name, printed.out)
    assert "http://127.0.0.1:9999/mcp" in found.values()
    assert "GM_KEY" in printed.out
    assert 'GM_KEY="$(graphmem serve keys create' in printed.err
    assert "command" not in found


def test_a_url_is_for_a_printed_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["mcp", "--url", "http://127.0.0.1:9999"])
    assert (ended.value.code, "--print-config" in capsys.readouterr().err) == (2, True)


def test_a_client_starts_the_server_with_the_chosen_tools(printed: Run) -> None:
    block = printed("mcp", "--print-config", "zed", "--tools", "full").out
    assert entry("zed", block)["args"][-2:] == ["--tools", "full"]
    assert "--tools" not in printed("mcp", "--print-config", "zed").out


def test_each_project_has_a_scope_of_its_own(
    printed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scope_of(folder: Path, *more: str) -> tuple[str, str]:
        monkeypatch.chdir(folder)
        done = printed("mcp", "--print-config", "claude-code", *more)
        args = entry("claude-code", done.out)["args"]
        return args[args.index("--scope") + 1], done.err

    one, other = tmp_path / "one" / "app", tmp_path / "two" / "app"
    for root in (one, other):
        (root / "src" / "deep").mkdir(parents=True)
        (root / ".git").mkdir()
    scope, told = scope_of(one)
    assert scope.startswith("project:app-")
    assert scope in told
    assert scope_of(one / "src" / "deep")[0] == scope != scope_of(other)[0]
    assert scope_of(tmp_path / "one")[0].startswith("project:one-")
    scope, told = scope_of(one, "--scope", "global")
    assert (scope, "project" in told.lower().replace("of the project", "")) == ("global", False)
    monkeypatch.setenv("GRAPHMEM_SCOPE", "team")
    assert scope_of(one)[0] == "team"


def test_secrets_in_addresses_are_not_printed() -> None:
    environ = {
        "GRAPHMEM_URI": "bolt://127.0.0.1:7687",
        "GRAPHMEM_PASSWORD": "opensesame",
        "GRAPHMEM_MODEL_URL": "https://user:opensesame@models.example",
        "GRAPHMEM_EMBEDDER_URL": "https://models.example/?key=opensesame",
        "GRAPHMEM_MODEL_KEY": "opensesame",
        "GRAPHMEM_TENANT": "acme",
        "HOME": "opensesame",
    }
    server = clients.started_by(Settings.load(environ), environ=environ)
    for client in CLIENTS.values():
        assert "opensesame" not in client.text(server)
    assert server.env is not None
    assert {name for name, value in server.env.items() if value is not None} == {"GRAPHMEM_URI"}


def test_settings_of_a_file_are_passed_on_but_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "graphmem.toml"
    file.write_text('uri = "bolt://there"\npassword = "opensesame"\nmetrics = true\n')
    file.chmod(0o600)
    monkeypatch.setenv("GRAPHMEM_CONFIG", str(file))
    server = clients.started_by(Settings.load())
    assert server.env == {"GRAPHMEM_URI": "bolt://there", "GRAPHMEM_METRICS": "true"}


@pytest.mark.parametrize(
    "odd", ['a"b', "a\\b", "ä b", "C:\\Program Files\\x", "new\nline", "\U0001f600"]
)
def test_odd_values_are_quoted_correctly(odd: str) -> None:
    server = Server(command=odd, args=(odd,), env={"GRAPHMEM_HOME": odd})
    for name, client in CLIENTS.items():
        found = entry(name, client.text(server))
        assert (found["command"], found["args"]) == (odd, [odd])
        assert found["env"] == {"GRAPHMEM_HOME": odd}


def test_an_unknown_client_is_refused(printed: Run) -> None:
    done = printed("mcp", "--print-config", "netscape")
    assert (done.code, done.out) == (2, "")
    assert all(name in done.err for name in CLIENTS)


def test_the_help_names_every_client(printed: Run) -> None:
    # A line may break after a hyphen.
    shown = re.sub(r"-\s+", "-", printed("mcp", "--help").out)
    words = set(re.findall(r"[\w-]+", shown))
    assert CLIENTS.keys() <= words


def test_the_tools_are_listed_with_their_token_costs(printed: Run) -> None:
    costs = json.loads(printed("mcp", "--tools", "full", "--list-tools", "--json").out)
    assert {one["name"] for one in costs} == TOOLS.keys()
    assert all(0 < one["tokens_asked"] < one["tokens"] for one in costs)
    core = offered("core", read_only=False).keys()
    costs = json.loads(printed("mcp", "--list-tools", "--json").out)
    assert [one["name"] for one in costs] == list(core)
    shown = printed("mcp", "--list-tools").out
    assert str(sum(one["tokens"] for one in costs)) in shown
    lines = shown.splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == list(core)
    assert max(map(len, lines)) <= 80


def test_without_the_sdk_the_error_names_the_package(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ImportError('not installed')")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from graphmem.cli import main; main(['mcp'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'graphmem[mcp]'" in done.stderr
    assert "configuration" in done.stderr


def test_scopes_are_separate(environ: Environ, opened: Opened) -> None:
    async def session() -> None:
        async with (
            over_stdio(environ, "--scope", "user:alice") as alice,
            opened(scope="user:alice") as again,
            opened(scope="user:bob") as bob,
        ):
            await data(alice, "remember", content="Alice deploys from Atlas.")
            assert (await data(again, "recall", query="deploy"))["bites"]
            assert (await data(bob, "recall", query="deploy"))["bites"] == []

    run(session())
