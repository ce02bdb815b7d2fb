"""`graphmem ingest`: the conversations of a file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import parameters
from graphmem.cli.app import App, command, failure_code
from graphmem.errors import (
    ConfigurationError,
    ModelReplyError,
)

if TYPE_CHECKING:
    from rich.console import Group as RenderGroup

    from graphmem import Handle
    from graphmem.extraction import ExtractionReport
    from graphmem.model import IngestReport, Message


READING = {"turn": "Reading turns"}


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Ingest nothing if any part of the file is invalid.")
@click.option("--extract", is_flag=True, help="Then extract evidence from each session.")
@parameters.of_method("extract", only=["extractor", "review"])
@command(tenant=True)
def ingest(app: App, file: Path, *, strict: bool, extract: bool, **extraction: Any) -> int:
    """Ingest the conversations of FILE.

    FILE is JSON Lines or a JSON list of {role, content, name?, at?, id?, session?}, or has the
    layout of LoCoMo or BEAM. All messages become turns, and facts are read from them by rules. To
    resume an interrupted run, run the command again: nothing is written twice. --extract runs
    `graphmem belief extract` on each session; --rules and --review apply to it. Nothing is written
    if the language model does not answer.
    """
    from graphmem.cli.conversation_files import read_conversations
    from graphmem.conversation import ingestion

    if any(extraction.values()) and not extract:
        raise click.UsageError("--rules and --review require --extract.")
    read = read_conversations(file, strict=strict, time_zone=app.settings.time_zone)
    messages = [message for conversation in read.conversations for message in conversation.messages]
    if extract:
        # This run chooses the extractor, and whether its facts are reviewed first.
        app.settings = app.settings.model_copy(update={"session_facts": False})
        if extraction["extractor"] is None:
            require_model(app)
    found: list[ExtractionReport] = []
    with app.client() as client:
        total = ingest_messages(app, client, messages, file.name)
        for name in ingestion.sessions(messages) if extract else []:
            with app.counting(READING) as count:
                found.append(
                    client.extract(
                        session_id=name, on_progress=count, **parameters.grouped(extraction)
                    )
                )
        for problem in read.problems:
            app.note(f"{file.name}: {problem.text}", style="yellow")
        for note in dict.fromkeys((*read.notes, *total.notes)):
            app.note(f"{file.name}: {note}")
        data: dict[str, Any] = {"ingested": total, "problems": read.problems, "unread": read.unread}
        app.emit(
            data | ({"extractions": found} if extract else {}),
            lambda it: _ingested(it["ingested"], it.get("extractions", ())),
        )
    unread = [window for report in found for window in report.unread]
    return failure_code(unread) or int(bool(read.problems))


def require_model(app: App) -> None:
    """Ask the language model of the settings for a short reply."""
    from pydantic import create_model

    from graphmem.models import open_llm
    from graphmem.ports import run_now
    from graphmem.rules.prompts import Prompt

    llm = open_llm(app.settings, awaited=False)
    if llm is None:
        raise ConfigurationError(
            "No language model is set; nothing was ingested.",
            hint="Set GRAPHMEM_MODEL, or use --rules.",
        )
    reply = create_model("Reply", ready=(bool, True))
    asked = Prompt("ready", 'Reply with the JSON object {"ready": true}.', "Are you ready?", reply)
    # A model that answers anything else can be reached; extraction tries again and reports it.
    with suppress(ModelReplyError):
        run_now(llm.answer(asked))


def ingest_messages(
    app: App, client: Handle, messages: Sequence[Message], label: str
) -> IngestReport:
    """Ingest messages with a progress bar."""
    with app.progress() as bars:
        bar = bars.add_task(f"Storing {label}", total=len(messages))
        return client.ingest(messages, lambda _, count: bars.advance(bar, count))


def _ingested(total: IngestReport, found: Sequence[ExtractionReport]) -> RenderGroup:
    from rich.console import Group as RenderGroup
    from rich.text import Text

    from graphmem.cli.views import extraction

    stored = Text(f"{total.messages} messages, {total.turns_added} of them new.")
    return RenderGroup(stored, *map(extraction.extraction_report, found))
