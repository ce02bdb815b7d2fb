"""Commands that record evidence, change beliefs and manage aliases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from graphmem.cli.app import App, F, command
from graphmem.cli.memory import InstantType
from graphmem.cli.terminal import visible

if TYPE_CHECKING:
    from graphmem.model import EvidenceReceipt, Observation, StatusReceipt


def origin(function: F) -> F:
    """Add the options that describe the origin of an event."""
    options = [
        click.option("--note", help="Comment, stored with the event."),
        click.option("--actor", help="Person or program that records the event."),
        click.option("--source", default="manual", show_default=True, help="Source of the event."),
        click.option("--at", type=InstantType(), help="Time of the event.  [default: now]"),
        click.option("--id", "id", help="Id of the event; makes the write idempotent."),
    ]
    given: Any = function
    for option in options:
        given = option(given)
    decorated: F = given
    return decorated


def place(function: F) -> F:
    """Add the options that name the episode and turn of the evidence."""
    turn = click.option("--turn", help="Id of the turn that contains the evidence.")
    episode = click.option("--episode", help="Id of the episode the evidence comes from.")
    return episode(turn(function))


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that have a value."""
    return {name: value for name, value in options.items() if value is not None}


@click.command()
@click.argument("subject")
@click.argument("predicate")
@click.argument("object")
@click.option(
    "--confidence",
    type=float,
    default=0.8,
    show_default=True,
    help="Confidence of the source, 0 to 1.",
)
@click.option("--refuting", is_flag=True, help="Record evidence against the claim.")
@click.option(
    "--source-type",
    default="EXPLICIT",
    show_default=True,
    help="TOOL, EXPLICIT, RULE, CLASSIFIER, EXTRACTOR or another type with a weight.",
)
@place
@origin
@command(wall=True)
def observe(app: App, *, refuting: bool, **fields: Any) -> None:
    """Record evidence for a triple, for example alice likes tea."""
    from graphmem.cli import belief_views

    kind: Literal["supporting", "refuting"] = "refuting" if refuting else "supporting"
    triple = [fields.pop(name) for name in ("subject", "predicate", "object")]
    with app.memory() as opened:
        done = opened.observe(*triple, kind=kind, **_given(fields))
    app.emit(done, belief_views.recorded)


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@command(wall=True)
def import_(app: App, file: Path) -> None:
    """Record the observations of a JSON Lines file.

    Each line has the fields of `observe`, for example
    {"subject": "alice", "predicate": "likes", "object": "tea", "confidence": 0.9}. A line without
    an id gets an id derived from its content: equal lines count once, and running the command
    again resumes an interrupted import.
    """
    from graphmem.cli import belief_views
    from graphmem.cli.belief_views import read_observations

    observations = read_observations(file, app.settings.scope)
    with app.memory() as opened, app.progress() as bars:
        bar = bars.add_task(f"Recording {file.name}", total=len(observations))
        done = _observe_all(opened, observations, lambda batch: bars.advance(bar, len(batch)))
    repeated = sum(receipt.repeated for receipt in done)
    counts = {
        "lines": len(done),
        "recorded": len(done) - repeated,
        "repeated": repeated,
        "beliefs": len({receipt.belief_id for receipt in done}),
    }
    app.emit(counts, belief_views.imported)


def _observe_all(
    opened: Any, observations: Sequence[Observation], on_batch: Any
) -> Sequence[EvidenceReceipt]:
    receipts: Sequence[EvidenceReceipt] = opened.observe_many(observations, on_batch)
    return receipts


@click.command()
@click.argument("statement", required=False)
@click.option("--subject", help="Subject of the triple; needs --predicate and --object.")
@click.option("--predicate", help="Predicate of the triple.")
@click.option("--object", help="Object of the triple.")
@click.option("--confidence", type=float, help="Confidence before any evidence.  [default: 0.5]")
@place
@origin
@command(wall=True)
def believe(app: App, statement: str | None, **fields: Any) -> None:
    """Record a hypothesis: a STATEMENT, a triple, or both."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.believe(statement, **_given(fields))
    app.emit(done, belief_views.recorded)


@click.command()
@click.argument("belief_id")
@click.argument("kind", type=click.Choice(["supporting", "refuting"]))
@click.argument("strength", type=float)
@place
@origin
@command(wall=True)
def evidence(app: App, belief_id: str, kind: Any, strength: float, **source: Any) -> None:
    """Record evidence for a belief and show the test result.

    STRENGTH is the likelihood that such evidence is right: 0.5 is neutral, 0.9 is the maximum.
    """
    from rich.console import Group

    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.add_evidence(belief_id, kind, strength, **_given(source))
        trail = opened.evidence_for(belief_id, limit=1)
    app.emit(
        {"recorded": done, "verdict": trail.verdict, "needed": trail.needed},
        lambda _: Group(
            belief_views.recorded(visible(done)), belief_views.standing(visible(trail))
        ),
    )


@click.command()
@click.argument("event_id")
@origin
@command(wall=True)
def retract(app: App, event_id: str, **source: Any) -> None:
    """Retract an event of evidence.

    The retraction applies to all times. A retraction can itself be retracted.
    """
    with app.memory() as opened:
        done = opened.beliefs.retract(event_id, **_given(source))
    pending = (
        "" if done.found else "\nThe event does not exist yet: it will be retracted on arrival."
    )
    app.emit(done, lambda it: f"{it.target_id} is retracted by {it.event_id}.{pending}")


@click.command()
@click.argument("belief_id")
@click.argument("statement", required=False)
@click.option("--subject", help="Subject of the new triple; needs --predicate and --object.")
@click.option("--predicate", help="Predicate of the triple.")
@click.option("--object", help="Object of the triple.")
@click.option("--confidence", type=float, help="Confidence before any evidence.  [default: 0.5]")
@click.option("--reason", help="Reason, stored with the event.")
@place
@origin
@command(wall=True)
def revise(app: App, belief_id: str, statement: str | None, **fields: Any) -> None:
    """Replace a belief with a STATEMENT or a triple.

    The replaced belief stays readable.
    """
    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.beliefs.revise(belief_id, statement, **_given(fields))
    app.emit(done, belief_views.replaced)


@click.command()
@click.argument("belief_id")
@click.argument("statements", nargs=-1, required=True)
@click.option("--reason", help="Reason, stored with the event.")
@place
@origin
@command(wall=True)
def split(app: App, belief_id: str, statements: tuple[str, ...], **source: Any) -> None:
    """Replace a belief that is too broad with several STATEMENTS."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.beliefs.split(belief_id, statements, **_given(source))
    app.emit(done, belief_views.replaced)


@click.command()
@click.argument("belief_ids", nargs=-1, required=True)
@click.option("--into", "statement", required=True, help="Statement that replaces them.")
@click.option("--confidence", type=float, help="Confidence before any evidence.  [default: 0.5]")
@click.option("--reason", help="Reason, stored with the event.")
@place
@origin
@command(wall=True)
def merge(app: App, belief_ids: tuple[str, ...], statement: str, **fields: Any) -> None:
    """Replace equivalent beliefs with one statement."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.beliefs.merge(belief_ids, statement, **_given(fields))
    app.emit(done, belief_views.replaced)


WRITING = (observe, import_, believe, evidence, retract, revise, split, merge)
"""Commands that record evidence and replace beliefs."""


def mark(function: F) -> F:
    """Add the belief argument, --reason and the origin options."""
    reason = click.option("--reason", help="Reason, stored with the event.")
    belief_id = click.argument("belief_id")
    marked: F = belief_id(reason(origin(command(wall=True)(function))))
    return marked


def show(app: App, done: StatusReceipt, state: Callable[[StatusReceipt], str]) -> None:
    """Print the new state of a belief."""
    unchanged = "" if done.changed else "Nothing changed. "
    app.emit(done, lambda it: f"{unchanged}{it.belief_id} is {state(it)}.\nevent {it.event_id}")


@click.command()
@mark
def archive(app: App, belief_id: str, **source: Any) -> None:
    """Archive a belief: hide it from recall, keep its evidence."""
    with app.memory() as opened:
        done = opened.beliefs.archive(belief_id, **_given(source))
    show(app, done, lambda it: it.status)


@click.command()
@mark
def restore(app: App, belief_id: str, **source: Any) -> None:
    """Make an archived or superseded belief current again."""
    with app.memory() as opened:
        done = opened.beliefs.restore(belief_id, **_given(source))
    show(app, done, lambda it: it.status)


@click.command()
@mark
def resolve(app: App, belief_id: str, **source: Any) -> None:
    """Clear the revision flag of a belief."""
    with app.memory() as opened:
        done = opened.beliefs.clear_flag(belief_id, **_given(source))
    show(app, done, lambda it: "flagged" if it.flagged else "not flagged")


LIFECYCLE = (archive, restore, resolve)
"""Commands that change the state of a belief."""


@click.command(name="same-as")
@click.argument("name")
@click.argument("other")
@origin
@command(wall=True)
def same_as(app: App, name: str, other: str, **source: Any) -> None:
    """Make NAME an alias of OTHER.

    Evidence about either name is read as evidence about both.
    """
    with app.memory() as opened:
        done = opened.aliases.add(name, other, **_given(source))
    app.emit(done, lambda it: f"{it.name} is an alias of {it.same_as}.\nevent {it.event_id}")


@click.command()
@click.argument("name")
@origin
@command(wall=True)
def apart(app: App, name: str, **source: Any) -> None:
    """Remove the alias NAME."""
    with app.memory() as opened:
        done = opened.aliases.remove(name, **_given(source))
    app.emit(done, lambda it: f"{it.name} is no longer an alias.\nevent {it.event_id}")


@click.command()
@command(wall=True)
def names(app: App) -> None:
    """List the aliases."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        found = opened.aliases.list()
    app.emit(found, belief_views.names)


NAMING = (same_as, apart, names)
"""Commands that manage aliases."""
