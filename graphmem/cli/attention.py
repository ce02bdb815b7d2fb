"""`graphmem attention`: what the memory is really used for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command
from graphmem.cli.attention_rollup import roll_up
from graphmem.cli.pruning import PRUNING
from graphmem.errors import ConfigurationError

if TYPE_CHECKING:
    from graphmem.client.ratings import RatedKind


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
    from graphmem.cli import rating_views

    with app.memory() as memory:
        with app.counting({"rating": "Ratings dropped", "session": "Sessions"}) as tell:
            done = memory.rate(again=again, on_part=tell)
        app.emit(done, rating_views.settled)


@attention.command()
@click.option("--days", default=7.0, show_default=True, help="Of the log, up to now.")
@click.option("--session", metavar="NAME", help="Only the sessions of this name.")
@command(wall=True)
def audit(app: App, *, days: float, session: str | None) -> int:
    """Show the sessions, and what in them was against the search protocol.

    Exit code 1 when there is a finding.
    """
    from graphmem.cli import rating_views

    with app.memory() as memory:
        found = memory.audit(days=days, session=session)
    app.emit(found, rating_views.audit)
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
    from graphmem.cli import rating_views

    if live:
        _live(app, kinds, 100 if limit is None else limit, every)
        return
    with app.memory() as memory:
        chosen: dict[str, Any] = {"kinds": kinds} if kinds else {}
        found = memory.attention(limit=10 if limit is None else limit, **chosen)
        app.emit(found, rating_views.dashboard)


def _live(app: App, kinds: tuple[RatedKind, ...], limit: int, every: float) -> None:
    """Draw the dashboard until its user leaves it.

    Raises:
        ConfigurationError: textual is not installed.
    """
    if app.json or not sys.stdout.isatty():
        raise click.UsageError("--live draws in a terminal; leave it out for JSON or a file.")
    try:
        from graphmem.cli.live_dashboard import DashboardApp
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
