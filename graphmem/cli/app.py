"""What every command shares: settings, consoles, JSON output, exit codes, an open memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from graphmem import errors
from graphmem.cli import terminal
from graphmem.rules import display

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress

    from graphmem.cli.console import Console
    from graphmem.client import GraphMem
    from graphmem.ports import OnPart
    from graphmem.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

EXIT_CODES: tuple[tuple[type[errors.GraphmemError], int], ...] = (
    (errors.ModelUnavailableError, 4),
    (errors.ModelReplyError, 4),
    (errors.UnavailableError, 3),
    (errors.GraphAccessError, 3),
    (errors.SchemaError, 5),
    (errors.ConfigurationError, 2),
    (errors.InvalidInputError, 2),
)
"""First match wins; everything else is 1."""


class App:
    """One run of one command."""

    def __init__(self, *, as_json: bool, overrides: dict[str, Any]) -> None:
        self.json = as_json
        self._overrides = overrides

    @cached_property
    def settings(self) -> Settings:
        """The settings, with this command's options on top."""
        from graphmem.settings import Settings

        return Settings.load(**self._overrides)

    @cached_property
    def console(self) -> Console:
        """Standard output, for people."""
        from graphmem.cli.console import Console

        return Console()

    @cached_property
    def err(self) -> Console:
        """Standard error: progress and notes, which never mix with results."""
        from graphmem.cli.console import Console

        return Console(stderr=True)

    def emit(self, data: T, view: Callable[[T], RenderableType]) -> None:
        """Print `data` as JSON when asked for, else the view of it.

        Args:
            data: plain values or records.
            view: returns what people see; given the data with every text made visible.
        """
        if self.json:
            self.emit_json(data)
        else:
            self.console.print(view(terminal.visible(data)))

    def emit_json(self, data: object) -> None:
        """Print `data` as JSON, whether or not it was asked for."""
        terminal.echo_json(plain(data), indent=2)

    @contextmanager
    def progress(self, *columns: Any) -> Iterator[Progress]:
        """Show progress on standard error while the block runs."""
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        from graphmem.cli.console import TaskLabel

        shown = columns or (
            TaskLabel(),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with RichProgress(*shown, console=self.err, disable=self.json) as progress:
            yield progress

    @contextmanager
    def counting(self, counters: dict[str, str]) -> Iterator[OnPart]:
        """Yield what counts kinds of things on standard error; one is shown when it has any.

        Args:
            counters: what is written before the number, by kind.
        """
        from rich.progress import MofNCompleteColumn, TimeElapsedColumn

        from graphmem.cli.console import TaskLabel

        columns = (TaskLabel(), MofNCompleteColumn(), TimeElapsedColumn())
        with self.progress(*columns) as bars:
            tasks = {
                kind: bars.add_task(text, total=None, visible=False)
                for kind, text in counters.items()
            }
            yield lambda kind, count: bars.update(tasks[kind], advance=count, visible=True)

    def look_only(self) -> None:
        """Leave out of the search log what this command shows: it is no use of the memory."""
        self.settings = self.settings.model_copy(update={"access_log": False})

    @contextmanager
    def memory(self) -> Iterator[GraphMem]:
        """Yield an open client on the command's tenant and scope; closed when the block ends."""
        from graphmem.client import GraphMem

        if self.settings.uri is None:
            from graphmem.cli.terminal import start

            start(self)
        opened = GraphMem.open(self.settings, report=self.report)
        with opened:
            yield opened.tenant(self.settings.tenant).scope(self.settings.scope)

    def report(self, line: str) -> None:
        """Show people what takes long."""
        if not self.json:
            self.note(line)

    def note(self, line: str, *, style: str = "dim") -> None:
        """Print a line on standard error."""
        self.err.print(display.line(line), style=style)


def plain(data: object) -> Any:
    """Return data as JSON can hold it: records by their fields, instants in ISO 8601."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(data)


def command(*, wall: bool = False) -> Callable[[F], F]:
    """Give a click command the options all share, and an `App` as its first argument.

    Args:
        wall: offer --tenant and --scope as well.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            given = [name for name in ("uri", "tenant", "scope") if name in kwargs]
            overrides: dict[str, Any] = {name: kwargs.pop(name) for name in given}
            app = App(as_json=kwargs.pop("as_json"), overrides=overrides)
            click.get_current_context().obj = app
            return function(app, *args, **kwargs)

        options = [
            click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs."),
            click.option("--uri", help="Neo4j to use instead of GRAPHMEM_URI."),
        ]
        if wall:
            options += [
                click.option("--tenant", help="Whose memory; GRAPHMEM_TENANT by default."),
                click.option("--scope", help="Part of it; GRAPHMEM_SCOPE by default."),
            ]
        wrapped: Any = run
        for option in options:
            wrapped = option(wrapped)
        decorated: F = wrapped
        return decorated

    return decorate


def listening(*, port: int) -> Callable[[F], F]:
    """Give a command that serves the options of its address."""

    def with_options(function: F) -> F:
        numbered = click.option(
            "--port",
            type=click.IntRange(0, 65_535),
            default=port,
            show_default=True,
            help="0 for any that is free.",
        )
        host = click.option(
            "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
        )
        allowed = click.option(
            "--allow-host", multiple=True, metavar="NAME", help="A Host header to accept too."
        )
        return host(numbered(allowed(function)))

    return with_options


def exit_code_of(error: errors.GraphmemError) -> int:
    """Return the exit code of a command that ended with this error."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), 1)


def show_error(error: errors.GraphmemError, *, as_json: bool) -> None:
    """Write an error to standard error: code, what was wrong, what to do."""
    if as_json:
        shown = {"code": error.code, "message": error.message, "hint": error.hint}
        terminal.echo_json({"error": shown}, err=True)
        return
    terminal.echo_error(f"Error ({error.code}): ", str(error))
