"""`graphmem tenant`, `scope` and `session`, `admin completion` and `admin metrics`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from graphmem.cli import options, output_files, parameters, terminal
from graphmem.cli.app import App, command
from graphmem.cli.derived import Group
from graphmem.rules import urls

if TYPE_CHECKING:
    from graphmem.client.namespace import Exporter


tenant = Group("tenant", "List the tenants of the graph.")
tenant.method(
    "tenants",
    name="list",
    more="This is for operators: all other commands see one tenant. A tenant with only a log of "
    "searches is not listed.",
    tenant=False,
)
scope = Group("scope", "List the scopes of a tenant.")
scope.method("admin.scopes", name="list")
session = Group("session", "List conversations by session.")

PROGRAM, VARIABLE = "graphmem", "_GRAPHMEM_COMPLETE"

TENANTS = options.stacked(
    click.option("--tenant", help="Tenant to measure without a label.  [default: GRAPHMEM_TENANT]"),
    click.option(
        "--by-tenant",
        multiple=True,
        metavar="NAME",
        help="Measure this tenant and label its metrics with its name (repeatable).",
    ),
)


@session.runs("episodes.list", only=["since", "until", "cursor", "limit"])
def list_sessions(app: App, **page: Any) -> None:
    """List sessions in the read scopes, newest first, with their episodes.

    `graphmem episode turns` shows the messages, `graphmem usage audit` the searches.
    """
    from graphmem.cli.views import usage as views

    with app.client() as client:
        found = client.episodes.list(sessions_only=True, **parameters.grouped(page))
        app.emit(found, views.conversations)


class Shell(NamedTuple):
    """How a shell finds completions."""

    file: Callable[[], Path]
    """Returns the file that it reads on demand."""
    note: str
    """Hint for the user; empty if nothing else is needed."""


def _xdg(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / default)


SHELLS = {
    "bash": Shell(
        lambda: _xdg("XDG_DATA_HOME", ".local/share") / "bash-completion/completions" / PROGRAM,
        "bash reads it if the package bash-completion is installed; otherwise add this line to "
        "~/.bashrc: source {}",
    ),
    "zsh": Shell(
        lambda: Path.home() / ".zfunc" / f"_{PROGRAM}",
        "zsh reads it if ~/.zshrc contains this line: "
        "fpath+=~/.zfunc; autoload -Uz compinit; compinit",
    ),
    "fish": Shell(
        lambda: _xdg("XDG_CONFIG_HOME", ".config") / "fish/completions" / f"{PROGRAM}.fish", ""
    ),
}


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.option("--install", is_flag=True, help="Write it to the file that the shell reads.")
@command(connects=False)
def completion(app: App, shell: str, *, install: bool) -> None:
    """Print or install the completion script of SHELL.

    It completes commands and options in new shells. Without --install the script is printed, for
    example for `eval "$(graphmem admin completion bash)"`.
    """
    script = completion_script(shell)
    path = SHELLS[shell].file()
    if install:
        write_script(path, script)
    if app.json:
        app.emit_json({"shell": shell, "file": path if install else None, "script": script})
    elif install:
        note = SHELLS[shell].note.format(path)
        # Not through the console, which would wrap a line that the user copies.
        terminal.echo(f"Written to {path}. Open a new shell to use it.")
        terminal.echo(note[:1].upper() + note[1:], end="\n" if note else "")
    else:
        terminal.echo(script)


def completion_script(shell: str) -> str:
    """Return the script that makes a shell complete graphmem's commands."""
    from click.shell_completion import get_completion_class

    from graphmem.cli import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"{shell} is not supported by this version of click.")
    return found(cli, {}, PROGRAM, VARIABLE).source()


def write_script(path: Path, script: str) -> None:
    """Write a script to a file; its folder is created if missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.FileError(str(path), error.strerror) from None
    output_files.write(path, f"{script}\n")


@click.group()
def metrics() -> None:
    """Export sizes, ratings and costs to Prometheus."""


@metrics.command(name="show")
@TENANTS
@command()
def show_metrics(app: App, *, by_tenant: tuple[str, ...]) -> None:
    """Print the metrics once."""
    with _exporter(app, by_tenant) as exporter:
        exporter.read()
        if app.json:
            app.emit_json(_families(exporter))
        else:
            terminal.echo(exporter.metrics.text(), end="")


@metrics.command()
@options.listen(9464)
@click.option(
    "--every",
    type=click.FloatRange(min=1),
    default=30.0,
    help="Seconds between readings of the graph; scrapes return the latest.",
)
@TENANTS
@command()
def serve(app: App, *, every: float, by_tenant: tuple[str, ...], **where: Any) -> None:
    """Serve metrics to Prometheus until interrupted.

    Anyone who can reach the address can read the metrics. The Host header of a request must be the
    address or loopback; --allow-host accepts another, for example graphmem.example:9464.
    """

    def wait() -> bool:
        time.sleep(every)
        return True

    with _exporter(app, by_tenant) as exporter:
        exporter.read()
        host, allow = where["host"], where["allow_host"]
        port = exporter.metrics.serve(host, where["port"], allow)
        address = f"http://{urls.bracket_ipv6(host)}:{port}/metrics"
        app.emit({"address": address}, lambda _: f"Serving {address}. Press Ctrl-C to stop.")
        wait()
        exporter.keep_reading(wait)


@contextmanager
def _exporter(app: App, by_tenant: tuple[str, ...]) -> Iterator[Exporter]:
    from graphmem.client import namespace as client

    app.start_server()
    with client.open_exporter(app.settings, by_tenant) as exporter:
        yield exporter


def _families(exporter: Exporter) -> list[dict[str, Any]]:
    return [
        {
            "name": family.name,
            "help": family.documentation,
            "type": family.type,
            "samples": [
                {"name": sample.name, "labels": sample.labels, "value": sample.value}
                for sample in family.samples
            ],
        }
        for family in exporter.metrics.collect()
    ]
