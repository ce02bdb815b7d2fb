"""Administration commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command
from graphmem.cli.browse import browser
from graphmem.cli.transfer import CACHES, TRANSFER, forget

if TYPE_CHECKING:
    from rich.console import RenderableType

    from graphmem.adapters.local_server import Progress
    from graphmem.adapters.local_server.plugin.java_source import ProcedureSpec
    from graphmem.client import GraphMem
    from graphmem.model import BackfillReport, RebuildReport, ReembedReport


@click.group()
def procedures() -> None:
    """What Neo4j Browser and any driver can CALL."""


@procedures.command(name="list")
@command()
def list_procedures(app: App) -> None:
    """List every procedure: how it is called, and what a caller gets."""
    from rich.table import Table

    from graphmem.adapters.local_server.plugin.java_source import offered

    found = offered(app.settings)

    def view(_: object) -> Table:
        table = Table("CALL; what stands in brackets may be left out", box=None, pad_edge=False)
        table.add_column("what a caller gets", ratio=1)
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
            {"name": one.name, "kind": one.kind, "text": one.text, "required": one.required}
            for one in offer.arguments
        ],
        "rows": offer.procedure.rows,
        "columns": [
            {"name": one.name, "kind": one.kind, "text": one.text} for one in offer.columns
        ],
    }


@procedures.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of plugins to put it into; made when it is not there.",
)
@command()
def build(app: App, *, out: Path | None) -> None:
    """Compile the procedures into a jar, for the compose file or any Neo4j of your own.

    The managed server needs none of this: it compiles and loads them when it starts.
    """
    from graphmem.adapters.local_server.jars import shipped_lock
    from graphmem.adapters.local_server.plugin import building
    from graphmem.adapters.local_server.plugin.java_source import offered

    jar = building.build(app.settings, report=lambda step: _told(app, step))
    if out is not None:
        jar = building.install(jar, out)
    count, octets, neo4j = len(offered(app.settings)), jar.stat().st_size, shipped_lock().neo4j
    app.emit(
        {"file": str(jar), "bytes": octets, "procedures": count, "neo4j": neo4j},
        lambda _: f"{count} procedures, {octets / 1e3:.0f} kB, for Neo4j {neo4j} and later: {jar}",
    )


def _told(app: App, step: Progress) -> None:
    if step.stage != "fetch":
        app.report(step.text)


@click.group()
def admin() -> None:
    """Schema, catalog and settings."""


admin.add_command(browser)
admin.add_command(forget)


@admin.command()
@click.option("--check", is_flag=True, help="Only say what is pending and what drifted.")
@click.option("--plan", is_flag=True, help="Only say what would be applied.")
@command()
def migrate(app: App, *, check: bool, plan: bool) -> int:
    """Bring the graph's schema up to date; safe to run twice and by several at once.

    Exit code 1 with --check when something is pending or differs.
    """
    from graphmem.client.schema import open_schema

    with open_schema(app.settings, report=app.report) as s:
        if check:
            return _check(app, s)
        if plan:
            waiting = s.plan()
            app.emit({"pending": waiting}, lambda _: "\n".join(waiting) or "Nothing is pending.")
            return 0
        applied = s.migrate()
    app.emit({"applied": applied}, lambda _: "\n".join(applied) or "The schema is current.")
    return 0


def _check(app: App, opened: Any) -> int:
    from rich.table import Table

    waiting, differences = opened.plan(), opened.drift()

    def view(found: dict[str, Any]) -> Any:
        if not waiting and not differences:
            return "The schema is current and as declared."
        table = Table("what", "name", "detail", box=None, pad_edge=False)
        for name in found["pending"]:
            table.add_row("pending", name, "run `graphmem admin migrate`")
        for difference in found["differences"]:
            table.add_row(difference.kind, difference.name, difference.text)
        return table

    app.emit({"pending": waiting, "differences": differences}, view)
    return int(bool(waiting or differences))


@admin.command()
@click.option("--model", help="The embedding model to go over to; GRAPHMEM_EMBEDDER else.")
@click.option("--finish", is_flag=True, help="Remove what the former model made.")
@click.option("--give-up", is_flag=True, help="Remove what was made before the switch.")
@command()
def reembed(app: App, model: str | None, *, finish: bool, give_up: bool) -> None:
    """Go over to another embedding model while the graph is used; safe to interrupt and to repeat.

    All is embedded beside what is there, then the new model becomes the graph's. Clients of the
    former one work as before until they are opened anew. When none is left, --finish embeds what
    they wrote meanwhile and removes the former model's embeddings.
    """
    from graphmem.client.schema import EMBEDDED, open_schema

    if finish and give_up:
        raise click.UsageError("--finish goes on and --give-up goes back: give one of them.")
    known = app.settings.model_copy(update={"embedder": model}) if model else app.settings
    bars = {kind: f"{kind}: looked at" for kind in EMBEDDED} | {
        "removed": "embeddings removed from"
    }
    with open_schema(known, report=app.report) as opened, app.counting(bars) as tell:
        if give_up:
            name = opened.give_up(tell)
            data: Any = {"given_up": name}
            shown = f"{name} was given up." if name else "No model was filling the graph."
        else:
            data = opened.finish(tell) if finish else opened.reembed(tell)
            shown = _reembedded(data, finished=finish)
    app.emit(data, lambda _: shown)


def _reembedded(done: ReembedReport, *, finished: bool) -> str:
    made = f"{done.embedded:,} texts embedded by {done.model}."
    if finished:
        return f"{made} Nothing is left of the former model."
    if done.switched:
        return (
            f"{made} The graph has gone over to it: open clients anew with this model, then run "
            "this again with --finish."
        )
    return f"{made} It is the graph's model already."


@admin.command()
@click.option("--verify", is_flag=True, help="Only compare, and write nothing.")
@click.option("--backfill", is_flag=True, help="First make the events that memories came without.")
@command(wall=True)
def rebuild(app: App, *, verify: bool, backfill: bool) -> int:
    """Make the caches of a tenant anew from its events; safe to interrupt and to repeat.

    With --verify they are only compared with what the events say: exit code 1 when one differs.
    With --backfill memories that another tool or an older layout made without events are given
    synthetic ones first, and what else they lack: exit code 1 when one cannot be.
    """
    if verify and backfill:
        raise click.UsageError("--verify writes nothing, and --backfill does: give one of them.")
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


def _rebuild(app: App, memory: GraphMem, *, verify: bool) -> RebuildReport:
    with app.counting(CACHES) as tell:
        return memory.verify(tell) if verify else memory.rebuild(tell)


def _backfill(app: App, memory: GraphMem) -> BackfillReport:
    bars = {"memory": "memories looked at for events", "edge": "supersessions given theirs"}
    with app.counting(bars) as tell:
        return memory.backfill(tell)


def _mismatches(found: RebuildReport) -> Any:
    from rich.table import Table

    if not found.wrong:
        return "Every cache is as its events say."
    table = Table("what", "id", "was kept", "events say", box=None, pad_edge=False)
    for one in found.wrong:
        table.add_row(one.kind, one.id, one.cached, one.found)
    return table


def _backfilled(made: BackfillReport) -> Iterator[Any]:
    from rich.table import Table

    if not (made.memories or made.filled or made.edges):
        yield "Nothing was backfilled: what can be made whole is."
    else:
        yield (
            f"{made.events:,} synthetic events made: {made.memories:,} memories had none, "
            f"{made.edges:,} supersessions neither. {made.filled:,} memories lacked something else."
        )
    if made.capped:
        yield f"{made.capped:,} memories were reinforced more often than events are made for."
    if made.unfit:
        table = Table("left", "of", "because", "to do", "such as", box=None, pad_edge=False)
        for one in made.unfit:
            table.add_row(f"{one.count:,}", one.kind, one.problem, one.hint, ", ".join(one.ids))
        yield table


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

    def view(_: object) -> Table:
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
    from graphmem.errors import NotFoundError

    if name not in catalog.names():
        raise NotFoundError(
            f"No procedure {name[:80]!r}.", hint="`graphmem admin cypher list` names them."
        )
    found = catalog.procedure(name)
    text = catalog.pasted(found)
    app.emit({"name": found.name, "text": text, "params": found.params}, lambda _: Text(text))


@admin.command()
@command()
def settings(app: App) -> None:
    """List every setting: its variable, its value, what it is for; secrets stay hidden."""
    from rich.table import Table

    from graphmem.settings import PREFIX

    shown = app.settings.model_dump(mode="json")
    fields = type(app.settings).model_fields

    def view(known: dict[str, Any]) -> Table:
        table = Table("variable", "value", "what", box=None, pad_edge=False)
        for name, field in fields.items():
            value = "" if known[name] is None else str(known[name])
            table.add_row(PREFIX + name.upper(), value, field.description or "")
        return table

    app.emit(shown, view)


admin.add_command(procedures)
for transferring in TRANSFER:
    admin.add_command(transferring)
