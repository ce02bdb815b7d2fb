"""The way to the terminal: no text that goes through it is obeyed, or read as markup."""

from __future__ import annotations

import io
import json
import sys
import threading
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from hypothesis import given
from pydantic import BaseModel
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from graphmem.cli import terminal
from graphmem.cli.app import show_error
from graphmem.cli.console import MARK, Console, TaskLabel, TaskProgress
from graphmem.errors import InvalidInputError
from graphmem.rules import display
from tests.plugins import hostile


def printed(view: RenderableType, *, width: int = 60, terminal: bool = False) -> str:
    """Return what our console writes of a view."""
    out = io.StringIO()
    colours = "truecolor" if terminal else None
    Console(file=out, width=width, force_terminal=terminal, color_system=colours).print(view)
    return out.getvalue()


def views(text: str) -> list[RenderableType]:
    """Return a text in all places of a view."""
    table = Table("head", text, title=text, caption=text)
    table.add_row(text, Text(text, style="red"))
    tree = Tree(text)
    tree.add(text)
    return [text, Text(text), table, tree, Group(text, Text(text))]


@given(hostile.texts)
def test_a_view_that_forgot_writes_nothing_that_is_obeyed(text: str) -> None:
    for view in views(text):
        assert hostile.found_in(printed(view)) == set()
        assert hostile.found_in(printed(view, terminal=True), styled=True) == set()


@pytest.mark.parametrize("text", hostile.MARKUP)
def test_markup_is_text(text: str) -> None:
    for view in views(text):
        assert text in printed(view, width=400)
    assert printed(text, terminal=True) == text + "\n"


@given(hostile.texts)
def test_a_progress_bar_shows_its_description_on_one_line(text: str) -> None:
    out = io.StringIO()
    console = Console(file=out, width=10_000)
    with Progress(TaskLabel(), BarColumn(), console=console) as bars:
        bars.add_task(text, total=1)
    assert hostile.found_in(out.getvalue()) == set()
    assert display.line(text).strip() in out.getvalue()
    assert len(out.getvalue().splitlines()) <= 2


def test_progress_of_nothing_prints_nothing() -> None:
    out = io.StringIO()
    with TaskProgress(console=Console(file=out)) as bars:
        bars.add_task("hidden", visible=False)
    assert out.getvalue() == ""
    with TaskProgress(console=Console(file=out)) as bars:
        bars.add_task("shown")
    assert out.getvalue().startswith("shown")


def test_a_live_view_still_moves_the_cursor() -> None:
    out = io.StringIO()
    console = Console(file=out, width=60, force_terminal=True)
    with Live("one\ntwo", console=console, auto_refresh=False) as live:
        live.update("a\x1b[2J", refresh=True)
    assert "\x1b[1A" in out.getvalue()
    assert "\x1b[2J" not in out.getvalue()


@given(hostile.texts)
def test_no_line_of_a_value_looks_like_a_line_of_the_view(text: str) -> None:
    """However a text breaks or wraps, its other lines begin with a mark."""
    for width in (20, 60):
        first, *more = printed(Text(terminal.visible(text)), width=width).splitlines() or [""]
        assert all(line.startswith(MARK) for line in more)
        assert not first.startswith(MARK) or text.lstrip().startswith(MARK.strip())


def test_a_row_cannot_be_forged() -> None:
    table = Table("id", "text", box=None, pad_edge=False)
    table.add_row("m_1", terminal.visible("one\nm_2  two"))
    table.add_row("m_3", terminal.visible("x" * 90))
    lines = [line for line in printed(table).splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in lines] == ["id", "m_1", "m_3"]


class Colour(StrEnum):
    """A member is no text of anyone."""

    RED = "red\x1b"


class Pair(NamedTuple):
    """A tuple with names."""

    one: str
    two: int


class Kept(BaseModel):
    """A record."""

    text: str
    parts: tuple[str, ...] = ()
    by: dict[str, list[Pair]] = {}


def test_every_text_in_data_is_made_visible() -> None:
    bad, good = "a\x1bb", r"a\x1bb"
    kept = Kept(text=bad, parts=(bad,), by={bad: [Pair(bad, 1)]})
    assert terminal.visible(kept) == Kept(text=good, parts=(good,), by={good: [Pair(good, 1)]})
    assert kept.text == bad
    assert terminal.visible(Colour.RED) is Colour.RED
    assert terminal.visible((None, 1, 2.0, Path("a"))) == (None, 1, 2.0, Path("a"))


@given(hostile.texts)
def test_writers_escape(text: str) -> None:
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", out)
        terminal.echo(text)
        terminal.echo_error("Error: ", text)
        terminal.echo_usage(click.UsageError(text))
        terminal.echo_usage(click.BadParameter(text, param_hint=text))
        terminal.echo_json({"a": text})
        show_error(InvalidInputError(text, hint=text), as_json=False)
        show_error(InvalidInputError(text, hint=text), as_json=True)
    assert hostile.found_in(out.getvalue()) == set()


def test_json_of_an_error_is_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    show_error(InvalidInputError("a\x1b\u202e\ud800", hint="b"), as_json=True)
    written = capsys.readouterr().err
    assert hostile.found_in(written) == set()
    assert json.loads(written)["error"]["message"] == "a\x1b\u202e\ud800"


def test_a_text_that_an_error_quotes_starts_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_error(InvalidInputError("a\nError (forged): b"), as_json=False)
    assert "\nError" not in capsys.readouterr().err


@pytest.mark.parametrize("where", ["process", "thread"])
def test_a_traceback_commands_nothing(
    where: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    terminal.guard()
    try:
        raise ValueError("a\x1b[2J\u202e")
    except ValueError as error:
        told: Any = (type(error), error, error.__traceback__)
    if where == "process":
        sys.excepthook(*told)
    else:
        threading.excepthook(threading.ExceptHookArgs([*told, None]))
    written = capsys.readouterr().err
    assert r"ValueError: a\x1b[2J\u202e" in written
    assert hostile.found_in(written) == set()
