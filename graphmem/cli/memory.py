"""Commands that search memory, and `graphmem memory`: write, read, correct and erase."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem import private_files
from graphmem.cli import COMMANDS, options, parameters, terminal
from graphmem.cli.app import App, command, session_of
from graphmem.cli.derived import Group, method_command
from graphmem.cli.options import F
from graphmem.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from graphmem import Handle
    from graphmem.erasure import ErasureReport

ERASING = {"node": "nodes erased", "page": "pages of events examined"}
"""Labels of the progress counters of an erasure."""
ERASURE = (
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

memory = Group("memory", "Write, read and correct memories; erase items.")
TEXT: dict[str, Any] = {"content": {"metavar": "TEXT"}}

TARGET: dict[str, Any] = {"target": {"metavar": "MEMORY_ID"}}

WORDS: dict[str, Any] = {
    "nargs": -1,
    "metavar": "QUERY...",
    "callback": lambda _context, _argument, words: " ".join(words),
}
"""A question need not be quoted."""
RANKING = {"help": "Ranking."}
recall = method_command(
    "recall",
    options.SESSION,
    text=COMMANDS["recall"][1],
    changes={"query": WORDS, "policy": RANKING},
)
why = method_command("why", options.SESSION, text=COMMANDS["why"][1])
expand = method_command("expand", options.SESSION, text=COMMANDS["expand"][1])


def run_erasure(
    path: str, app: App, *, compact: bool, certificate: Path | None, **erasure: Any
) -> int:
    """Run an erasure; then compact the files and write the certificate if asked.

    Returns:
        Exit code: 1 if the final check found remaining data, else 0.
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
        # Open the named scope, so that --scope need not repeat it.
        is_scope = erasure.get("what") == "scope"
        handle: Handle = client.scope(erasure["item_id"]) if is_scope else client
        erase = attrgetter(path)(handle)
        done: ErasureReport = erase(on_progress=on_progress, **parameters.grouped(erasure))
    if compact and done.applied:
        done = _compacted(app, done)
    problem = None
    if certificate is not None and done.certificate is not None:
        problem = _write(certificate, done.certificate.to_json())
    app.emit(done, path)
    if problem is not None and done.certificate is not None:
        if not app.json:
            terminal.echo(done.certificate.to_json())
        raise click.FileError(str(certificate), problem)
    return int(bool(done.left))


def add_erasure(group: Group, path: str, what: str, *own: Callable[[F], F], **how: Any) -> None:
    """Add the command of a method that erases."""
    more = f"{what} The exit code is 1 when the final check finds remaining data."
    group.method(path, *own, *ERASURE, run=partial(run_erasure, path), more=more, **how)


def _compacted(app: App, done: ErasureReport) -> ErasureReport:
    from graphmem import local_server
    from graphmem.erasure import certificates
    from graphmem.erasure.signing import SigningKey

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

    from graphmem.erasure import ErasureCertificate
    from graphmem.erasure.signing import SigningKey, is_signed

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


memory.method(
    "remember",
    more="The exit code is 1 when hygiene or a person rejected the text.",
    without=("confidence", "source_type"),
    changes=TEXT,
    fails=lambda done: done.outcome.startswith("REJECTED"),
)
memory.method("memories.list")
memory.method("memories.get")
memory.method("memories.history")
memory.method("memories.chain")
memory.method("supersede", changes=TEXT)
memory.method("memories.stale")
memory.method("memories.deprecate", key="event_id")
memory.method("memories.restore", key="event_id")
memory.method("reject", changes=TARGET)
memory.method("unreject", changes=TARGET)


add_erasure(
    memory,
    "forget",
    "The command erases everything derived from the item too; erased items are refused when they "
    "are submitted again. `graphmem admin` erases a person or a tenant.",
)


def run_context(app: App, *, session: str | None, **search: Any) -> None:
    """Print search results as a block of data for a prompt."""
    with app.client() as client:
        found = session_of(client, session).context(**parameters.grouped(search))
        # Print before the search is logged: a failed log entry must not hide the results.
        if app.json:
            app.emit_json(found)
        elif found.text:
            # Do not wrap the text of a prompt.
            terminal.echo(found.text)
        else:
            app.is_blank = True
            terminal.echo(f"No results: {found.reason}.", err=True)


context = method_command(
    "context",
    options.SESSION,
    run=run_context,
    changes={"about": WORDS, "policy": RANKING},
)
