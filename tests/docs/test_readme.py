"""The README and the pages that continue it are followed as a newcomer would."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from bench.browser import Window
from tests.docs.conftest import FENCED, Environ, Follow, python
from tests.plugins.loops import run_apart

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = FENCED.findall(README)
BROWSER = (ROOT / "docs" / "how-to" / "browser.md").read_text("utf-8")
SERVERS = (ROOT / "docs" / "how-to" / "servers.md").read_text("utf-8")


def test_the_main_job_runs_twice_and_adds_nothing_the_second_time(follow: Follow) -> None:
    command = re.search(r"pip install '\.\[local\]' && (.+?) +#", README)
    assert command is not None
    first = follow(command[1].split())
    assert "159 messages, 159 of them new." in first
    for words in ("exact dup", "near dup", "rejected by hygiene", "since a fact differs"):
        assert words in first
    assert "I deploy Tidepool from Atlas." in first
    assert "By similarity alone the answer is Borealis. Belief answers Atlas" in first
    tenant_scope = "--tenant demo --scope user:alice"
    assert f"graphmem server browse slot Alice deploys_from {tenant_scope}\n" in first
    assert "AKIA" not in first, "a refused secret is never shown"
    second = follow(command[1].split())
    assert "159 messages, 0 of them new." in second
    new = re.search(r"^new +(\d+)", second, re.MULTILINE)
    assert new is not None
    assert new[1] == "0"


@pytest.mark.system
def test_the_way_from_the_demo_to_a_picture(
    follow: Follow, newcomer: Environ, window: Window, tmp_path: Path
) -> None:
    """Go from the demo to the reasons of a belief and its picture in Neo4j Browser."""
    [(_, tour)] = FENCED.findall(BROWSER)
    opened = tmp_path / "opened"
    # A desktop calls this program to open a link.
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n')
    opener.chmod(0o700)
    path = f'PATH="{tmp_path}:$PATH"'
    printed = follow(["bash", "-ec", f"graphmem demo > /dev/null; {path}\n{tour}"])
    for words in ("Atlas", "Borealis", "Alice deploys Tidepool from Atlas", "/browser/?dbms="):
        assert words in printed
    files = tmp_path / "files"
    follow(["graphmem", "admin", "browser", "--output", str(files)])
    link = opened.read_text().strip()
    secret = (Path(newcomer["GRAPHMEM_HOME"]) / "server" / "password").read_text().strip()
    assert secret not in printed + link

    window.open(link, secret)
    window.drop(files / "graphmem.grass", "{statement}")
    window.open(link, secret)
    drawn = window.run()

    assert drawn.edges == {"SUPPORTS": 3, "QUOTES": 3, "OCCURRED_IN": 6}
    captions = " ".join(drawn.captions)
    for words in ("deploys", "Borealis", "Atlas", "I deploy", "deploys_from"):
        assert words in captions
    # Its sessions are named by their dates, of which the last is some days ago.
    assert len(set(re.findall(r"\b20\d\d-\d\d-\d\d\b", captions))) == 3


@pytest.mark.system
def test_the_way_from_the_demo_to_an_agent(follow: Follow, newcomer: Environ) -> None:
    """The pasted configuration starts a server that gives the answer of the demo."""
    [command] = [text for kind, text in BLOCKS if kind == "bash"]
    printed = json.loads(follow(["bash", "-ec", f"graphmem demo > /dev/null; {command}"]))
    pasted = printed["mcpServers"]["graphmem"]
    started = StdioServerParameters(
        command=pasted["command"], args=pasted["args"], env=newcomer | pasted.get("env", {})
    )

    async def asked() -> Any:
        async with Client(stdio_client(started)) as client:
            slot = {"subject": "Alice", "predicate": "deploys_from"}
            while (found := await client.call_tool("current", slot)).is_error:
                assert "still_starting" in str(found.content)
            return found.structured_content

    believed = run_apart(asked())
    assert believed["leader"] == "Atlas"
    assert {one["object"] for one in believed["candidates"]} == {"Atlas", "Borealis"}


def test_the_quickstart_prints_what_the_page_shows(follow: Follow) -> None:
    (_, script), (_, shown) = BLOCKS[:2]
    assert follow(python(script)) == shown


@pytest.mark.system
def test_the_store_of_langgraph_opens(follow: Follow) -> None:
    assert follow(python(BLOCKS[3][1])) == ""


def test_the_compose_block_names_what_the_compose_file_wants() -> None:
    block = next(text for _, text in FENCED.findall(SERVERS) if "docker" in text)
    compose = (ROOT / "docker-compose.yml").read_text("utf-8")
    assert "GRAPHMEM_PASSWORD" in block
    assert "GRAPHMEM_PASSWORD" in compose
    assert "7687" in compose
    assert "docker compose up --detach --wait" in block
    assert "healthcheck" in compose, "--wait waits for health"


def test_the_second_command_is_what_ci_runs() -> None:
    command = re.search(r"pip install '(\.\[dev\])' && (\w+)", README)
    assert command is not None
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    assert f"'{command[1]}'" in ci
    assert re.search(rf"^{command[2]}\b", ci, re.MULTILINE)
    assert "GRAPHMEM_REQUIRE_SERVER=1" in ci


def test_every_block_is_followed_by_a_test() -> None:
    assert [kind for kind, _ in BLOCKS] == ["python", "text", "bash", "python"]


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 120
    assert len(BLOCKS[0][1].splitlines()) <= 16
