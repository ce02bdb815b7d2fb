"""`graphmem usage`: ratings, audit, packs, pruning and the search log."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from graphmem.cli import options, output_files
from graphmem.cli.app import App, Group, command, given
from graphmem.errors import ConfigurationError

RATED = ("Memory", "Belief", "Episode", "Artifact")
ARTIFACTS = ("file", "symbol", "document")
ITEMS = ("memory", "belief", "turn", "episode")
ID = re.compile(r"(?:m|b|t|ep|ar)_[^./\\]*")


def _results(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> list[str | tuple[str, str]]:
    """Return the ids, and the kind and reference of other results; a file needs no kind."""
    parts = ((one, *one.partition(":")) for one in given)
    return [
        (kind, ref) if kind in ARTIFACTS and ref else one if ID.fullmatch(one) else ("file", one)
        for one, kind, _, ref in parts
    ]


def _is_lost(found: Mapping[str, int]) -> bool:
    return not found["logged"]


usage = Group("usage", "Rate, audit and prune the memory by its search log.")
usage.method(
    "usage.log_search",
    "Log a search of another tool, with its results.",
    click.argument("query"),
    click.option("--tool", required=True, help="Name of the tool that searched."),
    click.option(
        "--result",
        "results",
        metavar="RESULT",
        multiple=True,
        callback=_results,
        help="Id, path of a file, or symbol:NAME or document:NAME (repeatable).",
    ),
    options.SESSION,
    fails=_is_lost,
    logs=True,
)
usage.method(
    "usage.log_access",
    "Log that an agent used the file or symbol REF, or an item.",
    click.argument("kind", type=click.Choice(ARTIFACTS + ITEMS)),
    click.argument("ref"),
    options.SESSION,
    fails=_is_lost,
    logs=True,
)
usage.method(
    "usage.rate",
    """Rate search results, starting where the last run stopped.

    A result that was opened in a session wins against the unopened results of the same search. A
    session counts when it has ended, or a day after its last entry. The command is resumable, and
    concurrent runs are safe.
    """,
    click.option(
        "--from-scratch", is_flag=True, help="Drop all ratings and start from the first session."
    ),
    counters={"rating": "Ratings dropped", "session": "Sessions"},
)
usage.method(
    "usage.ratings",
    "List rated items, best first.",
    click.option("--tier", help="Include only this tier: HIGH, MEDIUM, LOW or VERY_LOW."),
    options.kinds(RATED),
    options.limit(50, "items"),
)
usage.method(
    "usage.goals",
    """Show whether the ratings reach their goals.

    The curve is the value after each tenth of the rated sessions.
    """,
)
usage.method(
    "usage.audit",
    """List sessions and violations of the search protocol.

    The exit code is 1 when there is a finding.
    """,
    click.option("--days", default=7.0, help="Length of the audited period, in days up to now."),
    click.option("--session-id", metavar="NAME", help="Audit only sessions of this name."),
    fails=lambda audit: bool(audit.findings),
)


@usage.command()
@options.kinds(RATED)
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
    help="Seconds between refreshes, with --live.",
)
@command(tenant=True)
def dashboard(app: App, *, live: bool, every: float, **query: Any) -> None:
    """Show top items, the rating distribution and recent use."""
    shown = given(query)
    if live:
        _live(app, shown, every)
        return
    with app.client() as client:
        app.emit(client.usage.dashboard(**shown), "usage.dashboard")


def _live(app: App, shown: dict[str, Any], every: float) -> None:
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
    app.skip_log()
    with app.client() as client:
        wanted = {"limit": 100, **shown}
        # Report errors of the options or the server before drawing.
        client.usage.dashboard(**wanted)
        DashboardApp(client, every=every, **wanted).run()


@usage.command()
@options.apply("Prune")
@options.output("Write the manifest to this file, as JSON.")
@command(tenant=True)
def prune(app: App, *, output: Path | None, **run: Any) -> None:
    """Plan the pruning of unused episodes; --apply prunes them.

    Pruning archives episodes that are rated VERY_LOW or LOW and were not accessed for 30 days. It
    compresses the text of a LOW episode after 14 days. Memories, beliefs and pinned episodes stay.
    Nothing is deleted: `graphmem usage restore-pruned` restores it.
    """
    with app.client() as client, app.counting({"rating": "Ratings examined"}) as on_progress:
        done = client.usage.prune(on_progress=on_progress, **given(run))
    if output is not None:
        output_files.write(output, done.model_dump_json(indent=2))
    app.emit(done, "usage.prune")


usage.method(
    "usage.prune_manifest",
    "List the items of all prune runs, or of RUN_ID.",
    click.argument("run_id", required=False),
)
usage.method(
    "usage.restore_pruned",
    "Restore the items of the prune run RUN_ID.",
    click.argument("run_id"),
    click.option(
        "--item-id", "item_ids", multiple=True, help="Restore only this item (repeatable)."
    ),
    counters={"item": "Items restored"},
)


@usage.command()
@click.option("--tokens", default=4_000, help="Token budget of the pack; HIGH items may exceed it.")
@click.option("--model", help="litellm model whose tokens are counted.  [default: an estimate]")
@click.option(
    "--root",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    metavar="DIR",
    help="Include the text of files below DIR that agents touched.",
)
@click.option(
    "--blocked-path",
    "blocked_paths",
    multiple=True,
    metavar="GLOB",
    help="Leave out artifacts that match GLOB (repeatable).",
)
@options.output("Write the pack to this file and its manifest next to it.")
@command(tenant=True)
def pack(app: App, *, output: Path | None, **wanted: Any) -> None:
    """Pack the most used items into Markdown for a prompt.

    HIGH items are included whole, MEDIUM ones summarised, LOW ones as one line; VERY_LOW items are
    left out. With --root, files that agents touched are included with their text. With --output
    FILE.md, the manifest is written to FILE.manifest.json.
    """
    from graphmem.cli.views import usage as views

    with app.client() as client:
        found = client.usage.pack(**given(wanted))
    if output is not None:
        manifest = found.model_dump_json(indent=2, exclude={"text"})
        output_files.write(output, found.text)
        output_files.write(output.with_suffix(".manifest.json"), manifest)
    app.emit(found, lambda it: views.pack(it, found.text, output))


usage.method(
    "usage.roll_up",
    """Replace rated searches of old sessions by their counts.

    Ratings and accesses stay, and `rate --from-scratch` starts from the ratings of that time. The
    searches cannot be restored.
    """,
    click.option("--days", default=90.0, help="Minimum age of a session, in days since its end."),
    options.apply("Replace the searches"),
    counters={"session": "Sessions", "search": "Others"},
)
