"""`graphmem consolidate`: let what several episodes say become beliefs."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command
from graphmem.cli.terminal import visible

if TYPE_CHECKING:
    from graphmem.client import GraphMem
    from graphmem.model import CompressionReport, ConsolidationReport, GraduationReport

POLL_S = 60.0
"""Between two looks whether a run is due."""
_HOURS = {"m": 1 / 60, "h": 1.0, "d": 24.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([mhd])")


class HoursType(click.ParamType[float]):
    """A duration like 30m, 4h or 1d, as hours."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the hours."""
        if isinstance(value, float):
            return value
        match = _DURATION.fullmatch(str(value).strip())
        if match is None or not float(match[1]):
            self.fail(f"{value!r} is no duration: write 30m, 4h or 1d.", param, ctx)
        return float(match[1]) * _HOURS[match[2]]


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would be done; nothing is written.")
@click.option(
    "--every", type=HoursType(), help="Keep doing it: 30m, 4h, 1d; sooner after 20 episodes."
)
@click.option("--extractive", is_flag=True, help="Use no language model although one is set.")
@click.option(
    "--digest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Then add a line for each important episode to FILE, for example MEMORY.md.",
)
@click.option(
    "--compress",
    is_flag=True,
    help="Then reduce old episodes that nobody looked at to their summaries.",
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
    """Let what several episodes say become beliefs, and show what was done.

    Of the file given as --digest only what stands between its two marker lines is added to. A
    compressed episode is put back by `graphmem memory restore-episode`.

    Safe to interrupt and to run in several places at once: each belief's evidence is written once.
    Exit code 1 when a cluster went wrong; it is tried again by a later run.
    """
    if dry_run and every is not None:
        raise click.UsageError("--every keeps writing, and --dry-run writes nothing: give one.")
    then = _RepeatPlan(digest, compress)
    with app.memory() as memory:
        if digest is not None:
            # A file that cannot be used is said before a language model is paid for.
            memory.graduate(digest, dry_run=True)
        if every is not None:
            _keep_going(app, memory, every, then, extractive=extractive)
        found = _run(app, memory, dry_run=dry_run, extractive=extractive)
        _show(app, found, *_upkeep(app, memory, then, dry_run=dry_run))
    return int(bool(found.troubles))


@dataclass(frozen=True)
class _RepeatPlan:
    """What a run is to be followed by."""

    digest: Path | None
    compress: bool


def _keep_going(
    app: App, memory: GraphMem, every: float, then: _RepeatPlan, *, extractive: bool
) -> None:
    from graphmem.model import ConsolidationPolicy

    policy = ConsolidationPolicy(every_hours=every)
    while True:
        found = _run(app, memory, extractive=extractive, if_due=True, policy=policy)
        if found.applied:
            _show(app, found, *_upkeep(app, memory, then))
        time.sleep(POLL_S)


def _run(app: App, memory: GraphMem, **how: Any) -> ConsolidationReport:
    titles = {"passage": "Reading passages", "belief": "Matching", "cluster": "Clusters"}
    with app.counting(titles) as tell:
        return memory.consolidate(on_part=tell, **how)


def _upkeep(
    app: App, memory: GraphMem, then: _RepeatPlan, *, dry_run: bool = False
) -> tuple[GraduationReport | None, CompressionReport | None]:
    graduated = memory.graduate(then.digest, dry_run=dry_run) if then.digest else None
    if not then.compress:
        return graduated, None
    with app.counting({"episode": "Compressing"}) as tell:
        compressed = memory.compress(dry_run=dry_run, on_part=tell)
    return graduated, compressed


def _show(
    app: App,
    found: ConsolidationReport,
    graduated: GraduationReport | None,
    compressed: CompressionReport | None,
) -> None:
    from rich.console import Group

    from graphmem.cli import consolidation_views as views

    upkeep = {"graduation": graduated, "compression": compressed}
    data = dict(found) | {name: done for name, done in upkeep.items() if done is not None}

    def view(_: object) -> Group:
        parts = [views.consolidation_report(visible(found))]
        parts += [views.graduation(visible(graduated))] if graduated else []
        parts += [views.compression(visible(compressed))] if compressed else []
        return Group(*parts)

    app.emit(data, view)
