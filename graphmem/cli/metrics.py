"""`graphmem admin metrics`: sizes, ratings and costs for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import options, terminal
from graphmem.cli.app import App, command
from graphmem.rules import urls

if TYPE_CHECKING:
    from graphmem.client.exporter import Exporter


TENANTS = options.stacked(
    click.option("--tenant", help="Tenant to measure without a label.  [default: GRAPHMEM_TENANT]"),
    click.option(
        "--by-tenant",
        multiple=True,
        metavar="NAME",
        help="Measure this tenant and label its metrics with its name (repeatable).",
    ),
)


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
    from graphmem.client.exporter import open_exporter

    app.start_server()
    with open_exporter(app.settings, by_tenant) as exporter:
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
