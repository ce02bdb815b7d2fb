"""`graphmem mcp`: the MCP server for agents."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphmem.cli import options, terminal
from graphmem.cli.app import App, command
from graphmem.errors import InvalidInputError
from graphmem.extras import library

if TYPE_CHECKING:
    from rich.table import Table

    from graphmem.mcp.costs import ToolCost
    from graphmem.mcp.tool import Profile


@click.command()
@click.option("--read-only", is_flag=True, help="Offer only reading tools; do not log searches.")
@click.option(
    "--print-config",
    "client",
    metavar="CLIENT",
    help="Print the configuration of a client: claude-desktop, claude-code, cursor, "
    "vscode, codex, windsurf, gemini-cli or zed.",
)
@click.option(
    "--url",
    metavar="URL",
    help="With --print-config: address of `graphmem serve`, such as http://localhost:8766.",
)
@options.tools
@click.option("--list-tools", is_flag=True, help="List the tools with their tokens and exit.")
@command(tenant=True)
def mcp(
    app: App,
    *,
    read_only: bool,
    profile: Profile,
    list_tools: bool,
    client: str | None,
    url: str | None,
) -> None:
    """Serve an agent over MCP, on stdin and stdout.

    The MCP client starts this command; --print-config prints its configuration. `graphmem serve`
    serves agents over HTTP.
    """
    library("mcp.server", "mcp", "The MCP server")
    if url is not None and client is None:
        raise click.UsageError("--url is for --print-config.")
    if list_tools:
        from graphmem.mcp.costs import costs

        app.emit(costs(profile, read_only=read_only), _table)
        return
    if client is not None:
        chosen = [] if profile == "core" else ["--tools", profile]
        more = [*(["--read-only"] if read_only else []), *chosen]
        _print_config(app, client, url, more)
    else:
        _over_stdio(app, profile, read_only=read_only)


def _print_config(app: App, name: str, url: str | None, options: list[str]) -> None:
    """Print the configuration on stdout; its file, and the variable of the key, on stderr."""
    from graphmem.mcp.clients import CLIENTS, KEY, Server, project_scope, started_by

    if name not in CLIENTS:
        raise InvalidInputError(
            "--print-config: unknown client.", hint=f"Use one of {', '.join(CLIENTS)}."
        )
    client = CLIENTS[name]
    is_derived = url is None and "scope" not in app.settings.model_fields_set
    if is_derived:
        scope = {"scope": project_scope(Path.cwd())}
        app.settings = app.settings.model_copy(update=scope)
    if url is None:
        server = started_by(app.settings, *options)
    else:
        server = Server(url=url.rstrip("/") + "/mcp")
    terminal.echo(client.text(server))
    terminal.echo(f"For {client.title}: {client.file}. {client.note}".rstrip(), err=True)
    if is_derived:
        terminal.echo(
            f"Scope {app.settings.scope}, of this project: --scope names another one, and "
            "--scope global the one that projects share.",
            err=True,
        )
    if url is not None:
        terminal.echo(
            f"Where the block names {KEY}, the client reads its key from its environment: "
            f'export {KEY}="$(graphmem serve keys create NAME --scope SCOPE)"',
            err=True,
        )


def _over_stdio(app: App, profile: Profile, *, read_only: bool) -> None:
    import anyio

    from graphmem.mcp import server
    from graphmem.mcp.connection import Caller, MemoryConnection, log_to_stderr

    app.log_in()
    log_to_stderr("graphmem.mcp")
    # Modules stay: a collection that walked them would delay the first answers by 0.1 s.
    gc.freeze()
    if sys.stdin.isatty():
        terminal.echo(
            "An MCP client starts this server, see --print-config. Press Ctrl-C to stop.", err=True
        )
    caller = Caller(app.settings.tenant, app.settings.scope, read_only)
    anyio.run(server.serve_stdio, MemoryConnection(app.settings), caller, profile)


def _table(found: tuple[ToolCost, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("tool", "description", "effect"):
        table.add_column(name, no_wrap=True)
    for name in ("model tokens", "tokens"):
        table.add_column(name, justify="right")
    for cost in found:
        tokens = str(cost.tokens_asked), str(cost.tokens)
        table.add_row(cost.name, cost.title, _effect(cost), *tokens)
    total = (str(sum(cost.tokens_asked for cost in found)), str(sum(cost.tokens for cost in found)))
    table.add_row("total", "", "", *total, style="bold")
    return table


def _effect(cost: ToolCost) -> str:
    if cost.destructive:
        return "erases"
    return "reads" if cost.read_only else "adds"
