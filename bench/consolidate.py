"""Duration of consolidation, from a thousand episodes to a hundred thousand."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench import episodes, synthetic
from bench.figures import Cell, Report, Table
from bench.footprint import footprint
from bench.server import connected, running, settings_in, wind_down
from graphmem import GraphMem, local_server
from graphmem.consolidation import BeliefChange, BeliefChangeKind, ConsolidationReport

if TYPE_CHECKING:
    from bench.episodes import Episodes
    from bench.progress import Steps
    from graphmem.settings import Settings

RATIO = 3.0
"""Maximum ratio of the time per thousand episodes between the largest and the smallest graph."""
CLIENT_MB = 2 * 1024**3 / 1e6
WARM = 200
"""Episodes of another tenant, consolidated first so that the server has planned each query."""
FOUND = 0.95
"""Share of the groups that must be found."""
TIMES, BELIEFS, MEMORY = "seconds", "beliefs", "memory"


@dataclass(slots=True)
class Watch:
    """Times at which each kind of part was last processed."""

    started: float = field(default_factory=time.perf_counter)
    seen: dict[str, float] = field(default_factory=dict)

    def part(self, kind: str, _count: int) -> None:
        """Record the time of a processed part."""
        self.seen[kind] = time.perf_counter() - self.started

    def stages(self) -> dict[str, float]:
        """Return the seconds of reading with its searches, of writing clusters, and of the rest."""
        whole = time.perf_counter() - self.started
        read = self.seen.get("passage", 0.0)
        written = max(self.seen.get("cluster", 0.0), read)
        return {"s": whole, "read s": read, "write s": written - read, "rest s": whole - written}


def measure(sizes: Sequence[int], steps: Steps) -> Report:
    """Return times, beliefs and memory at these sizes, each on a server of its own."""
    times: list[dict[str, Cell]] = []
    beliefs: list[dict[str, Cell]] = []
    memory_rows: list[dict[str, Cell]] = []
    setting: dict[str, Cell] = {}
    for size in sorted(sizes):
        made = episodes.generate(size, seed=1)
        with _loaded(made, steps) as (settings, client):
            memory = client.tenant(episodes.TENANT)
            setting[f"server at {size:,}"] = f"heap {settings.heap}, cache {settings.page_cache}"
            steps.say(f"consolidate {size:,}")
            for _ in range(2):
                client.tenant(episodes.WARM_UP).consolidate()
            watch = Watch()
            done = memory.consolidate(on_progress=watch.part)
            took = watch.stages()
            again = Watch()
            second = memory.consolidate(on_progress=again.part)
            times.append(times_row(size, took, again.stages()["s"], times))
            beliefs.append(beliefs_row(size, done, second, made.planted()))
            memory_rows.append(_memory(size, settings))
    return Report(
        name="consolidate",
        tables=[Table(TIMES, times), Table(BELIEFS, beliefs), Table(MEMORY, memory_rows)],
        notes=[
            "consolidate(), extractive, embeddings ready, one tenant and scope, every episode new. "
            "read: passages with three vector searches each; write: gathering, and a transaction a "
            "cluster; rest: further evidence for the new beliefs, and the beliefs to archive; "
            "again: a second run right after it.",
            f"A third of the episodes are in groups of {episodes.LEAST} to {episodes.MOST}, near "
            f"one another at about {episodes.NEAR} to {episodes.NEAREST}; the others have "
            "neighbours at about 0.5. Found: groups with a belief that is based on at least three "
            "of their episodes; mixed: beliefs based on more than one group or on none.",
            "MB resident at most since the process was started; the client's include the episodes "
            "that the benchmark generated.",
        ],
        setting={**setting, "dimensions": synthetic.DIMENSION},
    )


@contextmanager
def _loaded(made: Episodes, steps: Steps) -> Iterator[tuple[Settings, GraphMem]]:
    """Yield a server that contains these episodes; it is restarted after loading."""
    warm = episodes.generate(WARM, seed=2)
    embedder = synthetic.LookupEmbedder(made.corpus, warm.corpus)
    with TemporaryDirectory(prefix="graphmem-bench-") as folder:
        settings = settings_in(Path(folder))
        with running(settings, steps.say):
            with connected(settings, embedder, steps.say) as (_, bare):
                episodes.load(warm, episodes.WARM_UP, bare, steps)
                episodes.load(made, episodes.TENANT, bare, steps)
            # After a restart, no index merge is running that could distort the measurement.
            steps.say("writing everything to disk")
            wind_down(settings)
        with (
            running(settings, steps.say),
            connected(settings, embedder, steps.say) as (memory, _),
        ):
            yield settings, memory


def times_row(
    size: int, took: Mapping[str, float], again: float, smaller: Sequence[Mapping[str, Cell]]
) -> dict[str, Cell]:
    """Return the seconds of one size, and per 1,000 episodes relative to the smallest size."""
    each = 1_000 * took["s"] / size
    ratio = each / float(smaller[0]["s per 1,000"] or 0) if smaller else 1.0
    return {
        "episodes": size,
        **took,
        "again s": again,
        "s per 1,000": each,
        "ratio": ratio,
        "wanted": f"ratio <= {RATIO:g}",
        "met": ratio <= RATIO,
    }


def beliefs_row(
    size: int,
    done: ConsolidationReport,
    second: ConsolidationReport,
    planted: Mapping[int, frozenset[str]],
) -> dict[str, Cell]:
    """Return how many of the planted groups became beliefs."""
    created = [change for change in done.changes if change.step is BeliefChangeKind.CREATE]
    group_of = {episode: group for group, ids in planted.items() for episode in ids}
    rested = [resting(change, group_of) for change in created]
    found = len({groups[0] for groups in rested if len(groups) == 1 and groups[0] is not None})
    mixed = sum(len(groups) != 1 or groups[0] is None for groups in rested)
    share = found / len(planted)
    return {
        "episodes": size,
        "clusters": done.clusters,
        "beliefs": len(created),
        "other changes": len(done.changes) - len(created),
        "groups": len(planted),
        "found": share,
        "mixed": mixed,
        "changed again": len(second.changes),
        "wanted": f"found >= {FOUND:g}, none mixed, nothing again",
        "met": share >= FOUND and not mixed and not second.changes,
    }


def resting(change: BeliefChange, group_of: Mapping[str, int]) -> list[int | None]:
    """Return the groups of the episodes of a change; None for an episode without a group."""
    found = {group_of.get(episode) for episode in change.episode_ids}
    return sorted(found, key=lambda group: -1 if group is None else group)


def _memory(size: int, settings: Settings) -> dict[str, Cell]:
    client, server = footprint(), footprint(local_server.status(settings).pid)
    return {
        "episodes": size,
        "client MB": client.resident,
        "client peak": client.peak,
        "server MB": server.resident,
        "server peak": server.peak,
        "wanted": f"client peak < {CLIENT_MB:,.0f}",
        "met": None if client.peak is None else client.peak < CLIENT_MB,
    }
