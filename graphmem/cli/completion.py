"""`graphmem admin completion`: the completion script of a shell."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click

from graphmem.cli import output_files, terminal
from graphmem.cli.app import App, command

PROGRAM, VARIABLE = "graphmem", "_GRAPHMEM_COMPLETE"


class Shell(NamedTuple):
    """How a shell finds completions."""

    file: Callable[[], Path]
    """Returns the file that it reads on demand."""
    note: str
    """Hint for the user; empty if nothing else is needed."""


def _xdg(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / default)


SHELLS = {
    "bash": Shell(
        lambda: _xdg("XDG_DATA_HOME", ".local/share") / "bash-completion/completions" / PROGRAM,
        "bash reads it if the package bash-completion is installed; otherwise add this line to "
        "~/.bashrc: source {}",
    ),
    "zsh": Shell(
        lambda: Path.home() / ".zfunc" / f"_{PROGRAM}",
        "zsh reads it if ~/.zshrc contains this line: "
        "fpath+=~/.zfunc; autoload -Uz compinit; compinit",
    ),
    "fish": Shell(
        lambda: _xdg("XDG_CONFIG_HOME", ".config") / "fish/completions" / f"{PROGRAM}.fish", ""
    ),
}


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.option("--install", is_flag=True, help="Write it to the file that the shell reads.")
@command(connects=False)
def completion(app: App, shell: str, *, install: bool) -> None:
    """Print or install the completion script of SHELL.

    It completes commands and options in new shells. Without --install the script is printed, for
    example for `eval "$(graphmem admin completion bash)"`.
    """
    script = completion_script(shell)
    path = SHELLS[shell].file()
    if install:
        write_script(path, script)
    if app.json:
        app.emit_json({"shell": shell, "file": path if install else None, "script": script})
    elif install:
        note = SHELLS[shell].note.format(path)
        # Not through the console, which would wrap a line that the user copies.
        terminal.echo(f"Written to {path}. Open a new shell to use it.")
        terminal.echo(note[:1].upper() + note[1:], end="\n" if note else "")
    else:
        terminal.echo(script)


def completion_script(shell: str) -> str:
    """Return the script that makes a shell complete graphmem's commands."""
    from click.shell_completion import get_completion_class

    from graphmem.cli import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"{shell} is not supported by this version of click.")
    return found(cli, {}, PROGRAM, VARIABLE).source()


def write_script(path: Path, script: str) -> None:
    """Write a script to a file; its folder is created if missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.FileError(str(path), error.strerror) from None
    output_files.write(path, f"{script}\n")
