"""Writers for the terminal; all output of a command goes through them.

`visible` escapes data before a view is built from it, so that columns have the right width and
stored line feeds differ from those of the view. Every writer escapes the remaining characters.
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
from typing import Any, TypeVar, cast

import click

from graphmem.rules import display

T = TypeVar("T")


def echo(text: str, *, err: bool = False, end: str = "\n") -> None:
    """Write text without wrapping or styling it."""
    click.echo(display.block(text) + end, nl=False, err=err)


def echo_json(data: object, *, indent: int | None = None, err: bool = False) -> None:
    """Write plain data as JSON."""
    echo(display.json_text(data, indent=indent), err=err)


def echo_error(heading: str, text: str) -> None:
    """Write an error to standard error, its heading in red.

    Further lines are indented, so that a quoted text cannot imitate a line of output.
    """
    click.secho(heading, fg="red", nl=False, err=True)
    echo(text.replace("\n", "\n  "), err=True)


def ask_secret(question: str) -> str:
    """Ask for a text on standard error without showing what is typed."""
    answer: str = click.prompt(display.line(question), hide_input=True, err=True)
    return answer


def echo_usage(error: click.ClickException) -> None:
    """Write a usage error of click, which quotes the command line."""
    shown = io.StringIO()
    error.show(shown)
    echo(shown.getvalue(), err=True, end="")


def visible(data: T, form: Callable[[str], str] = display.value) -> T:
    """Return a copy of data with control characters escaped in every text.

    Args:
        data: value to copy. Records, data classes, mappings, lists and tuples are traversed; all
            other values, enumeration members included, are returned unchanged.
        form: `display.value` for a view on our console, `display.line` for a single line.
    """
    return cast(T, _with_texts(data, form))


def _with_texts(data: Any, form: Callable[[str], str]) -> Any:
    if isinstance(data, str):
        return data if isinstance(data, Enum) else form(data)
    if isinstance(data, dict):
        return {_with_texts(key, form): _with_texts(value, form) for key, value in data.items()}
    if isinstance(data, list | tuple):
        parts = [_with_texts(part, form) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    return _with_texts_in_record(data, form)


def _with_texts_in_record(data: Any, form: Callable[[str], str]) -> Any:
    from pydantic import BaseModel

    if isinstance(data, BaseModel):
        return data.model_copy(update={name: _with_texts(value, form) for name, value in data})
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        fields = [field.name for field in dataclasses.fields(data) if field.init]
        changed = {name: _with_texts(getattr(data, name), form) for name in fields}
        return dataclasses.replace(data, **changed)
    return data


def guard() -> None:
    """Escape control characters in tracebacks and log lines, which quote stored texts."""
    sys.excepthook = _show_traceback
    threading.excepthook = lambda args: _show_traceback(
        args.exc_type, args.exc_value, args.exc_traceback
    )
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(display.LogFormatter())


def _show_traceback(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    echo("".join(traceback.format_exception(kind, error, trace)), err=True, end="")
