"""Commands that search memory, and `graphmem memory`: write, read, correct and erase."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import erasing, options, terminal
from graphmem.cli.app import App, Group, command, given, method_command, session_of

if TYPE_CHECKING:
    from graphmem import GraphMem, Handle
    from graphmem.erasure import ErasureReport
    from graphmem.ports import OnProgress

STATUSES = ("current", "superseded", "deprecated", "archived", "rejected")
TARGETS = ("memory", "belief", "episode", "scope")
MEMORY_ID = click.argument("memory_id")
TEXT = click.argument("content", metavar="TEXT")

memory = Group("memory", "Write, read and correct memories; erase items.")
memory.method(
    "remember",
    """Store TEXT as a memory and show the outcome.

    The exit code is 1 when hygiene or a person rejected the text.
    """,
    TEXT,
    click.option("--tag", "tags", multiple=True, help="Tag of the memory (repeatable)."),
    click.option(
        "--on-update",
        type=click.Choice(["insert", "supersede", "propose"]),
        help="Keep the memory that TEXT updates, replace it, or propose that.  [default: insert]",
    ),
    options.PLACE,
    options.EVENT,
    fails=lambda done: done.outcome.startswith("REJECTED"),
)
memory.method(
    "memories.list",
    "List memories page by page, newest first.",
    options.FILTERS,
    click.option(
        "--status",
        "statuses",
        type=click.Choice(STATUSES),
        multiple=True,
        metavar="STATUS",
        help="current, superseded, deprecated, archived or rejected (repeatable)."
        "  [default: current]",
    ),
    options.PAGE,
    options.AS_OF,
)
memory.method("memories.get", "Show one memory.", MEMORY_ID, options.AS_OF)
memory.method(
    "memories.history",
    "Show what happened to a memory, oldest first.",
    MEMORY_ID,
    options.limit(1_000, "events"),
    options.AS_OF,
)
memory.method(
    "memories.chain", "Show the chain of replacements of a memory.", MEMORY_ID, options.AS_OF
)
memory.method(
    "supersede",
    """Replace a memory with TEXT; the old one stays readable.

    The command replaces the newest version of the memory, whichever version MEMORY_ID names.
    """,
    MEMORY_ID,
    TEXT,
    options.REASON,
    click.option("--fork", is_flag=True, help="Replace exactly this version."),
    options.EVENT,
)
memory.method(
    "memories.stale",
    "List memories that may be out of date, oldest first.",
    click.option("--days", default=90, help="Minimum number of days since the last statement."),
    options.PAGE,
)


@memory.command()
@MEMORY_ID
@options.REASON
@options.EVENT
@command(tenant=True)
def deprecate(app: App, memory_id: str, **event: Any) -> None:
    """Hide a memory from recall; `restore` reverts it."""
    _mark(app, memory_id, "hidden", lambda client: client.memories.deprecate, event)


@memory.command()
@MEMORY_ID
@options.REASON
@options.EVENT
@command(tenant=True)
def restore(app: App, memory_id: str, **event: Any) -> None:
    """Make a hidden memory current again."""
    _mark(app, memory_id, "current", lambda client: client.memories.restore, event)


def _mark(
    app: App,
    memory_id: str,
    state: str,
    method: Callable[[Handle], Callable[..., str]],
    event: dict[str, Any],
) -> None:
    with app.client() as client:
        event_id = method(client)(memory_id, **given(event))
    app.emit({"event_id": event_id}, lambda _: f"{memory_id} is {state}; event {event_id}.")


memory.method(
    "reject",
    """Reject what a memory states.

    It stays hidden in every spelling, whatever is written or imported later.
    """,
    click.argument("target", metavar="MEMORY_ID"),
    options.WHY,
    options.EVENT,
)
memory.method(
    "unreject",
    "Take the rejection of a memory back.",
    click.argument("target", metavar="MEMORY_ID"),
    options.WHY,
    options.EVENT,
)


@memory.command()
@click.argument("what", type=click.Choice(TARGETS))
@click.argument("item_id", metavar="ID")
@erasing.OPTIONS
@click.option(
    "--digest",
    "digests",
    multiple=True,
    type=options.FILE,
    metavar="FILE",
    help="Remove the lines of erased episodes from this digest file too.",
)
@command(tenant=True)
def forget(
    app: App,
    what: str,
    item_id: str,
    *,
    compact: bool,
    certificate: Path | None,
    **erasure: Any,
) -> int:
    """Plan an erasure; --apply erases for good.

    The command erases a memory, a belief, an episode or a scope together with everything derived
    from it. Erased items are refused when they are submitted again. The exit code is 1 when the
    final check finds remaining data. `graphmem admin` erases a person or a tenant.
    """

    def erase(client: GraphMem, on_progress: OnProgress) -> ErasureReport:
        # Open the named scope, so that --scope need not repeat it.
        handle: Handle = client.scope(item_id) if what == "scope" else client
        return handle.forget(what, item_id, on_progress=on_progress, **erasure)

    return erasing.run(app, "forget", erase, compact=compact, certificate=certificate)


SEARCH = options.stacked(
    click.option(
        "--policy",
        default="default",
        help="Ranking policy: default, flat, trace, esper, engram or agent.",
    ),
    click.option(
        "--min-score",
        type=click.FloatRange(-1, 1),
        help="Similarity of the best item; -1: any.",
    ),
    click.option(
        "--min-trust",
        type=click.Choice(["person", "tool", "model", "imported", "unknown"]),
        metavar="CLASS",
        help="Least trust: person, tool, model, imported.",
    ),
    click.option(
        "--read-scope", "scopes", multiple=True, help="Search only this scope (repeatable)."
    ),
    options.FILTERS,
    click.option("--include-hidden", is_flag=True, help="Include superseded and outvoted items."),
    click.option("--turns", is_flag=True, help="Search the verbatim turns too."),
    click.option(
        "--episodes/--no-episodes",
        default=None,
        help="Search episodes too.  [default: by the policy]",
    ),
    options.AS_OF,
    options.SESSION,
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
@options.limit(20, "candidates")
@SEARCH
@command(tenant=True)
def context(app: App, query: str, *, session: str | None, **search: Any) -> None:
    """Print search results as a block of data for a prompt."""
    with app.client() as client:
        found = session_of(client, session).context(query, **given(search))
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
    options.SESSION,
)


why = method_command(
    "why",
    "Explain a belief or a memory, event by event.",
    click.argument("item_id"),
    options.CURSOR,
    options.limit(100, "pieces"),
    options.AS_OF,
)
