"""Shared parts of all commands: settings, consoles, JSON output, exit codes, open client."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from graphmem import errors
from graphmem.cli import options, terminal
from graphmem.cli.options import F
from graphmem.rules import display

if TYPE_CHECKING:
    from pydantic import SecretStr
    from rich.console import RenderableType
    from rich.progress import Progress

    from graphmem import GraphMem, Handle
    from graphmem.cli.console import Console
    from graphmem.client.handle import Session
    from graphmem.local_server import Endpoint
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

OVERRIDES = ("uri", "user", "tenant", "scope")
"""Options of a connection, named as the settings that they override."""


class Failure(Protocol):
    """A part of a run that failed."""

    @property
    def code(self) -> str:
        """Code of the error."""
        ...


class App:
    """The state of one command run."""

    def __init__(
        self,
        *,
        as_json: bool,
        overrides: dict[str, Any],
        ask_password: bool = False,
        of_tenant: bool = False,
    ) -> None:
        self.json = as_json
        self._overrides = overrides
        self._ask_password = ask_password
        self._of_tenant = of_tenant
        self.is_blank = False
        """Whether the result has no rows, perhaps because the name of the tenant is misspelt."""
        self._open: GraphMem | None = None

    @cached_property
    def settings(self) -> Settings:
        """The settings, overridden by the options of this command."""
        return self._loaded[0]

    @cached_property
    def origins(self) -> dict[str, str]:
        """The place that each setting is from."""
        return self._loaded[1]

    @cached_property
    def _loaded(self) -> tuple[Settings, dict[str, str]]:
        from graphmem.settings import Settings

        return Settings.load_with_origins(**self._overrides)

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

        While a client is open, a view shows the ids of items as short as a context block does.

        Args:
            view: builds the output for people from `data` with all texts escaped, or the path of
                the client's method that returned it.
        """
        self.is_blank = blank(data)
        if self.json:
            self.emit_json(data)
            return
        if isinstance(view, str):
            from graphmem.cli.views import VIEWS

            view = VIEWS[view]
        from graphmem.model import zones

        short = self._short_ids(data)
        if self.settings.explorer is not None:
            from graphmem.rules.links import item_address

            whole = {text: item_id for item_id, text in short.items()}
            explorer = self.settings.explorer
            self.console.link_of = lambda text: item_address(whole.get(text, text), explorer)
        shown = terminal.visible(data, lambda text: short.get(text, text)) if short else data
        shown = zones.in_zone(shown, self.settings.time_zone)
        self.console.print(view(terminal.visible(shown)))

    def _short_ids(self, data: object) -> dict[str, str]:
        """Return the short forms of the ids in data, which every command accepts."""
        if self._open is None:
            return {}
        from graphmem.client.namespace import short_forms

        texts: list[str] = []

        def noted(text: str) -> str:
            texts.append(text)
            return text

        terminal.visible(data, noted)
        return short_forms(self._open, texts)

    def emit_json(self, data: object) -> None:
        """Print `data` as JSON, with or without --json."""
        from graphmem.rules.plain import plain

        self.is_blank = blank(data)
        terminal.echo_json(plain(data), indent=2)

    @contextmanager
    def progress(self, *columns: Any) -> Iterator[Progress]:
        """Show progress on standard error while the block runs."""
        from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

        from graphmem.cli.console import TaskLabel, TaskProgress

        shown = columns or (TaskLabel(), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with TaskProgress(*shown, console=self.err, disable=self.json) as progress:
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
            self._open = client
            try:
                yield client
            except errors.NotFoundError:
                # An error in JSON must stay the only output on standard error.
                if not self.json:
                    self._note_empty_tenant(client)
                raise
            finally:
                self._open = None
            if self.is_blank:
                self._note_empty_tenant(client)

    def ensure_server(self) -> Endpoint:
        """Start the managed server and return its endpoint; show the download progress."""
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        from graphmem import local_server
        from graphmem.cli.console import TaskLabel

        columns = (
            TaskLabel(),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with self.progress(*columns) as bars:
            bar = bars.add_task("", total=None, visible=False)

            def report(step: local_server.Progress) -> None:
                if step.bytes_total:
                    bars.update(
                        bar,
                        description=f"Neo4j, {step.files_done} of {step.files_total} files",
                        completed=step.bytes_done,
                        total=step.bytes_total,
                        visible=True,
                    )
                elif step.stage != "ready":
                    self.report(step.text)

            return local_server.ensure(self.settings, report=report)

    def _note_empty_tenant(self, client: GraphMem) -> None:
        """Note that the tenant has no data, if it has none."""
        if self._of_tenant and client.admin.is_empty():
            self.note(f"Tenant {self.settings.tenant!r} has no data.", style="yellow")

    def start_server(self) -> None:
        """Start the managed server, or ask for a missing password if the settings have a URI."""
        self.log_in()
        if self.settings.uri is None:
            from graphmem import local_server

            if local_server.running_uri(self.settings) is None:
                self.ensure_server()

    def log_in(self) -> None:
        """Ask for the password of the server at the URI of the settings, if it is needed.

        It is never an option's value, which other users could see in the list of processes.
        """
        if self.settings.uri is None:
            if self._ask_password:
                raise click.UsageError("--password is for the server of --uri or GRAPHMEM_URI.")
        elif self._ask_password or self.settings.password is None:
            self.settings = self.settings.model_copy(update={"password": self._asked_password()})
            self._ask_password = False

    def _asked_password(self) -> SecretStr:
        import sys

        from pydantic import SecretStr

        if not sys.stdin.isatty():
            place = self.origins["uri"]
            source = {"argument": "--uri", "environment": "GRAPHMEM_URI"}.get(place, place)
            raise errors.ConfigurationError(
                f"{source} names a server whose password is missing, and standard input is not a "
                "terminal to ask on.",
                hint="Set GRAPHMEM_PASSWORD, or `password` in graphmem.toml; in a terminal, "
                "--password asks for it and --user names the user.",
            )
        return SecretStr(terminal.ask_secret(f"Password of {self.settings.user}"))

    def report(self, line: str) -> None:
        """Print the progress of a slow step, unless JSON is printed."""
        if not self.json:
            self.note(line)

    def note(self, line: str, *, style: str = "dim") -> None:
        """Print a line on standard error."""
        self.err.print(display.line(line), style=style)


def blank(data: object) -> bool:
    """Return whether a result is a list without rows, or a record of such lists."""
    if isinstance(data, list | tuple):
        return not data
    fields = getattr(type(data), "model_fields", {})
    rows = [getattr(data, name) for name, field in fields.items() if field.is_required()]
    lists = [row for row in rows if isinstance(row, list | tuple)]
    return "id" not in fields and bool(lists) and not any(lists)


def command(*, tenant: bool = False, connects: bool = True) -> Callable[[F], F]:
    """Add the shared options to a click command and pass an `App` as its first argument.

    Args:
        tenant: whether to add --tenant and --scope.
        connects: whether to add the options of the connection; all commands have --json.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            given = [name for name in OVERRIDES if name in kwargs]
            overrides: dict[str, Any] = {name: kwargs.pop(name) for name in given}
            ask_password = kwargs.pop("password", False)
            app = App(
                as_json=kwargs.pop("as_json"),
                overrides=overrides,
                ask_password=ask_password,
                of_tenant=tenant,
            )
            context = click.get_current_context()
            context.obj = app
            for line in context.meta.get(options.READ_AS, ()):
                app.note(line)
            return function(app, *args, **kwargs)

        wrapped: Any = (options.CONNECTION if connects else options.JSON)(run)
        decorated: F = options.TENANT(wrapped) if tenant else wrapped
        return decorated

    return decorate


def session_of(handle: Handle, name: str | None) -> Session:
    """Return a handle whose searches and accesses are logged in a session.

    Args:
        name: name of the session; by default that of this terminal and day.
    """
    return handle.session(terminal_session() if name is None else name, agent="cli", shared=True)


def terminal_session() -> str:
    """Return the name of the session of this terminal, today."""
    # The parent of a command is the shell, also where terminals have no process of their own.
    terminal_id = os.getsid(0) if hasattr(os, "getsid") else os.getppid()
    return f"cli-{options.now():%Y-%m-%d}-{terminal_id}"


def exit_code_of(error: errors.GraphmemError) -> int:
    """Return the exit code for an error."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), 1)


def failure_code(failures: Iterable[Failure]) -> int:
    """Return the exit code of a run whose parts failed so: 0 for none, 1 if no model was down."""
    codes = {failure.code for failure in failures}
    return 4 if errors.ModelUnavailableError.code in codes else int(bool(codes))


def show_error(error: errors.GraphmemError, *, as_json: bool) -> None:
    """Write the code, message and hint of an error to standard error."""
    if as_json:
        shown = {"code": error.code, "message": error.message, "hint": error.hint}
        terminal.echo_json({"error": shown}, err=True)
        return
    terminal.echo_error(f"Error ({error.code}): ", str(error))
