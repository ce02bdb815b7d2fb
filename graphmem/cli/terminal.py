"""The way to the terminal: everything that a command writes goes through here.

Data is made visible before a view is built of it (`visible`), so that columns are measured right
and a stored line feed can be told from a view's own. Every writer escapes what a view forgot.
"""

from __future__ import annotations

import dataclasses
import io
import logging
import sys
import threading
import traceback
from collections.abc import Callable
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from graphmem.rules import display

if TYPE_CHECKING:
    from graphmem.adapters.local_server import Endpoint, Progress
    from graphmem.cli.app import App


T = TypeVar("T")


def echo(text: str, *, err: bool = False, end: str = "\n") -> None:
    """Write text as it is laid out, neither wrapped nor styled."""
    click.echo(display.block(text) + end, nl=False, err=err)


def echo_json(data: object, *, indent: int | None = None, err: bool = False) -> None:
    """Write plain data as JSON."""
    echo(display.json_text(data, indent=indent), err=err)


def echo_error(heading: str, text: str) -> None:
    """Write an error to standard error, its heading in red.

    Further lines are indented: a text that the error quotes starts no line of its own.
    """
    click.secho(heading, fg="red", nl=False, err=True)
    echo(text.replace("\n", "\n  "), err=True)


def echo_usage(error: click.ClickException) -> None:
    """Write what click has to say of a command line, which it quotes."""
    shown = io.StringIO()
    error.show(shown)
    echo(shown.getvalue(), err=True, end="")


def visible(data: T, form: Callable[[str], str] = display.value) -> T:
    """Return a copy of data with every text in it made visible.

    Args:
        data: records, data classes, maps, lists and tuples are gone into; numbers, instants,
            members of enumerations, paths and whatever else stay as they are.
        form: `display.value` for a view on our console, `display.line` for one line.
    """
    return cast(T, _visible(data, form))


def _visible(data: Any, form: Callable[[str], str]) -> Any:
    if isinstance(data, str):
        return data if isinstance(data, Enum) else form(data)
    if isinstance(data, dict):
        return {_visible(key, form): _visible(one, form) for key, one in data.items()}
    if isinstance(data, list | tuple):
        parts = [_visible(one, form) for one in data]
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    return _visible_record(data, form)


def _visible_record(data: Any, form: Callable[[str], str]) -> Any:
    from pydantic import BaseModel

    if isinstance(data, BaseModel):
        return data.model_copy(update={name: _visible(one, form) for name, one in data})
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        fields = [field.name for field in dataclasses.fields(data) if field.init]
        changed = {name: _visible(getattr(data, name), form) for name in fields}
        return dataclasses.replace(data, **changed)
    return data


def guard() -> None:
    """Make tracebacks and log lines of this process visible, too: they quote texts."""
    sys.excepthook = _show_traceback
    threading.excepthook = lambda told: _show_traceback(
        told.exc_type, told.exc_value, told.exc_traceback
    )
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(display.LogFormatter())


def _show_traceback(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    echo("".join(traceback.format_exception(kind, error, trace)), err=True, end="")


def start(app: App) -> Endpoint:
    """Return the managed server's endpoint, with a bar while its files come.

    Raises:
        LocalServerError: it could not be fetched or started.
    """
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from graphmem.adapters import local_server
    from graphmem.cli.console import TaskLabel

    columns = (
        TaskLabel(),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with app.progress(*columns) as bars:
        bar = bars.add_task("", total=None, visible=False)

        def report(step: Progress) -> None:
            if step.bytes_total:
                bars.update(
                    bar,
                    description=f"Neo4j, {step.files_done} of {step.files_total} files",
                    completed=step.bytes_done,
                    total=step.bytes_total,
                    visible=True,
                )
            elif step.stage != "ready":
                app.report(step.text)

        return local_server.ensure(app.settings, report=report)
