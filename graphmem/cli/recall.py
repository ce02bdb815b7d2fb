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
from graphmem.rules import read_options


def looking(function: F) -> F:
    """Add the filter, ranking and time options to a recall command."""
    for option in (
        click.option(
            "--policy",
            default="default",
            show_default=True,
            help="Ranking policy: default, flat, trace, esper, engram or agent.",
        ),
        click.option(
            "--in-scope", "scopes", multiple=True, help="Search only this scope (repeatable)."
        ),
        described,
        click.option("--hidden", is_flag=True, help="Include superseded and outvoted items."),
        click.option("--turns", is_flag=True, help="Search the verbatim turns too."),
    ):
        function = option(function)
    return moment(function)


def given(
    options: Mapping[str, Any], valid: datetime | None, known: datetime | None
) -> dict[str, Any]:
    """Return the options of `looking` as keyword arguments of `recall`."""
    present = {name: value for name, value in options.items() if value not in (None, (), False)}
    return present | {"as_of": as_of(valid, known)}


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=10, show_default=True, help="Maximum number of results.")
@looking
@command(wall=True)
def recall(
    app: App,
    query: tuple[str, ...],
    *,
    limit: int,
    valid: datetime | None,
    known: datetime | None,
    **options: Any,
) -> None:
    """Search memories and beliefs; show results, best first."""
    filters = given(options, valid, known)
    with app.memory() as memory:
        found = memory.recall(" ".join(query), limit=limit, **filters)
        from graphmem.cli import recall_views

        # Print before the search is logged: a failed log entry must not hide the results.
        app.emit(found, recall_views.recollection)


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--tokens", type=int, default=800, show_default=True, help="Maximum number of tokens."
)
@click.option(
    "--limit",
    type=int,
    default=20,
    show_default=True,
    help="Maximum number of results to choose from.",
)
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
    **options: Any,
) -> None:
    """Print search results as a block of data for a prompt."""
    filters = given(options, valid, known)
    with app.memory() as memory:
        found = memory.context(" ".join(query), tokens=tokens, limit=limit, **filters)
        # Print before the search is logged: a failed log entry must not hide the results.
        if app.json:
            app.emit_json(found)
        elif found.text:
            # Do not wrap the text of a prompt.
            terminal.echo(found.text)
        else:
            terminal.echo(f"No results: {found.reason}.", err=True)


@click.command()
@click.argument("item_id")
@command(wall=True)
def expand(app: App, item_id: str) -> None:
    """Show the card of a memory, belief, turn or episode.

    The access is logged.
    """
    from graphmem.cli import usage_views

    with app.memory() as opened:
        found = opened.expand(item_id)
        # Print before the access is logged: a failed log entry must not hide the card.
        app.emit(found, usage_views.card)


@click.command()
@click.argument("item_id")
@click.option("--start", type=int, default=0, show_default=True, help="Pieces of evidence to skip.")
@click.option("--limit", type=int, default=100, show_default=True, help="Maximum number of pieces.")
@reading
@command(wall=True)
def why(app: App, item_id: str, *, start: int, limit: int, **times: Any) -> None:
    """Explain a belief or a memory, event by event."""
    from graphmem.cli import recall_views

    with app.memory() as opened:
        found = opened.why(
            item_id, cursor=read_options.position_cursor(start), limit=limit, **by(**times)
        )
    app.emit(found, recall_views.reasons)
