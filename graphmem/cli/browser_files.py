"""`graphmem admin browser`: what Neo4j Browser can be given, as files."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import click

from graphmem.cli.app import App, command

STYLE = "graphmem.grass"
QUERIES = "graphmem-queries.zip"
FOLDER = "graphmem"
"""What the saved queries stand in, in the archive and then in Browser."""


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder to write to; made when it is not there.",
)
@command()
def browser(app: App, out: Path) -> None:
    """Write a style sheet and saved queries for Neo4j Browser.

    Drag each of the two files onto Browser's window: the style sheet gives captions, colours and
    sizes, and the archive becomes a folder of saved queries among the favourites. The folder beside
    it holds the same queries, each with its parameters, to read or to drag one by one.
    """
    from graphmem import catalog

    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    style, archive = out / STYLE, out / QUERIES
    style.write_text(style_sheet(), encoding="utf-8")
    with ZipFile(archive, "w") as packed:
        for name in catalog.names():
            if name.startswith("browser/"):
                file = f"{name.rpartition('/')[2]}.cypher"
                text = catalog.pasted(catalog.procedure(name))
                (folder / file).write_text(text, encoding="utf-8")
                # Without the time of writing: the same queries make the same archive.
                packed.writestr(ZipInfo(f"{FOLDER}/{file}"), text)
    app.emit(
        {"style": str(style), "queries": str(archive), "folder": str(folder)},
        lambda _: f"Drag onto Neo4j Browser: {style}\nDrag onto Neo4j Browser: {archive}",
    )


def style_sheet() -> str:
    """Return the style sheet that the package carries."""
    return (resources.files("graphmem") / "data" / "browser.grass").read_text("utf-8")
