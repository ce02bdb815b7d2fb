"""The command line: groups by noun; each command wraps one client call.

Exit codes: 0 success, 1 findings or a refusal, 2 usage, 3 graph unavailable, 4 model unavailable,
5 schema not current, 130 interrupted.
"""

from __future__ import annotations

import difflib
import errno
import gc
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from graphmem.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo:demo", "Start a server, ingest a sample conversation, recall it."),
    "ingest": ("ingest:ingest", "Ingest the conversations of FILE."),
    "recall": ("memory:recall", "Search memories and beliefs; show results, best first."),
    "context": ("memory:context", "Print search results as a block of data for a prompt."),
    "why": ("memory:why", "Explain a belief or a memory, event by event."),
    "expand": ("memory:expand", "Show the card of a memory, belief, turn or episode."),
    "consolidate": (
        "consolidate:consolidate",
        "Derive beliefs from several episodes; show the changes.",
    ),
    "worker": ("worker:worker", "Run the background jobs of all tenants until stopped."),
    "serve": ("serve:serve", "Serve the memory over HTTP and MCP, and in a browser."),
    "browse": ("serve:browse", "Open an item in the explorer of `serve`."),
    "mcp": ("mcp:mcp", "Serve an agent over MCP, on stdin and stdout."),
    "memory": ("memory:memory", "Write, read and correct memories; erase items."),
    "belief": ("belief:belief", "Record evidence, test hypotheses, read beliefs."),
    "predicate": ("belief:predicate", "Declare and list the policies of predicates."),
    "alias": ("belief:alias", "Add, remove and list second names of one thing."),
    "episode": ("episode:episode", "Write, read, summarise and compress episodes."),
    "proposal": ("belief:proposal", "List, accept or dismiss proposals of `belief extract`."),
    "tenant": ("places:tenant", "List the tenants of the graph."),
    "scope": ("places:scope", "List the scopes of a tenant."),
    "session": ("places:session", "List conversations by session."),
    "usage": ("usage:usage", "Rate, audit and prune the memory by its search log."),
    "server": ("server:server", "Manage the local Neo4j server."),
    "admin": ("admin:admin", "Manage the schema, tenants, transfers and settings."),
}
"""Module, name and summary of each command, so that `--help` imports none of them."""

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a full disk, an exhausted quota and a file that may not grow."""


class LazyGroup(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of `COMMANDS`, frequent ones first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        # Nearly all that an import creates stays. Looking for garbage takes a seventh of its time.
        gc.disable()
        command: click.Command = getattr(importlib.import_module(f"graphmem.cli.{module}"), name)
        gc.freeze()
        gc.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; an error names the nearest ones."""
        name = args[0]
        if name not in COMMANDS and (near := difflib.get_close_matches(name, COMMANDS)):
            ctx.fail(f"No such command {name!r}. Did you mean {' or '.join(map(repr, near))}?")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin with a text, without importing them."""
        from click.shell_completion import CompletionItem

        names = [name for name in COMMANDS if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=COMMANDS[name][1]) for name in names), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="graphmem")
def cli() -> None:
    """Trustworthy memory for agents, stored in Neo4j.

    Settings are read from GRAPHMEM_ variables, .env and graphmem.toml. Without a URI a local
    server is started. Commands that erase, prune or replace data only show their plan, unless
    --apply is given.
    """


def _discard_output() -> None:
    """Discard what is still buffered for a full standard output; Python flushes it at the end."""
    empty = os.open(os.devnull, os.O_WRONLY)
    os.dup2(empty, sys.stdout.fileno())
    os.close(empty)


def main(args: list[str] | None = None) -> None:
    """Run one command and end the process with its exit code."""
    from graphmem.cli import terminal  # imported only when a command runs
    from graphmem.cli.app import exit_code_of, show_error
    from graphmem.errors import GraphmemError

    terminal.guard()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Arguments may contain characters that cannot be encoded: escape them instead of failing.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        result: Any = cli.main(args=args, prog_name="graphmem", standalone_mode=False)
    except click.ClickException as error:
        terminal.echo_usage(error)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        terminal.echo("Interrupted. Reported work is saved; run it again to resume.", err=True)
        sys.exit(130)
    except GraphmemError as error:
        show_error(error, as_json="--json" in (sys.argv if args is None else args))
        sys.exit(exit_code_of(error))
    except OSError as error:
        if error.errno not in FULL:
            raise
        _discard_output()
        what = error.filename or "The output"
        terminal.echo_error("Error: ", f"{what} cannot be written: {error.strerror}.")
        sys.exit(1)
    sys.exit(result if isinstance(result, int) else 0)
