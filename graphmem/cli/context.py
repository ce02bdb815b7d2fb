"""`graphmem context`: what is remembered, as a block for a prompt."""

from __future__ import annotations

import click

from graphmem.cli.app import App, command


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--tokens", type=int, default=800, show_default=True, help="Tokens at most.")
@click.option("--limit", type=int, default=20, show_default=True, help="Hits to choose from.")
@click.option("--turns", is_flag=True, help="Look among the turns of conversations too.")
@click.option(
    "--policy",
    default="default",
    show_default=True,
    help="How to rank: default, flat, trace, esper, engram or agent.",
)
@command(wall=True)
def context(
    app: App, query: tuple[str, ...], *, tokens: int, limit: int, turns: bool, policy: str
) -> None:
    """Print what is remembered about QUERY as a block for a prompt, fenced as data."""
    with app.memory() as memory:
        found = memory.context(
            " ".join(query), tokens=tokens, limit=limit, turns=turns, policy=policy
        )
    if app.json:
        app.emit(found, "")
    elif found.text:
        # Not for a terminal but for a prompt: exactly the text, unwrapped.
        click.echo(found.text)
    else:
        click.echo(f"Nothing: {found.reason}.", err=True)
