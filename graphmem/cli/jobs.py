"""Commands that ingest, extract and consolidate, review proposals and maintain episodes."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import parameters, terminal
from graphmem.cli.app import App, command, failure_code
from graphmem.cli.derived import Group, method_command
from graphmem.errors import (
    ConfigurationError,
    ModelReplyError,
    ModelUnavailableError,
    UnavailableError,
)
from graphmem.rules import display

if TYPE_CHECKING:
    from rich.console import Group as RenderGroup

    from graphmem import GraphMem, Handle
    from graphmem.extraction import ExtractionReport
    from graphmem.jobs import JobRun, WorkerReport
    from graphmem.model import IngestReport, Message

POLL_S = 60.0
"""Seconds between two checks whether a run is due."""
READING = {"turn": "Reading turns"}
CONSOLIDATING = {"passage": "Reading passages", "belief": "Matching", "cluster": "Clusters"}
_HOURS = {"m": 1 / 60, "h": 1.0, "d": 24.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([mhd])")

MAX_WAIT_S = 600.0
"""Maximum number of seconds between two attempts to reach the graph."""

proposal = Group("proposal", "List, accept or dismiss proposals of `belief extract`.")

episode = Group("episode", "Write, read, summarise and compress episodes.")


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


def run_consolidate(app: App, *, every: float | None, status: bool, **run: Any) -> int:
    """Derive beliefs from several episodes; show the changes.

    The command is resumable, and concurrent runs are safe: each belief's evidence is written once.
    The exit code is 4 when the model could not be reached, and 1 when a cluster failed otherwise;
    a later run retries it.
    """
    if status:
        with app.client() as client:
            app.emit(client.consolidation_status(), "consolidation_status")
        return 0
    if run["dry_run"] and every is not None:
        raise click.UsageError("--every repeats writes, but --dry-run writes nothing: give one.")
    with app.client() as client:
        if every is not None:
            _run_forever(app, client, every, **run)
        with app.counting(CONSOLIDATING) as on_progress:
            found = client.consolidate(on_progress=on_progress, **run)
        app.emit(found, "consolidate")
    return failure_code(found.troubles)


consolidate = method_command(
    "consolidate",
    click.option(
        "--every",
        type=HoursType(),
        help="Repeat at this interval (30m, 4h, 1d), or after 20 episodes.",
    ),
    click.option("--status", is_flag=True, help="Show what waits and why; change nothing."),
    run=run_consolidate,
    without=["if_due"],
)


def _run_forever(app: App, client: GraphMem, every: float, **run: Any) -> None:
    policy = app.settings.consolidation.model_copy(update={"interval_hours": every})
    while True:
        try:
            with app.counting(CONSOLIDATING) as on_progress:
                found = client.consolidate(
                    if_due=True, policy=policy, on_progress=on_progress, **run
                )
        except ModelUnavailableError as error:
            # The next attempts are spaced by the state that the run left.
            app.note(str(error), style="yellow")
        else:
            if found.applied:
                app.emit(found, "consolidate")
        time.sleep(POLL_S)


def run_worker(app: App, *, once: bool, **asked: Any) -> int:
    """Run the background jobs of all tenants until stopped.

    The jobs are extraction, consolidation, rating, graduation, compression, the roll-up of the
    search log, and sealing; what pruning would do is only counted. Every run prints one line. Any
    number of workers may run: a lease in the graph gives each job of a tenant to one of them. A
    scope, session or item that fails is shown, skipped, and tried again later; the others are
    served. The exit code of --once is 1 when anything failed.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with app.client() as client:
        run = partial(
            client.run_jobs,
            on_job=partial(_report_job, app),
            **parameters.grouped(asked),
        )
        if once:
            return int(any(job.error or job.failed for job in run().runs))
        _serve(app, run)
    return 0


worker = method_command(
    "run_jobs",
    click.option("--once", is_flag=True, help="Run the jobs that are due and exit."),
    name="worker",
    run=run_worker,
    tenant=False,
)


def _serve(app: App, run: Callable[[], WorkerReport]) -> None:
    """Run what is due every minute; while the graph cannot be reached, less and less often."""
    wait = POLL_S
    while True:
        try:
            run()
            wait = POLL_S
        except UnavailableError as error:
            app.note(f"{error} The next attempt is in {wait:.0f} s.", style="yellow")
            time.sleep(wait)
            wait = min(2 * wait, MAX_WAIT_S)
            continue
        time.sleep(wait)


def _report_job(app: App, run: JobRun) -> None:
    if app.json:
        from graphmem.rules.plain import plain

        terminal.echo_json(plain(run))
        return
    outcome = "failed" if run.error else "ok"
    start = f"{run.at:%Y-%m-%dT%H:%M:%SZ} {run.tenant} {run.job}"
    waiting = f", {run.waiting} waiting after failures" if run.waiting else ""
    line = f"{start} {outcome} {run.seconds:.1f} s: {run.summary}{waiting}"
    terminal.echo(display.line(line))
    for one in run.failed:
        unit = one.scope if one.unit is None else f"{one.scope} {one.unit}"
        again = f"attempt {one.failures}, the next in {one.retry_s:.0f} s"
        terminal.echo(display.line(f"{start} skipped {unit}: {one.problem} ({again})"))


proposal.method("proposals.list")
proposal.method("proposals.accept", changes={"proposal_ids": {"metavar": "ID..."}})
proposal.method("proposals.dismiss", changes={"proposal_ids": {"metavar": "ID..."}})

episode.method("episodes.add", key="episode_id")
episode.method("episodes.get", more="`graphmem expand` adds its turns.")
episode.method("episodes.list")
episode.method("episodes.turns")
episode.method(
    "episodes.summarise",
    more="The end of a session does this by rules. If a language model is set, it also summarises "
    "what only the rules have summarised.",
    counters={"episode": "Summarising"},
)
episode.method("history", changes={"item_id": {"metavar": "EPISODE_ID"}})
episode.method(
    "episodes.graduate",
    more="Only the section between the graphmem markers of FILE is modified.",
)
episode.method("episodes.compress", counters={"episode": "Compressing"})
episode.method("episodes.restore")
episode.method("episodes.pin")
episode.method("episodes.unpin")


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

    from graphmem.cli.views import jobs

    stored = Text(f"{total.messages} messages, {total.turns_added} of them new.")
    return RenderGroup(stored, *map(jobs.extraction_report, found))
