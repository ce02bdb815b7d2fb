"""The `graphmem belief` group and its reading commands."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, F, command
from graphmem.cli.belief_writes import LIFECYCLE, NAMING, WRITING
from graphmem.cli.ingest import EXTRACTING
from graphmem.cli.memory import InstantType, as_of, moment

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

    from graphmem.model import BeliefChain, FlipSet, SlotPage, Timeline


@click.command()
@click.argument("subject", required=False)
@click.option(
    "--limit", type=int, default=50, show_default=True, help="Maximum number of slots per page."
)
@click.option("--cursor", help="Cursor printed by the previous page.")
@moment
@command(wall=True)
def slots(
    app: App,
    subject: str | None,
    *,
    limit: int,
    cursor: str | None,
    valid: datetime | None,
    known: datetime | None,
) -> None:
    """List the slots of SUBJECT, or all slots.

    Each slot is shown with its best candidates.
    """
    with app.memory() as opened:
        page = opened.beliefs.slots(subject, cursor=cursor, limit=limit, as_of=as_of(valid, known))
    app.emit(page, _slots)


def _slots(page: SlotPage) -> Group:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from graphmem.cli.belief_views import number
    from graphmem.cli.views import more

    table = Table("subject", "predicate", "best", "others", box=None, pad_edge=False)
    for slot in page.slots:
        values = [f"{value.object} {number(value.belief)}" for value in slot.candidates]
        others = ", ".join(values[1:]) + ("  ambiguous" if slot.ambiguous else "")
        table.add_row(slot.subject, slot.predicate, "".join(values[:1]), Text(others, style="dim"))
    found = table if page.slots else Text("No slots.", style="dim")
    return Group(found, *more(page.next_cursor))


@click.command(name="flip-set")
@click.argument("belief_id")
@moment
@command(wall=True)
def flip_set(app: App, belief_id: str, *, valid: datetime | None, known: datetime | None) -> None:
    """Show a smallest set of evidence that decides the test."""
    with app.memory() as opened:
        found = opened.beliefs.flip_set(belief_id, as_of=as_of(valid, known))
    app.emit(found, _flip_set)


def _flip_set(found: FlipSet) -> Text:
    from rich.text import Text

    from graphmem.cli.belief_views import counted

    if found.event_ids is None:
        return Text(f"{found.status}, even without any of {counted(found.evidence, 'piece')}.")
    lines = Text(f"{found.status}; without ")
    lines.append(f"{len(found.event_ids)} of {counted(found.evidence, 'piece')}", style="bold")
    lines.append(f" the test is {found.becomes}:")
    for event_id in found.event_ids:
        lines.append(f"\n  {event_id}", style="dim")
    return lines


@click.command()
@click.argument("belief_id")
@moment
@command(wall=True)
def chain(app: App, belief_id: str, *, valid: datetime | None, known: datetime | None) -> None:
    """Show the chain of replacements of a belief."""
    with app.memory() as opened:
        found = opened.beliefs.chain(belief_id, as_of=as_of(valid, known))
    app.emit(found, _chain)


def _chain(found: BeliefChain) -> Group:
    from rich.console import Group
    from rich.text import Text

    from graphmem.cli.views import day

    newer = {link.older_id: link for link in found.links if link.in_force}
    lines = []
    for card in found.beliefs:
        is_head = card.id in found.head_ids
        line = Text("● " if is_head else "○ ", style="green" if is_head else "yellow")
        line.append(card.statement, style="default")
        line.append(f"\n  {card.id}   since {day(card.created_at)}", style="dim")
        if card.id in newer:
            link = newer[card.id]
            line.append(f"   replaced {day(link.occurred_at)} by {link.newer_id}", style="dim")
        lines.append(line)
    return Group(*lines)


READING = (slots, flip_set, chain)
"""Commands that read slots and chains."""


def reading(function: F) -> F:
    """Add --valid, --known and --present-policy to a reading command."""
    present = click.option(
        "--present-policy", is_flag=True, help="Read the past with the present policy."
    )
    return moment(present(function))


def by(valid: datetime | None, known: datetime | None, *, present_policy: bool) -> dict[str, Any]:
    """Return the reading options as keyword arguments of the client."""
    options: dict[str, Any] = {"present_policy": present_policy}
    at = as_of(valid, known)
    return {**options, "as_of": at} if at else options


@click.group()
def belief() -> None:
    """Record evidence, test hypotheses, read beliefs."""


for subcommand in (*WRITING, *EXTRACTING, *LIFECYCLE, *READING, *NAMING):
    belief.add_command(subcommand)


@belief.command()
@click.argument("subject")
@click.argument("predicate")
@click.option(
    "--limit", type=int, default=10, show_default=True, help="Maximum number of candidates."
)
@reading
@command(wall=True)
def current(app: App, subject: str, predicate: str, *, limit: int, **times: Any) -> None:
    """Show the candidates of a slot, best first."""
    from graphmem.cli import belief_views

    options = by(**times)
    with app.memory() as opened:
        slot = opened.current(subject, predicate, limit=limit, **options)
        # A slot has no verdict: the view for people needs one more query.
        candidate = slot.leader if not app.json else None
        leader = opened.beliefs.get(candidate.belief_id, **options) if candidate else None
    app.emit(slot, lambda it: belief_views.slot(it, leader))


@belief.command(name="list")
@click.option("--superseded", is_flag=True, help="Include superseded beliefs.")
@click.option("--archived", is_flag=True, help="Include archived beliefs.")
@click.option(
    "--limit", type=int, default=50, show_default=True, help="Maximum number of rows per page."
)
@click.option("--cursor", help="Cursor printed by the previous page.")
@reading
@command(wall=True)
def list_(
    app: App, *, superseded: bool, archived: bool, limit: int, cursor: str | None, **times: Any
) -> None:
    """List beliefs page by page, newest first."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        page = opened.beliefs.list(
            cursor=cursor,
            limit=limit,
            include_superseded=superseded,
            include_archived=archived,
            **by(**times),
        )
    app.emit(page, belief_views.page)


@belief.command()
@click.argument("belief_id")
@reading
@command(wall=True)
def show(app: App, belief_id: str, **times: Any) -> None:
    """Show one belief; `graphmem why` adds its evidence."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        found = opened.beliefs.get(belief_id, **by(**times))
    app.emit(found, belief_views.belief)


@belief.command(name="evidence-for")
@click.argument("belief_id")
@click.option("--pooled", is_flag=True, help="Count only the strongest piece per episode and kind.")
@click.option("--start", type=int, default=0, show_default=True, help="Pieces of evidence to skip.")
@click.option("--limit", type=int, default=100, show_default=True, help="Maximum number of pieces.")
@moment
@command(wall=True)
def evidence_for(
    app: App, belief_id: str, *, valid: datetime | None, known: datetime | None, **page: Any
) -> None:
    """Show the sequential test of a belief, piece by piece."""
    from graphmem.cli import belief_views

    at = as_of(valid, known)
    with app.memory() as opened:
        trail = opened.evidence_for(belief_id, as_of=at, **page)
    app.emit(trail, belief_views.trail)


@belief.command(name="what-if")
@click.argument("belief_id")
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
@click.option("--pooled", is_flag=True, help="Count only the strongest piece per episode and kind.")
@command(wall=True)
def what_if(
    app: App,
    belief_id: str,
    *,
    supporting: tuple[float, ...],
    refuting: tuple[float, ...],
    without: tuple[str, ...],
    pooled: bool,
) -> None:
    """Show the test result with hypothetical evidence.

    Nothing is written.
    """
    from graphmem.cli import belief_views

    given = (("supporting", supporting), ("refuting", refuting))
    extra = [{"kind": kind, "strength": s} for kind, strengths in given for s in strengths]
    with app.memory() as opened:
        trail = opened.beliefs.what_if(belief_id, extra, without=without, pooled=pooled)
    app.emit(trail, belief_views.trail)


@belief.command()
@click.argument("name", required=False)
@click.option("--one", "cardinality", flag_value="ONE", help="Its values compete.")
@click.option("--many", "cardinality", flag_value="MANY", help="Its values coexist.  [default]")
@click.option("--kappa", type=float, help="ONE: strength with which newer values suppress others.")
@click.option("--tau-days", type=float, help="ONE: time constant of that suppression, in days.")
@click.option("--decay-per-day", type=float, help="Decay rate of evidence, per day.")
@click.option("--margin", type=float, help="ONE: the two best are ambiguous below this difference.")
@click.option("--combine", help="MANY: how to combine evidence, net or log_odds.")
@click.option("--template", help="Statement of a new belief: '{subject} works on {object}'.")
@click.option("--at", type=InstantType(), help="Start of the policy.  [default: now]")
@click.option("--note", help="Comment, stored with the event.")
@command(wall=True)
def predicate(app: App, name: str | None, **declared: Any) -> None:
    """Declare or show the policy of a predicate.

    Without options, the command shows the declared policies.
    """
    from graphmem.cli import belief_views
    from graphmem.errors import InvalidInputError
    from graphmem.rules import claims

    given = {key: value for key, value in declared.items() if value is not None}
    if given and name is None:
        raise InvalidInputError("NAME is required.", hint="graphmem belief predicate NAME …")
    with app.memory() as opened:
        if name is not None and given:
            opened.predicates.declare(name, **given)
        found = [
            declared_predicate
            for declared_predicate in opened.predicates.list()
            if name is None or claims.name_key(declared_predicate.name) == claims.name_key(name)
        ]
    app.emit(found, belief_views.predicates)


@belief.command()
@click.argument("of")
@click.argument("predicate", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this .png or .svg file instead of the terminal.",
)
@click.option("--points", type=int, default=60, show_default=True, help="Maximum number of points.")
@click.option(
    "--best", type=int, default=5, show_default=True, help="Maximum number of candidates of a slot."
)
@reading
@command(wall=True)
def plot(app: App, of: str, predicate: str | None, *, output: Path | None, **options: Any) -> None:
    """Plot a belief or a slot over time.

    OF is the id of a belief, or with PREDICATE the subject of a slot.
    """
    from graphmem.cli import belief_plot, terminal
    from graphmem.cli.console import drawing

    points, best = options.pop("points"), options.pop("best")
    draw = None
    if output is not None:
        draw = belief_plot.to_file(output)
    elif not app.json:
        draw = belief_plot.in_terminal(app.console.width)
    with app.memory() as opened:
        found: Timeline = opened.beliefs.timeline(
            of, predicate, points=points, top=best, **by(**options)
        )
    if app.json:
        app.emit_json(found)
    elif draw:
        drawn = draw(terminal.visible(found))
        # Do not wrap a drawing.
        app.console.print(drawing(drawn), soft_wrap=True)
