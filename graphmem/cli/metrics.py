"""`graphmem metrics`: what the graph holds, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from graphmem.cli import terminal
from graphmem.cli.app import App, command, listening
from graphmem.rules import hosts

if TYPE_CHECKING:
    from graphmem.client.metrics import Exporter

F = TypeVar("F", bound=Callable[..., Any])


def whose(function: F) -> F:
    """Give a command the options that say which tenants are measured."""
    options = [
        click.option(
            "--by-tenant",
            multiple=True,
            metavar="NAME",
            help="Measure this tenant and label it with its name; may be given several times.",
        ),
        click.option("--tenant", help="Whose memory, unlabelled; GRAPHMEM_TENANT by default."),
    ]
    wrapped: Any = function
    for option in options:
        wrapped = option(wrapped)
    decorated: F = wrapped
    return decorated


@click.group()
def metrics() -> None:
    """Sizes, ratings, work that waits and its cost, for Prometheus."""


@metrics.command()
@whose
@command()
def show(app: App, *, by_tenant: tuple[str, ...]) -> None:
    """Print one scrape."""
    with _opened(app, by_tenant) as exporter:
        exporter.read()
        if app.json:
            app.emit_json(_families(exporter))
        else:
            terminal.echo(exporter.metrics.text(), end="")


@metrics.command()
@listening(port=9464)
@click.option(
    "--every",
    type=click.FloatRange(min=1),
    default=30.0,
    show_default=True,
    help="Seconds between readings of the graph; a scrape gets the newest.",
)
@whose
@command()
def serve(app: App, *, every: float, by_tenant: tuple[str, ...], **where: Any) -> None:
    """Serve metrics to Prometheus until interrupted.

    Anyone who reaches the address can read them. A request must name the server by its address or
    by loopback; --allow-host accepts another name, for example graphmem.example:9464.
    """

    def wait() -> bool:
        time.sleep(every)
        return True

    with _opened(app, by_tenant) as exporter:
        exporter.read()
        host, allow = where["host"], where["allow_host"]
        port = exporter.metrics.serve(host, where["port"], allow)
        address = f"http://{hosts.bracketed(host)}:{port}/metrics"
        app.emit({"address": address}, lambda _: f"Serving {address}; Ctrl-C ends it.")
        wait()
        exporter.keep_reading(wait)


@contextmanager
def _opened(app: App, by_tenant: tuple[str, ...]) -> Iterator[Exporter]:
    from graphmem.client import metrics as client

    if app.settings.uri is None:
        from graphmem.cli.terminal import start

        start(app)
    with client.opened(app.settings, by_tenant) as exporter:
        yield exporter


def _families(exporter: Exporter) -> list[dict[str, Any]]:
    return [
        {
            "name": family.name,
            "help": family.documentation,
            "type": family.type,
            "samples": [
                {"name": one.name, "labels": one.labels, "value": one.value}
                for one in family.samples
            ],
        }
        for family in exporter.metrics.collect()
    ]
