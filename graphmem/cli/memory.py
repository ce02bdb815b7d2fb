"""`graphmem memory`: write, read and correct memories one by one."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, F, command

if TYPE_CHECKING:
    from graphmem.model import AsOf


class InstantType(click.ParamType[datetime]):
    """An ISO 8601 instant with its offset."""

    name = "instant"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the instant; it must name its time zone."""
        try:
            instant = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no instant such as 2026-03-01T09:00:00+00:00", param, ctx)
        if instant.utcoffset() is None:
            self.fail(f"{value!r} lacks its time zone, for example +00:00", param, ctx)
        return instant


def moment(function: F) -> F:
    """Give a reading command the pair of times it is about."""
    known = click.option("--known", type=InstantType(), help="As it was recorded by then.")
    valid = click.option("--valid", type=InstantType(), help="As it was in the world then.")
    return valid(known(function))


def described(function: F) -> F:
    """Give a reading command what narrows it."""
    for option in (
        click.option("--until", type=InstantType(), help="Said first before."),
        click.option("--since", type=InstantType(), help="Said first then or later."),
        click.option("--source", help="One of its events must come from it."),
        click.option("--tag", "tags", multiple=True, help="Must be there; give several for all."),
    ):
        function = option(function)
    return function


def as_of(valid: datetime | None, known: datetime | None) -> AsOf | None:
    """Return the pair of times of a command; None for the present."""
    from graphmem.client import state
    from graphmem.model import AsOf

    return state.valid(AsOf, valid=valid, known=known) if valid or known else None


@click.group()
def memory() -> None:
    """Write, read and correct memories."""


@memory.command()
@click.argument("text")
@click.option("--tag", "tags", multiple=True, help="A label; may be given several times.")
@click.option("--at", type=InstantType(), help="When it was said; now by default.")
@click.option("--source", default="manual", show_default=True, help="Where it comes from.")
@click.option("--id", "event_id", help="Makes the write idempotent.")
@command(wall=True)
def add(
    app: App,
    text: str,
    *,
    tags: tuple[str, ...],
    at: datetime | None,
    source: str,
    event_id: str | None,
) -> int:
    """Remember TEXT and say what it became; exit code 1 when hygiene refuses it."""
    from graphmem.cli import views
    from graphmem.client.state import valid
    from graphmem.model import NewMemory, Outcome

    wish = valid(NewMemory, content=text, tags=tags, at=at, source=source, id=event_id)
    with app.memory() as opened:
        [outcome] = opened.remember_many([wish])
    app.emit(outcome, views.outcome)
    return int(outcome.outcome is Outcome.REJECTED_HYGIENE)


@memory.command(name="list")
@described
@click.option("--hidden", is_flag=True, help="Show superseded and deprecated memories too.")
@click.option("--limit", type=int, default=50, show_default=True, help="Rows of a page.")
@click.option("--cursor", help="Where the page before ended.")
@moment
@command(wall=True)
def list_(
    app: App,
    *,
    hidden: bool,
    limit: int,
    cursor: str | None,
    valid: datetime | None,
    known: datetime | None,
    **narrowing: Any,
) -> None:
    """List memories, newest first, a page at a time."""
    from rich.console import Group

    from graphmem.cli import views
    from graphmem.model import Status

    given = {name: value for name, value in narrowing.items() if value}
    if hidden:
        given["statuses"] = tuple(Status)
    at = as_of(valid, known)
    with app.memory() as opened:
        page = opened.list(cursor=cursor, limit=limit, as_of=at, **given)
    app.emit(page, lambda it: Group(views.memories(it.memories), *views.more(it.next_cursor)))


@memory.command()
@click.argument("memory_id")
@moment
@command(wall=True)
def get(app: App, memory_id: str, *, valid: datetime | None, known: datetime | None) -> None:
    """Show one memory."""
    from graphmem.cli import views

    at = as_of(valid, known)
    with app.memory() as opened:
        found = opened.get(memory_id, as_of=at)
    app.emit(found, views.memory)


@memory.command()
@click.argument("memory_id")
@moment
@command(wall=True)
def history(app: App, memory_id: str, *, valid: datetime | None, known: datetime | None) -> None:
    """Show what happened to a memory, oldest first."""
    from graphmem.cli import views

    at = as_of(valid, known)
    with app.memory() as opened:
        events = opened.history(memory_id, as_of=at)
    app.emit(events, views.history)


@memory.command()
@click.argument("memory_id")
@moment
@command(wall=True)
def chain(app: App, memory_id: str, *, valid: datetime | None, known: datetime | None) -> None:
    """Show what a memory replaced and what replaced it."""
    from graphmem.cli import views

    at = as_of(valid, known)
    with app.memory() as opened:
        found = opened.chain(memory_id, as_of=at)
    app.emit(found, views.chain)


@memory.command()
@click.argument("memory_id")
@click.argument("text")
@click.option("--reason", help="Why; kept with the event.")
@click.option("--at", type=InstantType(), help="Since when; now by default.")
@command(wall=True)
def supersede(
    app: App, memory_id: str, text: str, *, reason: str | None, at: datetime | None
) -> None:
    """Put TEXT in the place of a memory, which stays readable."""
    with app.memory() as opened:
        done = opened.supersede(memory_id, text, reason=reason, at=at)
    app.emit(done, lambda it: f"{it.newer_id} now stands for {it.older_id}.")


@memory.command()
@click.argument("memory_id")
@click.option("--reason", help="Why; kept with the event.")
@command(wall=True)
def deprecate(app: App, memory_id: str, *, reason: str | None) -> None:
    """Hide a memory from recall; `restore` takes it back."""
    with app.memory() as opened:
        event_id = opened.deprecate(memory_id, reason=reason)
    app.emit({"event_id": event_id}, lambda _: f"{memory_id} is hidden; event {event_id}.")


@memory.command()
@click.argument("memory_id")
@click.option("--reason", help="Why; kept with the event.")
@command(wall=True)
def restore(app: App, memory_id: str, *, reason: str | None) -> None:
    """Make a hidden memory current again."""
    with app.memory() as opened:
        event_id = opened.restore(memory_id, reason=reason)
    app.emit({"event_id": event_id}, lambda _: f"{memory_id} is current; event {event_id}.")


@memory.command()
@click.argument("episode_id")
@command(wall=True)
def restore_episode(app: App, episode_id: str) -> None:
    """Put the full text of an episode back that was compressed."""
    with app.memory() as opened:
        done = opened.restore_episode(episode_id)
    said = f"is whole again; event {done.event_id}" if done.changed else "was not compressed"
    app.emit(done, lambda _: f"{episode_id} {said}.")


@memory.command()
@click.option("--days", type=int, default=90, show_default=True, help="Not said for longer.")
@click.option("--limit", type=int, default=50, show_default=True, help="Rows of a page.")
@click.option("--cursor", help="Where the page before ended.")
@command(wall=True)
def stale(app: App, *, days: int, limit: int, cursor: str | None) -> None:
    """List current memories that may no longer be true: longest unsaid first."""
    from graphmem.cli import usage_views

    with app.memory() as opened:
        page = opened.stale(days=days, limit=limit, cursor=cursor)
    app.emit(page, usage_views.stale)
