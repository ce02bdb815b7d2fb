"""Commands that search memory, and `graphmem memory`: write, read, correct and erase."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem import private_files
from graphmem.cli import options, terminal
from graphmem.cli.app import App, Group, called, command, given, method_command, session_of
from graphmem.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from graphmem import GraphMem, Handle
    from graphmem.erasure import ErasureReport
    from graphmem.ports import OnProgress

ERASING = {"node": "nodes erased", "page": "pages of events examined"}
"""Labels of the progress counters of an erasure."""
ERASURE_OPTIONS = options.stacked(
    options.apply("Erase for good"),
    click.option("--actor", help="Person who asks for it, for the record and the certificate."),
    click.option("--reason", help="Reason, for the record and the certificate."),
    click.option(
        "--compact",
        is_flag=True,
        help="Then rewrite the files of the managed server without erased data; restarts it.",
    ),
    click.option(
        "--certificate",
        type=options.FILE,
        metavar="FILE",
        help="Write the signed certificate to this new file.",
    ),
)


def run_erasure(
    app: App,
    view: str,
    erase: Callable[[GraphMem, OnProgress], ErasureReport],
    *,
    compact: bool,
    certificate: Path | None,
) -> int:
    """Run an erasure; then compact the files and write the certificate if asked.

    Returns:
        Exit code: 1 if the final check found remaining data, else 0.

    Raises:
        ConfigurationError: `compact` with a server that is not the managed one.
        InvalidInputError: the file of the certificate exists, or its folder does not.
    """
    if compact and app.settings.uri is not None:
        raise ConfigurationError(
            "--compact rewrites the files of the managed server only; nothing was erased.",
            hint="On a server of your own, copy the database into a new one, for example with "
            "`neo4j-admin database copy` (Enterprise) or `graphmem admin export` and `import`, "
            "and remove the old one.",
        )
    if certificate is not None and (certificate.exists() or not certificate.parent.is_dir()):
        raise InvalidInputError(
            f"{certificate} exists already, or its folder does not exist; nothing was erased.",
            hint="Name a new file in an existing folder.",
        )
    with app.client() as client, app.counting(ERASING) as on_progress:
        done = erase(client, on_progress)
    if compact and done.applied:
        done = _compacted(app, done)
    problem = None
    if certificate is not None and done.certificate is not None:
        problem = _write(certificate, done.certificate.to_json())
    app.emit(done, view)
    if problem is not None and done.certificate is not None:
        if not app.json:
            terminal.echo(done.certificate.to_json())
        raise click.FileError(str(certificate), problem)
    return int(bool(done.left))


def _compacted(app: App, done: ErasureReport) -> ErasureReport:
    from graphmem.adapters import local_server
    from graphmem.adapters.signing import SigningKey
    from graphmem.erasure import certificates

    local_server.compact(app.settings, report=lambda step: app.report(str(step)))
    if done.certificate is None:
        return done
    rewritten = certificates.compacted(done.certificate, datetime.now(UTC))
    return done.model_copy(update={"certificate": SigningKey.of(app.settings).certify(rewritten)})


def _write(path: Path, text: str) -> str | None:
    """Write the certificate; return the problem if it is to be printed instead."""
    try:
        descriptor = private_files.create(path)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            path.unlink()
            raise
    except OSError as error:
        return f"{error.strerror}; it was erased, and the certificate is printed instead"
    return None


DIGESTS = click.option(
    "--digest",
    "digests",
    multiple=True,
    type=options.FILE,
    metavar="FILE",
    help="Remove the lines of erased episodes from this digest file too.",
)


@click.command(name="erase-person")
@click.argument("subject")
@click.option(
    "--include-mentions",
    is_flag=True,
    help="Erase memories, free statements and episodes that name the person too.",
)
@ERASURE_OPTIONS
@DIGESTS
@command(tenant=True)
def erase_person(
    app: App, subject: str, *, compact: bool, certificate: Path | None, **erasure: Any
) -> int:
    """Plan the erasure of a person; --apply erases for good.

    SUBJECT is any name of the person. The command erases the facts about it and its aliases, and
    lists what only mentions it. The exit code is 1 when the final check finds remaining data.
    """
    return run_erasure(
        app,
        "admin.erase_person",
        lambda client, seen: client.admin.erase_person(subject, on_progress=seen, **erasure),
        compact=compact,
        certificate=certificate,
    )


@click.command(name="verify-certificate")
@click.argument("file", type=options.FILE)
@click.option(
    "--key", metavar="HEX", help="Public key of the signer.  [default: this machine's own]"
)
@command(connects=False)
def verify_certificate(app: App, file: Path, *, key: str | None) -> int:
    """Check and show a certificate of erasure.

    The exit code is 1 when the certificate was changed or another key signed it.
    """
    from pydantic import ValidationError

    from graphmem.adapters.signing import SigningKey, is_signed
    from graphmem.erasure import ErasureCertificate

    try:
        found = ErasureCertificate.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        raise InvalidInputError(
            f"{file} is not a certificate of erasure.", hint="Give the file of --certificate."
        ) from None
    problem = None
    if not is_signed(found):
        problem = "The certificate was changed: its signature does not match."
    elif found.public_key != (key or SigningKey.of(app.settings).public):
        problem = f"Another key signed it: {found.public_key}. If you trust it, use --key."
    app.emit(
        {"valid": problem is None, "problem": problem, "certificate": found},
        lambda it: f"{it['problem'] or 'The signature is valid.'}\n\n{found.to_text()}",
    )
    return int(problem is not None)


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
        event_id = called(method(client), {"memory_id": memory_id, **event})
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
@ERASURE_OPTIONS
@DIGESTS
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

    return run_erasure(app, "forget", erase, compact=compact, certificate=certificate)


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
    click.option(
        "--kind",
        "kinds",
        type=click.Choice(["memory", "belief", "turn", "episode"]),
        multiple=True,
        metavar="KIND",
        help="Search only memory, belief, turn or episode.",
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
    options.limit(None, "results, noise included"),
    SEARCH,
)


@click.command()
@QUERY
@click.option("--tokens", default=800, help="Maximum number of tokens.")
@options.limit(None, "candidates, noise included")
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
    """Explain a belief or a memory, event by event.

    The access is logged.
    """,
    click.argument("item_id"),
    options.CURSOR,
    options.limit(100, "pieces"),
    options.AS_OF,
    options.SESSION,
)
