"""Write the parts of docs/reference that follow from declarations in the code: `just api`.

Below the mark of a page everything is written by this module; what is above it is not changed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from graphmem import errors
from graphmem.cli.app import EXIT_CODES
from graphmem.local_server.plugin.java_source import procedure_specs
from graphmem.model import EventType
from graphmem.serve.problems import STATUSES
from graphmem.settings import FIELDS, PREFIX, Settings
from tests.docs.api_reference import about, attribute_docs
from tests.docs.openapi_document import document
from tests.plugins.command_tree import walk

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
MARK = "<!-- `just api` writes the rest of this page. -->\n\n"
SHARED = ("scope", "tenant", "uri", "user", "password", "as_json", "help")
"""Options of nearly all commands, which the page describes once."""


def page(name: str) -> str:
    """Return the text of a page, with the part that follows from the code."""
    head, mark, _ = (FOLDER / f"{name}.md").read_text("utf-8").partition(MARK)
    assert mark, f"docs/reference/{name}.md has no mark"
    return head + mark + "\n".join(PARTS[name]()) + "\n"


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield each command that help shows with its words; groups only if they do something."""
    for words, command in walk():
        is_called = not isinstance(command, click.Group) or command.invoke_without_command
        if is_called and not command.hidden:
            yield words, command


def command_entries() -> Iterator[str]:
    """Yield the help of each command, without the shared options."""
    for words, command in sorted(commands(), key=lambda entry: entry[0]):
        shown = copy.copy(command)
        shown.params = [one for one in command.params if one.name not in SHARED]
        shown.add_help_option = False
        context = click.Context(shown, info_name=words, terminal_width=100)
        yield f"### {words}\n"
        yield from (f"    {line}".rstrip() for line in shown.get_help(context).splitlines())
        yield ""


def error_entries() -> Iterator[str]:
    """Yield a section for each error: its code, class, hint, status and exit code."""
    for kind in sorted(subclasses(errors.GraphmemError), key=lambda one: one.code):
        yield f"### {kind.code}\n"
        base = kind.__mro__[1].__name__
        yield f"`{kind.__name__}` (`{base}`): {about(kind)} {kind.default_hint}".rstrip() + "\n"
        status = next((status for base, status in STATUSES if issubclass(kind, base)), 500)
        exit_code = next((code for base, code in EXIT_CODES if issubclass(kind, base)), 1)
        yield f"HTTP status {status}, exit code {exit_code}.\n"


def subclasses(kind: type[errors.GraphmemError]) -> Iterator[type[errors.GraphmemError]]:
    """Yield the class and all classes derived from it in `graphmem.errors`."""
    if kind.__module__ == errors.__name__:
        yield kind
        for one in kind.__subclasses__():
            yield from subclasses(one)


def event_entries() -> Iterator[str]:
    """Yield a row for each type of event."""
    yield "| type | records |\n| --- | --- |"
    for name, text in attribute_docs(EventType).items():
        yield f"| `{name}` | {text} |"


def setting_entries() -> Iterator[str]:
    """Yield a row for each setting, by table."""
    table = None
    for name, field in sorted(FIELDS.items(), key=lambda entry: "." in entry[0]):
        group = name.rpartition(".")[0] or "general"
        if group != table:
            yield f"\n### {'Settings' if group == 'general' else f'Table `{group}`'}\n"
            yield "| variable | default | meaning |\n| --- | --- | --- |"
        table = group
        value = Settings().shown()[name]
        default = "" if value is None else f"`{value}`".replace("|", "\\|")
        variable = PREFIX + name.replace(".", "__").upper()
        meaning = " ".join((field.description or "").split()).replace("|", "\\|")
        yield f"| `{variable}` | {default} | {meaning} |"


def route_entries() -> Iterator[str]:
    """Yield a row for each route of the HTTP API, by the first word of its path."""
    yield "| route | does | right |\n| --- | --- | --- |"
    for path, verbs in sorted(document()["paths"].items()):
        for verb, found in verbs.items():
            right = found.get("description", "").partition("`")[2].partition("`")[0]
            yield f"| `{verb.upper()} {path}` | {found['summary']} | {right} |"


def procedure_entries() -> Iterator[str]:
    """Yield a section for each folder of procedures, with their signatures and columns."""
    folder = None
    for one in procedure_specs(Settings()):
        found = one.procedure.name.partition("/")[0]
        if found != folder:
            yield f"\n### graphmem.{found}\n"
        folder = found
        columns = ", ".join(column.name for column in one.columns)
        yield f"- `{one.name}`: {one.procedure.summary}"
        yield f"  `{one.signature.partition('(')[2].removesuffix(')')}` yields `{columns}`"


PARTS: dict[str, Callable[[], Iterator[Any]]] = {
    "cli": command_entries,
    "errors": error_entries,
    "events": event_entries,
    "http": route_entries,
    "procedures": procedure_entries,
    "settings": setting_entries,
}
"""Generated part of each page."""


if __name__ == "__main__":
    for name in PARTS:
        (FOLDER / f"{name}.md").write_text(page(name), "utf-8")
