"""Run commands and blocks as a newcomer does: without settings, in a terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from graphmem.settings import Settings
from tests.plugins.children import own_server

Environ = dict[str, str]
Follow = Callable[[list[str]], str]
GRAPHMEM = str(Path(sys.executable).with_name("graphmem"))
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="package")
def newcomer(
    server_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Environ]:
    """An environment without settings, but for a home of its own and the shared cache."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHMEM_")}
    environ |= own_server(tmp_path_factory.mktemp("newcomer"), server_settings)
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    yield environ
    subprocess.run([GRAPHMEM, "server", "down"], env=environ, check=True, capture_output=True)


@pytest.fixture
def follow(newcomer: Environ) -> Follow:
    """Return a function that runs a command of a page as a newcomer and returns its output."""
    return partial(run, environ=newcomer)


def run(script: list[str], environ: Environ) -> str:
    """Run a command in this environment and return what it prints."""
    done = subprocess.run(script, env=environ, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python(text: str) -> list[str]:
    """Return the command that runs a block of Python, warnings being errors."""
    return [sys.executable, "-W", "error", "-c", text]


def replied(messages: list[dict[str, str]]) -> str:
    """Return the reply of a language model that reads the block of memory."""
    shown = "".join(message["content"] for message in messages if message["role"] == "system")
    return "You moved to Porto." if "I moved to Porto" in shown else "Noted."
