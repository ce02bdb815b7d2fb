"""`graphmem ingest`: remember the conversations of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphmem.cli.app import App, command
from graphmem.cli.extraction import reading, run
from graphmem.cli.terminal import visible

if TYPE_CHECKING:
    from rich.console import Group

    from graphmem.client import GraphMem
    from graphmem.model import ExtractionReport, IngestReport, Message
    from graphmem.rules.gathering import IngestedMessage


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Take nothing when anything in the file is wrong.")
@click.option("--extract", "extracting", is_flag=True, help="Then let what was said be evidence.")
@reading
@command(wall=True)
def ingest(
    app: App, file: Path, *, strict: bool, extracting: bool, rules: bool, review: bool
) -> int:
    """Remember the conversations of FILE.

    JSON Lines or a JSON list of {role, content, name?, at?, id?, session?}, and the layouts of
    LoCoMo and BEAM. What people said becomes memories; everything is kept as turns. Interrupted,
    run it again: it goes on where it stopped, and nothing is written twice. With --extract each
    session is read as by `graphmem belief extract`; --rules and --review are for that.
    """
    from graphmem.adapters.conversations import read_conversations
    from graphmem.rules import gathering

    if (rules or review) and not extracting:
        raise click.UsageError("--rules and --review say how to --extract: give it too.")
    read = read_conversations(file, strict=strict)
    messages = [message for conversation in read.conversations for message in conversation.messages]
    with app.memory() as memory:
        total, _ = remember(app, memory, messages, file.name)
        sessions = gathering.sessions(messages) if extracting else []
        found = [run(app, memory, name, rules=rules, review=review) for name in sessions]
    for problem in read.problems:
        app.note(f"{file.name}: {problem.text}", style="yellow")
    data = {"ingested": total, "problems": read.problems}
    app.emit(
        data | ({"extractions": found} if extracting else {}),
        lambda _: _view(*visible((total, found))),
    )
    return int(bool(read.problems) or any(one.unread for one in found))


def _view(total: IngestReport, found: Sequence[ExtractionReport]) -> Group:
    from rich.console import Group

    from graphmem.cli import extraction_views, views

    outcomes = views.outcomes(total.outcomes, total.repeated)
    return Group(outcomes, *(extraction_views.extraction_report(one) for one in found))


def remember(
    app: App, memory: GraphMem, messages: Sequence[Message], label: str
) -> tuple[IngestReport, list[IngestedMessage]]:
    """Ingest messages with a progress bar; return the totals and what each message became."""
    became: list[IngestedMessage] = []
    with app.progress() as bars:
        bar = bars.add_task(f"Remembering {label}", total=len(messages))

        def on_batch(batch: Sequence[IngestedMessage]) -> None:
            became.extend(batch)
            bars.advance(bar, len(batch))

        total = memory.ingest(messages, on_batch)
    return total, became
