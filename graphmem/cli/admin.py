"""Administration commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem import Handle
from graphmem.cli.app import App, command
from graphmem.cli.browse import browser
from graphmem.cli.transfer import CACHES, TRANSFER, forget

if TYPE_CHECKING:
    from rich.console import RenderableType

    from graphmem.adapters.local_server import Progress
    from graphmem.adapters.local_server.plugin.java_source import ProcedureSpec
    from graphmem.model import BackfillReport, RebuildReport, ReembedReport


@click.group()
def procedures() -> None:
    """List and build the procedures for Neo4j Browser and drivers."""


@procedures.command(name="list")
@command()
def list_procedures(app: App) -> None:
    """List every procedure with its signature and result."""
    from rich.table import Table

    from graphmem.adapters.local_server.plugin.java_source import procedure_specs

    found = procedure_specs(app.settings)

    def view(_: object) -> Table:
        table = Table("CALL; arguments in brackets are optional", box=None, pad_edge=False)
        table.add_column("result", ratio=1)
        for offer in found:
            summary = offer.procedure.summary.split(". ")[0]
            table.add_row(offer.signature, summary)
        return table

    app.emit([_described(offer) for offer in found], view)


def _described(offer: ProcedureSpec) -> dict[str, Any]:
    return {
        "name": offer.name,
        "signature": offer.signature,
        "summary": offer.procedure.summary,
        "arguments": [
            {"name": item.name, "kind": item.kind, "text": item.text, "required": item.required}
            for item in offer.arguments
        ],
        "rows": offer.procedure.rows,
        "columns": [
            {"name": item.name, "kind": item.kind, "text": item.text} for item in offer.columns
        ],
    }


@procedures.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Plugin folder to install the jar into; created if missing.",
)
@command()
def build(app: App, *, out: Path | None) -> None:
    """Compile the procedures into a jar for your own Neo4j.

    The jar also serves the compose file. The managed server does not need it: it compiles and
    loads the procedures when it starts.
    """
    from graphmem.adapters.local_server.jars import shipped_lock
    from graphmem.adapters.local_server.plugin import building
    from graphmem.adapters.local_server.plugin.java_source import procedure_specs

    jar = building.build(app.settings, report=lambda step: _report(app, step))
    if out is not None:
        jar = building.install(jar, out)
    count, size, neo4j = (
        len(procedure_specs(app.settings)),
        jar.stat().st_size,
        shipped_lock().neo4j,
    )
    app.emit(
        {"file": str(jar), "bytes": size, "procedures": count, "neo4j": neo4j},
        lambda _: f"{count} procedures, {size / 1e3:.0f} kB, for Neo4j {neo4j} and later: {jar}",
    )


def _report(app: App, step: Progress) -> None:
    if step.stage != "fetch":
        app.report(step.text)


@click.group()
def admin() -> None:
    """Manage the schema, tenants, transfers and settings."""


admin.add_command(browser)
admin.add_command(forget)


@admin.command()
@click.option("--check", is_flag=True, help="Only report pending migrations and schema drift.")
@click.option("--plan", is_flag=True, help="Only list the migrations that would be applied.")
@command()
def migrate(app: App, *, check: bool, plan: bool) -> int:
    """Bring the graph's schema up to date.

    The command is idempotent, and concurrent runs are safe. With --check the exit code is 1 when
    a migration is pending or the schema differs.
    """
    from graphmem.client.schema import open_schema

    with open_schema(app.settings, report=app.report) as s:
        if check:
            return _check(app, s)
        if plan:
            pending = s.plan()
            app.emit({"pending": pending}, lambda _: "\n".join(pending) or "Nothing is pending.")
            return 0
        applied = s.migrate()
    app.emit({"applied": applied}, lambda _: "\n".join(applied) or "The schema is current.")
    return 0


def _check(app: App, opened: Any) -> int:
    from rich.table import Table

    pending, differences = opened.plan(), opened.drift()

    def view(found: dict[str, Any]) -> Any:
        if not pending and not differences:
            return "The schema is current and matches its declaration."
        table = Table("finding", "name", "detail", box=None, pad_edge=False)
        for name in found["pending"]:
            table.add_row("pending", name, "run `graphmem admin migrate`")
        for difference in found["differences"]:
            table.add_row(difference.kind, difference.name, difference.text)
        return table

    app.emit({"pending": pending, "differences": differences}, view)
    return int(bool(pending or differences))


@admin.command()
@click.option("--model", help="New embedding model.  [default: GRAPHMEM_EMBEDDER]")
@click.option("--finish", is_flag=True, help="Remove the embeddings of the former model.")
@click.option(
    "--give-up", is_flag=True, help="Abandon an unfinished switch and remove its embeddings."
)
@command()
def reembed(app: App, model: str | None, *, finish: bool, give_up: bool) -> None:
    """Switch to another embedding model without downtime.

    The command adds embeddings of the new model next to the existing ones, then makes the new
    model the graph's model. Clients of the former model keep working until they are reopened. When
    none is left, --finish embeds the texts that they wrote meanwhile and removes the former
    model's embeddings. The command is resumable; run it again after an interruption.
    """
    from graphmem.client.schema import EMBEDDED, open_schema

    if finish and give_up:
        raise click.UsageError("--finish and --give-up exclude each other: give one of them.")
    known = app.settings.model_copy(update={"embedder": model}) if model else app.settings
    bars = {kind: f"{kind}: examined" for kind in EMBEDDED} | {"removed": "embeddings removed from"}
    with open_schema(known, report=app.report) as opened, app.counting(bars) as on_progress:
        if give_up:
            name = opened.give_up(on_progress)
            data: Any = {"given_up": name}
            shown = f"The switch to {name} is abandoned." if name else "No switch is in progress."
        else:
            data = opened.finish(on_progress) if finish else opened.reembed(on_progress)
            shown = _reembedded(data, finished=finish)
    app.emit(data, lambda _: shown)


def _reembedded(done: ReembedReport, *, finished: bool) -> str:
    made = f"{done.embedded:,} texts embedded by {done.model}."
    if finished:
        return f"{made} The embeddings of the former model are removed."
    if done.switched:
        return (
            f"{made} It is now the graph's model: reopen clients with this model, then run this "
            "command again with --finish."
        )
    return f"{made} It is already the graph's model."


@admin.command()
@click.option("--verify", is_flag=True, help="Only compare; write nothing.")
@click.option("--backfill", is_flag=True, help="First create events for memories without events.")
@command(wall=True)
def rebuild(app: App, *, verify: bool, backfill: bool) -> int:
    """Recompute the caches of a tenant from its events.

    The command is resumable. With --verify it only compares the caches with the events; the exit
    code is 1 when one differs. With --backfill it first completes memories that another tool or an
    older layout created without events, and gives them synthetic events; the exit code is 1 when a
    memory cannot be completed.
    """
    if verify and backfill:
        raise click.UsageError("--verify writes nothing, but --backfill writes: give one of them.")
    with app.memory() as memory:
        made = _backfill(app, memory) if backfill else None
        found = _rebuild(app, memory, verify=verify)

    if app.json:
        data = found.model_dump()
        app.emit_json(data if made is None else {**data, "backfilled": made})
    else:
        app.emit((made, found), lambda both: _rebuilt(*both))
    return int((verify and bool(found.wrong)) or bool(made and made.unfit))


def _rebuilt(made: BackfillReport | None, found: RebuildReport) -> RenderableType:
    from rich.console import Group

    return Group(*(_backfilled(made) if made else ()), _mismatches(found))


def _rebuild(app: App, memory: Handle, *, verify: bool) -> RebuildReport:
    with app.counting(CACHES) as on_progress:
        return memory.admin.verify(on_progress) if verify else memory.admin.rebuild(on_progress)


def _backfill(app: App, memory: Handle) -> BackfillReport:
    bars = {"memory": "memories examined", "edge": "supersessions completed"}
    with app.counting(bars) as on_progress:
        return memory.admin.backfill(on_progress)


def _mismatches(found: RebuildReport) -> Any:
    from rich.table import Table

    if not found.wrong:
        return "Every cache matches its events."
    table = Table("kind", "id", "cached", "from events", box=None, pad_edge=False)
    for mismatch in found.wrong:
        table.add_row(mismatch.kind, mismatch.id, mismatch.cached, mismatch.found)
    return table


def _backfilled(made: BackfillReport) -> Iterator[Any]:
    from rich.table import Table

    if not (made.memories or made.filled or made.edges):
        yield "Nothing to backfill."
    else:
        yield (
            f"{made.events:,} synthetic events created, for {made.memories:,} memories and "
            f"{made.edges:,} supersessions. {made.filled:,} memories lacked other properties."
        )
    if made.capped:
        yield f"{made.capped:,} memories exceed the maximum of synthetic events."
    if made.unfit:
        table = Table(
            "incomplete", "kind", "problem", "what to do", "examples", box=None, pad_edge=False
        )
        for group in made.unfit:
            examples = ", ".join(group.ids)
            table.add_row(f"{group.count:,}", group.kind, group.problem, group.hint, examples)
        yield table


@admin.group()
def cypher() -> None:
    """Show the Cypher that graphmem runs."""


@cypher.command(name="list")
@command()
def list_(app: App) -> None:
    """List every procedure with its first sentence."""
    from rich.table import Table

    from graphmem import catalog

    found = [catalog.procedure(name) for name in catalog.names()]

    def view(_: object) -> Table:
        table = Table("name", "mode", "result", box=None, pad_edge=False)
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
    from graphmem.errors import NotFoundError

    if name not in catalog.names():
        raise NotFoundError(
            f"No procedure {name[:80]!r}.", hint="List them with `graphmem admin cypher list`."
        )
    found = catalog.procedure(name)
    text = catalog.pasted(found)
    app.emit({"name": found.name, "text": text, "params": found.params}, lambda _: Text(text))


@admin.command()
@command()
def settings(app: App) -> None:
    """List every setting with its value; secrets stay hidden."""
    from rich.table import Table

    from graphmem.settings import PREFIX

    shown = app.settings.model_dump(mode="json")
    fields = type(app.settings).model_fields

    def view(known: dict[str, Any]) -> Table:
        table = Table("variable", "value", "description", box=None, pad_edge=False)
        for name, field in fields.items():
            value = "" if known[name] is None else str(known[name])
            table.add_row(PREFIX + name.upper(), value, field.description or "")
        return table

    app.emit(shown, view)


admin.add_command(procedures)
for subcommand in TRANSFER:
    admin.add_command(subcommand)
