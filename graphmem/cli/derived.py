"""Commands that are made of the client's methods, and groups of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import click

from graphmem.cli import parameters
from graphmem.cli.app import App, command, session_of


@dataclass(frozen=True)
class MethodCommand:
    """How a command is made of a method of the client, with the parameters of the method."""

    path: str
    """The method, for example beliefs.get; its result has the view of this path."""
    name: str
    own: tuple[Callable[..., Any], ...] = ()
    """Options that are the command's own."""
    run: Callable[..., Any] | None = None
    """Function of the command; by default it calls the method and prints the result."""
    text: str = ""
    """Help of the command; by default the docstring of `run` or of the method."""
    more: str = ""
    """Paragraph to add to the help."""
    tenant: bool = True
    """Whether to add --tenant and --scope."""
    only: Sequence[str] = ()
    """Parameters of the method to take; by default those that a command line can give."""
    without: Sequence[str] = ()
    """Parameters of the method to leave out."""
    changes: parameters.Changes = field(default_factory=dict)
    """How parameters differ from their declaration."""
    counters: Mapping[str, str] | None = None
    """Labels of the progress counters, if the method takes `on_progress`."""
    fails: Callable[[Any], int] | None = None
    """Returns the exit code for a result."""
    key: str = ""
    """Name of the result in what is printed, if it is a plain value."""
    logs: bool = False
    """Whether to print the number of log entries that were written, as `logged`."""

    def make(self) -> DerivedCommand:
        """Return the command."""
        written = self.text or (self.run.__doc__ if inspect.isfunction(self.run) else "")
        help_text = written or parameters.summary(self.path)
        help_texts = [inspect.cleandoc(help_text), self.more]
        taken = parameters.of_method(
            self.path, only=self.only, without=self.without, changes=self.changes
        )
        function = command(tenant=self.tenant)(self.run or self._call)
        for option in (*reversed(self.own), taken):
            function = option(function)
        help_text = "\n\n".join(filter(None, help_texts))
        made = click.command(self.name, cls=DerivedCommand, help=help_text)(function)
        made.source = self
        return made

    def _call(self, app: App, **kwargs: Any) -> int:
        in_session = "session" in kwargs
        name = kwargs.pop("session", None)
        with app.client() as client:
            handle = session_of(client, name) if in_session else client
            method = attrgetter(self.path)(handle)
            arguments = parameters.grouped(kwargs)
            if self.counters is None:
                found = method(**arguments)
            else:
                with app.counting(self.counters) as on_progress:
                    found = method(**arguments, on_progress=on_progress)
            if self.key:
                found = {self.key: found}
            if self.logs:
                found = {"logged": client.usage.flush()}
            # Print before closing: a search that cannot be logged must not hide its results.
            app.emit(found, self.path)
        return int(self.fails(found)) if self.fails else 0


class DerivedCommand(click.Command):
    """A command that is made of a method of the client."""

    source: MethodCommand


def method_command(
    path: str, *own: Callable[..., Any], name: str = "", **how: Any
) -> DerivedCommand:
    """Return the command of a method; see `MethodCommand`."""
    return MethodCommand(path, name or command_name(path), own, **how).make()


def command_name(path: str) -> str:
    """Return the name of the command of a method."""
    return path.rpartition(".")[2].replace("_", "-")


class Group(click.Group):
    """A group whose commands are made from methods of the client when the group is called."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, help=text)
        self._makers: dict[str, MethodCommand] = {}

    def method(self, path: str, *own: Callable[..., Any], name: str = "", **how: Any) -> None:
        """Add the command of a method; see `MethodCommand`."""
        source = MethodCommand(path, name or command_name(path), own, **how)
        self._makers[source.name] = source

    def runs(
        self, path: str, *own: Callable[..., Any], **how: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that adds the command of a method, which the function runs."""

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self.method(path, *own, run=function, **how)
            return function

        return add

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands by the alphabet."""
        return sorted({*super().list_commands(ctx), *self._makers})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; make it if necessary, or all of them to suggest one of them."""
        for name in [cmd_name] if cmd_name in self._makers else list(self._makers):
            self.add_command(self._makers.pop(name).make(), name)
        return super().get_command(ctx, cmd_name)
