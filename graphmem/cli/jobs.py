"""Commands that ingest, extract and consolidate, review proposals and maintain episodes."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import options
from graphmem.cli.app import App, Group, command, given, method_command
from graphmem.cli.terminal import visible

if TYPE_CHECKING:
    from rich.console import Group as RenderGroup

    from graphmem import GraphMem, Handle
    from graphmem.extraction import ExtractionReport
    from graphmem.model import IngestReport, Message
    from graphmem.rules.transcripts import IngestedMessage

POLL_S = 60.0
"""Seconds between two checks whether a run is due."""
READING = {"turn": "Reading turns"}
CONSOLIDATING = {"passage": "Reading passages", "belief": "Matching", "cluster": "Clusters"}
_HOURS = {"m": 1 / 60, "h": 1.0, "d": 24.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([mhd])")


class HoursType(click.ParamType[float]):
    """A duration like 30m, 4h or 1d, as hours."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the duration in hours."""
        if isinstance(value, float):
            return value
        match = _DURATION.fullmatch(str(value).strip())
        if match is None or not float(match[1]):
            self.fail(f"{value!r} must be a duration such as 30m, 4h or 1d.", param, ctx)
        return float(match[1]) * _HOURS[match[2]]


@click.command()
@options.DRY_RUN
@click.option(
    "--every", type=HoursType(), help="Repeat at this interval (30m, 4h, 1d), or after 20 episodes."
)
@click.option("--extractive", is_flag=True, help="Do not use the configured language model.")
@command(tenant=True)
def consolidate(app: App, *, every: float | None, **run: Any) -> int:
    """Derive beliefs from several episodes; show the changes.

    The command is resumable, and concurrent runs are safe: each belief's evidence is written once.
    The exit code is 1 when a cluster failed; a later run retries it.
    """
    if run["dry_run"] and every is not None:
        raise click.UsageError("--every repeats writes, but --dry-run writes nothing: give one.")
    with app.client() as client:
        if every is not None:
            _run_forever(app, client, every, **run)
        with app.counting(CONSOLIDATING) as on_progress:
            found = client.consolidate(on_progress=on_progress, **run)
        app.emit(found, "consolidate")
    return int(bool(found.troubles))


def _run_forever(app: App, client: GraphMem, every: float, **run: Any) -> None:
    from graphmem.consolidation import ConsolidationPolicy

    policy = ConsolidationPolicy(interval_hours=every)
    while True:
        with app.counting(CONSOLIDATING) as on_progress:
            found = client.consolidate(if_due=True, policy=policy, on_progress=on_progress, **run)
        if found.applied:
            app.emit(found, "consolidate")
        time.sleep(POLL_S)


extract = method_command(
    "extract",
    """Extract evidence with quotes from a session.

    The command uses the language model in GRAPHMEM_MODEL. It is resumable: each turn is read once.
    The exit code is 1 when turns could not be read; the next run retries them.
    """,
    click.option("--session-id", required=True, help="Name of the session."),
    options.DRY_RUN,
    options.EXTRACTION,
    counters=READING,
    fails=lambda report: report.unread,
)

IDS = click.argument("proposal_ids", metavar="ID...", nargs=-1, required=True)

proposal = Group("proposal", "List, accept or dismiss proposals of `belief extract`.")
proposal.method(
    "proposals.list",
    "List proposals page by page, oldest first.",
    click.option(
        "--status", default="open", help="Status of the proposals: open, accepted or dismissed."
    ),
    options.PAGE,
)
proposal.method(
    "proposals.accept",
    "Record proposals as evidence: all of them or none.",
    IDS,
    options.ORIGIN,
    options.NOTE,
)
proposal.method(
    "proposals.dismiss",
    "Dismiss proposals for good: all of them or none.",
    IDS,
    options.ORIGIN,
    options.NOTE,
)

episode = Group("episode", "Write, read, graduate and compress episodes.")


@episode.command()
@click.option("--episode-id", help="Id of the episode.  [default: a new one]")
@click.option("--session-id", help="Name of the session that it belongs to.")
@click.option("--summary", help="Summary of the episode.")
@click.option("--content", help="Full text of the episode.")
@click.option(
    "--entity", "entities", multiple=True, help="Person or thing that it is about (repeatable)."
)
@click.option("--importance", type=float, help="Importance, 0 to 1.  [default: 0.5]")
@click.option("--at", type=options.InstantType(), help="Time of the episode.  [default: now]")
@command(tenant=True)
def add(app: App, **fields: Any) -> None:
    """Store an episode, for example a document."""
    with app.client() as client:
        episode_id = client.episodes.add(**given(fields))
    app.emit({"episode_id": episode_id}, lambda _: f"{episode_id} is stored.")


episode.method(
    "episodes.get",
    "Show one episode; `graphmem expand` adds its turns.",
    click.argument("episode_id"),
)
episode.method(
    "episodes.list",
    "List episodes page by page, newest first.",
    click.option("--session-id", help="Include only episodes of this session."),
    click.option(
        "--since",
        type=options.InstantType(),
        help="Include only episodes that happened at or after this time.",
    ),
    click.option(
        "--until",
        type=options.InstantType(),
        help="Include only episodes that happened before this time.",
    ),
    click.option("--include-archived", is_flag=True, help="Include archived episodes."),
    options.PAGE,
    options.AS_OF,
)
episode.method(
    "episodes.turns",
    "Show the turns of an episode, in order.",
    click.argument("episode_id"),
    options.CURSOR,
    options.limit(1_000, "turns"),
)
episode.method(
    "episodes.graduate",
    """Add a line per important episode to FILE, for example MEMORY.md.

    Only the section between the graphmem markers is modified.
    """,
    click.argument("file", type=click.Path(path_type=Path)),
    options.DRY_RUN,
)
episode.method(
    "episodes.compress",
    "Reduce old, unused episodes to their summaries.",
    options.DRY_RUN,
    counters={"episode": "Compressing"},
)
episode.method(
    "episodes.restore",
    "Restore the full text of a compressed episode.",
    click.argument("episode_id"),
)


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
        lambda _: _ingested(*visible((total, found))),
    )
    return int(bool(read.problems) or any(report.unread for report in found))


def _ingested(total: IngestReport, found: Sequence[ExtractionReport]) -> RenderGroup:
    from rich.console import Group as RenderGroup

    from graphmem.cli.views import jobs, memory

    outcomes = memory.outcomes(total.outcomes, total.repeated)
    return RenderGroup(outcomes, *map(jobs.extraction_report, found))


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
