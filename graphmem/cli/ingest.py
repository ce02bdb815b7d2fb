"""Commands that read conversations: ingest, extract and the review of proposals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, F, command
from graphmem.cli.terminal import visible

if TYPE_CHECKING:
    from rich.console import Group

    from graphmem.client import GraphMem
    from graphmem.model import ExtractionReport, IngestReport, Message, ReviewReport
    from graphmem.rules.transcripts import IngestedMessage


READING = {"turn": "Reading turns"}


def reading(function: F) -> F:
    """Give a command how turns are to be read."""
    rules = click.option("--rules", is_flag=True, help="By a few forms of sentences, no model.")
    review = click.option("--review", is_flag=True, help="Put up for review; none counts yet.")
    return rules(review(function))


@click.command()
@click.option("--session", required=True, help="Its name.")
@click.option("--dry-run", is_flag=True, help="Show what would be written; nothing is.")
@reading
@command(wall=True)
def extract(app: App, *, session: str, **how: Any) -> int:
    """Let what people said in a session become evidence that quotes their words.

    Asks the language model that GRAPHMEM_MODEL names. Safe to interrupt and to repeat: a turn is
    read once. Exit code 1 when turns could not be read; they are tried again by the next run.
    """
    from graphmem.cli import consolidation_views

    with app.memory() as memory:
        done = run(app, memory, session, **how)
    app.emit(done, consolidation_views.extraction_report)
    return int(bool(done.unread))


def run(
    app: App,
    memory: GraphMem,
    session: str,
    *,
    rules: bool,
    review: bool = False,
    dry_run: bool = False,
) -> ExtractionReport:
    """Extract from one session, counting turns on standard error."""
    with app.counting(READING) as tell:
        return memory.extract(
            session=session,
            extractor="rules" if rules else None,
            dry_run=dry_run,
            review=review,
            on_part=tell,
        )


@click.command()
@click.option("--accept", "accepted", multiple=True, metavar="ID", help="Let it become evidence.")
@click.option("--reject", "rejected", multiple=True, metavar="ID", help="Never propose it again.")
@click.option("--status", default="open", show_default=True, help="open, accepted or rejected.")
@click.option("--limit", type=int, default=50, show_default=True, help="Rows of a page.")
@click.option("--cursor", help="Where the page before ended.")
@click.option("--note", help="Why; kept with the decision.")
@click.option("--actor", help="Who decides.")
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
    """List what `extract --review` put up, or decide about it."""
    from graphmem.cli import consolidation_views

    source: dict[str, Any] = {
        name: value for name, value in (("note", note), ("actor", actor)) if value is not None
    }
    decided: dict[str, ReviewReport] = {}
    with app.memory() as memory:
        if accepted:
            decided["accepted"] = memory.accept(accepted, **source)
        if rejected:
            decided["rejected"] = memory.reject(rejected, **source)
        if not decided:
            found = memory.proposals(**page)
            app.emit(found, consolidation_views.proposals)
            return
    app.emit(decided, consolidation_views.decided)


EXTRACTING = (extract, proposals)
"""In the order of the help."""


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
    from graphmem.rules import transcripts

    if (rules or review) and not extracting:
        raise click.UsageError("--rules and --review say how to --extract: give it too.")
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
    return int(bool(read.problems) or any(one.unread for one in found))


def _view(total: IngestReport, found: Sequence[ExtractionReport]) -> Group:
    from rich.console import Group

    from graphmem.cli import consolidation_views, views

    outcomes = views.outcomes(total.outcomes, total.repeated)
    return Group(outcomes, *(consolidation_views.extraction_report(one) for one in found))


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
