"""Shared parts of all commands: settings, consoles, JSON output, exit codes, open client."""

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

    from graphmem import GraphMem
    from graphmem.cli.console import Console
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
"""Exit code by error class; the first match wins, all other errors exit with 1."""


class App:
    """The state of one command run."""

    def __init__(self, *, as_json: bool, overrides: dict[str, Any]) -> None:
        self.json = as_json
        self._overrides = overrides

    @cached_property
    def settings(self) -> Settings:
        """The settings, overridden by the options of this command."""
        from graphmem.settings import Settings

        return Settings.load(**self._overrides)

    @cached_property
    def console(self) -> Console:
        """Standard output, for people."""
        from graphmem.cli.console import Console

        return Console()

    @cached_property
    def err(self) -> Console:
        """Standard error, for progress and notes, which must not mix with results."""
        from graphmem.cli.console import Console

        return Console(stderr=True)

    def emit(self, data: T, view: Callable[[T], RenderableType]) -> None:
        """Print `data` as JSON with --json, otherwise as the view returns it.

        Args:
            data: plain values or records.
            view: builds the output for people from `data` with all texts escaped.
        """
        if self.json:
            self.emit_json(data)
        else:
            self.console.print(view(terminal.visible(data)))

    def emit_json(self, data: object) -> None:
        """Print `data` as JSON, with or without --json."""
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
        """Yield a progress callback that shows a counter per kind on standard error.

        Args:
            counters: label of each counter, by kind. A counter is shown once it is above zero.
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
        """Exclude this command from the search log, as it is not a use of the memory."""
        self.settings = self.settings.model_copy(update={"access_log": False})

    @contextmanager
    def memory(self) -> Iterator[GraphMem]:
        """Yield an open client on the tenant and scope of the command; close it afterwards."""
        from graphmem.client import GraphMem

        if self.settings.uri is None:
            from graphmem.cli.terminal import start

            start(self)
        opened = GraphMem.open(settings=self.settings, on_progress=self.report)
        with opened:
            yield opened

    def report(self, line: str) -> None:
        """Print the progress of a slow step, unless JSON is printed."""
        if not self.json:
            self.note(line)

    def note(self, line: str, *, style: str = "dim") -> None:
        """Print a line on standard error."""
        self.err.print(display.line(line), style=style)


def plain(data: object) -> Any:
    """Return data as JSON types: records as mappings, timestamps in ISO 8601."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(data)


def command(*, wall: bool = False) -> Callable[[F], F]:
    """Add the shared options to a click command and pass an `App` as its first argument.

    Args:
        wall: whether to add --tenant and --scope.
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
            click.option("--uri", help="URI of Neo4j.  [default: GRAPHMEM_URI]"),
        ]
        if wall:
            options += [
                click.option("--tenant", help="Tenant.  [default: GRAPHMEM_TENANT]"),
                click.option("--scope", help="Scope within the tenant.  [default: GRAPHMEM_SCOPE]"),
            ]
        wrapped: Any = run
        for option in options:
            wrapped = option(wrapped)
        decorated: F = wrapped
        return decorated

    return decorate


def listening(*, port: int) -> Callable[[F], F]:
    """Add --host, --port and --allow-host to a serving command."""

    def with_options(function: F) -> F:
        port_option = click.option(
            "--port",
            type=click.IntRange(0, 65_535),
            default=port,
            show_default=True,
            help="Port to listen on; 0 for a free one.",
        )
        host = click.option(
            "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
        )
        allowed = click.option(
            "--allow-host", multiple=True, metavar="NAME", help="Additional Host header to accept."
        )
        return host(port_option(allowed(function)))

    return with_options


def exit_code_of(error: errors.GraphmemError) -> int:
    """Return the exit code for an error."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), 1)


def show_error(error: errors.GraphmemError, *, as_json: bool) -> None:
    """Write the code, message and hint of an error to standard error."""
    if as_json:
        shown = {"code": error.code, "message": error.message, "hint": error.hint}
        terminal.echo_json({"error": shown}, err=True)
        return
    terminal.echo_error(f"Error ({error.code}): ", str(error))
