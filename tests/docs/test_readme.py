"""The README is followed as a newcomer would: every block runs, every output is what is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem.settings import Settings

pytestmark = [pytest.mark.server, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = FENCED.findall(README)
GRAPHMEM = str(Path(sys.executable).with_name("graphmem"))


@pytest.fixture(scope="module")
def newcomer(
    server_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """An environment without settings, but for a home of its own and the shared cache."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHMEM_")}
    environ |= {
        "GRAPHMEM_HOME": str(tmp_path_factory.mktemp("newcomer")),
        "GRAPHMEM_BOLT_PORT": "0",
        "GRAPHMEM_HTTP_PORT": "0",
        "GRAPHMEM_HEAP": "512m",
        "GRAPHMEM_PAGE_CACHE": "128m",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}",
    }
    if server_settings.cache is not None:
        environ["GRAPHMEM_CACHE"] = str(server_settings.cache)
    yield environ
    subprocess.run([GRAPHMEM, "server", "down"], env=environ, check=True, capture_output=True)


def followed(script: list[str], environ: dict[str, str]) -> str:
    done = subprocess.run(script, env=environ, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_main_job_runs_twice_and_adds_nothing_the_second_time(
    newcomer: dict[str, str],
) -> None:
    command = re.search(r"pip install '\.\[local\]' && (.+?) +#", README)
    assert command is not None
    first = followed(command[1].split(), newcomer)
    assert "159 messages, 159 of them new." in first
    for words in ("word for word", "nearly", "refused by hygiene", "since a fact differs"):
        assert words in first
    assert "I deploy Tidepool from Atlas." in first
    assert "By meaning alone the answer is Borealis. Belief answers Atlas" in first
    assert "/browser/?dbms=" in first
    assert "AKIA" not in first, "a refused secret is never shown"
    second = followed(command[1].split(), newcomer)
    assert "159 messages, 0 of them new." in second
    new = re.search(r"^new +(\d+)", second, re.MULTILINE)
    assert new is not None
    assert new[1] == "0"


def test_the_python_blocks_print_what_the_page_shows(newcomer: dict[str, str]) -> None:
    pythons = [text for kind, text in BLOCKS if kind == "python"]
    shown = [text for kind, text in BLOCKS if kind == "text"]
    for python, expected in zip(pythons, shown, strict=True):
        assert followed([sys.executable, "-W", "error", "-c", python], newcomer) == expected


def test_the_commands_run(newcomer: dict[str, str]) -> None:
    commands = next(text for kind, text in BLOCKS if kind == "bash" and "recall" in text)
    out = followed(["bash", "-ec", commands], newcomer)
    assert "The planning meeting is on Tuesday." in out


def test_the_compose_block_names_what_the_compose_file_wants() -> None:
    block = next(text for kind, text in BLOCKS if kind == "bash" and "docker" in text)
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
    assert [kind for kind, _ in BLOCKS] == ["python", "text"] * 3 + ["bash", "bash"]


def test_the_pages_it_links_to_are_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
