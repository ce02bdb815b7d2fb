"""Commands about the use of memory: ratings, audit, packs, pruning and roll-up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command
from graphmem.errors import ConfigurationError

if TYPE_CHECKING:
    from graphmem.client.ratings import RatedKind


KINDS = click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="Memory|Belief|Episode",
    help="Only these; all of them unless given.",
)
TO_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--apply", is_flag=True, help="Do it; without this the plan is shown.")
@KINDS
@click.option("-o", "--output", type=TO_FILE, help="Write the manifest to this file, as JSON.")
@command(wall=True)
def prune(app: App, *, apply: bool, kinds: tuple[str, ...], output: Path | None) -> None:
    """Show what nobody uses and would be put away; with --apply, put it away.

    Archived is what is rated VERY_LOW and was not touched for 30 days; of a LOW episode the text
    is compressed after 14. Nothing is deleted: `graphmem attention restore` brings it back.
    """
    from graphmem.cli import usage_views

    with app.memory() as memory, app.counting({"rating": "Ratings looked at"}) as tell:
        chosen: dict[str, Any] = {"kinds": kinds} if kinds else {}
        done = memory.prune(apply=apply, on_part=tell, **chosen)
    if output is not None:
        _write(output, done.model_dump_json(indent=2))
    app.emit(done, usage_views.report)


@click.command()
@click.argument("run", required=False)
@click.option("--item", "items", multiple=True, metavar="ID", help="Only these items of it.")
@command(wall=True)
def restore(app: App, run: str | None, *, items: tuple[str, ...]) -> None:
    """Bring back what a run of `prune` put away; without a run, list them all."""
    from graphmem.cli import usage_views

    if items and run is None:
        raise click.UsageError("--item needs the run that put it away.")
    with app.memory() as memory:
        if run is None:
            lines = memory.pruned()
            app.emit(lines, usage_views.manifest)
            return
        with app.counting({"item": "Items brought back"}) as tell:
            done = memory.restore_pruned(run, ids=items or None, on_part=tell)
    app.emit(done, usage_views.restored)


@click.command()
@click.option("--tokens", default=4_000, show_default=True, help="Of the pack at most, if it can.")
@click.option("--model", help="Whose tokens, as litellm counts them; else an estimate.")
@click.option(
    "--root",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    metavar="DIR",
    help="Pack files below DIR that agents touched with their text.",
)
@click.option("--blocked", multiple=True, metavar="GLOB", help="Leave out artifacts named so.")
@click.option("-o", "--output", type=TO_FILE, help="Write the pack here, the manifest beside it.")
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
    """Pack what is used most into markdown for a prompt, within a number of tokens.

    What is rated HIGH is whole, MEDIUM summarised, LOW one line, VERY_LOW left out. With --root,
    files that agents touched are packed with their text. Beside FILE.md stands FILE.manifest.json.
    """
    from graphmem.cli import usage_views

    with app.memory() as memory:
        found = memory.pack(tokens, model=model, root=root, blocked_paths=blocked)
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
"""In the order of the help."""


@click.command("roll-up")
@click.option("--days", default=90.0, show_default=True, help="Sessions that ended so long ago.")
@click.option("--apply", is_flag=True, help="Do it; without this it is told what would be done.")
@command(wall=True)
def roll_up(app: App, *, days: float, apply: bool) -> None:
    """Replace the searches of old sessions that are rated by their counts; with --apply, do it.

    Ratings and looks stay, and `rate --again` begins from what ratings were then. The searches
    cannot be brought back.
    """
    from graphmem.cli.belief_views import counted

    with app.memory() as memory, app.counting({"session": "Sessions", "search": "Others"}) as tell:
        done = memory.roll_up_log(days=days, apply=apply, on_part=tell)
    searches = counted(done.searches, "search", "searches")
    said = f"{searches} with {done.results:,} results, of {counted(done.sessions, 'session')}"
    if not done.searches:
        said = (
            f"Nothing to roll up: no search that is rated, or never will be, is {days:g} days old."
        )
    elif done.applied:
        said += ": gone, and counted."
    else:
        said += " would go; --apply does it."
    app.emit(done, lambda _: said)


@click.group()
def attention() -> None:
    """See what the memory is really used for, by the log of its searches."""


@attention.command()
@click.option("--again", is_flag=True, help="Drop all ratings and begin with the first session.")
@command(wall=True)
def rate(app: App, *, again: bool) -> None:
    """Rate what searches returned, from where the last run stopped.

    What was opened in a session has won against what the same search returned and nobody opened.
    A session counts when it has ended, or a day after its last entry. Safe to interrupt and to run
    in several places at once.
    """
    from graphmem.cli import usage_views

    with app.memory() as memory:
        with app.counting({"rating": "Ratings dropped", "session": "Sessions"}) as tell:
            done = memory.rate(again=again, on_part=tell)
        app.emit(done, usage_views.settled)


@attention.command()
@click.option("--days", default=7.0, show_default=True, help="Of the log, up to now.")
@click.option("--session", metavar="NAME", help="Only the sessions of this name.")
@command(wall=True)
def audit(app: App, *, days: float, session: str | None) -> int:
    """Show the sessions, and what in them was against the search protocol.

    Exit code 1 when there is a finding.
    """
    from graphmem.cli import usage_views

    with app.memory() as memory:
        found = memory.audit(days=days, session=session)
    app.emit(found, usage_views.audit)
    return int(bool(found.findings))


@attention.command()
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="Memory|Belief|Episode|Artifact",
    help="Only these; all of them unless given.",
)
@click.option("--limit", type=int, help="Rows of each part, 1 to 1,000.  [default: 10; live: 100]")
@click.option("--live", is_flag=True, help="Stay, refresh, and move about by keys: ? shows them.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=5.0,
    show_default=True,
    help="Seconds from one refresh to the next, when live.",
)
@command(wall=True)
def dashboard(
    app: App, *, kinds: tuple[RatedKind, ...], limit: int | None, live: bool, every: float
) -> None:
    """Show what is used most, how ratings spread, and what was looked for last."""
    from graphmem.cli import usage_views

    if live:
        _live(app, kinds, 100 if limit is None else limit, every)
        return
    with app.memory() as memory:
        chosen: dict[str, Any] = {"kinds": kinds} if kinds else {}
        found = memory.attention(limit=10 if limit is None else limit, **chosen)
        app.emit(found, usage_views.dashboard)


def _live(app: App, kinds: tuple[RatedKind, ...], limit: int, every: float) -> None:
    """Draw the dashboard until its user leaves it.

    Raises:
        ConfigurationError: textual is not installed.
    """
    if app.json or not sys.stdout.isatty():
        raise click.UsageError("--live draws in a terminal; leave it out for JSON or a file.")
    try:
        from graphmem.cli.dashboard import DashboardApp
    except ImportError:
        raise ConfigurationError(
            "The live dashboard needs textual, and it is not installed.",
            hint="pip install 'graphmem[dashboard]'",
        ) from None
    # Who watches does not change what is watched.
    app.look_only()
    with app.memory() as memory:
        # What is wrong with the options or the server is said before anything is drawn.
        memory.attention(limit=limit, **({"kinds": kinds} if kinds else {}))
        DashboardApp(memory, every=every, limit=limit, kinds=kinds).run()


for other in (*PRUNING, roll_up):
    attention.add_command(other)
