"""`graphmem consolidate`."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, failure_code
from graphmem.cli.derived import method_command
from graphmem.cli.worker import POLL_S
from graphmem.errors import (
    ModelUnavailableError,
)

if TYPE_CHECKING:
    from graphmem import GraphMem


CONSOLIDATING = {"passage": "Reading passages", "belief": "Matching", "cluster": "Clusters"}

_HOURS = {"m": 1 / 60, "h": 1.0, "d": 24.0}

_DURATION = re.compile(r"(\d+(?:\.\d+)?)([mhd])")


class HoursType(click.ParamType[float]):
    """A duration like 30m, 4h or 1d, as hours."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the duration in hours."""
        if isinstance(value, float):
            return value
        match = _DURATION.fullmatch(str(value).strip())
        if match is None or not float(match[1]):
            self.fail(f"{value!r} must be a duration such as 30m, 4h or 1d.", param, ctx)
        return float(match[1]) * _HOURS[match[2]]


def run_consolidate(app: App, *, every: float | None, status: bool, **run: Any) -> int:
    """Derive beliefs from several episodes; show the changes.

    The command is resumable, and concurrent runs are safe: each belief's evidence is written once.
    The exit code is 4 when the model could not be reached, and 1 when a cluster failed otherwise;
    a later run retries it.
    """
    if status:
        with app.client() as client:
            app.emit(client.consolidation_status(), "consolidation_status")
        return 0
    if run["dry_run"] and every is not None:
        raise click.UsageError("--every repeats writes, but --dry-run writes nothing: give one.")
    with app.client() as client:
        if every is not None:
            _run_forever(app, client, every, **run)
        with app.counting(CONSOLIDATING) as on_progress:
            found = client.consolidate(on_progress=on_progress, **run)
        app.emit(found, "consolidate")
    return failure_code(found.troubles)


consolidate = method_command(
    "consolidate",
    click.option(
        "--every",
        type=HoursType(),
        help="Repeat at this interval (30m, 4h, 1d), or after 20 episodes.",
    ),
    click.option("--status", is_flag=True, help="Show what waits and why; change nothing."),
    run=run_consolidate,
    without=["if_due"],
)


def _run_forever(app: App, client: GraphMem, every: float, **run: Any) -> None:
    policy = app.settings.consolidation.model_copy(update={"interval_hours": every})
    while True:
        try:
            with app.counting(CONSOLIDATING) as on_progress:
                found = client.consolidate(
                    if_due=True, policy=policy, on_progress=on_progress, **run
                )
        except ModelUnavailableError as error:
            # The next attempts are spaced by the state that the run left.
            app.note(str(error), style="yellow")
        else:
            if found.applied:
                app.emit(found, "consolidate")
        time.sleep(POLL_S)
