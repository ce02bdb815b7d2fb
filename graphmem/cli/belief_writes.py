"""Commands that record evidence, change beliefs and declare predicates and aliases."""

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
    """Give a writing command where its event comes from."""
    options = [
        click.option("--note", help="In words; kept with the event."),
        click.option("--actor", help="Who says so."),
        click.option("--source", default="manual", show_default=True, help="Where it comes from."),
        click.option("--at", type=InstantType(), help="When it happened; now by default."),
        click.option("--id", "id", help="Makes the write idempotent."),
    ]
    given: Any = function
    for option in options:
        given = option(given)
    decorated: F = given
    return decorated


def place(function: F) -> F:
    """Give a command of evidence where it was met."""
    turn = click.option("--turn", help="Id of the turn whose words it rests on.")
    episode = click.option("--episode", help="Id of the stretch of experience it comes from.")
    return episode(turn(function))


def told(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


@click.command()
@click.argument("subject")
@click.argument("predicate")
@click.argument("object")
@click.option("--confidence", type=float, default=0.8, show_default=True, help="In [0, 1].")
@click.option("--refuting", is_flag=True, help="It speaks against the claim.")
@click.option(
    "--source-type",
    default="EXPLICIT",
    show_default=True,
    help="TOOL, EXPLICIT, RULE, CLASSIFIER, EXTRACTOR, or another with a weight.",
)
@place
@origin
@command(wall=True)
def observe(app: App, *, refuting: bool, **seen: Any) -> None:
    """Record one piece of evidence that SUBJECT PREDICATE OBJECT, for example alice likes tea."""
    from graphmem.cli import belief_views

    kind: Literal["supporting", "refuting"] = "refuting" if refuting else "supporting"
    parts = [seen.pop(name) for name in ("subject", "predicate", "object")]
    with app.memory() as opened:
        done = opened.observe(*parts, kind=kind, **told(seen))
    app.emit(done, belief_views.recorded)


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@command(wall=True)
def import_(app: App, file: Path) -> None:
    """Record the observations of FILE, JSON Lines of the fields of `observe`.

    For example {"subject": "alice", "predicate": "likes", "object": "tea", "confidence": 0.9}. A
    line without an id gets one made from its content, so that equal lines count once and an
    interrupted import is resumed by running it again.
    """
    from graphmem.cli import belief_views
    from graphmem.cli.belief_views import read_observations

    observations = read_observations(file, app.settings.scope)
    with app.memory() as opened, app.progress() as bars:
        bar = bars.add_task(f"Recording {file.name}", total=len(observations))
        done = _observed(opened, observations, lambda batch: bars.advance(bar, len(batch)))
    repeated = sum(one.repeated for one in done)
    counts = {
        "lines": len(done),
        "recorded": len(done) - repeated,
        "repeated": repeated,
        "beliefs": len({one.belief_id for one in done}),
    }
    app.emit(counts, belief_views.imported)


def _observed(
    opened: Any, observations: Sequence[Observation], told: Any
) -> Sequence[EvidenceReceipt]:
    done: Sequence[EvidenceReceipt] = opened.observe_many(observations, told)
    return done


@click.command()
@click.argument("statement", required=False)
@click.option("--subject", help="With --predicate and --object: the triple it says.")
@click.option("--predicate", help="See --subject.")
@click.option("--object", help="See --subject.")
@click.option("--confidence", type=float, help="Before any evidence; 0.5 by default.")
@place
@origin
@command(wall=True)
def believe(app: App, statement: str | None, **thought: Any) -> None:
    """Record a hypothesis to be tested: a STATEMENT, a triple, or both."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.believe(statement, **told(thought))
    app.emit(done, belief_views.recorded)


@click.command()
@click.argument("belief_id")
@click.argument("kind", type=click.Choice(["supporting", "refuting"]))
@click.argument("strength", type=float)
@place
@origin
@command(wall=True)
def evidence(app: App, belief_id: str, kind: Any, strength: float, **where: Any) -> None:
    """Record evidence for the test of a belief, and show where the test stands.

    STRENGTH is the likelihood that such evidence is right: 0.5 says nothing, 0.9 is the most.
    """
    from rich.console import Group

    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.evidence(belief_id, kind, strength, **told(where))
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
    """Take a piece of evidence back, for all times; a retraction can be taken back too."""
    with app.memory() as opened:
        done = opened.retract(event_id, **told(source))
    waits = "" if done.found else "\nIt is not there yet: it will be taken back when it comes."
    app.emit(done, lambda it: f"{it.target_id} is taken back by {it.event_id}.{waits}")


@click.command()
@click.argument("belief_id")
@click.argument("statement", required=False)
@click.option("--subject", help="With --predicate and --object: the triple it says now.")
@click.option("--predicate", help="See --subject.")
@click.option("--object", help="See --subject.")
@click.option("--confidence", type=float, help="Before any evidence; 0.5 by default.")
@click.option("--reason", help="Why; kept with the event.")
@place
@origin
@command(wall=True)
def revise(app: App, belief_id: str, statement: str | None, **thought: Any) -> None:
    """Put a STATEMENT or a triple in the place of a belief, which stays readable."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.revise(belief_id, statement, **told(thought))
    app.emit(done, belief_views.replaced)


@click.command()
@click.argument("belief_id")
@click.argument("statements", nargs=-1, required=True)
@click.option("--reason", help="Why; kept with the event.")
@place
@origin
@command(wall=True)
def split(app: App, belief_id: str, statements: tuple[str, ...], **source: Any) -> None:
    """Put several STATEMENTS in the place of a belief that said too much."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.split(belief_id, statements, **told(source))
    app.emit(done, belief_views.replaced)


@click.command()
@click.argument("belief_ids", nargs=-1, required=True)
@click.option("--into", "statement", required=True, help="What stands in their place.")
@click.option("--confidence", type=float, help="Before any evidence; 0.5 by default.")
@click.option("--reason", help="Why; kept with the event.")
@place
@origin
@command(wall=True)
def merge(app: App, belief_ids: tuple[str, ...], statement: str, **thought: Any) -> None:
    """Put one statement in the place of several beliefs that say the same."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        done = opened.merge(belief_ids, statement, **told(thought))
    app.emit(done, belief_views.replaced)


WRITING = (observe, import_, believe, evidence, retract, revise, split, merge)
"""In the order of the help."""


def mark(function: F) -> F:
    """Give a command the belief that it is about, why, and where that comes from."""
    reason = click.option("--reason", help="Why; kept with the event.")
    belief_id = click.argument("belief_id")
    marked: F = belief_id(reason(origin(command(wall=True)(function))))
    return marked


def show(app: App, done: StatusReceipt, became: Callable[[StatusReceipt], str]) -> None:
    """Print what became of a belief."""
    again = "" if done.changed else "Nothing changed. "
    app.emit(done, lambda it: f"{again}{it.belief_id} is {became(it)}.\nevent {it.event_id}")


@click.command()
@mark
def archive(app: App, belief_id: str, **source: Any) -> None:
    """Put a belief away: hidden from recall, kept with its evidence."""
    with app.memory() as opened:
        done = opened.archive(belief_id, **told(source))
    show(app, done, lambda it: it.status)


@click.command()
@mark
def restore(app: App, belief_id: str, **source: Any) -> None:
    """Make an archived or superseded belief current again."""
    with app.memory() as opened:
        done = opened.restore_belief(belief_id, **told(source))
    show(app, done, lambda it: it.status)


@click.command()
@mark
def resolve(app: App, belief_id: str, **source: Any) -> None:
    """Clear the flag of a belief that was to be revised and may stay as it is."""
    with app.memory() as opened:
        done = opened.resolve(belief_id, **told(source))
    show(app, done, lambda it: "flagged" if it.flagged else "not flagged")


LIFECYCLE = (archive, restore, resolve)
"""In the order of the help."""


@click.command(name="same-as")
@click.argument("name")
@click.argument("other")
@origin
@command(wall=True)
def same_as(app: App, name: str, other: str, **source: Any) -> None:
    """Let NAME stand for OTHER: what is said of either is read as said of both."""
    with app.memory() as opened:
        done = opened.same_as(name, other, **told(source))
    app.emit(done, lambda it: f"{it.name} stands for {it.same_as}.\nevent {it.event_id}")


@click.command()
@click.argument("name")
@origin
@command(wall=True)
def apart(app: App, name: str, **source: Any) -> None:
    """Let NAME stand for itself again."""
    with app.memory() as opened:
        done = opened.apart(name, **told(source))
    app.emit(done, lambda it: f"{it.name} stands for itself again.\nevent {it.event_id}")


@click.command()
@command(wall=True)
def names(app: App) -> None:
    """Show which names stand for others."""
    from graphmem.cli import belief_views

    with app.memory() as opened:
        found = opened.names()
    app.emit(found, belief_views.names)


NAMING = (same_as, apart, names)
"""In the order of the help."""
