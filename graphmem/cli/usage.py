"""Commands for usage ratings, audit, packs, pruning and the roll-up of the search log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command
from graphmem.errors import ConfigurationError

if TYPE_CHECKING:
    from graphmem.client.usage import RatedKind


KINDS = click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="Memory|Belief|Episode",
    help="Include only this kind (repeatable).  [default: all kinds]",
)
TO_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--apply", is_flag=True, help="Apply the plan; without it, only show the plan.")
@KINDS
@click.option("-o", "--output", type=TO_FILE, help="Write the manifest to this file, as JSON.")
@command(wall=True)
def prune(app: App, *, apply: bool, kinds: tuple[str, ...], output: Path | None) -> None:
    """Plan the pruning of unused items; --apply prunes them.

    Pruning archives items that are rated VERY_LOW and were not accessed for 30 days. It compresses
    the text of a LOW episode after 14 days. Nothing is deleted: `graphmem attention restore`
    restores it.
    """
    from graphmem.cli import usage_views

    with app.memory() as memory, app.counting({"rating": "Ratings examined"}) as on_progress:
        chosen: dict[str, Any] = {"kinds": kinds} if kinds else {}
        done = memory.usage.prune(dry_run=not apply, on_progress=on_progress, **chosen)
    if output is not None:
        _write(output, done.model_dump_json(indent=2))
    app.emit(done, usage_views.report)


@click.command()
@click.argument("run", required=False)
@click.option(
    "--item", "items", multiple=True, metavar="ID", help="Restore only this item (repeatable)."
)
@command(wall=True)
def restore(app: App, run: str | None, *, items: tuple[str, ...]) -> None:
    """Restore the items of a prune RUN, or list all runs."""
    from graphmem.cli import usage_views

    if items and run is None:
        raise click.UsageError("--item requires RUN, the prune run of the item.")
    with app.memory() as memory:
        if run is None:
            lines = memory.usage.prune_manifest()
            app.emit(lines, usage_views.manifest)
            return
        with app.counting({"item": "Items restored"}) as on_progress:
            done = memory.usage.restore_pruned(run, item_ids=items or None, on_progress=on_progress)
    app.emit(done, usage_views.restored)


@click.command()
@click.option(
    "--tokens",
    default=4_000,
    show_default=True,
    help="Token budget of the pack; HIGH items may exceed it.",
)
@click.option("--model", help="litellm model whose tokens are counted.  [default: an estimate]")
@click.option(
    "--root",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    metavar="DIR",
    help="Include the text of files below DIR that agents touched.",
)
@click.option(
    "--blocked",
    multiple=True,
    metavar="GLOB",
    help="Leave out artifacts that match GLOB (repeatable).",
)
@click.option(
    "-o", "--output", type=TO_FILE, help="Write the pack to this file and its manifest next to it."
)
@command(wall=True)
def pack(
    app: App,
    *,
    tokens: int,
    model: str | None,
    root: Path | None,
    blocked: tuple[str, ...],
    output: Path | None,
) -> None:
    """Pack the most used items into Markdown for a prompt.

    HIGH items are included whole, MEDIUM ones summarised, LOW ones as one line; VERY_LOW items are
    left out. With --root, files that agents touched are included with their text. With --output
    FILE.md, the manifest is written to FILE.manifest.json.
    """
    from graphmem.cli import usage_views

    with app.memory() as memory:
        found = memory.usage.pack(tokens, model=model, root=root, blocked_paths=blocked)
    if output is not None:
        _write(output, found.text)
        _write(
            output.with_suffix(".manifest.json"),
            found.model_dump_json(indent=2, exclude={"text"}),
        )
    app.emit(found, lambda it: usage_views.pack(it, found.text, output))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(path), error.strerror) from None


PRUNING = (prune, restore, pack)
"""Commands that prune, restore and pack items."""


@click.command("roll-up")
@click.option(
    "--days",
    default=90.0,
    show_default=True,
    help="Minimum age of a session, in days since its end.",
)
@click.option("--apply", is_flag=True, help="Roll up; without it, only show the plan.")
@command(wall=True)
def roll_up(app: App, *, days: float, apply: bool) -> None:
    """Replace the rated searches of old sessions by their counts.

    Ratings and accesses stay, and `rate --again` starts from the ratings of that time. The searches
    cannot be restored.
    """
    from graphmem.cli.belief_views import counted

    with app.memory() as memory, app.counting({"session": "Sessions", "search": "Others"}) as count:
        done = memory.usage.roll_up(days=days, dry_run=not apply, on_progress=count)
    searches = counted(done.searches, "search", "searches")
    summary = f"{searches} with {done.results:,} results, of {counted(done.sessions, 'session')}"
    if not done.searches:
        summary = f"Nothing to roll up: no rated or unratable search is {days:g} days old."
    elif done.applied:
        summary += ": replaced by their counts."
    else:
        summary += " would be replaced by counts; use --apply."
    app.emit(done, lambda _: summary)


@click.group()
def attention() -> None:
    """Rate, audit and prune the memory by its search log."""


@attention.command()
@click.option("--again", is_flag=True, help="Drop all ratings and start from the first session.")
@command(wall=True)
def rate(app: App, *, again: bool) -> None:
    """Rate search results, starting where the last run stopped.

    A result that was opened in a session wins against the unopened results of the same search. A
    session counts when it has ended, or a day after its last entry. The command is resumable, and
    concurrent runs are safe.
    """
    from graphmem.cli import usage_views

    with app.memory() as memory:
        with app.counting({"rating": "Ratings dropped", "session": "Sessions"}) as count:
            done = memory.usage.rate(from_scratch=again, on_progress=count)
        app.emit(done, usage_views.settled)


@attention.command()
@click.option(
    "--days",
    default=7.0,
    show_default=True,
    help="Length of the audited period, in days up to now.",
)
@click.option("--session", metavar="NAME", help="Audit only sessions of this name.")
@command(wall=True)
def audit(app: App, *, days: float, session: str | None) -> int:
    """List sessions and violations of the search protocol.

    The exit code is 1 when there is a finding.
    """
    from graphmem.cli import usage_views

    with app.memory() as memory:
        found = memory.usage.audit(days=days, session_id=session)
    app.emit(found, usage_views.audit)
    return int(bool(found.findings))


@attention.command()
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="Memory|Belief|Episode|Artifact",
    help="Include only this kind (repeatable).  [default: all kinds]",
)
@click.option(
    "--limit", type=int, help="Rows of each section, 1 to 1,000.  [default: 10; live: 100]"
)
@click.option(
    "--live", is_flag=True, help="Show an interactive, refreshing dashboard; ? lists the keys."
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=5.0,
    show_default=True,
    help="Seconds between refreshes, with --live.",
)
@command(wall=True)
def dashboard(
    app: App, *, kinds: tuple[RatedKind, ...], limit: int | None, live: bool, every: float
) -> None:
    """Show top items, the rating distribution and recent use."""
    from graphmem.cli import usage_views

    if live:
        _live(app, kinds, 100 if limit is None else limit, every)
        return
    with app.memory() as memory:
        chosen: dict[str, Any] = {"kinds": kinds} if kinds else {}
        found = memory.usage.dashboard(limit=10 if limit is None else limit, **chosen)
        app.emit(found, usage_views.dashboard)


def _live(app: App, kinds: tuple[RatedKind, ...], limit: int, every: float) -> None:
    """Show the interactive dashboard until the user quits.

    Raises:
        ConfigurationError: textual is not installed.
    """
    if app.json or not sys.stdout.isatty():
        raise click.UsageError("--live requires a terminal; omit it for JSON or a file.")
    try:
        from graphmem.cli.dashboard import DashboardApp
    except ImportError:
        raise ConfigurationError(
            "The live dashboard requires textual, which is not installed.",
            hint="pip install 'graphmem[dashboard]'",
        ) from None
    # Watching the dashboard must not change the usage it shows.
    app.look_only()
    with app.memory() as memory:
        # Report errors of the options or the server before drawing.
        memory.usage.dashboard(limit=limit, **({"kinds": kinds} if kinds else {}))
        DashboardApp(memory, every=every, limit=limit, kinds=kinds).run()


for subcommand in (*PRUNING, roll_up):
    attention.add_command(subcommand)
