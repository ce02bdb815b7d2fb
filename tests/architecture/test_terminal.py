"""Everything that is written to a terminal goes through `cli/terminal.py` and `cli/console.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "graphmem"
WRITERS = {PACKAGE / "cli" / "terminal.py", PACKAGE / "cli" / "console.py"}
MODULES = sorted({*PACKAGE.rglob("*.py")} - WRITERS)

WRITE = {"print", "input"}
CLICK = {"echo", "secho", "echo_via_pager", "prompt", "confirm", "progressbar", "getchar", "pause"}
RICH = {
    "rich.console": {"Group", "RenderableType"},
    "rich.table": {"Table"},
    "rich.text": {"Text"},
    "rich.rule": {"Rule"},
    "rich.progress": {
        *("Progress", "BarColumn", "DownloadColumn", "MofNCompleteColumn"),
        *("TimeElapsedColumn", "TimeRemainingColumn", "TransferSpeedColumn"),
    },
}
"""What takes no markup on our console. Panels, text columns and prompts parse it themselves."""
MARKED = {"from_markup", "from_ansi"}


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield in what way a piece of code writes past the console, or parses markup."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in WRITE:
            yield name
        case ast.Attribute(value=ast.Name(id="click"), attr=name) if name in CLICK:
            yield f"click.{name}"
        case ast.Attribute(value=ast.Attribute(attr="stdout" | "stderr"), attr="write"):
            yield "write"
        case ast.Attribute(attr=name) if name in MARKED:
            yield name
        case ast.keyword(arg="markup" | "emoji" as name, value=ast.Constant(value=True)):
            yield f"{name}=True"
        case ast.Constant(value=str(text)) if "[/" in text:
            yield "markup"


def imports_of(node: ast.AST) -> Iterator[str]:
    """Yield what a piece of code imports that writes past the console, or parses markup."""
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names if one.name.split(".")[0] == "rich")
    elif isinstance(node, ast.ImportFrom):
        module, names = node.module or "", {one.name for one in node.names}
        if module == "click":
            yield from names & CLICK
        if module.split(".")[0] == "rich":
            yield from names - RICH.get(module, set())


def past_the_console(source: str) -> list[str]:
    """Return how a module writes past the console, or parses markup."""
    nodes = list(ast.walk(ast.parse(source)))
    return [name for node in nodes for name in (*names_of(node), *imports_of(node))]


def test_nothing_is_written_past_the_console() -> None:
    assert MODULES
    found = {
        path.relative_to(PACKAGE): past_the_console(path.read_text("utf-8")) for path in MODULES
    }
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        "print('a')",
        "import click\nclick.echo(a)",
        "import click\nclick.secho(a)",
        "from click import echo",
        "import sys\nsys.stdout.write(a)",
        "import sys\nsys.stderr.write(a)",
        "from rich import print",
        "import rich.console",
        "from rich.console import Console",
        "from rich.panel import Panel",
        "from rich.progress import TextColumn",
        "from rich.markup import escape",
        "Text.from_markup(a)",
        "Text.from_ansi(a)",
        "Static(a, markup=True)",
        "f'[red]{a}[/red]'",
    ],
)
def test_what_writes_past_it_is_found(source: str) -> None:
    assert past_the_console(source)
