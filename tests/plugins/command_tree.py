"""The tree of the command line."""

from __future__ import annotations

from collections.abc import Iterator

import click

from graphmem.cli import cli


def walk(group: click.Group = cli, path: str = "graphmem") -> Iterator[tuple[str, click.Command]]:
    """Yield the commands and groups below a group with their words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from walk(command, f"{path} {name}")


def leaves() -> dict[str, click.Command]:
    """Return the commands that are no groups, by their words after `graphmem`."""
    return {
        words.removeprefix("graphmem "): command
        for words, command in walk()
        if not isinstance(command, click.Group)
    }
