"""Help pages: each summary of a command fits on one line of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from graphmem.cli import cli

COLUMNS = 80


def groups(group: click.Group, path: str) -> Iterator[tuple[str, click.Group]]:
    """Yield a group and its subgroups with their paths."""
    yield path, group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from groups(command, f"{path} {name}")


GROUPS = dict(groups(cli, "graphmem"))


def visible_commands(path: str) -> list[click.Command]:
    """Return the commands that the help of a group lists."""
    context = click.Context(GROUPS[path])
    names = GROUPS[path].list_commands(context)
    commands = [GROUPS[path].get_command(context, name) for name in names]
    return [command for command in commands if command is not None and not command.hidden]


@pytest.mark.parametrize("path", GROUPS)
def test_no_summary_is_cut_or_wrapped(path: str) -> None:
    context = click.Context(GROUPS[path], info_name=path, terminal_width=COLUMNS)
    page = GROUPS[path].get_help(context)
    rows = page.partition("Commands:\n")[2].splitlines()
    assert len(rows) == len(visible_commands(path))
    assert [row for row in rows if row.endswith("...")] == []


def test_the_first_page_has_the_summaries_of_the_commands() -> None:
    rows = cli.get_help(click.Context(cli, terminal_width=COLUMNS)).splitlines()
    for command in visible_commands("graphmem"):
        summary = command.get_short_help_str(COLUMNS)
        assert any(row.split() == [str(command.name), *summary.split()] for row in rows), summary
