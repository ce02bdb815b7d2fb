"""Commands that export, import and erase data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from graphmem.model import ErasureReport, ExportReport, ForeignImportReport, ImportReport


FILE = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
CACHES = {kind: f"{kind} caches" for kind in ("reply", "memory", "belief", "slot")}
"""What is told of while caches are made anew."""


def _bars() -> dict[str, str]:
    from graphmem.rules.transfer import KINDS

    return {kind.label: kind.label for kind in KINDS}


@click.command(name="export")
@FILE
@command(wall=True)
def export(app: App, file: Path) -> None:
    """Write everything of a tenant, all scopes, to FILE, which must not be there yet.

    The file is for its owner alone, and is named FILE.part until it is whole. Interrupted, run it
    again: it goes on where it stopped. What is recorded after the export began is not in it.
    """
    with app.memory() as memory, app.counting(_bars()) as tell:
        done = memory.export_to(file, tell)
    app.emit(done, lambda it: _exported(it, file))


@click.command(name="import")
@FILE
@click.option(
    "--from", "source", type=click.Choice(["mem0", "graphiti"]), help="FILE is theirs, as JSON."
)
@command(wall=True)
def import_(app: App, file: Path, *, source: str | None) -> int:
    """Take FILE, which `graphmem admin export` wrote, into a tenant.

    The whole file is checked before anything is written. What the tenant has already stays.
    Interrupted, run it again: what was taken is passed over. With --from FILE holds what mem0 or
    Graphiti gave, and what has no place here is listed: exit code 1 when something was refused.
    """
    if source is not None:
        return _adopt(app, file, source)
    bars = {"check": "lines checked", **_bars(), **CACHES}
    with app.memory() as memory, app.counting(bars) as tell:
        done = memory.import_from(file, tell)
        tenant = app.settings.tenant
    app.emit(done, lambda it: _imported(it, tenant))
    return 0


def _adopt(app: App, file: Path, source: str) -> int:
    from graphmem.adapters.conversations.reader import opened, parsed_document
    from graphmem.rules.foreign import ImportAction

    with opened(file) as handle:
        data = parsed_document(file, handle)
    with app.memory() as memory, app.counting({verb: verb.value for verb in ImportAction}) as tell:
        done = memory.adopt(data, source, tell)
    app.emit(done, _adopted)
    return int(bool(done.refused))


def _adopted(done: ForeignImportReport) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    table = Table("what", "how many", box=None, pad_edge=False)
    for verb, count in done.done.items():
        table.add_row(verb, f"{count:,}")
    for name, count in done.unplaced.items():
        table.add_row(f"no place for {name}", f"{count:,}")
    return Group(table, *(f"Refused: {line}" for line in done.refused))


def _exported(done: ExportReport, file: Path) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    table = Table("what", "how many", box=None, pad_edge=False)
    for label, count in done.records.items():
        table.add_row(label, f"{count:,}")
    table.add_row("relationships", f"{done.links:,}")
    went_on = f" {done.resumed:,} were there from before." if done.resumed else ""
    until = f"{done.known:%Y-%m-%d %H:%M:%S} UTC"
    later = f" {done.later:,} nodes were recorded later and are not in it." if done.later else ""
    said = f"{file} holds what was recorded until {until}.{went_on}{later}"
    return Group(table, said)


def _imported(done: ImportReport, tenant: str) -> str:
    text = (
        f"{done.written:,} records of tenant {done.tenant} are now in {tenant}, "
        f"with {done.links:,} relationships."
    )
    if done.there or done.kept:
        text += f" {done.there:,} were there already, {done.kept:,} more had changed and stay."
    return text


TRANSFER = (export, import_)
"""In the order of the help."""


WHAT = ("memory", "belief", "episode", "scope", "tenant")


@click.command()
@click.argument("what", type=click.Choice(WHAT))
@click.argument("id")
@click.option("--apply", is_flag=True, help="Do it; without this the plan is shown.")
@click.option(
    "--digest",
    "digests",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Take its lines out of this MEMORY.md, too.",
)
@command(wall=True)
def forget(app: App, what: str, id: str, *, apply: bool, digests: tuple[Path, ...]) -> int:  # noqa: A002
    """Show what forgetting would erase; with --apply, erase it for good.

    A memory, a belief, an episode, a scope or a tenant goes with all that came from it, and is
    refused when it is sent again. Exit code 1 when a second look finds something left.
    """
    parts = {"page": "Pages looked through", "node": "Nodes erased"}
    with app.memory() as memory, app.counting(parts) as tell:
        # What is named is opened: --tenant and --scope would only say it again.
        own = {"scope": memory.scope, "tenant": memory.tenant}
        handle = own[what](id) if what in own else memory
        done = handle.forget(what, id, apply=apply, digests=digests, on_part=tell)
    app.emit(done, _view)
    return int(bool(done.left))


def _view(done: ErasureReport) -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    name = f"{done.what} {done.id}"
    if done.repeated:
        return f"{name} was forgotten before; nothing of it is left."
    table = Table("node", "count", box=None, pad_edge=False)
    for label, count in done.counts.items():
        table.add_row(label, f"{count:,}")
    if done.unmentioned:
        table.add_row("mentions", f"{done.unmentioned:,}")
    if done.digest_lines:
        table.add_row("digest lines", f"{done.digest_lines:,}")
    if not done.applied:
        return Group(f"Forgetting {name} would erase:", table, "Nothing was written: add --apply.")
    looked = Text("A second look found nothing.")
    if not done.clean:
        looked = Text(f"{done.left:,} are left.", style="red")
    lines: list[Any] = [f"Forgot {name}:", table, looked]
    if done.elsewhere:
        same = ", ".join(f"{one.label} {one.id}" for one in done.elsewhere)
        lines.append(f"The same words stay in: {same}")
    lines.append(Text("Files of the database and backups may hold it for a while.", style="dim"))
    return Group(*lines)
