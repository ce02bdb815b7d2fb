"""Commands that export, import and erase data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from graphmem import Handle
    from graphmem.model import ErasureReport, ExportReport, ForeignImportReport, ImportReport


FILE = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
CACHES = {kind: f"{kind} caches" for kind in ("reply", "memory", "belief", "slot")}
"""Labels of the progress counters for recomputed caches."""


def _bars() -> dict[str, str]:
    from graphmem.rules.transfer import KINDS

    return {kind.label: kind.label for kind in KINDS}


@click.command(name="export")
@FILE
@command(wall=True)
def export(app: App, file: Path) -> None:
    """Export all scopes of a tenant to a new FILE.

    FILE must not exist. It is readable by its owner only and is named FILE.part until it is
    complete. To resume an interrupted export, run the command again. Records that are written
    after the start of the export are not included.
    """
    with app.memory() as memory, app.counting(_bars()) as on_progress:
        done = memory.admin.export_to(file, on_progress)
    app.emit(done, lambda it: _exported(it, file))


@click.command(name="import")
@FILE
@click.option(
    "--from",
    "source",
    type=click.Choice(["mem0", "graphiti"]),
    help="Import the JSON export of this other memory system.",
)
@command(wall=True)
def import_(app: App, file: Path, *, source: str | None) -> int:
    """Import a FILE of `graphmem admin export` into a tenant.

    The command checks the whole file before it writes. Existing records of the tenant stay. To
    resume an interrupted import, run the command again: imported records are skipped. With --from,
    FILE is a JSON export of mem0 or Graphiti; fields without a counterpart are listed, and the
    exit code is 1 when a record was refused.
    """
    if source is not None:
        return _adopt(app, file, source)
    bars = {"check": "lines checked", **_bars(), **CACHES}
    with app.memory() as memory, app.counting(bars) as on_progress:
        done = memory.admin.import_from(file, on_progress)
        tenant = app.settings.tenant
    app.emit(done, lambda it: _imported(it, tenant))
    return 0


def _adopt(app: App, file: Path, source: str) -> int:
    from graphmem.adapters.conversations import open_text_file, parse_document
    from graphmem.rules.foreign import ImportAction

    with open_text_file(file) as handle:
        data = parse_document(file, handle)
    counters: dict[str, str] = {verb: verb.value for verb in ImportAction}
    with app.memory() as memory, app.counting(counters) as on_progress:
        done = memory.admin.import_foreign(data, source, on_progress)
    app.emit(done, _adopted)
    return int(bool(done.refused))


def _adopted(done: ForeignImportReport) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    table = Table("record", "count", box=None, pad_edge=False)
    for verb, count in done.done.items():
        table.add_row(verb, f"{count:,}")
    for name, count in done.unplaced.items():
        table.add_row(f"no counterpart for {name}", f"{count:,}")
    return Group(table, *(f"Refused: {line}" for line in done.refused))


def _exported(done: ExportReport, file: Path) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    table = Table("record", "count", box=None, pad_edge=False)
    for label, count in done.records.items():
        table.add_row(label, f"{count:,}")
    table.add_row("relationships", f"{done.links:,}")
    resumed = f" {done.resumed:,} are from an interrupted export." if done.resumed else ""
    until = f"{done.known:%Y-%m-%d %H:%M:%S} UTC"
    later = f" {done.later:,} nodes recorded later are not included." if done.later else ""
    return Group(table, f"{file} contains all records up to {until}.{resumed}{later}")


def _imported(done: ImportReport, tenant: str) -> str:
    text = (
        f"{done.written:,} records of tenant {done.tenant} are now in {tenant}, "
        f"with {done.links:,} relationships."
    )
    if done.there or done.kept:
        text += f" {done.there:,} already existed; {done.kept:,} others differ and were kept."
    return text


TRANSFER = (export, import_)
"""Commands that export and import a tenant."""


WHAT = ("memory", "belief", "episode", "scope", "tenant")


@click.command()
@click.argument("what", type=click.Choice(WHAT))
@click.argument("id")
@click.option("--apply", is_flag=True, help="Erase; without it, only show the plan.")
@click.option(
    "--digest",
    "digests",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Remove the lines of erased episodes from this digest file too.",
)
@command(wall=True)
def forget(app: App, what: str, id: str, *, apply: bool, digests: tuple[Path, ...]) -> int:  # noqa: A002
    """Plan an erasure; --apply erases for good.

    The command erases a memory, a belief, an episode, a scope or a tenant together with everything
    derived from it. Erased items are refused when they are submitted again. The exit code is 1
    when the final check finds remaining data.
    """
    counters = {"page": "Pages searched", "node": "Nodes erased"}
    with app.memory() as memory, app.counting(counters) as on_progress:
        # Open the named scope or tenant, so that --scope and --tenant need not repeat it.
        handle: Handle = memory
        if what in ("scope", "tenant"):
            handle = memory.scope(id) if what == "scope" else memory.tenant(id)
        done = handle.forget(what, id, dry_run=not apply, digests=digests, on_progress=on_progress)
    app.emit(done, _view)
    return int(bool(done.left))


def _view(done: ErasureReport) -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    name = f"{done.what} {done.id}"
    if done.repeated:
        return f"{name} was already erased; nothing remains."
    table = Table("node", "count", box=None, pad_edge=False)
    for label, count in done.counts.items():
        table.add_row(label, f"{count:,}")
    if done.unmentioned:
        table.add_row("mentions", f"{done.unmentioned:,}")
    if done.digest_lines:
        table.add_row("digest lines", f"{done.digest_lines:,}")
    if not done.applied:
        return Group(f"Forgetting {name} would erase:", table, "Nothing was written; use --apply.")
    check = Text("The final check found no remaining data.")
    if not done.clean:
        check = Text(f"{done.left:,} nodes remain.", style="red")
    lines: list[Any] = [f"Forgot {name}:", table, check]
    if done.elsewhere:
        same = ", ".join(f"{node.label} {node.id}" for node in done.elsewhere)
        lines.append(f"The same text remains in: {same}")
    lines.append(Text("Database files and backups may contain it for some time.", style="dim"))
    return Group(*lines)
