"""Commands that search memory: recall, context, expand and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import options, terminal
from graphmem.cli.app import App, command, given, method_command

if TYPE_CHECKING:
    pass

SEARCH = options.stacked(
    click.option(
        "--policy",
        default="default",
        help="Ranking policy: default, flat, trace, esper, engram or agent.",
    ),
    click.option(
        "--read-scope", "scopes", multiple=True, help="Search only this scope (repeatable)."
    ),
    options.FILTERS,
    click.option("--include-hidden", is_flag=True, help="Include superseded and outvoted items."),
    click.option("--turns", is_flag=True, help="Search the verbatim turns too."),
    options.AS_OF,
)
QUERY = click.argument(
    "query", nargs=-1, required=True, callback=lambda _context, _argument, words: " ".join(words)
)


recall = method_command(
    "recall",
    "Search memories and beliefs; show results, best first.",
    QUERY,
    options.limit(10, "results"),
    SEARCH,
)


@click.command()
@QUERY
@click.option("--tokens", default=800, help="Maximum number of tokens.")
@options.limit(20, "results to choose from")
@SEARCH
@command(tenant=True)
def context(app: App, query: str, **search: Any) -> None:
    """Print search results as a block of data for a prompt."""
    with app.client() as client:
        found = client.context(query, **given(search))
        # Print before the search is logged: a failed log entry must not hide the results.
        if app.json:
            app.emit_json(found)
        elif found.text:
            # Do not wrap the text of a prompt.
            terminal.echo(found.text)
        else:
            terminal.echo(f"No results: {found.reason}.", err=True)


expand = method_command(
    "expand",
    """Show the card of a memory, belief, turn or episode.

    The access is logged.
    """,
    click.argument("item_id"),
)


why = method_command(
    "why",
    "Explain a belief or a memory, event by event.",
    click.argument("item_id"),
    options.START,
    options.limit(100, "pieces"),
    options.READ,
)
