"""`graphmem memory`: write, read and correct single memories."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, F, command

if TYPE_CHECKING:
    from graphmem.model import AsOf


class InstantType(click.ParamType[datetime]):
    """An ISO 8601 timestamp with its UTC offset."""

    name = "timestamp"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the timestamp; it must contain its UTC offset."""
        try:
            timestamp = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"{value!r} must be a timestamp such as 2026-03-01T09:00:00+00:00", param, ctx
            )
        if timestamp.utcoffset() is None:
            self.fail(f"{value!r} must have a UTC offset, for example +00:00", param, ctx)
        return timestamp


def moment(function: F) -> F:
    """Add --valid and --known to a reading command."""
    known = click.option(
        "--known",
        type=InstantType(),
        help="Known time: use what was recorded by then.  [default: now]",
    )
    valid = click.option(
        "--valid",
        type=InstantType(),
        help="Valid time: show the world at that time.  [default: now]",
    )
    return valid(known(function))


def described(function: F) -> F:
    """Add the filter options to a reading command."""
    for option in (
        click.option(
            "--until", type=InstantType(), help="Include only memories created before this time."
        ),
        click.option(
            "--since",
            type=InstantType(),
            help="Include only memories created at or after this time.",
        ),
        click.option("--source", help="Include only memories with an event from this source."),
        click.option(
            "--tag", "tags", multiple=True, help="Require this tag (repeatable; all must match)."
        ),
    ):
        function = option(function)
    return function


def as_of(valid: datetime | None, known: datetime | None) -> AsOf | None:
    """Return the valid and known time of a command; None for the present."""
    from graphmem.client import state
    from graphmem.model import AsOf

    return state.valid(AsOf, valid=valid, known=known) if valid or known else None


@click.group()
def memory() -> None:
    """Write, read and correct memories."""


@memory.command()
@click.argument("text")
@click.option("--tag", "tags", multiple=True, help="Tag of the memory (repeatable).")
@click.option("--at", type=InstantType(), help="Time of the statement.  [default: now]")
@click.option("--source", default="manual", show_default=True, help="Source of the event.")
@click.option("--id", "event_id", help="Id of the event; makes the write idempotent.")
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
    """Remember TEXT and show the outcome.

    The exit code is 1 when hygiene rejects the text.
    """
    from graphmem.cli import views
    from graphmem.client.state import valid
    from graphmem.model import NewMemory, Outcome

    new = valid(NewMemory, content=text, tags=tags, at=at, source=source, event_id=event_id)
    with app.memory() as opened:
        [outcome] = opened.remember_many([new])
    app.emit(outcome, views.outcome)
    return int(outcome.outcome is Outcome.REJECTED_HYGIENE)


@memory.command(name="list")
@described
@click.option("--hidden", is_flag=True, help="Include superseded and deprecated memories.")
@click.option(
    "--limit", type=int, default=50, show_default=True, help="Maximum number of rows per page."
)
@click.option("--cursor", help="Cursor printed by the previous page.")
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
    **filters: Any,
) -> None:
    """List memories page by page, newest first."""
    from rich.console import Group

    from graphmem.cli import views
    from graphmem.model import Status

    given = {name: value for name, value in filters.items() if value}
    if hidden:
        given["statuses"] = tuple(Status)
    at = as_of(valid, known)
    with app.memory() as opened:
        page = opened.memories.list(cursor=cursor, limit=limit, as_of=at, **given)
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
        found = opened.memories.get(memory_id, as_of=at)
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
        events = opened.memories.history(memory_id, as_of=at)
    app.emit(events, views.history)


@memory.command()
@click.argument("memory_id")
@moment
@command(wall=True)
def chain(app: App, memory_id: str, *, valid: datetime | None, known: datetime | None) -> None:
    """Show the chain of replacements of a memory."""
    from graphmem.cli import views

    at = as_of(valid, known)
    with app.memory() as opened:
        found = opened.memories.chain(memory_id, as_of=at)
    app.emit(found, views.chain)


@memory.command()
@click.argument("memory_id")
@click.argument("text")
@click.option("--reason", help="Reason, stored with the event.")
@click.option("--at", type=InstantType(), help="Time of the replacement.  [default: now]")
@command(wall=True)
def supersede(
    app: App, memory_id: str, text: str, *, reason: str | None, at: datetime | None
) -> None:
    """Replace a memory with TEXT; the old one stays readable."""
    with app.memory() as opened:
        done = opened.supersede(memory_id, text, reason=reason, at=at)
    app.emit(done, lambda it: f"{it.newer_id} replaces {it.older_id}.")


@memory.command()
@click.argument("memory_id")
@click.option("--reason", help="Reason, stored with the event.")
@command(wall=True)
def deprecate(app: App, memory_id: str, *, reason: str | None) -> None:
    """Hide a memory from recall; `restore` reverts it."""
    with app.memory() as opened:
        event_id = opened.memories.deprecate(memory_id, reason=reason)
    app.emit({"event_id": event_id}, lambda _: f"{memory_id} is hidden; event {event_id}.")


@memory.command()
@click.argument("memory_id")
@click.option("--reason", help="Reason, stored with the event.")
@command(wall=True)
def restore(app: App, memory_id: str, *, reason: str | None) -> None:
    """Make a hidden memory current again."""
    with app.memory() as opened:
        event_id = opened.memories.restore(memory_id, reason=reason)
    app.emit({"event_id": event_id}, lambda _: f"{memory_id} is current; event {event_id}.")


@memory.command()
@click.argument("episode_id")
@command(wall=True)
def restore_episode(app: App, episode_id: str) -> None:
    """Restore the full text of a compressed episode."""
    with app.memory() as opened:
        done = opened.episodes.restore(episode_id)
    state = f"is restored; event {done.event_id}" if done.changed else "was not compressed"
    app.emit(done, lambda _: f"{episode_id} {state}.")


@memory.command()
@click.option(
    "--days",
    type=int,
    default=90,
    show_default=True,
    help="Minimum number of days since the last statement.",
)
@click.option(
    "--limit", type=int, default=50, show_default=True, help="Maximum number of rows per page."
)
@click.option("--cursor", help="Cursor printed by the previous page.")
@command(wall=True)
def stale(app: App, *, days: int, limit: int, cursor: str | None) -> None:
    """List memories that may be out of date, oldest first."""
    from graphmem.cli import usage_views

    with app.memory() as opened:
        page = opened.memories.stale(days=days, limit=limit, cursor=cursor)
    app.emit(page, usage_views.stale)
