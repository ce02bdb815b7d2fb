"""`graphmem admin procedures`: what Neo4j Browser and any driver can CALL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command

if TYPE_CHECKING:
    from graphmem.adapters.local_server import Progress
    from graphmem.adapters.local_server.plugin.offered import ProcedureSpec


@click.group()
def procedures() -> None:
    """What Neo4j Browser and any driver can CALL."""


@procedures.command(name="list")
@command()
def list_procedures(app: App) -> None:
    """List every procedure: how it is called, and what a caller gets."""
    from rich.table import Table

    from graphmem.adapters.local_server.plugin.offered import offered

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
    from graphmem.adapters.local_server.plugin import building, installing
    from graphmem.adapters.local_server.plugin.offered import offered

    jar = building.build(app.settings, report=lambda step: _told(app, step))
    if out is not None:
        jar = installing.install(jar, out)
    count, octets, neo4j = len(offered(app.settings)), jar.stat().st_size, shipped_lock().neo4j
    app.emit(
        {"file": str(jar), "bytes": octets, "procedures": count, "neo4j": neo4j},
        lambda _: f"{count} procedures, {octets / 1e3:.0f} kB, for Neo4j {neo4j} and later: {jar}",
    )


def _told(app: App, step: Progress) -> None:
    if step.stage != "fetch":
        app.report(step.text)
