"""`graphmem ingest`: remember the conversations of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphmem.cli.app import App, command

if TYPE_CHECKING:
    from graphmem.client import GraphMem
    from graphmem.model import Ingested, Message
    from graphmem.rules.gathering import Kept


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Take nothing when anything in the file is wrong.")
@command(wall=True)
def ingest(app: App, file: Path, *, strict: bool) -> int:
    """Remember the conversations of FILE.

    JSON Lines or a JSON list of {role, content, name?, at?, id?, session?}, and the layouts of
    LoCoMo and BEAM. What people said becomes memories; everything is kept as turns. Interrupted,
    run it again: it goes on where it stopped, and nothing is written twice.
    """
    from graphmem.adapters.conversations import read_conversations
    from graphmem.cli import views

    read = read_conversations(file, strict=strict)
    messages = [message for conversation in read.conversations for message in conversation.messages]
    with app.memory() as memory:
        total, _ = remember(app, memory, messages, file.name)
    for problem in read.problems:
        app.err.print(f"[yellow]{file.name}: {problem.text}[/yellow]")
    app.emit(
        {"ingested": total, "problems": read.problems},
        lambda: views.outcomes(total.outcomes, total.repeated),
    )
    return int(bool(read.problems))


def remember(
    app: App, memory: GraphMem, messages: Sequence[Message], label: str
) -> tuple[Ingested, list[Kept]]:
    """Ingest messages with a progress bar; return the totals and what each message became."""
    became: list[Kept] = []
    with app.progress() as bars:
        bar = bars.add_task(f"Remembering {label}", total=len(messages))

        def on_batch(batch: Sequence[Kept]) -> None:
            became.extend(batch)
            bars.advance(bar, len(batch))

        total = memory.ingest(messages, on_batch)
    return total, became
