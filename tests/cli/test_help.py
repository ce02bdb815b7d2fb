"""Help pages: summaries are whole, pages fit a screen, and options have the names of arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator

import click
import pytest

from graphmem import Handle
from graphmem.cli import cli
from graphmem.cli.views import VIEWS
from graphmem.model import Origin

COLUMNS, LINES = 80, 30
NAMESPACES = {
    "memory": "memories",
    "belief": "beliefs",
    "predicate": "predicates",
    "alias": "aliases",
    "episode": "episodes",
    "proposal": "proposals",
    "usage": "usage",
    "admin": "admin",
}
SHARED = {"valid", "known", "session", "tenant", "scope", "output"}
SHARED |= {"uri", "user", "password", "as_json"}
OWN = {
    "belief retract": {"retraction_id"},
    "usage dashboard": {"live", "every"},
    "consolidate": {"every", "status"},
    "admin reopen": {"name"},
    "admin erase-person": {"certificate", "compact"},
    "admin erase-tenant": {"certificate", "compact"},
    "memory forget": {"certificate", "compact"},
    "ingest": {"file", "strict", "extract", "extractor", "review"},
    "context": {"query"},
    "belief what-if": {"supporting", "refuting"},
}
"""Options and arguments of a command that its method does not take."""


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


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a group and its groups by their words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")
        elif command is not None:
            yield f"{path}{name}", command


COMMANDS = dict(commands(cli))


def method_at(path: str) -> Callable[..., object] | None:
    """Return the method of a handle at a path, for example beliefs.get."""
    space, _, name = path.rpartition(".")
    if not space:
        return getattr(Handle, name, None)
    owner = typing.get_type_hints(getattr(Handle, space).fget)["return"]
    return getattr(owner, name, None)


def method_of(words: str) -> Callable[..., object] | None:
    """Return the method that a command calls."""
    group, _, name = words.replace("-", "_").rpartition(" ")
    space = NAMESPACES.get(group)
    if space is None and group:
        return None
    return (method_at(f"{space}.{name}") if space else None) or method_at(name)


@pytest.mark.parametrize("words", COMMANDS)
def test_the_help_of_a_command_fits_a_screen(words: str) -> None:
    page = COMMANDS[words].get_help(click.Context(COMMANDS[words], terminal_width=COLUMNS))
    assert len(page.splitlines()) <= LINES
    assert max(map(len, page.splitlines())) <= COLUMNS


@pytest.mark.parametrize("words", [words for words in COMMANDS if method_of(words)])
def test_options_have_the_names_of_arguments(words: str) -> None:
    method = method_of(words)
    assert method is not None
    own = inspect.signature(method).parameters.keys()
    origin = Origin.model_fields.keys() if "origin" in own else set()
    known = own | origin | SHARED | OWN.get(words, set())
    assert {param.name for param in COMMANDS[words].params} - known == set()


def test_every_method_of_a_namespace_has_a_command() -> None:
    for group, space in NAMESPACES.items():
        owner = typing.get_type_hints(getattr(Handle, space).fget)["return"]
        methods = {name for name in dir(owner) if not name.startswith("_")}
        names = {words.partition(" ")[2].replace("-", "_") for words in COMMANDS}
        left_out = {"export_to", "import_from", "import_foreign", "flush", "is_empty"}
        names |= {"scopes"} & {words.replace(" list", "s") for words in COMMANDS}
        assert methods - names - left_out == set(), group


@pytest.mark.parametrize("path", VIEWS)
def test_a_view_belongs_to_a_method(path: str) -> None:
    assert method_at(path) is not None
