"""`graphmem server`: the managed local Neo4j."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphmem.cli import options
from graphmem.cli.app import App, command
from graphmem.cli.browse import browse

if TYPE_CHECKING:
    from rich.console import RenderableType

    from graphmem.local_server import DoctorFinding, ServerStatus

FILE = click.argument("file", type=options.FILE)
_SIGNS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "bad": ("✗", "red")}


@click.group()
def server() -> None:
    """Manage the local Neo4j server."""


server.add_command(browse)


@server.command()
@command(connects=False)
def up(app: App) -> None:
    """Start the server; download it and the encoder on first use.

    It returns when a recall is fast. The server runs until `down`, or until no program has used it
    for 8 hours (GRAPHMEM_IDLE_STOP_S); the next use starts it again.
    """
    from graphmem import local_server
    from graphmem.errors import ConfigurationError, ModelFetchError
    from graphmem.models import fetch_local_model

    app.ensure_server()
    try:
        fetch_local_model(app.settings, app.report)
    except (ModelFetchError, ConfigurationError) as error:
        # The server runs, and another model may fill a new graph.
        app.note(str(error), style="yellow")
    local_server.plan_first_reads(app.settings, lambda step: app.report(step.text))
    found = local_server.status(app.settings)
    app.emit(found, _status_table)


@server.command()
@command(connects=False)
def down(app: App) -> None:
    """Stop the server; the data is kept.

    `up` starts it again.
    """
    from graphmem import local_server

    stopped = local_server.stop(app.settings)
    app.emit(
        {"stopped": stopped}, lambda _: "Stopped." if stopped else "The server was not running."
    )


@server.command()
@click.option("--show-password", is_flag=True, help="Print the password too.")
@command()
def status(app: App, *, show_password: bool) -> int:
    """Show the state, address and size of the server.

    With --uri or GRAPHMEM_URI it is that server, else the local one. The exit code is 1 when the
    local server is not running, 3 when the other one cannot be used.
    """
    from graphmem import local_server

    app.log_in()
    if app.settings.uri is not None:
        _remote_status(app)
        return 0
    found = local_server.status(app.settings)
    password = local_server.stored_password(app.settings) if show_password else None
    secret = password.get_secret_value() if password else None
    if app.json and secret:
        from dataclasses import asdict

        app.emit_json(asdict(found) | {"password": secret})
    else:
        app.emit(found, lambda it: _status_table(it, secret))
    return 0 if found.running else 1


def _remote_status(app: App) -> None:
    from graphmem import local_server
    from graphmem.client.schema import open_schema

    known = app.settings
    with open_schema(known, report=app.report) as schema:
        pending = schema.plan()
        agent = local_server.log_in(str(known.uri), known.user, known.password)
    found = {
        "running": True,
        "uri": known.uri,
        "user": known.user,
        "database": known.database,
        "version": agent.rpartition("/")[2],
        "pending_migrations": pending,
    }
    schema_state = f"{len(pending)} migrations pending: graphmem admin migrate"
    app.emit(
        found,
        lambda it: _table(
            {
                "running": "yes",
                "uri": it["uri"],
                "user": it["user"],
                "database": it["database"] or "the user's home database",
                "version": it["version"],
                "schema": schema_state if pending else "current",
            }
        ),
    )


@server.command()
@command()
def doctor(app: App) -> int:
    """Check everything that the server needs.

    The exit code is 1 when a check fails.
    """
    from graphmem import local_server

    app.log_in()
    findings = local_server.diagnose(app.settings)
    app.emit(findings, _findings_table)
    return int(any(finding.level == "bad" for finding in findings))


@server.command()
@FILE
@command(connects=False)
def backup(app: App, file: Path) -> None:
    """Back up all data to FILE; stops the server meanwhile."""
    from graphmem import local_server

    made = local_server.back_up(app.settings, file, report=lambda step: app.report(str(step)))
    app.emit(
        made,
        lambda it: (
            f"{it.size_bytes / 1e6:.1f} MB in {it.file}, in {it.seconds:.0f} s. "
            "The backup is not encrypted: protect it like the data."
        ),
    )


@server.command()
@FILE
@click.option("--apply", is_flag=True, help="Restore; without it, only show the plan.")
@command(connects=False)
def restore(app: App, file: Path, *, apply: bool) -> None:
    """Plan to replace all data with FILE; --apply does."""
    from graphmem import local_server

    found = local_server.status(app.settings)
    plan = f"All data in {found.home} would be replaced by {file}; use --apply."
    if apply:
        local_server.restore(app.settings, file, report=lambda step: app.report(str(step)))
        plan = f"The data is restored from {file}. The server is running."
    app.emit({"file": file, "home": found.home, "applied": apply}, lambda _: plan)


@server.command()
@command(connects=False)
def compact(app: App) -> None:
    """Rewrite the database files without erased data.

    The server is down meanwhile, and the disk needs room for a second copy. A failure or an
    interruption leaves the data as they were. Backups keep what they contain.
    """
    from graphmem import local_server

    done = local_server.compact(app.settings, report=lambda step: app.report(str(step)))
    app.emit(
        done,
        lambda it: (
            f"{it.before_bytes / 1e6:.1f} MB are now {it.after_bytes / 1e6:.1f} MB, "
            f"in {it.seconds:.0f} s."
        ),
    )


def _status_table(found: ServerStatus, password: str | None = None) -> RenderableType:
    rows = {
        "running": "yes" if found.running else "no",
        "uri": found.uri,
        "browser": found.browser_url,
        "user": "neo4j" if found.running else None,
        "password": password or str(found.password_file),
        "version": found.version,
        "process": found.pid,
        "up for": _duration(found.uptime_s) if found.uptime_s is not None else None,
        "heap": found.heap,
        "page cache": found.page_cache,
        "data": f"{found.data_bytes / 1e6:.0f} MB in {found.home}",
        "downloads": f"{found.cache_bytes / 1e6:.0f} MB in {found.cache}",
    }
    return _table(rows)


def _table(rows: Mapping[str, object]) -> RenderableType:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(overflow="fold")  # links stay whole
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, str(value))
    return table


def _duration(seconds: float) -> str:
    from datetime import timedelta

    return str(timedelta(seconds=round(seconds)))


def _findings_table(findings: list[DoctorFinding]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for finding in findings:
        sign, colour = _SIGNS[finding.level]
        text = Text(finding.message)
        if finding.advice and finding.level != "ok":
            text.append(f"\n{finding.advice}", style="dim")
        table.add_row(Text(sign, style=colour), finding.name, text)
    return table
