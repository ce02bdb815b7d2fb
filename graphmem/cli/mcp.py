"""`graphmem mcp`: the memory as a server for agents."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import terminal
from graphmem.cli.app import App, command, listening
from graphmem.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from rich.table import Table

    from graphmem.mcp.budget import ToolCost
    from graphmem.mcp.http_server import ListenAddress, TokenTable


@click.command()
@click.option("--read-only", is_flag=True, help="Offer only what reads; no look-up is logged.")
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of stdin and stdout.")
@listening(port=8765)
@click.option(
    "--tokens",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Bearer tokens, each with its tenant and scope; GRAPHMEM_MCP_TOKENS by default.",
)
@click.option("--allow-origin", multiple=True, metavar="URL", help="An Origin to accept too.")
@click.option(
    "--print-config",
    "client",
    metavar="CLIENT",
    help="Print what to paste into a client's configuration: claude-desktop, claude-code, cursor, "
    "vscode, codex, windsurf, gemini-cli or zed.",
)
@click.option("--tools", is_flag=True, help="List the tools with what they cost, and end.")
@command(wall=True)
def mcp(
    app: App,
    *,
    read_only: bool,
    http: bool,
    tools: bool,
    tokens: Path | None,
    client: str | None,
    **given: Any,
) -> None:
    """Serve the memory to agents over MCP, on stdin and stdout or over HTTP.

    A client starts it: --print-config prints what to paste for which. Over HTTP each request
    brings a bearer token; without one in the settings, the one kept for this user.
    """
    _installed()
    if tools:
        from graphmem.mcp.budget import costs

        found = costs(read_only=read_only)
        app.emit(found, _table)
        return
    if tokens is not None:
        app.settings = app.settings.model_copy(update={"mcp_tokens": tokens})
    where = _where(given) if http else None
    if client is not None:
        _print_config(app, client, where, read_only=read_only)
    elif where is not None:
        _over_http(app, where, read_only=read_only)
    else:
        _over_stdio(app, read_only=read_only)


def _where(given: dict[str, Any]) -> ListenAddress:
    from graphmem.mcp.http_server import ListenAddress

    return ListenAddress(given["host"], given["port"], given["allow_host"], given["allow_origin"])


def _print_config(app: App, name: str, where: ListenAddress | None, *, read_only: bool) -> None:
    """Print the block on stdout, and where it goes on stderr.

    Raises:
        InvalidInputError: there is no such client, or its file supports no URLs.
    """
    from graphmem.mcp.clients import CLIENTS, Server, started_by

    if name not in CLIENTS:
        raise InvalidInputError(
            "--print-config: there is no such client.", hint=f"Give one of {', '.join(CLIENTS)}."
        )
    client = CLIENTS[name]
    if where is None:
        server = started_by(app.settings, *(["--read-only"] if read_only else []))
    else:
        server = Server(url=where.address(where.port))
    terminal.echo(client.text(server))
    terminal.echo(f"For {client.title}: {client.file}. {client.note}".rstrip(), err=True)


def _over_stdio(app: App, *, read_only: bool) -> None:
    import anyio

    from graphmem.mcp import server
    from graphmem.mcp.connection import Caller, MemoryConnection

    server.log_to_stderr()
    if sys.stdin.isatty():
        terminal.echo("A client starts this: see --print-config. Ctrl-C ends it.", err=True)
    who = Caller(app.settings.tenant, app.settings.scope, read_only)
    anyio.run(server.over_stdio, MemoryConnection(app.settings), who)


def _over_http(app: App, where: ListenAddress, *, read_only: bool) -> None:
    import anyio

    from graphmem.mcp import server
    from graphmem.mcp.connection import MemoryConnection
    from graphmem.mcp.http_server import over_http

    server.log_to_stderr()
    tokens, file = _tokens(app, where, read_only=read_only)

    def ready(address: str) -> None:
        told = f"; the token is in {file}" if file is not None else ""
        terminal.echo(f"Serving {address}{told}; Ctrl-C ends it.", err=True)

    anyio.run(partial(over_http, MemoryConnection(app.settings), tokens, where, ready))


def _tokens(app: App, where: ListenAddress, *, read_only: bool) -> tuple[TokenTable, Path | None]:
    """Return the tokens of the settings, else the one of this user and the file it is in.

    Raises:
        ConfigurationError: others reach the address and nobody chose a token for them.
    """
    from graphmem.mcp import http_server
    from graphmem.mcp.http_server import is_loopback

    found = http_server.of_settings(app.settings, read_only=read_only)
    if len(found):
        return found, None
    if not is_loopback(where.host):
        raise ConfigurationError(
            f"Others reach {where.host}, and there is no token for them.",
            hint="Set GRAPHMEM_MCP_TOKEN, or GRAPHMEM_MCP_TOKENS to a file of several.",
        )
    return http_server.kept(app.settings, read_only=read_only)


def _installed() -> None:
    """Say what is missing.

    Raises:
        ConfigurationError: the SDK is not installed.
    """
    try:
        import mcp.server  # noqa: F401 - only whether it is there
    except ImportError:
        raise ConfigurationError(
            "The server for agents needs the packages mcp and uvicorn, and they are not installed.",
            hint="pip install 'graphmem[mcp]'",
        ) from None


def _table(found: tuple[ToolCost, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("tool", "what it does", "reads only", "idempotent"):
        table.add_column(name)
    for name in ("tokens asked", "tokens in all"):
        table.add_column(name, justify="right")
    for one in found:
        flags = ("yes" if flag else "" for flag in (one.read_only, one.idempotent))
        table.add_row(one.name, one.title, *flags, str(one.tokens_asked), str(one.tokens))
    total = (str(sum(one.tokens_asked for one in found)), str(sum(one.tokens for one in found)))
    table.add_row("in all", "", "", "", *total, style="bold")
    return table
