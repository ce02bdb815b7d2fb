"""`graphmem context`: what is remembered, as a block for a prompt."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from graphmem.cli import terminal
from graphmem.cli.app import App, command
from graphmem.cli.recall import given, looking


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
