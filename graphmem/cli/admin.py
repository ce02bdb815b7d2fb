"""`graphmem admin`: the schema, tenants, settings, Cypher, procedures and metrics."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli import memory, options, parameters, terminal
from graphmem.cli.app import App, command
from graphmem.cli.browse import browser
from graphmem.cli.completion import completion
from graphmem.cli.derived import Group
from graphmem.cli.metrics import metrics
from graphmem.errors import ConfigurationError, NotFoundError

if TYPE_CHECKING:
    from pydantic import SecretStr

    from graphmem.local_server.plugin.java_source import ProcedureSpec
    from graphmem.schema import ReembedReport

CACHED = ("reply", "rejection", "memory", "belief", "episode", "slot")
CACHES = {kind: f"{kind} caches" for kind in CACHED} | {
    "keys": "slots and search tokens",
    "wiring": "relationships of events",
    "chain": "chains of memories and beliefs",
}
"""Labels of the progress counters for what is recomputed."""
TO_PASSWORD = "GRAPHMEM_TO_PASSWORD"  # noqa: S105 - the name of a variable
SEALED = {"event": "sealed events", "searched": "events searched"}


admin = Group("admin", "Manage the schema, tenants, transfers and settings.")


FILE = {"path": {"metavar": "FILE"}}
SOURCE = parameters.of_method(
    "admin.import_foreign",
    only=["source"],
    changes={"source": {"argument": False, "help": "System that FILE is from: mem0 or graphiti."}},
)

SEALS = "Keep the digest elsewhere: with --head, `admin verify` also finds forged seals."
DIFFERS = "The exit code is 1 when something differs."
HEAD: dict[str, Any] = {"head": {"metavar": "DIGEST"}}


@admin.runs("admin.export_to", name="export", changes=FILE)
def export(app: App, path: Path) -> None:
    """Export all scopes of a tenant to a new FILE.

    FILE must not exist. It is readable by its owner only and is named FILE.part until it is
    complete. To resume an interrupted export, run the command again. Records that are written
    after the start of the export are not included.
    """
    from graphmem.cli.views import admin as views

    with app.client() as client, app.counting(_record_counters()) as on_progress:
        if client.admin.is_empty():
            raise NotFoundError(
                f"Tenant {app.settings.tenant!r} has no data to export.",
                hint="List the tenants with `graphmem tenant list`.",
            )
        done = client.admin.export_to(path, on_progress)
    app.emit(done, lambda it: views.exported(it, path))


@admin.runs("admin.import_from", SOURCE, name="import", changes=FILE)
def import_(app: App, path: Path, *, source: str | None) -> int:
    """Import a FILE of `admin export` into a tenant.

    The command checks the whole file before it writes. Existing records of the tenant stay. To
    resume an interrupted import, run the command again: imported records are skipped. FILE may
    also be a JSON dump of mem0 or Graphiti, which is detected unless --source names it. Fields
    without a counterpart are listed, and the exit code is 1 when a record was refused.
    """
    from graphmem.cli.views import admin as views

    if source is not None or not _is_export(path):
        return _import_foreign(app, path, source)
    counters = {"check": "lines checked", **_record_counters(), **CACHES, **SEALED}
    with app.client() as client, app.counting(counters) as on_progress:
        done = client.admin.import_from(path, on_progress)
    app.emit(done, lambda it: views.imported(it, app.settings.tenant))
    return 0


def _is_export(file: Path) -> bool:
    """Return whether to read a file as an export: unless it is a JSON document of another system.

    A damaged export is one too, so that its own reader names the line.
    """
    from graphmem.cli.conversation_files import open_text_file, parse_document
    from graphmem.errors import SourceFileError
    from graphmem.transfer import foreign
    from graphmem.transfer.format import FORMAT

    try:
        with open_text_file(file) as handle:
            handle.seek(0)
            if FORMAT.encode() in handle.readline(200):
                return True
            data = parse_document(file, handle)
    except SourceFileError:
        return True
    return foreign.detect_source(data) is None


def _import_foreign(app: App, file: Path, source: str | None) -> int:
    from graphmem.cli.conversation_files import open_text_file, parse_document
    from graphmem.transfer.foreign import ImportAction

    with open_text_file(file) as handle:
        data = parse_document(file, handle)
    counters: dict[str, str] = {action: action.value for action in ImportAction}
    with app.client() as client, app.counting(counters) as on_progress:
        done = client.admin.import_foreign(data, source, on_progress)
    app.emit(done, "admin.import_foreign")
    return int(bool(done.refused))


@admin.runs(
    "admin.move_to",
    options.stacked(
        click.option(
            "--to", "uri_to", required=True, metavar="URI", help="URI of the other Neo4j."
        ),
        click.option("--to-user", metavar="NAME", default="neo4j", help="User of the other Neo4j."),
        click.option("--to-database", metavar="NAME", help="Database of the other Neo4j."),
    ),
    name="move",
)
def move(
    app: App,
    *,
    uri_to: str,
    to_user: str,
    to_database: str | None,
    dry_run: bool,
    give_up: bool,
) -> None:
    """Move a tenant to another server while it is written.

    The command copies all records, then what was written since, until little is left. Then it
    refuses writes here, copies the rest, compares both sides and opens the tenant there. It stays
    readable here until you erase it. To resume an interrupted move, run the command again. The
    password of the other server is GRAPHMEM_TO_PASSWORD, or is asked for.
    """
    from graphmem.cli.views import admin as views
    from graphmem.client import GraphMem

    counters = _record_counters() | CACHES | {"node": "nodes removed", "pass": "comparisons"}
    with app.client() as client:
        place = {"uri": uri_to, "user": to_user, "database": to_database}
        other = app.settings.model_copy(update=place | {"password": _password_of(to_user)})
        with (
            GraphMem.open(settings=other, on_progress=app.report) as target,
            app.counting(counters) as on_progress,
        ):
            done = client.admin.move_to(
                target, dry_run=dry_run, give_up=give_up, on_progress=on_progress
            )
        app.emit(done, views.moved)


def _password_of(user: str) -> SecretStr:
    """Return the password of the server to move to."""
    from pydantic import SecretStr

    given = os.environ.get(TO_PASSWORD)
    if given is None and not sys.stdin.isatty():
        raise ConfigurationError(
            "The password of the server of --to is missing, and standard input is not a terminal "
            "to ask on.",
            hint=f"Set {TO_PASSWORD}.",
        )
    return SecretStr(terminal.ask_secret(f"Password of {user} there") if given is None else given)


def _record_counters() -> dict[str, str]:
    from graphmem.transfer.kinds import KINDS

    return {kind.label: kind.label for kind in KINDS}


admin.method("admin.seal", more=SEALS, counters=SEALED)
admin.method(
    "admin.verify",
    more=DIFFERS,
    changes=HEAD,
    counters=CACHES | SEALED,
    fails=lambda report: bool(report.wrong),
)
admin.method(
    "admin.verify_export",
    more="The exit code is 1 when an event or a seal differs, and 2 when the file is damaged.",
    changes=HEAD | {"path": {"metavar": "FILE"}},
    counters={"check": "lines checked"},
    fails=lambda report: bool(report.wrong),
)
admin.method("admin.rebuild", counters=CACHES)
admin.method(
    "admin.backfill",
    more="The exit code is 1 when a memory is skipped.",
    counters={"memory": "memories examined"},
    fails=lambda report: bool(report.skipped),
)
admin.method("admin.stats")
admin.method("admin.erasures")
admin.method("admin.reopen")
admin.method("admin.reopen_person")


memory.add_erasure(
    admin,
    "admin.erase_person",
    "SUBJECT is any name of the person. The command erases the facts about it and its aliases, and "
    "lists what only mentions it.",
)
memory.add_erasure(
    admin,
    "admin.erase_tenant",
    "Its name is refused from then on.",
    click.argument("tenant"),
    tenant=False,
)
admin.add_command(memory.verify_certificate)


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

    app.log_in()
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
    app.log_in()
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
    """List every setting, its value and where it is from.

    A setting is read from the first of these places that has it: an option, the environment
    (GRAPHMEM_NAME), .env of the project, graphmem.toml in the working directory or above it,
    graphmem.toml in your configuration folder. GRAPHMEM_CONFIG names the only file to read.
    GRAPHMEM_CONSOLIDATION__MIN_EPISODES is `min_episodes` in the table [consolidation] of TOML;
    likewise for the tables upkeep, pruning and recall. Secrets stay hidden. Files of a project
    must not choose programs (java, home, cache, maven_mirror), open access (serve_keys) or
    send your graph's content elsewhere: docs/reference/settings.md.
    """
    from graphmem.cli.views import admin as views
    from graphmem.settings import FIELDS

    found = {
        name: {"value": value, "origin": app.origins[name]}
        for name, value in app.settings.shown().items()
    }
    app.emit(found, lambda known: views.settings(known, FIELDS))


@admin.group()
def cypher() -> None:
    """Show the Cypher that graphmem runs."""


@cypher.command(name="list")
@command(connects=False)
def list_(app: App) -> None:
    """List every procedure with its first sentence."""
    from graphmem.cli.views import admin as views
    from graphmem.graph import catalog

    found = [catalog.procedure(name) for name in catalog.names()]
    app.emit([{"name": p.name, "mode": p.mode, "summary": p.summary} for p in found], views.cypher)


@cypher.command()
@click.argument("name")
@command(connects=False)
def show(app: App, name: str) -> None:
    """Show procedure NAME, ready to paste into Neo4j Browser."""
    from rich.text import Text

    from graphmem.graph import catalog

    if name not in catalog.names():
        raise NotFoundError(
            f"No procedure {name[:80]!r}.", hint="List them with `graphmem admin cypher list`."
        )
    found = catalog.procedure(name)
    text = catalog.pasted(found)
    app.emit({"name": found.name, "text": text, "params": found.params}, lambda _: Text(text))


@admin.group()
def procedures() -> None:
    """List and build procedures for Browser and drivers."""


@procedures.command(name="list")
@command(connects=False)
def list_procedures(app: App) -> None:
    """List every procedure with its signature and result."""
    from graphmem.cli.views import admin as views
    from graphmem.local_server.plugin.java_source import procedure_specs

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
@command(connects=False)
def build(app: App, *, output: Path | None) -> None:
    """Compile the procedures into a jar for your own Neo4j.

    The jar also serves the compose file. The managed server does not need it: it compiles and
    loads the procedures when it starts.
    """
    from graphmem.local_server.jars import shipped_lock
    from graphmem.local_server.plugin import building
    from graphmem.local_server.plugin.java_source import procedure_specs

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
admin.add_command(completion)
admin.add_command(metrics)
