"""`graphmem admin`: the schema, tenants, settings, Cypher, procedures and metrics."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import options, terminal
from graphmem.cli.app import App, Group, command
from graphmem.cli.browse import browser
from graphmem.cli.memory import ERASING
from graphmem.rules import urls

if TYPE_CHECKING:
    from graphmem.adapters.local_server.plugin.java_source import ProcedureSpec
    from graphmem.client.instrumentation import Exporter
    from graphmem.schema import ReembedReport

FILE = click.argument("file", type=options.FILE)
CACHES = {kind: f"{kind} caches" for kind in ("reply", "memory", "belief", "slot")}
"""Labels of the progress counters for recomputed caches."""


admin = Group("admin", "Manage the schema, tenants, transfers and settings.")


@admin.command()
@FILE
@command(tenant=True)
def export(app: App, file: Path) -> None:
    """Export all scopes of a tenant to a new FILE.

    FILE must not exist. It is readable by its owner only and is named FILE.part until it is
    complete. To resume an interrupted export, run the command again. Records that are written
    after the start of the export are not included.
    """
    from graphmem.cli.views import admin as views

    with app.client() as client, app.counting(_record_counters()) as on_progress:
        done = client.admin.export_to(file, on_progress)
    app.emit(done, lambda it: views.exported(it, file))


@admin.command(name="import")
@FILE
@click.option(
    "--source",
    type=click.Choice(["mem0", "graphiti"]),
    help="Import the JSON export of this other memory system.",
)
@command(tenant=True)
def import_(app: App, file: Path, *, source: str | None) -> int:
    """Import a FILE of `graphmem admin export` into a tenant.

    The command checks the whole file before it writes. Existing records of the tenant stay. To
    resume an interrupted import, run the command again: imported records are skipped. With
    --source, FILE is a JSON export of mem0 or Graphiti; fields without a counterpart are listed,
    and the exit code is 1 when a record was refused.
    """
    from graphmem.cli.views import admin as views

    if source is not None:
        return _import_foreign(app, file, source)
    counters = {"check": "lines checked", **_record_counters(), **CACHES}
    with app.client() as client, app.counting(counters) as on_progress:
        done = client.admin.import_from(file, on_progress)
    app.emit(done, lambda it: views.imported(it, app.settings.tenant))
    return 0


def _import_foreign(app: App, file: Path, source: str) -> int:
    from graphmem.adapters.conversations import open_text_file, parse_document
    from graphmem.transfer.foreign import ImportAction

    with open_text_file(file) as handle:
        data = parse_document(file, handle)
    counters: dict[str, str] = {action: action.value for action in ImportAction}
    with app.client() as client, app.counting(counters) as on_progress:
        done = client.admin.import_foreign(data, source, on_progress)
    app.emit(done, "admin.import_foreign")
    return int(bool(done.refused))


def _record_counters() -> dict[str, str]:
    from graphmem.transfer.format import KINDS

    return {kind.label: kind.label for kind in KINDS}


admin.method(
    "admin.verify",
    """Compare the caches of a tenant with its events.

    Nothing is written. The exit code is 1 when a cache differs.
    """,
    counters=CACHES,
    fails=lambda report: report.wrong,
)
admin.method(
    "admin.rebuild",
    """Recompute the caches of a tenant from its events.

    The command is resumable.
    """,
    counters=CACHES,
)
admin.method(
    "admin.backfill",
    """Create missing events for memories of another tool.

    The command completes memories that another tool or an older layout created without events, and
    gives them synthetic events. Run `graphmem admin rebuild` afterwards. The exit code is 1 when a
    memory cannot be completed.
    """,
    counters={"memory": "memories examined", "edge": "supersessions completed"},
    fails=lambda report: report.unfit,
)


admin.method("admin.stats", "Count the nodes of a tenant and its waiting work.")


@admin.command(name="erase-tenant")
@click.argument("tenant")
@options.apply("Erase for good")
@command()
def erase_tenant(app: App, **erasure: Any) -> int:
    """Plan the erasure of a tenant; --apply erases for good.

    The command erases all scopes of TENANT. Its name is refused from then on. The exit code is 1
    when the final check finds remaining data.
    """
    with app.client() as client, app.counting(ERASING) as on_progress:
        done = client.admin.erase_tenant(on_progress=on_progress, **erasure)
    app.emit(done, "admin.erase_tenant")
    return int(bool(done.left))


@admin.command()
@click.option("--check", is_flag=True, help="Only report pending migrations and schema drift.")
@click.option("--plan", is_flag=True, help="Only list the migrations that would be applied.")
@command()
def migrate(app: App, *, check: bool, plan: bool) -> int:
    """Bring the graph's schema up to date.

    The command is idempotent, and concurrent runs are safe. With --check the exit code is 1 when
    a migration is pending or the schema differs.
    """
    from graphmem.cli.views import admin as views
    from graphmem.client.schema import open_schema

    with open_schema(app.settings, report=app.report) as schema:
        if check:
            found = {"pending": schema.plan(), "differences": schema.drift()}
            app.emit(found, views.schema_check)
            return int(any(found.values()))
        if plan:
            pending = schema.plan()
            app.emit({"pending": pending}, lambda _: "\n".join(pending) or "Nothing is pending.")
            return 0
        applied = schema.migrate()
    app.emit({"applied": applied}, lambda _: "\n".join(applied) or "The schema is current.")
    return 0


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
@command()
def settings(app: App) -> None:
    """List every setting with its value; secrets stay hidden."""
    from graphmem.cli.views import admin as views

    fields = type(app.settings).model_fields
    app.emit(app.settings.model_dump(mode="json"), lambda known: views.settings(known, fields))


@admin.group()
def cypher() -> None:
    """Show the Cypher that graphmem runs."""


@cypher.command(name="list")
@command()
def list_(app: App) -> None:
    """List every procedure with its first sentence."""
    from graphmem import catalog
    from graphmem.cli.views import admin as views

    found = [catalog.procedure(name) for name in catalog.names()]
    app.emit([{"name": p.name, "mode": p.mode, "summary": p.summary} for p in found], views.cypher)


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


@admin.group()
def procedures() -> None:
    """List and build the procedures for Neo4j Browser and drivers."""


@procedures.command(name="list")
@command()
def list_procedures(app: App) -> None:
    """List every procedure with its signature and result."""
    from graphmem.adapters.local_server.plugin.java_source import procedure_specs
    from graphmem.cli.views import admin as views

    app.emit([_described(offer) for offer in procedure_specs(app.settings)], views.procedures)


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
@options.output("Plugin folder to install the jar into; created if missing.", options.FOLDER)
@command()
def build(app: App, *, output: Path | None) -> None:
    """Compile the procedures into a jar for your own Neo4j.

    The jar also serves the compose file. The managed server does not need it: it compiles and
    loads the procedures when it starts.
    """
    from graphmem.adapters.local_server.jars import shipped_lock
    from graphmem.adapters.local_server.plugin import building
    from graphmem.adapters.local_server.plugin.java_source import procedure_specs

    jar = building.build(
        app.settings, report=lambda step: app.report(step.text) if step.stage != "fetch" else None
    )
    if output is not None:
        jar = building.install(jar, output)
    count, size, neo4j = (
        len(procedure_specs(app.settings)),
        jar.stat().st_size,
        shipped_lock().neo4j,
    )
    app.emit(
        {"file": str(jar), "bytes": size, "procedures": count, "neo4j": neo4j},
        lambda _: f"{count} procedures, {size / 1e3:.0f} kB, for Neo4j {neo4j} and later: {jar}",
    )


admin.add_command(browser)


TENANTS = options.stacked(
    click.option("--tenant", help="Tenant to measure without a label.  [default: GRAPHMEM_TENANT]"),
    click.option(
        "--by-tenant",
        multiple=True,
        metavar="NAME",
        help="Measure this tenant and label its metrics with its name (repeatable).",
    ),
)


@admin.group()
def metrics() -> None:
    """Export sizes, ratings, backlog and costs to Prometheus."""


@metrics.command(name="show")
@TENANTS
@command()
def show_metrics(app: App, *, by_tenant: tuple[str, ...]) -> None:
    """Print the metrics once."""
    with _exporter(app, by_tenant) as exporter:
        exporter.read()
        if app.json:
            app.emit_json(_families(exporter))
        else:
            terminal.echo(exporter.metrics.text(), end="")


@metrics.command()
@options.listen(9464)
@click.option(
    "--every",
    type=click.FloatRange(min=1),
    default=30.0,
    help="Seconds between readings of the graph; scrapes return the latest.",
)
@TENANTS
@command()
def serve(app: App, *, every: float, by_tenant: tuple[str, ...], **where: Any) -> None:
    """Serve metrics to Prometheus until interrupted.

    Anyone who can reach the address can read the metrics. The Host header of a request must be the
    address or loopback; --allow-host accepts another, for example graphmem.example:9464.
    """

    def wait() -> bool:
        time.sleep(every)
        return True

    with _exporter(app, by_tenant) as exporter:
        exporter.read()
        host, allow = where["host"], where["allow_host"]
        port = exporter.metrics.serve(host, where["port"], allow)
        address = f"http://{urls.bracket_ipv6(host)}:{port}/metrics"
        app.emit({"address": address}, lambda _: f"Serving {address}. Press Ctrl-C to stop.")
        wait()
        exporter.keep_reading(wait)


@contextmanager
def _exporter(app: App, by_tenant: tuple[str, ...]) -> Iterator[Exporter]:
    from graphmem.client import instrumentation as client

    app.start_server()
    with client.opened(app.settings, by_tenant) as exporter:
        yield exporter


def _families(exporter: Exporter) -> list[dict[str, Any]]:
    return [
        {
            "name": family.name,
            "help": family.documentation,
            "type": family.type,
            "samples": [
                {"name": sample.name, "labels": sample.labels, "value": sample.value}
                for sample in family.samples
            ],
        }
        for family in exporter.metrics.collect()
    ]
