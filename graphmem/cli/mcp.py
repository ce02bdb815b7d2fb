"""`graphmem mcp`: the MCP server for agents."""

from __future__ import annotations

import gc
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import options, terminal
from graphmem.cli.app import App, command
from graphmem.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from rich.table import Table

    from graphmem.mcp.costs import ToolCost
    from graphmem.mcp.http_server import TokenTable
    from graphmem.mcp.listening import ListenAddress
    from graphmem.mcp.tool import Profile


@click.command()
@click.option("--read-only", is_flag=True, help="Offer only reading tools; do not log searches.")
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of stdin and stdout.")
@options.listen(8765)
@click.option(
    "--tokens",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of bearer tokens, each with its tenant and scope.  [default: GRAPHMEM_MCP_TOKENS]",
)
@click.option(
    "--allow-origin", multiple=True, metavar="URL", help="Additional Origin to accept (repeatable)."
)
@click.option(
    "--print-config",
    "client",
    metavar="CLIENT",
    help="Print the configuration of a client: claude-desktop, claude-code, cursor, "
    "vscode, codex, windsurf, gemini-cli or zed.",
)
@click.option(
    "--tools",
    "profile",
    type=click.Choice(["core", "full"]),
    default="core",
    show_default=True,
    help="Tools to offer: those of everyday use, or all.",
)
@click.option("--list-tools", is_flag=True, help="List the tools with their tokens and exit.")
@command(tenant=True)
def mcp(
    app: App,
    *,
    read_only: bool,
    profile: Profile,
    list_tools: bool,
    tokens: Path | None,
    client: str | None,
    **given: Any,
) -> None:
    """Serve agents over MCP, on stdio or HTTP.

    The MCP client starts this command; --print-config prints its configuration. Over HTTP each
    request must have a bearer token. If the settings contain no token, a token is generated and
    stored for this user.
    """
    _installed()
    if list_tools:
        from graphmem.mcp.costs import costs

        app.emit(costs(profile, read_only=read_only), _table)
        return
    if tokens is not None:
        app.settings = app.settings.model_copy(update={"mcp_tokens": tokens})
    where = _where(given) if given["http"] else None
    if client is not None:
        more = [*(["--read-only"] if read_only else []), *_profile_option(profile)]
        _print_config(app, client, where, more)
    elif where is not None:
        _over_http(app, where, profile, read_only=read_only)
    else:
        _over_stdio(app, profile, read_only=read_only)


def _profile_option(profile: Profile) -> list[str]:
    return [] if profile == "core" else ["--tools", profile]


def _where(given: dict[str, Any]) -> ListenAddress:
    from graphmem.mcp.listening import ListenAddress

    return ListenAddress(given["host"], given["port"], given["allow_host"], given["allow_origin"])


def _print_config(app: App, name: str, where: ListenAddress | None, options: list[str]) -> None:
    """Print the configuration on stdout; its file, and that of the token, on stderr."""
    from graphmem.mcp.clients import CLIENTS, TOKEN, Server, project_scope, started_by

    if name not in CLIENTS:
        raise InvalidInputError(
            "--print-config: unknown client.", hint=f"Use one of {', '.join(CLIENTS)}."
        )
    client = CLIENTS[name]
    is_derived = where is None and "scope" not in app.settings.model_fields_set
    if is_derived:
        scope = {"scope": project_scope(Path.cwd())}
        app.settings = app.settings.model_copy(update=scope)
    if where is None:
        server = started_by(app.settings, *options)
    else:
        from graphmem.mcp.http_server import PATH

        server = Server(url=where.url(where.port) + PATH)
    terminal.echo(client.text(server))
    terminal.echo(f"For {client.title}: {client.file}. {client.note}".rstrip(), err=True)
    if is_derived:
        terminal.echo(
            f"Scope {app.settings.scope}, of this project: --scope names another one, and "
            "--scope global the one that projects share.",
            err=True,
        )
    if where is not None and (file := _tokens(app, where, read_only=False)[1]) is not None:
        terminal.echo(
            f"The token is in {file}. Where the block names {TOKEN}, the client reads it from its "
            f'environment: export {TOKEN}="$(cat {shlex.quote(str(file))})"',
            err=True,
        )


def _prepare(app: App) -> None:
    from graphmem.mcp.connection import log_to_stderr

    app.log_in()
    log_to_stderr("graphmem.mcp")
    # Modules stay: a collection that walked them would delay the first answers by 0.1 s.
    gc.freeze()


def _over_stdio(app: App, profile: Profile, *, read_only: bool) -> None:
    import anyio

    from graphmem.mcp import server
    from graphmem.mcp.connection import Caller, MemoryConnection

    _prepare(app)
    if sys.stdin.isatty():
        terminal.echo(
            "An MCP client starts this server, see --print-config. Press Ctrl-C to stop.", err=True
        )
    caller = Caller(app.settings.tenant, app.settings.scope, read_only)
    anyio.run(server.serve_stdio, MemoryConnection(app.settings), caller, profile)


def _over_http(app: App, where: ListenAddress, profile: Profile, *, read_only: bool) -> None:
    import anyio

    from graphmem.mcp.connection import MemoryConnection
    from graphmem.mcp.http_connections import HttpLimits
    from graphmem.mcp.http_server import serve_http

    _prepare(app)
    tokens, file = _tokens(app, where, read_only=read_only)

    def ready(address: str) -> None:
        location = f"; the token is in {file}" if file is not None else ""
        terminal.echo(f"Serving {address}{location}. Press Ctrl-C to stop.", err=True)

    connection = MemoryConnection(app.settings)
    anyio.run(
        partial(serve_http, connection, tokens, where, profile, HttpLimits.of(app.settings), ready)
    )


def _tokens(app: App, where: ListenAddress, *, read_only: bool) -> tuple[TokenTable, Path | None]:
    """Return the configured tokens, else the token of this user and its file."""
    from graphmem.mcp import http_server
    from graphmem.mcp.listening import is_loopback

    found = http_server.configured_tokens(app.settings, read_only=read_only)
    if len(found):
        return found, None
    if not is_loopback(where.host):
        raise ConfigurationError(
            f"The address {where.host} is reachable by others, and no token is configured.",
            hint="Set GRAPHMEM_MCP_TOKEN, or GRAPHMEM_MCP_TOKENS to a file of several.",
        )
    return http_server.user_token(app.settings, read_only=read_only)


def _installed() -> None:
    """Check that the MCP SDK is installed."""
    try:
        import mcp.server  # noqa: F401 - only checks that it is installed
    except ImportError:
        raise ConfigurationError(
            "The MCP server requires the packages mcp and uvicorn, which are not installed.",
            hint="pip install 'graphmem[mcp]'",
        ) from None


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
