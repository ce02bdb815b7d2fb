"""`graphmem ingest`: read conversations from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import options
from graphmem.cli.app import App, command, given
from graphmem.cli.jobs import READING
from graphmem.cli.terminal import visible

if TYPE_CHECKING:
    from rich.console import Group

    from graphmem import Handle
    from graphmem.model import ExtractionReport, IngestReport, Message
    from graphmem.rules.transcripts import IngestedMessage


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Ingest nothing if any part of the file is invalid.")
@click.option("--extract", is_flag=True, help="Then extract evidence from each session.")
@options.EXTRACTION
@command(tenant=True)
def ingest(app: App, file: Path, *, strict: bool, extract: bool, **extraction: Any) -> int:
    """Ingest the conversations of FILE.

    FILE is JSON Lines or a JSON list of {role, content, name?, at?, id?, session?}, or has the
    layout of LoCoMo or BEAM. Messages of people become memories; all messages become turns. To
    resume an interrupted run, run the command again: nothing is written twice. --extract runs
    `graphmem belief extract` on each session; --rules and --review apply to it.
    """
    from graphmem.adapters.conversations import read_conversations
    from graphmem.rules import transcripts

    if any(extraction.values()) and not extract:
        raise click.UsageError("--rules and --review require --extract.")
    read = read_conversations(file, strict=strict)
    messages = [message for conversation in read.conversations for message in conversation.messages]
    found: list[ExtractionReport] = []
    with app.client() as client:
        total, _ = remember(app, client, messages, file.name)
        for name in transcripts.sessions(messages) if extract else []:
            with app.counting(READING) as count:
                found.append(
                    client.extract(session_id=name, on_progress=count, **given(extraction))
                )
    for problem in read.problems:
        app.note(f"{file.name}: {problem.text}", style="yellow")
    data = {"ingested": total, "problems": read.problems}
    app.emit(
        data | ({"extractions": found} if extract else {}),
        lambda _: _view(*visible((total, found))),
    )
    return int(bool(read.problems) or any(report.unread for report in found))


def _view(total: IngestReport, found: Sequence[ExtractionReport]) -> Group:
    from rich.console import Group

    from graphmem.cli.views import jobs, memory

    outcomes = memory.outcomes(total.outcomes, total.repeated)
    return Group(outcomes, *map(jobs.extraction_report, found))


def remember(
    app: App, client: Handle, messages: Sequence[Message], label: str
) -> tuple[IngestReport, list[IngestedMessage]]:
    """Ingest messages with a progress bar; return the totals and the result per message."""
    results: list[IngestedMessage] = []
    with app.progress() as bars:
        bar = bars.add_task(f"Remembering {label}", total=len(messages))

        def on_batch(batch: Sequence[IngestedMessage]) -> None:
            results.extend(batch)
            bars.advance(bar, len(batch))

        total = client.ingest(messages, on_batch)
    return total, results
