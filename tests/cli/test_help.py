"""Help pages: summaries are whole, and pages fit a screen."""

from __future__ import annotations

import gc
import importlib

import click
import pytest

from graphmem.cli import cli
from tests.plugins.command_tree import leaves, walk

COLUMNS, LINES = 80, 33


GROUPS = {"graphmem": cli} | {
    path: command for path, command in walk() if isinstance(command, click.Group)
}


def visible_commands(path: str) -> list[click.Command]:
    """Return the commands that the help of a group lists."""
    context = click.Context(GROUPS[path])
    names = GROUPS[path].list_commands(context)
    commands = [GROUPS[path].get_command(context, name) for name in names]
    return [command for command in commands if command is not None and not command.hidden]


@pytest.mark.parametrize("path", GROUPS)
def test_no_summary_is_cut_or_wrapped(path: str) -> None:
    # On a terminal of this width click leaves two columns free.
    context = click.Context(GROUPS[path], info_name=path, terminal_width=COLUMNS - 2)
    page = GROUPS[path].get_help(context)
    rows = page.partition("Commands:\n")[2].splitlines()
    assert len(rows) == len(visible_commands(path))
    assert [row for row in rows if row.endswith("...")] == []


def test_the_first_page_has_the_summaries_of_the_commands() -> None:
    rows = cli.get_help(click.Context(cli, terminal_width=COLUMNS)).splitlines()
    for command in visible_commands("graphmem"):
        summary = command.get_short_help_str(COLUMNS)
        assert any(row.split() == [str(command.name), *summary.split()] for row in rows), summary


COMMANDS = leaves()


@pytest.mark.parametrize("words", COMMANDS)
def test_the_help_of_a_command_fits_a_screen(words: str) -> None:
    page = COMMANDS[words].get_help(click.Context(COMMANDS[words], terminal_width=COLUMNS))
    assert len(page.splitlines()) <= LINES
    assert max(map(len, page.splitlines())) <= COLUMNS


def test_no_garbage_is_looked_for_while_a_command_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collected: list[bool] = []
    load = importlib.import_module

    def look(name: str) -> object:
        collected.append(gc.isenabled())
        return load(name)

    monkeypatch.setattr(importlib, "import_module", look)
    assert cli.get_command(click.Context(cli), "recall") is not None
    assert (collected, gc.isenabled()) == ([False], True)
