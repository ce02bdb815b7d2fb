"""`graphmem admin forget`: erase, and say what a second look found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command

if TYPE_CHECKING:
    from graphmem.model import ErasureReport

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
