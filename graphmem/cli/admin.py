"""`graphmem admin`: schema, catalog and settings."""

from __future__ import annotations

from typing import Any

import click

from graphmem.cli.app import App, command

KINDS = ("memory", "belief", "slot")
"""What has caches."""


@click.group()
def admin() -> None:
    """Schema, catalog and settings."""


@admin.command()
@click.option("--check", is_flag=True, help="Only say what is pending and what drifted.")
@click.option("--plan", is_flag=True, help="Only say what would be applied.")
@command()
def migrate(app: App, *, check: bool, plan: bool) -> int:
    """Bring the graph's schema up to date; safe to run twice and by several at once.

    Exit code 1 with --check when something is pending or differs.
    """
    from graphmem.client import schema

    with schema.opened(app.settings, report=lambda line: app.err.print(f"[dim]{line}[/dim]")) as s:
        if check:
            return _check(app, s)
        if plan:
            waiting = s.plan()
            app.emit({"pending": waiting}, "\n".join(waiting) or "Nothing is pending.")
            return 0
        applied = s.migrate()
    app.emit({"applied": applied}, "\n".join(applied) or "The schema is current.")
    return 0


def _check(app: App, opened: Any) -> int:
    from rich.table import Table

    waiting, differences = opened.plan(), opened.drift()

    def view() -> Any:
        if not waiting and not differences:
            return "The schema is current and as declared."
        table = Table("what", "name", "detail", box=None, pad_edge=False)
        for name in waiting:
            table.add_row("pending", name, "run `graphmem admin migrate`")
        for difference in differences:
            table.add_row(difference.kind, difference.name, difference.text)
        return table

    app.emit({"pending": waiting, "differences": differences}, view)
    return int(bool(waiting or differences))


@admin.command()
@click.option("--verify", is_flag=True, help="Only compare, and write nothing.")
@command(wall=True)
def rebuild(app: App, *, verify: bool) -> int:
    """Make the caches of a tenant anew from its events; safe to interrupt and to repeat.

    With --verify they are only compared with what the events say: exit code 1 when one differs.
    """
    from rich.progress import MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.table import Table

    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with app.memory() as memory, app.progress(*columns) as bars:
        bar = {kind: bars.add_task(f"{kind} caches", total=None) for kind in KINDS}

        def on_part(kind: str, count: int) -> None:
            bars.advance(bar[kind], count)

        found = memory.verify(on_part) if verify else memory.rebuild(on_part)

    def view() -> Any:
        if not found.wrong:
            return "Every cache is as its events say."
        table = Table("what", "id", "was kept", "events say", box=None, pad_edge=False)
        for one in found.wrong:
            table.add_row(one.kind, one.id, one.cached, one.found)
        return table

    app.emit(found, view)
    return int(verify and bool(found.wrong))


@admin.group()
def cypher() -> None:
    """The Cypher that graphmem runs."""


@cypher.command(name="list")
@command()
def list_(app: App) -> None:
    """List every procedure with its first sentence."""
    from rich.table import Table

    from graphmem import catalog

    found = [catalog.procedure(name) for name in catalog.names()]

    def view() -> Table:
        table = Table("name", "mode", "what a caller gets", box=None, pad_edge=False)
        for p in found:
            table.add_row(p.name, p.mode.value, p.summary.split(". ")[0])
        return table

    app.emit(
        [{"name": p.name, "mode": p.mode, "summary": p.summary} for p in found],
        view,
    )


@cypher.command()
@click.argument("name")
@command()
def show(app: App, name: str) -> None:
    """Show procedure NAME, ready to paste into Neo4j Browser."""
    from rich.text import Text

    from graphmem import catalog

    found = catalog.procedure(name)
    text = catalog.pasted(found, {})
    app.emit({"name": found.name, "text": text, "params": found.params}, Text(text))


@admin.command()
@command()
def settings(app: App) -> None:
    """List every setting: its variable, its value, what it is for; secrets stay hidden."""
    from rich.table import Table

    from graphmem.settings import PREFIX

    shown = app.settings.model_dump(mode="json")
    fields = type(app.settings).model_fields

    def view() -> Table:
        table = Table("variable", "value", "what", box=None, pad_edge=False)
        for name, field in fields.items():
            value = "" if shown[name] is None else str(shown[name])
            table.add_row(PREFIX + name.upper(), value, field.description or "")
        return table

    app.emit(shown, view)
