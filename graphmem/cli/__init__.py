"""The command line: groups by noun, each command a thin skin over one client call.

Exit codes: 0 done, 1 findings or a refusal, 2 usage, 3 graph unavailable, 4 model unavailable,
5 schema not current, 130 interrupted.
"""

from __future__ import annotations

import importlib
import io
import sys
from typing import Any

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("graphmem.cli.demo:demo", "Start everything, remember a conversation, recall it."),
    "ingest": ("graphmem.cli.ingest:ingest", "Remember the conversations of FILE."),
    "recall": (
        "graphmem.cli.recall:recall",
        "Find what is remembered about QUERY, best first, each with its reasons.",
    ),
    "context": (
        "graphmem.cli.recall:context",
        "Print what is remembered about QUERY as a block for a prompt, fenced as data.",
    ),
    "why": (
        "graphmem.cli.recall:why",
        "Explain a belief, event by event, or say how a memory came about.",
    ),
    "expand": (
        "graphmem.cli.recall:expand",
        "Show all that is kept of a memory, a belief, a turn or an episode; it counts as a look.",
    ),
    "consolidate": (
        "graphmem.cli.consolidate:consolidate",
        "Let what several episodes say become beliefs, and show what was done.",
    ),
    "memory": ("graphmem.cli.memory:memory", "Write, read and correct memories."),
    "belief": (
        "graphmem.cli.belief:belief",
        "Record evidence, test hypotheses, read what to believe.",
    ),
    "attention": (
        "graphmem.cli.usage:attention",
        "See what the memory is really used for, by the log of its searches.",
    ),
    "metrics": (
        "graphmem.cli.metrics:metrics",
        "Sizes, ratings, work that waits and its cost, for Prometheus.",
    ),
    "mcp": (
        "graphmem.cli.mcp:mcp",
        "Serve the memory to agents over MCP, on stdin and stdout or over HTTP.",
    ),
    "server": (
        "graphmem.cli.server:server",
        "The managed local Neo4j: fetched on first use, on this machine alone.",
    ),
    "admin": ("graphmem.cli.admin:admin", "Schema, catalog and settings."),
}
"""Where each command lives and its one-line help, so that `--help` imports none of them."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table: the daily ones first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="graphmem", prog_name="graphmem")
def cli() -> None:
    """Memory for agents that can be trusted, kept in Neo4j.

    Settings come from GRAPHMEM_ variables; without GRAPHMEM_URI a local server is started.
    """


def main(args: list[str] | None = None) -> None:
    """Run one command and end the process with its exit code."""
    from graphmem.cli import terminal  # only when a command runs
    from graphmem.cli.app import exit_code_of, show_error
    from graphmem.errors import GraphmemError

    terminal.guard()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An argument may hold what no encoding has; it is shown as its number, not a crash.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        result: Any = cli.main(args=args, prog_name="graphmem", standalone_mode=False)
    except click.ClickException as error:
        terminal.echo_usage(error)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        terminal.echo(
            "Interrupted. What was reported as done is kept; run it again to go on.", err=True
        )
        sys.exit(130)
    except GraphmemError as error:
        show_error(error, as_json="--json" in (sys.argv if args is None else args))
        sys.exit(exit_code_of(error))
    sys.exit(result if isinstance(result, int) else 0)
