"""`graphmem attention prune | restore | pack`: put away what nobody uses, pack what is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from graphmem.cli.app import App, command

KINDS = click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="Memory|Belief|Episode",
    help="Only these; all of them unless given.",
)
TO_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--apply", is_flag=True, help="Do it; without this the plan is shown.")
@KINDS
@click.option("-o", "--output", type=TO_FILE, help="Write the manifest to this file, as JSON.")
@command(wall=True)
def prune(app: App, *, apply: bool, kinds: tuple[str, ...], output: Path | None) -> None:
    """Show what nobody uses and would be put away; with --apply, put it away.

    Archived is what is rated VERY_LOW and was not touched for 30 days; of a LOW episode the text
    is compressed after 14. Nothing is deleted: `graphmem attention restore` brings it back.
    """
    from graphmem.cli import pruning_views

    with app.memory() as memory, app.counting({"rating": "Ratings looked at"}) as tell:
        chosen: dict[str, Any] = {"kinds": kinds} if kinds else {}
        done = memory.prune(apply=apply, on_part=tell, **chosen)
    if output is not None:
        _write(output, done.model_dump_json(indent=2))
    app.emit(done, pruning_views.report)


@click.command()
@click.argument("run", required=False)
@click.option("--item", "items", multiple=True, metavar="ID", help="Only these items of it.")
@command(wall=True)
def restore(app: App, run: str | None, *, items: tuple[str, ...]) -> None:
    """Bring back what a run of `prune` put away; without a run, list them all."""
    from graphmem.cli import pruning_views

    if items and run is None:
        raise click.UsageError("--item needs the run that put it away.")
    with app.memory() as memory:
        if run is None:
            lines = memory.pruned()
            app.emit(lines, pruning_views.manifest)
            return
        with app.counting({"item": "Items brought back"}) as tell:
            done = memory.restore_pruned(run, ids=items or None, on_part=tell)
    app.emit(done, pruning_views.restored)


@click.command()
@click.option("--tokens", default=4_000, show_default=True, help="Of the pack at most, if it can.")
@click.option("--model", help="Whose tokens, as litellm counts them; else an estimate.")
@click.option(
    "--root",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    metavar="DIR",
    help="Pack files below DIR that agents touched with their text.",
)
@click.option("--blocked", multiple=True, metavar="GLOB", help="Leave out artifacts named so.")
@click.option("-o", "--output", type=TO_FILE, help="Write the pack here, the manifest beside it.")
@command(wall=True)
def pack(
    app: App,
    *,
    tokens: int,
    model: str | None,
    root: Path | None,
    blocked: tuple[str, ...],
    output: Path | None,
) -> None:
    """Pack what is used most into markdown for a prompt, within a number of tokens.

    What is rated HIGH is whole, MEDIUM summarised, LOW one line, VERY_LOW left out. With --root,
    files that agents touched are packed with their text. Beside FILE.md stands FILE.manifest.json.
    """
    from graphmem.cli import pruning_views

    with app.memory() as memory:
        found = memory.pack(tokens, model=model, root=root, blocked_paths=blocked)
    if output is not None:
        _write(output, found.text)
        _write(
            output.with_suffix(".manifest.json"),
            found.model_dump_json(indent=2, exclude={"text"}),
        )
    app.emit(found, lambda it: pruning_views.pack(it, found.text, output))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(path), error.strerror) from None


PRUNING = (prune, restore, pack)
"""In the order of the help."""
