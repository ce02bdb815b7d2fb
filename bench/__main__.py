"""Command line of the benchmarks: `python -m bench NAME`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from bench.commands import FOLDER, as_json, run

F = TypeVar("F", bound=Callable[..., Any])

SIZES = (10_000, 50_000)
RECALL_SIZES = (10_000, 100_000)
EPISODES = (1_000, 10_000, 100_000)
RESULTS = 1_000_000


def sizes(
    least: int, default: tuple[int, ...], shown: str = "Number of memories (repeatable)."
) -> Callable[[F], F]:
    """Return the option of the sizes of a benchmark."""
    return click.option(
        "--sizes",
        type=click.IntRange(min=least),
        multiple=True,
        default=default,
        show_default=True,
        help=shown,
    )


@click.group()
def bench() -> None:
    """Measure graphmem against a baseline of the same run; exit 1 if a target is missed."""


@bench.command()
@sizes(500, SIZES)
@as_json
def commit(sizes: tuple[int, ...], *, as_json: bool) -> None:
    """Texts committed per second, compared with bare insertion and one search per row."""
    from bench.commit import measure

    run(lambda steps: measure(sizes, steps), as_json=as_json)


@bench.command()
@sizes(500, RECALL_SIZES, "Number of memories (repeatable). A million takes hours to load.")
@click.option("--keep", type=FOLDER, help="Keep the loaded graphs in this folder and reuse them.")
@click.option(
    "--processes",
    type=click.IntRange(1, 32),
    multiple=True,
    default=(1,),
    show_default=True,
    help="Number of processes of the 32 readers (repeatable).",
)
@as_json
def recall(
    sizes: tuple[int, ...], keep: Path | None, processes: tuple[int, ...], *, as_json: bool
) -> None:
    """Recall latency compared with the bare filtered vector search; index misses; memory."""
    from bench.recall import measure

    run(lambda steps: measure(sizes, steps, keep=keep, processes=processes), as_json=as_json)


@bench.command()
@click.option("--beam", is_flag=True, help="Include BEAM; embedding it takes half an hour.")
@click.option("--shipped", is_flag=True, help="Leave out the other rankings.")
@as_json
def locomo(*, beam: bool, shipped: bool, as_json: bool) -> None:
    """Share of the evidence that recall finds in long conversations."""
    from bench.locomo import SHIPPED, SYSTEMS, measure

    systems = (SHIPPED,) if shipped else tuple(SYSTEMS)
    run(lambda steps: measure(steps, beam=beam, systems=systems), as_json=as_json)


@bench.command()
@click.option(
    "--peer",
    "peers",
    multiple=True,
    metavar="NAME=PYTHON",
    help="Another library, and a Python that has it: langgraph, mem0ai, graphiti-core, "
    "neo4j-agent-memory (repeatable).",
)
@click.option(
    "--audit",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON list of LoCoMo's doubted questions: figures without them, too.",
)
@as_json
def retrieval(peers: tuple[str, ...], audit: Path | None, *, as_json: bool) -> None:
    """Share of the evidence that graphmem and other libraries find, without a language model."""
    from bench.retrieval import measure, parse_peers

    run(lambda steps: measure(steps, peers=parse_peers(peers), audit=audit), as_json=as_json)


@bench.command()
@sizes(500, (1_000, 10_000), "Number of facts of each library (repeatable).")
@click.option(
    "--peer",
    "peers",
    multiple=True,
    metavar="NAME=PYTHON",
    help="Another library, and a Python that has it: graphiti-core, neo4j-agent-memory "
    "(repeatable).",
)
@as_json
def facts(sizes: tuple[int, ...], peers: tuple[str, ...], *, as_json: bool) -> None:
    """Writes and searches of facts by graphmem and other libraries, in turn on one server."""
    from bench.facts import measure, parse_peers

    run(lambda steps: measure(sizes, steps, peers=parse_peers(peers)), as_json=as_json)


@bench.command()
@as_json
def start(*, as_json: bool) -> None:
    """Start times of the server, the command line and the package import."""
    from bench.start import measure

    run(measure, as_json=as_json)


@bench.command()
@as_json
def mcp(*, as_json: bool) -> None:
    """Start time of the MCP server, cost of a call, and token count of its tools."""
    from bench.mcp import measure

    run(measure, as_json=as_json)


@bench.command()
@sizes(10, (300,))
@as_json
def calls(sizes: tuple[int, ...], *, as_json: bool) -> None:
    """Time of every daily call with the default embedder and new texts, against bare primitives."""
    from bench.calls import measure

    run(lambda steps: measure(sizes, steps), as_json=as_json)


@bench.command()
@click.option(
    "--curve",
    "curves",
    multiple=True,
    help="Name of a curve (repeatable); all by default. That of tenants starts a server a size.",
)
@click.option(
    "--sizes",
    type=click.IntRange(min=1),
    multiple=True,
    help="Size of each curve (repeatable); four sizes of its own by default.",
)
@click.option("--figures", type=FOLDER, help="Draw each curve into this folder.")
@as_json
def growth(
    curves: tuple[str, ...], sizes: tuple[int, ...], figures: Path | None, *, as_json: bool
) -> None:
    """Growth of the cost of calls with events, values, chains, aliases, tenants, scopes, turns."""
    from bench.growth import measure

    run(lambda steps: measure(curves, sizes, steps, figures=figures), as_json=as_json)


@bench.command()
@as_json
def serve(*, as_json: bool) -> None:
    """Recall over HTTP compared with the Python client, at 1, 8 and 32 readers."""
    from bench.serve import measure

    run(measure, as_json=as_json)


@bench.command()
@sizes(3_000, RECALL_SIZES)
@as_json
def explorer(sizes: tuple[int, ...], *, as_json: bool) -> None:
    """Time of each page of the explorer, with two slots of ten thousand values."""
    from bench.explorer import measure

    run(lambda steps: measure(sizes, steps), as_json=as_json)


@bench.command()
@as_json
def pairs(*, as_json: bool) -> None:
    """Texts that are treated as the same: changed facts, repeats and paraphrases."""
    from bench.pairs import measure

    run(measure, as_json=as_json)


@bench.command()
@as_json
def belief(*, as_json: bool) -> None:
    """Reading a slot: the cost per piece of evidence, and the savings of a checkpoint."""
    from bench.belief import measure

    run(measure, as_json=as_json)


@bench.command()
@sizes(100, EPISODES, "Number of episodes (repeatable).")
@as_json
def consolidate(sizes: tuple[int, ...], *, as_json: bool) -> None:
    """Duration of consolidation, whether it finds planted facts, and memory."""
    from bench.consolidate import measure

    run(lambda steps: measure(sizes, steps), as_json=as_json)


@bench.command()
@as_json
def extraction(*, as_json: bool) -> None:
    """Proposals dismissed by extraction when quotes, turns and names are corrupted on purpose."""
    from bench.extraction import measure

    run(measure, as_json=as_json)


@bench.command()
@click.option(
    "--results",
    type=click.IntRange(min=1_000),
    default=RESULTS,
    show_default=True,
    help="Number of logged search results.",
)
@as_json
def rating(results: int, *, as_json: bool) -> None:
    """Time to rate a search log, recovery after a kill, and the cost of logging in recall."""
    from bench.rating import measure

    run(lambda steps: measure(results, steps), as_json=as_json)


@bench.command()
@click.option(
    "--talk",
    "talks",
    type=click.Choice(["ordinary", "LoCoMo"]),
    multiple=True,
    default=["ordinary", "LoCoMo"],
    show_default=True,
    help="What people talk about.",
)
@as_json
def month(talks: tuple[str, ...], *, as_json: bool) -> None:
    """Summaries, beliefs, digests and pruning after a simulated month, without and with a model."""
    from bench.month import measure

    run(lambda steps: measure(talks, steps), as_json=as_json)


@bench.command()
@click.option("--seconds", type=click.FloatRange(min=1), default=600.0, show_default=True)
@click.option("--writers", type=click.IntRange(min=1), default=32, show_default=True)
@as_json
def chaos(seconds: float, writers: int, *, as_json: bool) -> None:
    """Concurrent writers while the server is killed, paused, cut off, slow and out of disk."""
    from bench.chaos.running import measure

    run(lambda steps: measure(seconds, writers, steps), as_json=as_json)


@bench.command()
@click.option(
    "--size", type=click.IntRange(min=500), default=100_000, show_default=True, help="Memories."
)
@as_json
def reembed(size: int, *, as_json: bool) -> None:
    """Migration to another embedding model: killed, resumed, and read throughout."""
    from bench.reembed import measure

    run(lambda steps: measure(size, steps), as_json=as_json)


@bench.command()
@as_json
def isolation(*, as_json: bool) -> None:
    """Response times of requests for data of another tenant and for unknown data."""
    from bench.isolation import measure

    run(measure, as_json=as_json)


@bench.command()
@as_json
def chats(*, as_json: bool) -> None:
    """Share of the items that answers were taken from which is rated, by `respond` and by MCP."""
    from bench.chats import measure

    run(measure, as_json=as_json)


@bench.command()
@click.option("--out", type=FOLDER, default=Path("docs/figures"), show_default=True)
def pictures(out: Path) -> None:
    """Take the Neo4j Browser screenshots of the documentation; requires Chromium."""
    from rich.console import Console

    from bench.pictures import shoot

    notes = Console(stderr=True, highlight=False)
    for path in shoot(out, lambda line: notes.print(f"[dim]{line}[/dim]")):
        click.echo(path)


@bench.command()
@click.option("--out", type=FOLDER, default=Path("docs/figures"), show_default=True)
def screenshots(out: Path) -> None:
    """Take the screenshots of the explorer for the documentation; requires Chromium."""
    from rich.console import Console

    from bench.screenshots import shoot

    notes = Console(stderr=True, highlight=False)
    for path in shoot(out, lambda line: notes.print(f"[dim]{line}[/dim]")):
        click.echo(path)


if __name__ == "__main__":
    bench(prog_name="python -m bench")
