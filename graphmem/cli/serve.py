"""`graphmem serve`: the HTTP API, and its keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from graphmem.cli import options, terminal
from graphmem.cli.app import App, command
from graphmem.extras import library

if TYPE_CHECKING:
    from rich.table import Table

    from graphmem.serve.keys import Key, KeyChange, KeyFile


@click.group(invoke_without_command=True)
@options.listen(8766)
@click.option(
    "--allow-origin", multiple=True, metavar="URL", help="Additional Origin to accept (repeatable)."
)
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, help="Number of processes that answer."
)
@click.option(
    "--no-auth", is_flag=True, help="Serve --tenant without keys; only on a loopback address."
)
@options.tools
@command(tenant=True)
def serve(app: App, **given: Any) -> None:
    """Serve the memory over HTTP and MCP, and in a browser.

    Clients need a key. The explorer is at /, MCP at /mcp.

    `graphmem serve keys create` makes a key. GET /openapi.json describes the routes, and
    docs/reference/http.md the first calls.
    """
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    for package in ("fastapi", "jinja2", "mcp.server", "uvicorn"):
        library(package, "serve", "The HTTP API")
    from graphmem.serve import logins, server
    from graphmem.serve.listening import ListenAddress, is_loopback

    listen = ListenAddress(given["host"], given["port"], given["allow_host"], given["allow_origin"])
    app.log_in()
    own = {name: given[name] for name in ("no_auth", "profile", "workers")}
    chosen = server.checked(server.Options(app.settings, listen, **own))
    listening = listen.opened()
    where = replace(listen, port=listening.getsockname()[1])
    if chosen.no_auth:
        app.note(
            f"Without keys every program on this machine reads and writes tenant "
            f"{app.settings.tenant!r}.",
            style="yellow",
        )
    elif not _file(app).read():
        app.note("No key exists: create one with `graphmem serve keys create`.", style="yellow")
    url = where.url(where.port)
    terminal.echo(f"Serving {url}. Press Ctrl-C to stop.", err=True)
    with logins.one_time() as (secrets, ticket):
        if is_loopback(where.host) and not chosen.no_auth:
            terminal.echo(
                f"Explorer, once and for ten minutes: {url}/login?ticket={ticket}", err=True
            )
        chosen = replace(chosen, secrets=secrets)
        server.serve(chosen, listening)


def _refuse_options(context: click.Context) -> None:
    """Refuse options before `keys`: a key of the wrong tenant would be created."""
    for name in context.params:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "--" + name.replace("_", "-")
            raise click.UsageError(f"{option} must not stand before `keys`.")


@serve.group()
def keys() -> None:
    """Create, list, rotate and revoke keys of the HTTP API."""


@keys.command()
@click.argument("name")
@click.option("--tenant", help="Tenant that the key opens.  [default: GRAPHMEM_TENANT]")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    help="Scope that the key opens, or a prefix such as 'user:*' (repeatable).  "
    "[default: GRAPHMEM_SCOPE]",
)
@click.option(
    "--right",
    "rights",
    multiple=True,
    type=click.Choice(["read", "write", "review", "erase", "admin"]),
    default=("read", "write"),
    help="Right of the key (repeatable).",
)
@click.option(
    "--trust",
    type=click.Choice(["person", "tool", "model"]),
    default="person",
    help="Class of the writer: what it writes is not trusted more.",
)
@click.option("--days", type=click.IntRange(1, 36_500), help="Days until the key expires.")
@command(connects=False)
def create(app: App, *, name: str, days: int | None, **given: Any) -> None:
    """Create a key and print it; it is shown only once.

    Standard output has only the key, so that KEY=$(graphmem serve keys create NAME) stores it.
    """
    from graphmem.serve.keys import Grant
    from graphmem.validation import valid

    grant = valid(
        Grant,
        tenant=app.settings.tenant,
        scopes=given["scopes"] or (app.settings.scope,),
        rights=tuple(dict.fromkeys(given["rights"])),
        trust=given["trust"],
    )
    _emit_new(app, *_file(app).create(name, grant, days=days))


@keys.command("list")
@command(connects=False)
def list_keys(app: App) -> None:
    """List the keys, also expired ones."""
    app.emit([_shown(key) for key in _file(app).read()], _table)


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option(
    "--until",
    type=options.TimeType(),
    help="Time at which the old key stops to be valid.  [default: after a day]",
)
@command(connects=False)
def rotate(app: App, *, key_id: str, until: datetime | None) -> None:
    """Replace a key by another one of the same grant.

    The old one ends later, see --until.

    The new key is printed; it is shown only once.
    """
    _emit_new(app, *_file(app).rotate(key_id, until=until))


@keys.command()
@command(connects=False)
def audit(app: App) -> None:
    """List the changes of keys: what was changed, when and by which key."""
    app.emit(_file(app).changes(), _changes)


@keys.command()
@click.argument("key_id", metavar="ID")
@command(connects=False)
def revoke(app: App, *, key_id: str) -> None:
    """Revoke a key; a running server refuses it a second later."""
    app.emit([_shown(_file(app).revoke(key_id))], _table)


@click.command()
@click.argument("item_id", metavar="ID")
@click.option(
    "--url", help="Address of the server.  [default: GRAPHMEM_EXPLORER, or http://127.0.0.1:8766]"
)
@click.option("--print", "only_print", is_flag=True, help="Print the address without opening it.")
@command(connects=False)
def browse(app: App, *, item_id: str, url: str | None, only_print: bool) -> None:
    """Open an item in the explorer of `serve`.

    That is a belief, a memory, an episode or a turn. The page asks for a key if the browser has no
    session.
    """
    from graphmem.rules import links

    address = links.item_address(item_id, url or app.settings.explorer or links.LOCAL)
    app.emit({"url": address}, lambda _: address)
    if not (only_print or app.json):
        click.launch(address)


def _file(app: App) -> KeyFile:
    from graphmem.serve.keys import KeyFile

    return KeyFile.of(app.settings)


def _emit_new(app: App, key: Key, text: str) -> None:
    if app.json:
        app.emit_json({"key": text} | _shown(key))
        return
    terminal.echo(text)
    app.note(f"Key {key.id} of tenant {key.tenant!r}; it is not shown again.")


def _shown(key: Key) -> dict[str, Any]:
    return key.shown(options.now()).model_dump(mode="json")


def _table(found: list[dict[str, Any]]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    columns = ("id", "name", "tenant", "scopes", "rights", "trust", "expires_at", "state")
    for name in columns:
        table.add_column(name.removesuffix("_at"), overflow="fold")
    for key in found:
        lists = {name: " ".join(key[name]) for name in ("scopes", "rights")}
        row = key | lists | {"expires_at": (key["expires_at"] or "never")[:10]}
        table.add_row(*(str(row[name]) for name in columns))
    return table


def _changes(found: tuple[KeyChange, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("at", "action", "id", "name", "by", "replaces"):
        table.add_column(name, overflow="fold")
    for one in found:
        at = one.at.isoformat(" ", "minutes").removesuffix("+00:00")
        table.add_row(at, one.action, one.key.id, one.key.name, one.by, one.replaces or "")
    return table
