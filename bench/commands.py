"""Options and output that the commands of benchmarks and research share."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bench.figures import Report
    from bench.progress import Steps

FOLDER = click.Path(file_okay=False, path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")


def run(measure: Callable[[Steps], Report], *, as_json: bool) -> None:
    """Measure, print and save the report; exit 1 if a target is missed."""
    from rich.console import Console

    from bench.progress import Steps

    # On SIGTERM, the benchmark still stops its server and removes the data.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    notes = Console(stderr=True, highlight=False)
    report = measure(Steps(notes))
    path = report.save()
    if as_json:
        click.echo(report.as_json())
    else:
        # Output to a file or a pipe is wide enough for the tables.
        report.show(Console(highlight=False, width=None if sys.stdout.isatty() else 180))
        notes.print(f"[dim]{path}[/dim]")
    sys.exit(1 if report.missed else 0)
