"""`graphmem server browse`: Neo4j Browser with a prepared query in its editor."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZipFile, ZipInfo

import click

from graphmem.cli import options, output_files, terminal
from graphmem.cli.app import App, command, session_of

if TYPE_CHECKING:
    from graphmem import Handle
    from graphmem.rules.urls import Value

    Words = tuple[str, ...]
    Found = dict[str, Value]

STYLE = "graphmem.grass"
QUERIES = "graphmem-queries.zip"
FOLDER = "graphmem"
"""Folder of the saved queries, in the archive and in Browser."""


class BrowserView(NamedTuple):
    """One kind of graph to show."""

    arguments: str
    """Required arguments, as shown in the usage."""
    parameters: Callable[[Handle, Words], Found]
    """Callable that returns the specific parameters; raises if there is nothing to show."""


class BrowserLink(NamedTuple):
    """A link that opens Browser, and the query that it prepares."""

    url: str
    query: str
    user: str
    password: str
    """Location of the password; never the password itself."""


def _slot(memory: Handle, words: Words) -> Found:
    from graphmem.errors import NotFoundError
    from graphmem.rules import claims

    if not memory.current(*words, limit=1).total:
        raise NotFoundError("No beliefs in this slot.")
    subject, predicate = words
    return {"subject": claims.name_key(subject), "predicate": claims.predicate_key(predicate)}


def _chain(memory: Handle, words: Words) -> Found:
    from graphmem.errors import NotFoundError

    try:
        return {"id": memory.memories.get(words[0]).id}
    except NotFoundError:
        return {"id": memory.beliefs.get(words[0]).id}


def _recall(memory: Handle, words: Words) -> Found:
    from graphmem.errors import NotFoundError

    found = session_of(memory, None).recall(" ".join(words))
    if not found.bites:
        raise NotFoundError("No results for this query.")
    return {"ids": [bite.id for bite in found.bites]}


VIEWS: dict[str, BrowserView] = {
    "memories": BrowserView("", lambda _, __: {}),
    "memory": BrowserView("ID", lambda memory, words: {"id": memory.memories.get(words[0]).id}),
    "belief": BrowserView("ID", lambda memory, words: {"id": memory.beliefs.get(words[0]).id}),
    "episode": BrowserView("ID", lambda memory, words: {"id": memory.episodes.get(words[0]).id}),
    "slot": BrowserView("SUBJECT PREDICATE", _slot),
    "chain": BrowserView("ID", _chain),
    "recall": BrowserView("QUERY", _recall),
}


@click.command()
@click.argument("kind", type=click.Choice([*VIEWS]), default="memories", metavar="[KIND]")
@click.argument("words", nargs=-1)
@click.option(
    "--limit",
    type=click.IntRange(1, 200),
    help="Maximum number of nodes per kind.  [default: 2 to 25, by KIND]",
)
@click.option("--skip", type=click.IntRange(min=0), default=0, help="Nodes to skip.")
@click.option("--print", "only_print", is_flag=True, help="Print the link without opening it.")
@click.option("--query", "only_query", is_flag=True, help="Print the query without opening it.")
@command(tenant=True)
def browse(
    app: App, kind: str, words: tuple[str, ...], *, only_print: bool, only_query: bool, **page: Any
) -> None:
    """Open Neo4j Browser with a prepared query.

    KIND and its arguments:

    \b
    memories                 newest memories of a scope (default)
    memory ID                a memory with its events, turns, episodes and chain
    belief ID                a belief with its evidence, newest first
    episode ID               an episode with its turns and newest events
    slot SUBJECT PREDICATE   the candidates of a slot side by side
    chain ID                 all items that replaced one another
    recall QUERY             the results of a search with their reasons

    Large pictures are drawn page by page. Set GRAPHMEM_BROWSER if your own server does not serve
    Browser itself; Aura uses Neo4j's.
    """  # noqa: D301 - click requires the character 0x08, not an escape
    fits = len(words) == len(VIEWS[kind].arguments.split()) or (kind == "recall" and words)
    if not fits:
        raise click.UsageError(f"graphmem server browse {kind} {VIEWS[kind].arguments}".rstrip())
    made = link_to(app, kind, words, **page)
    if app.json:
        app.emit_json(made._asdict())
    elif only_query:
        terminal.echo(made.query)
    else:
        # One line: the terminal wraps it without breaking it for copying.
        terminal.echo(made.url)
        app.note(f"Log in as {made.user}; the password is {made.password}.")
        if app.settings.uri is not None:  # the managed server sends them
            app.note("Captions and colours: graphmem admin browser --output DIR")
        if not only_print:
            click.launch(made.url)


def link_to(
    app: App, kind: str, words: Words, *, limit: int | None = None, skip: int = 0
) -> BrowserLink:
    """Return the link to a picture that shows at least one node."""
    app.skip_log()
    with app.client() as memory:
        found = VIEWS[kind].parameters(memory, words)
    tenant_scope = (app.settings.tenant, app.settings.scope)
    from graphmem.graph import drawing

    return browser_link(app, drawing.query(kind, tenant_scope, found, limit=limit, skip=skip))


def browser_link(app: App, statement: str) -> BrowserLink:
    """Return the link that opens Browser on the configured server with a statement."""
    from graphmem import local_server

    known = app.settings
    link = local_server.browse_link(known, statement) or ""
    if known.uri is not None:
        return BrowserLink(link, statement, known.user, "the value of GRAPHMEM_PASSWORD")
    status = local_server.status(known)
    where = f"in {status.password_file} (graphmem server status --show-password)"
    return BrowserLink(link, statement, "neo4j", where)


@click.command()
@options.output("Folder to write to; created if missing.", options.FOLDER, required=True)
@command()
def browser(app: App, output: Path) -> None:
    """Write a style sheet and queries for Neo4j Browser.

    Drag each of the two files onto Browser's window: the style sheet sets captions, colours and
    sizes, and the archive becomes a folder of saved queries among the favourites. The folder next
    to them contains the same queries with their parameters, to read or to drag one by one.
    """
    from graphmem.graph import catalog
    from graphmem.local_server.styling import style_sheet

    folder = output / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.FileError(str(folder), error.strerror) from None
    style, archive = output / STYLE, output / QUERIES
    output_files.write(style, style_sheet())
    packed_bytes = io.BytesIO()
    with ZipFile(packed_bytes, "w") as packed:
        for name in catalog.names():
            if name.startswith("browser/"):
                file = f"{name.rpartition('/')[2]}.cypher"
                text = catalog.pasted(catalog.procedure(name))
                output_files.write(folder / file, text)
                # No modification time: the same queries produce the same archive.
                packed.writestr(ZipInfo(f"{FOLDER}/{file}"), text)
    output_files.write(archive, packed_bytes.getvalue())
    app.emit(
        {"style": str(style), "queries": str(archive), "folder": str(folder)},
        lambda _: f"Drag onto Neo4j Browser: {style}\nDrag onto Neo4j Browser: {archive}",
    )
