"""Commands that read conversations: ingest, extract and proposals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem import Handle
from graphmem.cli.app import App, F, command
from graphmem.cli.terminal import visible

if TYPE_CHECKING:
    from rich.console import Group

    from graphmem.model import ExtractionReport, IngestReport, Message, ReviewReport
    from graphmem.rules.transcripts import IngestedMessage


READING = {"turn": "Reading turns"}


def reading(function: F) -> F:
    """Add --rules and --review to an extracting command."""
    rules = click.option(
        "--rules", is_flag=True, help="Extract with sentence patterns, without a language model."
    )
    review = click.option(
        "--review", is_flag=True, help="Record proposals for review instead of evidence."
    )
    return rules(review(function))


@click.command()
@click.option("--session", required=True, help="Name of the session.")
@click.option("--dry-run", is_flag=True, help="Show the changes without writing them.")
@reading
@command(wall=True)
def extract(app: App, *, session: str, **options: Any) -> int:
    """Extract evidence with quotes from a session.

    The command uses the language model in GRAPHMEM_MODEL. It is resumable: each turn is read once.
    The exit code is 1 when turns could not be read; the next run retries them.
    """
    from graphmem.cli import consolidation_views

    with app.memory() as memory:
        done = run(app, memory, session, **options)
    app.emit(done, consolidation_views.extraction_report)
    return int(bool(done.unread))


def run(
    app: App,
    memory: Handle,
    session: str,
    *,
    rules: bool,
    review: bool = False,
    dry_run: bool = False,
) -> ExtractionReport:
    """Extract from one session, counting turns on standard error."""
    with app.counting(READING) as on_progress:
        return memory.extract(
            session_id=session,
            extractor="rules" if rules else None,
            dry_run=dry_run,
            review=review,
            on_progress=on_progress,
        )


@click.command()
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="ID",
    help="Record this proposal as evidence (repeatable).",
)
@click.option(
    "--reject",
    "rejected",
    multiple=True,
    metavar="ID",
    help="Dismiss this proposal for good (repeatable).",
)
@click.option(
    "--status",
    default="open",
    show_default=True,
    help="Status of the listed proposals: open, accepted or rejected.",
)
@click.option(
    "--limit", type=int, default=50, show_default=True, help="Maximum number of rows per page."
)
@click.option("--cursor", help="Cursor printed by the previous page.")
@click.option("--note", help="Reason, stored with the decision.")
@click.option("--actor", help="Person or program that decides.")
@command(wall=True)
def proposals(
    app: App,
    *,
    accepted: tuple[str, ...],
    rejected: tuple[str, ...],
    note: str | None,
    actor: str | None,
    **page: Any,
) -> None:
    """List, accept or reject proposals of `extract --review`."""
    from graphmem.cli import consolidation_views

    source: dict[str, Any] = {
        name: value for name, value in (("note", note), ("actor", actor)) if value is not None
    }
    decided: dict[str, ReviewReport] = {}
    with app.memory() as memory:
        if accepted:
            decided["accepted"] = memory.proposals.accept(accepted, **source)
        if rejected:
            decided["rejected"] = memory.proposals.dismiss(rejected, **source)
        if not decided:
            found = memory.proposals.list(**page)
            app.emit(found, consolidation_views.proposals)
            return
    app.emit(decided, consolidation_views.decided)


EXTRACTING = (extract, proposals)
"""Commands that extract evidence and review proposals."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Ingest nothing if any part of the file is invalid.")
@click.option(
    "--extract", "extracting", is_flag=True, help="Then extract evidence from each session."
)
@reading
@command(wall=True)
def ingest(
    app: App, file: Path, *, strict: bool, extracting: bool, rules: bool, review: bool
) -> int:
    """Ingest the conversations of FILE.

    FILE is JSON Lines or a JSON list of {role, content, name?, at?, id?, session?}. Messages of
    people become memories; all messages become turns. To resume an interrupted run, run the
    command again: nothing is written twice. --extract runs `graphmem belief extract` on each
    session; --rules and --review apply to it.
    """
    from graphmem.adapters.conversations import read_conversations
    from graphmem.rules import transcripts

    if (rules or review) and not extracting:
        raise click.UsageError("--rules and --review require --extract.")
    read = read_conversations(file, strict=strict)
    messages = [message for conversation in read.conversations for message in conversation.messages]
    with app.memory() as memory:
        total, _ = remember(app, memory, messages, file.name)
        sessions = transcripts.sessions(messages) if extracting else []
        found = [run(app, memory, name, rules=rules, review=review) for name in sessions]
    for problem in read.problems:
        app.note(f"{file.name}: {problem.text}", style="yellow")
    data = {"ingested": total, "problems": read.problems}
    app.emit(
        data | ({"extractions": found} if extracting else {}),
        lambda _: _view(*visible((total, found))),
    )
    return int(bool(read.problems) or any(report.unread for report in found))


def _view(total: IngestReport, found: Sequence[ExtractionReport]) -> Group:
    from rich.console import Group

    from graphmem.cli import consolidation_views, views

    outcomes = views.outcomes(total.outcomes, total.repeated)
    return Group(outcomes, *(consolidation_views.extraction_report(report) for report in found))


def remember(
    app: App, memory: Handle, messages: Sequence[Message], label: str
) -> tuple[IngestReport, list[IngestedMessage]]:
    """Ingest messages with a progress bar; return the totals and the result per message."""
    results: list[IngestedMessage] = []
    with app.progress() as bars:
        bar = bars.add_task(f"Remembering {label}", total=len(messages))

        def on_batch(batch: Sequence[IngestedMessage]) -> None:
            results.extend(batch)
            bars.advance(bar, len(batch))

        total = memory.ingest(messages, on_batch)
    return total, results
