"""`graphmem worker`: the background jobs."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import parameters, terminal
from graphmem.cli.app import App
from graphmem.cli.derived import method_command
from graphmem.errors import (
    UnavailableError,
)
from graphmem.rules import display

if TYPE_CHECKING:
    from graphmem.jobs import JobRun, WorkerReport


POLL_S = 60.0
"""Seconds between two checks whether a run is due."""
MAX_WAIT_S = 600.0
"""Maximum number of seconds between two attempts to reach the graph."""


def run_worker(app: App, *, once: bool, **asked: Any) -> int:
    """Run the background jobs of all tenants until stopped.

    The jobs are extraction, consolidation, rating, graduation, compression, the roll-up of the
    search log, and sealing; what pruning would do is only counted. Every run prints one line. Any
    number of workers may run: a lease in the graph gives each job of a tenant to one of them. A
    scope, session or item that fails is shown, skipped, and tried again later; the others are
    served. The exit code of --once is 1 when anything failed.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with app.client() as client:
        run = partial(
            client.run_jobs,
            on_job=partial(_report_job, app),
            **parameters.grouped(asked),
        )
        if once:
            return int(any(job.error or job.failed for job in run().runs))
        _serve(app, run)
    return 0


worker = method_command(
    "run_jobs",
    click.option("--once", is_flag=True, help="Run the jobs that are due and exit."),
    name="worker",
    run=run_worker,
    tenant=False,
)


def _serve(app: App, run: Callable[[], WorkerReport]) -> None:
    """Run what is due every minute; while the graph cannot be reached, less and less often."""
    wait = POLL_S
    while True:
        try:
            run()
            wait = POLL_S
        except UnavailableError as error:
            app.note(f"{error} The next attempt is in {wait:.0f} s.", style="yellow")
            time.sleep(wait)
            wait = min(2 * wait, MAX_WAIT_S)
            continue
        time.sleep(wait)


def _report_job(app: App, run: JobRun) -> None:
    if app.json:
        from graphmem.rules.plain import plain

        terminal.echo_json(plain(run))
        return
    outcome = "failed" if run.error else "ok"
    start = f"{run.at:%Y-%m-%dT%H:%M:%SZ} {run.tenant} {run.job}"
    waiting = f", {run.waiting} waiting after failures" if run.waiting else ""
    line = f"{start} {outcome} {run.seconds:.1f} s: {run.summary}{waiting}"
    terminal.echo(display.line(line))
    for one in run.failed:
        unit = one.scope if one.unit is None else f"{one.scope} {one.unit}"
        again = f"attempt {one.failures}, the next in {one.retry_s:.0f} s"
        terminal.echo(display.line(f"{start} skipped {unit}: {one.problem} ({again})"))
