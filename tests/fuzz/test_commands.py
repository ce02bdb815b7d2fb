"""The command line, given what a shell may give it: a documented exit code and no traceback."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import click
import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.cli import main
from graphmem.settings import Settings
from tests.fuzz import wild
from tests.plugins.children import variables_of
from tests.plugins.command_tree import leaves
from tests.plugins.examples import examples
from tests.plugins.graph import fresh_tenant

pytestmark = pytest.mark.timeout(3_600)

CODES = {0, 1, 2, 3, 4, 5, 130}
LEFT_OUT = {
    "demo": "starts a server",
    "mcp": "serves until it is ended",
    "browse": "opens a browser",
    "admin metrics serve": "the same",
    "server up": "starts a server",
    "server down": "ends one",
    "server backup": "stops a server, and writes a file",
    "server restore": "stops a server",
    "worker": "runs until it is stopped",
    "usage dashboard": "may stay",
    "consolidate": "may stay",
    "admin migrate": "the schema is everybody's",
    "admin reembed": "the embedding model too",
    "admin export": "writes a file",
    "admin completion": "the same",
    "episode graduate": "the same",
    "admin procedures build": "compiles for a second",
}
NOT_GIVEN = {"model", "root", "output", "every", "live"}
"""What fetches, writes files or stays."""


def can_be_given(text: str) -> bool:
    """Tell whether a shell can: of lone surrogates it gives those that stand for odd octets."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


COMMANDS = {words: found for words, found in leaves().items() if words not in LEFT_OUT}
ARGUMENTS: st.SearchStrategy[str] = st.one_of(
    wild.texts,
    wild.numbers.map(str),
    st.sampled_from(["5", "0.5", "2024-05-01T00:00:00Z", "\udcff", "a" * 9_000, "--", "-x"]),
).filter(lambda text: "\0" not in text and len(text) < 100_000 and can_be_given(text))


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """Draw a command, its arguments and some of its options, each with some word."""
    words = draw(st.sampled_from(sorted(COMMANDS)))
    line = words.split()
    options = []
    for one in COMMANDS[words].params:
        if isinstance(one, click.Argument):
            line.append(draw(st.just("alice") | ARGUMENTS))
        elif one.name not in NOT_GIVEN:
            options.append(one)
    for one in draw(st.lists(st.sampled_from(options), max_size=2, unique=True)):
        flag = isinstance(one, click.Option) and one.is_flag
        line += [one.opts[0]] if flag else [one.opts[0], draw(ARGUMENTS)]
    return line


def ran(line: list[str], environ: dict[str, str]) -> tuple[Any, str, str]:
    """Run a command in this process; return its exit code and what it wrote to each stream."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", how) for how in ("strict", "backslashreplace")
    )
    with mock.patch.dict(os.environ, environ), redirect_stdout(out), redirect_stderr(err):
        with pytest.raises(SystemExit) as ended:
            main(line)
        for stream in (out, err):
            stream.flush()
    shown, told = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err))
    return ended.value.code or 0, shown, told


@pytest.fixture(scope="module")
def environ(
    migrated: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("apart"))
    yield variables_of(migrated, fresh_tenant()) | {
        "GRAPHMEM_MODEL_KEY": wild.SECRET,
        "GRAPHMEM_EMBEDDER": "hash",
        "GRAPHMEM_HOME": str(Path.cwd()),
    }
    os.chdir(before)


@hypothesis.settings(max_examples=examples(30, 200, 2_000))
@given(line=lines())
def test_a_command_ends_with_a_code_that_is_told(environ: dict[str, str], line: list[str]) -> None:
    code, out, err = ran(line, environ)
    written = out + err
    assert code in CODES, written
    assert "Traceback" not in written
    assert environ["GRAPHMEM_PASSWORD"] not in written
    assert wild.SECRET not in written


def test_every_command_is_run_but_for_those_with_a_reason() -> None:
    assert leaves().keys() == COMMANDS.keys() | LEFT_OUT.keys()
