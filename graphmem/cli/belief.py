"""`graphmem belief`, `predicate`, `alias` and `proposal`: evidence, beliefs, how they are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import options, parameters
from graphmem.cli.app import App, command, failure_code
from graphmem.cli.derived import Group
from graphmem.cli.ingest import READING

if TYPE_CHECKING:
    from graphmem.model import Observation

VALUE_PARTS = 3


belief = Group("belief", "Record evidence, test hypotheses, read beliefs.")
belief.method("observe")

predicate = Group("predicate", "Declare and list the policies of predicates.")

alias = Group("alias", "Add, remove and list second names of one thing.")

proposal = Group("proposal", "List, accept or dismiss proposals of `belief extract`.")
proposal.method("proposals.list")
proposal.method("proposals.accept", changes={"proposal_ids": {"metavar": "ID..."}})
proposal.method("proposals.dismiss", changes={"proposal_ids": {"metavar": "ID..."}})


@belief.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@command(tenant=True)
def import_(app: App, file: Path) -> None:
    """Record the observations of a JSON Lines file.

    Each line has the fields of `observe`, for example
    {"subject": "alice", "predicate": "likes", "object": "tea", "confidence": 0.9}. A line without
    an event_id gets one derived from its content: equal lines count once, and running the command
    again resumes an interrupted import.
    """
    from graphmem.cli.views import belief as views

    observations = read_observations(file, app.settings.scope)
    with app.client() as client, app.progress() as bars:
        bar = bars.add_task(f"Recording {file.name}", total=len(observations))
        done = client.observe_many(observations, lambda batch: bars.advance(bar, len(batch)))
    repeated = sum(receipt.repeated for receipt in done)
    counts = {
        "lines": len(done),
        "recorded": len(done) - repeated,
        "repeated": repeated,
        "beliefs": len({receipt.belief_id for receipt in done}),
    }
    app.emit(counts, views.imported)


def read_observations(path: Path, scope: str) -> Sequence[Observation]:
    """Return the observations of a file, in file order; blank lines are skipped.

    Args:
        scope: write scope of the observations. Event ids are unique in a tenant, so the scope is
            part of the id derived for a line without one.
    """
    from graphmem.errors import SourceFileError

    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SourceFileError(f"{path.name} cannot be read: {reason}.") from None
    # Not splitlines(): it also splits at separators that are allowed inside JSON strings.
    lines = enumerate(text.split("\n"), start=1)
    return [
        _observation(f"{path.name}, line {n}", line, scope) for n, line in lines if line.strip()
    ]


def _observation(where: str, line: str, scope: str) -> Observation:
    from graphmem.errors import InvalidInputError, SourceFileError
    from graphmem.model import Observation
    from graphmem.rules import identity
    from graphmem.validation import valid

    try:
        fields: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise SourceFileError(f"{where}: not valid JSON.") from None
    if not isinstance(fields, dict):
        raise SourceFileError(f"{where}: must be a JSON object.")
    if fields.get("event_id") is None:
        content = json.dumps(fields, sort_keys=True, ensure_ascii=False)
        fields["event_id"] = "line_" + identity.digest(scope, content)[:32]
    try:
        return valid(Observation, **fields)
    except InvalidInputError as error:
        raise SourceFileError(f"{where}: {error.message}", hint=error.hint) from None


belief.method(
    "extract",
    more="The exit code is 4 when the model could not be reached, and 1 when turns could not be "
    "read otherwise; the next run retries them.",
    changes={"session_id": {"required": True}},
    counters=READING,
    fails=lambda report: failure_code(report.unread),
)
belief.method("believe")


@belief.runs("add_evidence")
def add_evidence(app: App, belief_id: str, **evidence: Any) -> None:
    """Record evidence for a belief and show the test result.

    STRENGTH is the likelihood that such evidence is right: 0.5 is neutral, 0.9 is the maximum.
    """
    from graphmem.cli.views import belief as views

    with app.client() as client:
        done = client.add_evidence(belief_id, **parameters.grouped(evidence))
        trail = client.evidence_for(belief_id, limit=1)
        shown: dict[str, Any] = {"recorded": done, "verdict": trail.verdict, "needed": trail.needed}
        app.emit(shown, lambda it: views.added(it["recorded"], trail))


belief.method("evidence_for")


@belief.runs(
    "beliefs.what_if",
    click.option(
        "--supporting", type=float, multiple=True, help="Suppose support of this strength."
    ),
    click.option(
        "--refuting", type=float, multiple=True, help="Suppose refutation of this strength."
    ),
)
def what_if(app: App, **supposed: Any) -> None:
    """Show the test result with hypothetical evidence.

    Nothing is written. --supporting, --refuting and --without may be repeated.
    """
    evidence = [
        {"kind": kind, "strength": strength}
        for kind in ("supporting", "refuting")
        for strength in supposed.pop(kind)
    ]
    with app.client() as client:
        found = client.beliefs.what_if(evidence=evidence, **parameters.grouped(supposed))
        app.emit(found, "beliefs.what_if")


belief.method("beliefs.flip_set")
belief.method(
    "beliefs.retract",
    more="A retraction can itself be retracted.",
    changes={"origin__event_id": {"opts": ["--retraction-id"]}},
)


@belief.runs("current")
def current(app: App, **slot: Any) -> None:
    """Show the candidates of a slot, best first."""
    from graphmem.cli.views import belief as views

    arguments = parameters.grouped(slot)
    with app.client() as client:
        found = client.current(**arguments)
        # A slot has no verdict: the view for people needs one more query.
        candidate = found.leader if not app.json else None
        as_of = arguments.get("as_of")
        leader = client.beliefs.get(candidate.belief_id, as_of=as_of) if candidate else None
        app.emit(found, lambda it: views.slot(it, leader))


belief.method("beliefs.slots")
belief.method("beliefs.list")
belief.method("beliefs.get", more="`graphmem why` adds its evidence.")
belief.method("beliefs.history")
belief.method("beliefs.chain")
belief.method("beliefs.provenance")


@belief.runs(
    "beliefs.timeline",
    options.output("Write to this .png or .svg file instead of the terminal."),
)
def timeline(app: App, *, output: Path | None, **asked: Any) -> None:
    """Plot a belief or a slot over time.

    `timeline BELIEF_ID` plots a belief, and `timeline SUBJECT PREDICATE` a slot.
    """
    from graphmem.cli import plot, terminal
    from graphmem.cli.console import drawing

    draw = None
    if output is not None:
        draw = plot.to_file(output)
    elif not app.json:
        draw = plot.in_terminal(app.console.width)
    with app.client() as client:
        found = client.beliefs.timeline(**parameters.grouped(asked))
        if app.json:
            app.emit_json(found)
        elif draw:
            # Do not wrap a drawing.
            app.console.print(drawing(draw(terminal.visible(found))), soft_wrap=True)


belief.method("beliefs.revise")
belief.method("beliefs.split")
belief.method(
    "beliefs.merge",
    changes={
        "beliefs": {"metavar": "BELIEF_ID..."},
        "statement": {"argument": False, "opts": ["--into"]},
    },
)
belief.method("beliefs.archive")
belief.method("beliefs.restore")
belief.method("beliefs.clear_flag")


def _target(
    context: click.Context, argument: click.Parameter, parts: tuple[str, ...]
) -> str | tuple[str, ...]:
    if len(parts) in (1, VALUE_PARTS):
        return parts[0] if len(parts) == 1 else parts
    raise click.BadParameter(
        "give the id of a belief, or SUBJECT PREDICATE OBJECT", context, argument
    )


TARGET: dict[str, Any] = {"target": {"metavar": "TARGET...", "nargs": -1, "callback": _target}}
belief.method(
    "reject",
    more="TARGET is the id of a belief, or SUBJECT PREDICATE OBJECT. The value stays hidden in "
    "every spelling, whatever is written or imported later.",
    changes=TARGET,
)
belief.method("unreject", more="TARGET is as in `reject`.", changes=TARGET)


predicate.method("predicates.declare")
predicate.method("predicates.list")

alias.method("aliases.add", more="Evidence about either name is read as evidence about both.")
alias.method("aliases.remove")
alias.method("aliases.list")
