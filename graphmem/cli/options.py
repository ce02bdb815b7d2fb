"""Options that several commands share, named as the arguments of the client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from graphmem.cli.times import TimeType

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


def stacked(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command; help lists them in this order."""

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
CONNECTION = stacked(
    click.option("--uri", help="URI of Neo4j.  [default: GRAPHMEM_URI]"),
    click.option("--user", metavar="NAME", help="User of Neo4j.  [default: GRAPHMEM_USER]"),
    click.option("--password", is_flag=True, help="Ask for the password of the user."),
    JSON,
)
TENANT = stacked(
    click.option("--scope", help="Scope within the tenant.  [default: GRAPHMEM_SCOPE]"),
    click.option("--tenant", help="Tenant.  [default: GRAPHMEM_TENANT]"),
)
DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the changes without writing them.")
AS_OF = stacked(
    click.option(
        "--as-of",
        "--valid",
        "valid",
        type=TimeType(),
        help="Show the world at that time.  [default: now]",
    ),
    click.option(
        "--known",
        type=TimeType(),
        help="Use what was recorded by then.  [default: now]",
    ),
)
FILTERS = stacked(
    click.option(
        "--tag", "tags", multiple=True, help="Require this tag (repeatable; all must match)."
    ),
    click.option("--source", help="Require an event from this source."),
    click.option("--since", type=TimeType(), help="Include only memories created since then."),
    click.option("--until", type=TimeType(), help="Include only memories created before then."),
)
SESSION = click.option(
    "--session",
    metavar="NAME",
    help="Session.  [default: this terminal's of today]",
)
CURSOR = click.option("--cursor", help="Cursor printed by the previous page.")
POOLED = click.option(
    "--pooled", is_flag=True, help="Count only the strongest piece per episode and kind."
)
EVENT_ID = click.option("--event-id", help="Id of the event; makes the write idempotent.")
ORIGIN = stacked(
    click.option("--at", type=TimeType(), help="Time of the event.  [default: now]"),
    click.option("--source", default="manual", help="Source of the event."),
    click.option("--actor", help="Person or program that records the event."),
)
EVENT = stacked(EVENT_ID, ORIGIN)
NOTE = click.option("--note", help="Comment, stored with the event.")
REASON = click.option("--reason", help="Reason, stored with the event.")
WHY = click.option("--reason", required=True, help="Reason, stored with the event.")
PLACE = stacked(
    click.option("--episode-id", help="Id of the episode the evidence comes from."),
    click.option("--turn-id", help="Id of the turn that contains the evidence."),
)
TRIPLE = stacked(
    click.option("--subject", help="Subject of the triple; needs --predicate and --object."),
    click.option("--predicate", help="Predicate of the triple."),
    click.option("--object", help="Object of the triple."),
    click.option(
        "--confidence", type=float, help="Confidence before any evidence.  [default: 0.5]"
    ),
)
EXTRACTION = stacked(
    click.option(
        "--rules",
        "extractor",
        flag_value="rules",
        help="Extract with sentence patterns, without a language model.",
    ),
    click.option("--review", is_flag=True, help="Record proposals for review instead of evidence."),
)


def apply(verb: str) -> Callable[[F], F]:
    """Return the option --apply of a command that otherwise only shows its plan."""
    return click.option(
        "--apply",
        "dry_run",
        is_flag=True,
        flag_value=False,
        default=True,
        show_default=False,
        help=f"{verb}; without it, only show the plan.",
    )


def limit(default: int, rows: str) -> Callable[[F], F]:
    """Return the option --limit."""
    text = f"Maximum number of {rows}."
    return click.option("--limit", type=int, default=default, help=text)


PAGE = stacked(limit(50, "rows per page"), CURSOR)


def kinds(names: Sequence[str]) -> Callable[[F], F]:
    """Return the option --kind."""
    return click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="|".join(names),
        help="Include only this kind (repeatable).  [default: all kinds]",
    )


def output(text: str, path: click.Path = FILE, *, required: bool = False) -> Callable[[F], F]:
    """Return the option --output."""
    return click.option("-o", "--output", type=path, required=required, help=text)


def listen(port: int) -> Callable[[F], F]:
    """Return the options of a command that serves HTTP."""
    return stacked(
        click.option("--host", default="127.0.0.1", help="Address to listen on."),
        click.option(
            "--port",
            type=click.IntRange(0, 65_535),
            default=port,
            help="Port to listen on; 0 for a free one.",
        ),
        click.option(
            "--allow-host", multiple=True, metavar="NAME", help="Additional Host header to accept."
        ),
    )
