"""`graphmem belief extract | proposals`: let what was said become evidence, reviewed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, F, command

if TYPE_CHECKING:
    from graphmem.client import GraphMem
    from graphmem.model import ExtractionReport, ReviewReport

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
    from graphmem.cli import extraction_views

    with app.memory() as memory:
        done = run(app, memory, session, **how)
    app.emit(done, extraction_views.extraction_report)
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
    from graphmem.cli import extraction_views

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
            app.emit(found, extraction_views.proposals)
            return
    app.emit(decided, extraction_views.decided)


EXTRACTING = (extract, proposals)
"""In the order of the help."""
