"""Shared parts of all commands: settings, consoles, JSON output, exit codes, open client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial, wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import click

from graphmem import errors
from graphmem.cli import options, terminal
from graphmem.cli.options import F
from graphmem.rules import display

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress

    from graphmem import GraphMem
    from graphmem.cli.console import Console
    from graphmem.ports import OnProgress
    from graphmem.settings import Settings

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

    def emit(self, data: T, view: Callable[[T], RenderableType] | str) -> None:
        """Print `data` as JSON with --json, otherwise as the view returns it.

        Args:
            data: plain values or records.
            view: builds the output for people from `data` with all texts escaped, or the path of
                the client's method that returned it.
        """
        if self.json:
            self.emit_json(data)
            return
        if isinstance(view, str):
            from graphmem.cli.views import VIEWS

            view = VIEWS[view]
        self.console.print(view(terminal.visible(data)))

    def emit_json(self, data: object) -> None:
        """Print `data` as JSON, with or without --json."""
        terminal.echo_json(plain(data), indent=2)

    @contextmanager
    def progress(self, *columns: Any) -> Iterator[Progress]:
        """Show progress on standard error while the block runs."""
        from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        from graphmem.cli.console import TaskLabel

        shown = columns or (TaskLabel(), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with RichProgress(*shown, console=self.err, disable=self.json) as progress:
            yield progress

    @contextmanager
    def counting(self, counters: Mapping[str, str]) -> Iterator[OnProgress]:
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

    def skip_log(self) -> None:
        """Exclude this command from the search log, as it is not a use of the memory."""
        self.settings = self.settings.model_copy(update={"access_log": False})

    @contextmanager
    def client(self) -> Iterator[GraphMem]:
        """Yield an open client on the tenant and scope of the command; close it afterwards."""
        from graphmem.client import GraphMem

        self.start_server()
        with GraphMem.open(settings=self.settings, on_progress=self.report) as client:
            yield client

    def start_server(self) -> None:
        """Start the managed server, unless the settings have a URI."""
        if self.settings.uri is None:
            terminal.start(self)

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


def command(*, tenant: bool = False) -> Callable[[F], F]:
    """Add the shared options to a click command and pass an `App` as its first argument.

    Args:
        tenant: whether to add --tenant and --scope.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            given = [name for name in ("uri", "tenant", "scope") if name in kwargs]
            overrides: dict[str, Any] = {name: kwargs.pop(name) for name in given}
            app = App(as_json=kwargs.pop("as_json"), overrides=overrides)
            click.get_current_context().obj = app
            return function(app, *args, **kwargs)

        wrapped: Any = options.CONNECTION(run)
        decorated: F = options.TENANT(wrapped) if tenant else wrapped
        return decorated

    return decorate


def method_command(
    path: str,
    text: str,
    *params: Callable[[F], F],
    counters: Mapping[str, str] | None = None,
    fails: Callable[[Any], object] | None = None,
) -> click.Command:
    """Return a command that calls a method of the open client and prints what it returns.

    Args:
        path: the method, for example beliefs.get; the command has its name and its view.
        text: help of the command.
        *params: arguments and options, named as the arguments of the method.
        counters: labels of the progress counters, if the method takes `on_progress`.
        fails: whether the exit code is 1 for a result.
    """

    def run(app: App, **kwargs: Any) -> int:
        with app.client() as client:
            method = partial(attrgetter(path)(client), **given(kwargs))
            if counters is None:
                found = method()
            else:
                with app.counting(counters) as on_progress:
                    found = method(on_progress=on_progress)
            # Print before closing: a search that cannot be logged must not hide its results.
            app.emit(found, path)
        return int(bool(fails and fails(found)))

    name = path.rpartition(".")[2].replace("_", "-")
    add: Callable[..., Any] = options.stacked(*params)
    return click.command(name, help=text)(add(command(tenant=True)(run)))


class Group(click.Group):
    """A group that can list its commands by the methods that they call."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, help=text)

    def method(self, path: str, text: str, *params: Callable[[F], F], **how: Any) -> None:
        """Add the command of a method; see `method_command`."""
        self.add_command(method_command(path, text, *params, **how))


def given(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that have a value, with --valid and --known as `as_of`."""
    present = {name: value for name, value in kwargs.items() if value not in (None, ())}
    times = {name: present.pop(name) for name in ("valid", "known") if name in present}
    if times:
        from graphmem.client import state
        from graphmem.model import AsOf

        present["as_of"] = state.valid(AsOf, **times)
    return present


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
