"""`graphmem consolidate`: derive beliefs from several episodes."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem import Handle
from graphmem.cli.app import App, command
from graphmem.cli.terminal import visible

if TYPE_CHECKING:
    from graphmem.model import CompressionReport, ConsolidationReport, GraduationReport

POLL_S = 60.0
"""Seconds between two checks whether a run is due."""
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


@click.command()
@click.option("--dry-run", is_flag=True, help="Show the changes without writing them.")
@click.option(
    "--every", type=HoursType(), help="Repeat at this interval (30m, 4h, 1d), or after 20 episodes."
)
@click.option("--extractive", is_flag=True, help="Do not use the configured language model.")
@click.option(
    "--digest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Then add a line per important episode to FILE, for example MEMORY.md.",
)
@click.option(
    "--compress",
    is_flag=True,
    help="Then reduce old, unused episodes to their summaries.",
)
@command(wall=True)
def consolidate(
    app: App,
    *,
    dry_run: bool,
    every: float | None,
    extractive: bool,
    digest: Path | None,
    compress: bool,
) -> int:
    """Derive beliefs from several episodes; show the changes.

    Only the section between the graphmem markers in the --digest file is modified. To restore a
    compressed episode, run `graphmem memory restore-episode`.

    The command is resumable, and concurrent runs are safe: each belief's evidence is written once.
    The exit code is 1 when a cluster failed; a later run retries it.
    """
    if dry_run and every is not None:
        raise click.UsageError("--every repeats writes, but --dry-run writes nothing: give one.")
    follow_up = _FollowUp(digest, compress)
    with app.memory() as memory:
        if digest is not None:
            # Report an unusable file before paying for a language model.
            memory.episodes.graduate(digest, dry_run=True)
        if every is not None:
            _run_forever(app, memory, every, follow_up, extractive=extractive)
        found = _run(app, memory, dry_run=dry_run, extractive=extractive)
        _show(app, found, *_maintain(app, memory, follow_up, dry_run=dry_run))
    return int(bool(found.troubles))


@dataclass(frozen=True)
class _FollowUp:
    """Work to do after each run."""

    digest: Path | None
    compress: bool


def _run_forever(
    app: App, memory: Handle, every: float, follow_up: _FollowUp, *, extractive: bool
) -> None:
    from graphmem.model import ConsolidationPolicy

    policy = ConsolidationPolicy(every_hours=every)
    while True:
        found = _run(app, memory, extractive=extractive, if_due=True, policy=policy)
        if found.applied:
            _show(app, found, *_maintain(app, memory, follow_up))
        time.sleep(POLL_S)


def _run(app: App, memory: Handle, **options: Any) -> ConsolidationReport:
    titles = {"passage": "Reading passages", "belief": "Matching", "cluster": "Clusters"}
    with app.counting(titles) as on_progress:
        return memory.consolidate(on_progress=on_progress, **options)


def _maintain(
    app: App, memory: Handle, follow_up: _FollowUp, *, dry_run: bool = False
) -> tuple[GraduationReport | None, CompressionReport | None]:
    graduated = (
        memory.episodes.graduate(follow_up.digest, dry_run=dry_run) if follow_up.digest else None
    )
    if not follow_up.compress:
        return graduated, None
    with app.counting({"episode": "Compressing"}) as on_progress:
        compressed = memory.episodes.compress(dry_run=dry_run, on_progress=on_progress)
    return graduated, compressed


def _show(
    app: App,
    found: ConsolidationReport,
    graduated: GraduationReport | None,
    compressed: CompressionReport | None,
) -> None:
    from rich.console import Group

    from graphmem.cli import consolidation_views as views

    maintenance = {"graduation": graduated, "compression": compressed}
    data = dict(found) | {name: done for name, done in maintenance.items() if done is not None}

    def view(_: object) -> Group:
        parts = [views.consolidation_report(visible(found))]
        parts += [views.graduation(visible(graduated))] if graduated else []
        parts += [views.compression(visible(compressed))] if compressed else []
        return Group(*parts)

    app.emit(data, view)
