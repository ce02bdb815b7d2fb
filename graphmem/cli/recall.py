"""Commands that search memory: recall, context, expand and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import click

from graphmem.cli import terminal
from graphmem.cli.app import App, F, command
from graphmem.cli.belief import by, reading
from graphmem.cli.memory import as_of, described, moment


def looking(function: F) -> F:
    """Give a command that recalls what decides among what, and how it is ranked."""
    for option in (
        click.option(
            "--policy",
            default="default",
            show_default=True,
            help="How to rank: default, flat, trace, esper, engram or agent.",
        ),
        click.option(
            "--in-scope", "scopes", multiple=True, help="Only there; give several for any."
        ),
        described,
        click.option("--hidden", is_flag=True, help="Show what was superseded or outvoted too."),
        click.option("--turns", is_flag=True, help="Look among what was said word for word too."),
    ):
        function = option(function)
    return moment(function)


def given(
    options: Mapping[str, Any], valid: datetime | None, known: datetime | None
) -> dict[str, Any]:
    """Return what `looking` was given, as `recall` takes it."""
    told = {name: value for name, value in options.items() if value not in (None, (), False)}
    return told | {"as_of": as_of(valid, known)}


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=10, show_default=True, help="Hits at most.")
@looking
@command(wall=True)
def recall(
    app: App,
    query: tuple[str, ...],
    *,
    limit: int,
    valid: datetime | None,
    known: datetime | None,
    **asked: Any,
) -> None:
    """Find what is remembered about QUERY, best first, each with its reasons."""
    wanted = given(asked, valid, known)
    with app.memory() as memory:
        found = memory.recall(" ".join(query), limit=limit, **wanted)
        from graphmem.cli import recall_views

        # Shown before the search is logged: that this fails is no reason to hide it.
        app.emit(found, recall_views.recollection)


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--tokens", type=int, default=800, show_default=True, help="Tokens at most.")
@click.option("--limit", type=int, default=20, show_default=True, help="Hits to choose from.")
@looking
@command(wall=True)
def context(
    app: App,
    query: tuple[str, ...],
    *,
    tokens: int,
    limit: int,
    valid: datetime | None,
    known: datetime | None,
    **asked: Any,
) -> None:
    """Print what is remembered about QUERY as a block for a prompt, fenced as data."""
    wanted = given(asked, valid, known)
    with app.memory() as memory:
        found = memory.context(" ".join(query), tokens=tokens, limit=limit, **wanted)
        # Shown before the search is logged: that this fails is no reason to hide it.
        if app.json:
            app.emit_json(found)
        elif found.text:
            # For a prompt: not wrapped.
            terminal.echo(found.text)
        else:
            terminal.echo(f"Nothing: {found.reason}.", err=True)


@click.command()
@click.argument("item_id")
@command(wall=True)
def expand(app: App, item_id: str) -> None:
    """Show all that is kept of a memory, a belief, a turn or an episode; it counts as a look."""
    from graphmem.cli import usage_views

    with app.memory() as opened:
        found = opened.expand(item_id)
        # Shown before the look is written: that this fails is no reason to hide it.
        app.emit(found, usage_views.card)


@click.command()
@click.argument("item_id")
@click.option("--start", type=int, default=0, show_default=True, help="Pieces to pass over.")
@click.option("--limit", type=int, default=100, show_default=True, help="Pieces to show.")
@reading
@command(wall=True)
def why(app: App, item_id: str, *, start: int, limit: int, **times: Any) -> None:
    """Explain a belief, event by event, or say how a memory came about."""
    from graphmem.cli import recall_views

    with app.memory() as opened:
        found = opened.why(item_id, start=start, limit=limit, **by(**times))
    app.emit(found, recall_views.reasons)
