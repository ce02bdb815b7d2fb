"""`graphmem belief`, `predicate` and `alias`: evidence, beliefs and how they are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import options
from graphmem.cli.app import App, Group, command, given
from graphmem.cli.jobs import extract
from graphmem.cli.options import TimeType

if TYPE_CHECKING:
    from graphmem.model import Observation

BELIEF_ID = click.argument("belief_id")
VALUE_PARTS = 3
CHANGE = options.stacked(options.REASON, options.EVENT, options.NOTE)


belief = Group("belief", "Record evidence, test hypotheses, read beliefs.")
belief.method(
    "observe",
    "Record evidence for a triple, for example alice likes tea.",
    click.argument("subject"),
    click.argument("predicate"),
    click.argument("object"),
    click.option("--confidence", default=0.8, help="Confidence of the source, 0 to 1."),
    click.option("--refuting", "kind", flag_value="refuting", help="Record evidence against it."),
    click.option(
        "--source-type",
        default="EXPLICIT",
        help="TOOL, EXPLICIT, RULE, CLASSIFIER, EXTRACTOR or another type with a weight.",
    ),
    click.option(
        "--cardinality",
        type=click.Choice(["ONE", "MANY"]),
        help="Declare that values of the predicate compete (ONE) or coexist (MANY).",
    ),
    options.PLACE,
    options.EVENT,
    options.NOTE,
)


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
        path: JSON Lines file in UTF-8.
        scope: write scope of the observations. Event ids are unique in a tenant, so the scope is
            part of the id derived for a line without one.

    Raises:
        SourceFileError: the file cannot be read, or a line is not a valid observation; names the
            line.
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
    from graphmem.client.validation import valid
    from graphmem.errors import InvalidInputError, SourceFileError
    from graphmem.model import Observation
    from graphmem.rules import identity

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


belief.add_command(extract)


belief.method(
    "believe",
    "Record a hypothesis: a STATEMENT, a triple, or both.",
    click.argument("statement", required=False),
    options.TRIPLE,
    options.PLACE,
    options.EVENT,
    options.NOTE,
)


@belief.command(name="add-evidence")
@BELIEF_ID
@click.argument("kind", type=click.Choice(["supporting", "refuting"]))
@click.argument("strength", type=float)
@options.PLACE
@options.EVENT
@options.NOTE
@command(tenant=True)
def add_evidence(app: App, belief_id: str, kind: Any, strength: float, **event: Any) -> None:
    """Record evidence for a belief and show the test result.

    STRENGTH is the likelihood that such evidence is right: 0.5 is neutral, 0.9 is the maximum.
    """
    from graphmem.cli.views import belief as views

    with app.client() as client:
        done = client.add_evidence(belief_id, kind, strength, **given(event))
        trail = client.evidence_for(belief_id, limit=1)
    shown = {"recorded": done, "verdict": trail.verdict, "needed": trail.needed}
    app.emit(shown, lambda _: views.added(done, trail))


belief.method(
    "evidence_for",
    "Show the sequential test of a belief, piece by piece.",
    BELIEF_ID,
    options.POOLED,
    options.CURSOR,
    options.limit(100, "pieces"),
    options.AS_OF,
)


@belief.command(name="what-if")
@BELIEF_ID
@click.option(
    "--supporting", type=float, multiple=True, help="Suppose support of this strength (repeatable)."
)
@click.option(
    "--refuting",
    type=float,
    multiple=True,
    help="Suppose refutation of this strength (repeatable).",
)
@click.option("--without", multiple=True, help="Leave out the event with this id (repeatable).")
@options.POOLED
@options.AS_OF
@command(tenant=True)
def what_if(app: App, belief_id: str, **supposed: Any) -> None:
    """Show the test result with hypothetical evidence.

    Nothing is written.
    """
    evidence = [
        {"kind": kind, "strength": strength}
        for kind in ("supporting", "refuting")
        for strength in supposed.pop(kind, ())
    ]
    with app.client() as client:
        app.emit(client.beliefs.what_if(belief_id, evidence, **given(supposed)), "beliefs.what_if")


belief.method(
    "beliefs.flip_set",
    "Show a smallest set of evidence that decides the test.",
    BELIEF_ID,
    options.AS_OF,
)
belief.method(
    "beliefs.retract",
    """Retract an event of evidence.

    The retraction applies to all times. A retraction can itself be retracted.
    """,
    click.argument("event_id"),
    click.option("--retraction-id", help="Id of the retraction; makes the write idempotent."),
    options.ORIGIN,
    options.NOTE,
)


@belief.command()
@click.argument("subject")
@click.argument("predicate")
@options.limit(10, "candidates")
@options.AS_OF
@command(tenant=True)
def current(app: App, subject: str, predicate: str, *, limit: int, **times: Any) -> None:
    """Show the candidates of a slot, best first."""
    from graphmem.cli.views import belief as views

    read = given(times)
    with app.client() as client:
        slot = client.current(subject, predicate, limit=limit, **read)
        # A slot has no verdict: the view for people needs one more query.
        candidate = slot.leader if not app.json else None
        leader = client.beliefs.get(candidate.belief_id, **read) if candidate else None
    app.emit(slot, lambda it: views.slot(it, leader))


belief.method(
    "beliefs.slots",
    """List the slots of SUBJECT, or all slots.

    Each slot is shown with its best candidates.
    """,
    click.argument("subject", required=False),
    click.option("--top", default=3, help="Maximum number of values per slot."),
    options.PAGE,
    options.AS_OF,
)
belief.method(
    "beliefs.list",
    "List beliefs page by page, newest first.",
    click.option("--include-superseded", is_flag=True, help="Include superseded beliefs."),
    click.option("--include-archived", is_flag=True, help="Include archived beliefs."),
    click.option("--include-rejected", is_flag=True, help="Include beliefs a person rejected."),
    options.PAGE,
    options.AS_OF,
)
belief.method(
    "beliefs.get", "Show one belief; `graphmem why` adds its evidence.", BELIEF_ID, options.AS_OF
)
belief.method(
    "beliefs.history",
    "Show what happened to a belief, oldest first.",
    BELIEF_ID,
    options.limit(100, "events, the newest"),
    options.AS_OF,
)
belief.method(
    "beliefs.chain", "Show the chain of replacements of a belief.", BELIEF_ID, options.AS_OF
)
belief.method(
    "beliefs.provenance",
    "Show the events, turns, episodes and memories of a belief.",
    BELIEF_ID,
    options.limit(100, "events, the newest, and of memories"),
    options.AS_OF,
)


@belief.command()
@click.argument("of")
@click.argument("predicate", required=False)
@options.output("Write to this .png or .svg file instead of the terminal.")
@click.option("--points", default=60, help="Maximum number of points.")
@click.option("--top", default=5, help="Maximum number of candidates of a slot.")
@options.AS_OF
@command(tenant=True)
def timeline(app: App, *, output: Path | None, **options: Any) -> None:
    """Plot a belief or a slot over time.

    OF is the id of a belief, or with PREDICATE the subject of a slot.
    """
    from graphmem.cli import plot, terminal
    from graphmem.cli.console import drawing

    draw = None
    if output is not None:
        draw = plot.to_file(output)
    elif not app.json:
        draw = plot.in_terminal(app.console.width)
    with app.client() as client:
        found = client.beliefs.timeline(**given(options))
    if app.json:
        app.emit_json(found)
    elif draw:
        # Do not wrap a drawing.
        app.console.print(drawing(draw(terminal.visible(found))), soft_wrap=True)


belief.method(
    "beliefs.revise",
    """Replace a belief with a STATEMENT or a triple.

    The replaced belief stays readable.
    """,
    BELIEF_ID,
    click.argument("statement", required=False),
    options.TRIPLE,
    options.PLACE,
    CHANGE,
)
belief.method(
    "beliefs.split",
    "Replace a belief that is too broad with several STATEMENTS.",
    BELIEF_ID,
    click.argument("statements", nargs=-1, required=True),
    options.PLACE,
    CHANGE,
)
belief.method(
    "beliefs.merge",
    "Replace equivalent beliefs with one statement.",
    click.argument("beliefs", metavar="BELIEF_ID...", nargs=-1, required=True),
    click.option("--into", "statement", required=True, help="Statement that replaces them."),
    options.TRIPLE,
    options.PLACE,
    CHANGE,
)
belief.method(
    "beliefs.archive",
    "Archive a belief: hide it from recall, keep its evidence.",
    BELIEF_ID,
    CHANGE,
)
belief.method(
    "beliefs.restore", "Make an archived or superseded belief current again.", BELIEF_ID, CHANGE
)
belief.method("beliefs.clear_flag", "Clear the revision flag of a belief.", BELIEF_ID, CHANGE)


def _target(
    context: click.Context, argument: click.Parameter, parts: tuple[str, ...]
) -> str | tuple[str, ...]:
    if len(parts) in (1, VALUE_PARTS):
        return parts[0] if len(parts) == 1 else parts
    raise click.BadParameter(
        "give the id of a belief, or SUBJECT PREDICATE OBJECT", context, argument
    )


TARGET = click.argument("target", metavar="TARGET...", nargs=-1, required=True, callback=_target)
belief.method(
    "reject",
    """Reject a belief, or a value.

    TARGET is the id of a belief, or SUBJECT PREDICATE OBJECT. The value stays hidden in every
    spelling, whatever is written or imported later.
    """,
    TARGET,
    options.WHY,
    options.EVENT,
)
belief.method(
    "unreject",
    "Take a rejection back; TARGET as in `reject`.",
    TARGET,
    options.WHY,
    options.EVENT,
)


predicate = Group("predicate", "Declare and list the policies of predicates.")
predicate.method(
    "predicates.declare",
    "Declare how the evidence of predicate NAME is read.",
    click.argument("name"),
    click.option(
        "--cardinality",
        type=click.Choice(["ONE", "MANY"]),
        help="Whether the values of a slot compete (ONE) or coexist.  [default: MANY]",
    ),
    click.option(
        "--kappa", type=float, help="ONE: strength with which newer values suppress others."
    ),
    click.option("--tau-days", type=float, help="ONE: time constant of that suppression, in days."),
    click.option("--decay-per-day", type=float, help="Decay rate of evidence, per day."),
    click.option(
        "--margin", type=float, help="ONE: the two best are ambiguous below this difference."
    ),
    click.option("--combine", help="MANY: how to combine evidence, net or log_odds."),
    click.option("--template", help="Statement of a new belief: '{subject} works on {object}'."),
    click.option(
        "--valid-from",
        type=TimeType(),
        help="Valid time from which it applies.  [default: every valid time]",
    ),
    options.EVENT,
    options.NOTE,
)
predicate.method("predicates.list", "List the declared policies.")

alias = Group("alias", "Add, remove and list second names of one thing.")
alias.method(
    "aliases.add",
    """Make NAME an alias of OTHER.

    Evidence about either name is read as evidence about both.
    """,
    click.argument("name"),
    click.argument("other"),
    options.EVENT,
    options.NOTE,
)
alias.method(
    "aliases.remove", "Remove the alias NAME.", click.argument("name"), options.EVENT, options.NOTE
)
alias.method("aliases.list", "List the aliases.")
