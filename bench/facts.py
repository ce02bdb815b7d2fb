"""Writes and searches of single facts by graphmem and by other libraries, in turn on one server."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from bench.calls import PEOPLE, PLACES, THINGS, VERBS
from bench.commit import insertion
from bench.figures import Cell, Report, Table
from bench.peers import STORES, served
from bench.retrieval import RUNNER, Timed, embedding_service
from bench.server import connected, fresh_server
from bench.synthetic import Corpus
from graphmem.client import connect
from graphmem.errors import ConfigurationError
from graphmem.model import NewMemory
from graphmem.ports import Role, run_now

if TYPE_CHECKING:
    from bench.bare import Bare
    from bench.peers import FactStore
    from bench.progress import Steps
    from graphmem import Handle
    from graphmem.settings import Settings

Fact = Mapping[str, str]
T = TypeVar("T")
OURS = "graphmem"
GRAPHITI, AGENT_MEMORY = "graphiti-core", "neo4j-agent-memory"
MEMORIES = "graphmem, remember_many"
INSERTED, SEARCHED = "bare insertion", "bare search of each, and insertion"
"""The least work of `observe` and `observe_many`, and of `remember_many`: as many nodes with a
vector and words, events and relationships, without and with the search for near duplicates."""
BULK_ONLY = frozenset({MEMORIES, SEARCHED})
FLOOR = "floor"
"""Tenant of bare insertion."""
LIMIT = 10
ROUNDS, CALLS = 12, 10
"""Rounds that count, and calls of each library in one."""
WARM_UP = 6
BULK, BULK_ROUNDS = 500, 15

WRITE, SEARCH, MANY = "one write", "search", f"{BULK} writes"


class Store(Protocol):
    """One library; times and embeddings of each call in ms."""

    def ask(self, **request: object) -> Mapping[str, Any]:
        """Return `ms`, `embedding_ms` and `found` of a request; see `bench.peers.serve`."""
        ...


@dataclass(slots=True)
class Times:
    """Times of one library's calls of one kind, ms."""

    ms: list[float] = field(default_factory=list)
    embedding: list[float] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)
    """Median of each round."""
    hits: list[bool] = field(default_factory=list)
    """Whether a search found its fact."""

    def add(self, reply: Mapping[str, Any], wanted: Sequence[str] = ()) -> None:
        """Add the calls of one round."""
        self.ms += reply["ms"]
        self.embedding += reply["embedding_ms"]
        self.rounds.append(statistics.median(reply["ms"]))
        self.hits += [
            text in found for text, found in zip(wanted, reply["found"], strict=bool(wanted))
        ]


def measure(sizes: Sequence[int], steps: Steps, *, peers: Mapping[str, str]) -> Report:
    """Return the times of graphmem and of `peers` at these numbers of facts.

    Args:
        sizes: Numbers of facts of each library, in one growing graph.
        steps: Progress output.
        peers: Python with the library installed, by name of the library.

    Raises:
        ConfigurationError: A peer cannot be run.
    """
    rows, ratios, setting = list[dict[str, Cell]](), list[dict[str, Cell]](), dict[str, Cell]()
    with (
        fresh_server(steps.say) as settings,
        embedding_service(Timed.of(settings)) as url,
        opened(settings, peers, url, setting, steps) as (stores, bare),
    ):
        setting["neo4j"] = bare.server_version()
        written = 0
        for size in sorted(sizes):
            written = _load(stores, written, size, steps)
            bare.await_indexes()
            times = _singles(stores, written, steps)
            written += _singles_written(stores)
            rows += [_row(size, name, kind, one) for (name, kind), one in times.items()]
            ratios += _ratios(size, times)
        times = _bulk(stores, written, steps)
        rows += [_row(size, name, kind, one) for (name, kind), one in times.items()]
        ratios += _ratios(size, times)
    return Report("facts", [Table("facts, ms", rows), Table("ratios", ratios)], _notes(), setting)


def _notes() -> Sequence[str]:
    return (
        "Medians; of these embedding: in graphmem's process, elsewhere from a service on this "
        f"machine with the same model. A round has {CALLS} calls of each library with new texts, "
        "and one of each way to write many. A ratio is of medians, its range of single rounds.",
        "graphmem checks the predicate's cardinality, earlier events of the id, the slot, "
        "erasures and its tenant. neo4j-agent-memory looks for an equal fact among the three "
        "nearest, in a transaction of its own. Graphiti here checks nothing: what it has needs a "
        f"language model. {MEMORIES} looks for duplicates of each text.",
        f"ratios of {MANY} are without embeddings.",
        "bare insertion is one UNWIND of nodes with a vector and words, their events and "
        "relationships, with all rows made before; no law is kept.",
    )


def facts(start: int, count: int) -> list[Fact]:
    """Return facts of about eight words, each with a subject of its own."""
    made = []
    for n in range(start, start + count):
        subject, predicate = f"{PEOPLE[n % 10]} {n}", VERBS[n // 10 % len(VERBS)]
        value = f"{THINGS[n // 7 % len(THINGS)]} from {PLACES[n // 3 % len(PLACES)]}"
        made.append({"subject": subject, "predicate": predicate, "object": value})
    return [one | {"text": " ".join(one.values())} for one in made]


def question(fact: Fact) -> str:
    """Return a question that a fact answers."""
    return f"What does {fact['subject']} do with {fact['object'].split()[0]}?"


@contextmanager
def opened(
    settings: Settings, peers: Mapping[str, str], url: str, setting: dict[str, Cell], steps: Steps
) -> Iterator[tuple[dict[str, Store], Bare]]:
    """Yield all libraries on one server, and a bare driver."""
    address = connect.address(settings, steps.say)
    neo4j = {"uri": address.uri, "user": address.user, "password": address.password}
    embedder = Timed.of(settings)
    with ExitStack() as stack:
        memory, bare = stack.enter_context(connected(settings, embedder, steps.say))
        handle = memory.tenant("facts")
        stores: dict[str, Store] = {OURS: Here(Ours(handle), embedder)}
        stores[MEMORIES] = Here(Memories(handle), embedder)
        for name in (INSERTED, SEARCHED):
            stores[name] = Inserted(bare, embedder, search=name == SEARCHED)
        setting["encoder"] = embedder.name
        for name, python in peers.items():
            task = {"neo4j": neo4j, "embeddings": url}
            peer = stack.enter_context(Peer.running(name, python, task))
            stores[name] = peer
            setting[name] = peer.version
        yield stores, bare


class Ours:
    """graphmem with its defaults."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    async def write(self, fact: Fact) -> None:
        """Observe one fact."""
        self._handle.observe(fact["subject"], fact["predicate"], fact["object"])

    async def write_all(self, facts: Sequence[Fact]) -> None:
        """Observe many facts."""
        names = ("subject", "predicate", "object")
        self._handle.observe_many([{name: one[name] for name in names} for one in facts])

    async def find(self, question: str, limit: int) -> Sequence[str]:
        """Recall, from memories, beliefs, turns and episodes."""
        return [bite.text for bite in self._handle.recall(question, limit=limit).bites]


class Memories(Ours):
    """Facts as sentences."""

    async def write_all(self, facts: Sequence[Fact]) -> None:
        """Remember many sentences."""
        self._handle.remember_many([NewMemory(content=one["text"]) for one in facts])


class Inserted:
    """Insertion by bare Cypher into a tenant of its own, with rows made before its time counts."""

    def __init__(self, bare: Bare, embedder: Timed, *, search: bool) -> None:
        self._bare, self._embedder, self._search = bare, embedder, search

    def ask(self, **request: object) -> Mapping[str, Any]:
        """Insert facts as memories, with their events: all of `write_all`, or each of `write`.

        See `Store`.
        """
        one_by_one = cast("Sequence[Fact]", request.get("write", ()))
        batches = [[one] for one in one_by_one] or [cast("list[Fact]", request["write_all"])]
        reply: dict[str, list[Any]] = {"ms": [], "embedding_ms": [], "found": []}
        for batch in batches:
            started = time.perf_counter()
            texts = [fact["text"] for fact in batch]
            made = run_now(self._embedder.embed(texts, Role.DOCUMENT))
            embedding = time.perf_counter() - started
            work = insertion(self._bare, FLOOR, Corpus(texts, made), search=self._search)
            started = time.perf_counter()
            work()
            took = time.perf_counter() - started
            reply["ms"].append(1_000 * (embedding + took))
            reply["embedding_ms"].append(1_000 * embedding)
        return reply


class Here:
    """A library of this process."""

    def __init__(self, store: FactStore, embedder: Timed) -> None:
        self._store, self._embedder = store, embedder

    def ask(self, **request: object) -> Mapping[str, Any]:
        """Return times and texts; see `Store`."""
        return run_now(served(self._store, self._embedder, request))


class Peer:
    """Another library in a process of its own."""

    def __init__(self, name: str, process: subprocess.Popen[str]) -> None:
        self._name, self._process = name, process
        self.version = self._line().strip()

    @classmethod
    @contextmanager
    def running(cls, name: str, python: str, task: Mapping[str, Any]) -> Iterator[Peer]:
        """Start the library and end it afterwards.

        Raises:
            ConfigurationError: It cannot be run.
        """
        with tempfile.TemporaryDirectory(prefix="graphmem-peer-") as folder:
            given = Path(folder) / "task.json"
            given.write_text(json.dumps(task), encoding="utf-8")
            try:
                process = subprocess.Popen(  # noqa: S603
                    [python, str(RUNNER), name, str(given)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
            except OSError as error:
                raise ConfigurationError(
                    f"{python} cannot be started: {error.strerror}.",
                    hint=f"Name the Python of an environment with {name}: --peer {name}=PATH",
                ) from error
            with process:
                yield cls(name, process)

    def ask(self, **request: object) -> Mapping[str, Any]:
        """Return times and texts; see `Store`."""
        print(json.dumps(request), file=self._process.stdin, flush=True)
        reply: dict[str, Any] = json.loads(self._line())
        return reply

    def _line(self) -> str:
        if self._process.stdout and (line := self._process.stdout.readline()):
            return line
        raise ConfigurationError(
            f"{self._name} failed.",
            hint=f"Run bench/peers.py {self._name} with its Python to see the error.",
        )


Stores = Mapping[str, Store]
Measured = dict[tuple[str, str], Times]


def _load(stores: Stores, start: int, size: int, steps: Steps) -> int:
    for first in steps.over(range(start, size, BULK), f"load {size:,}"):
        part = facts(first, min(BULK, size - first))
        for name, store in stores.items():
            if name not in BULK_ONLY:
                store.ask(write_all=part)
    return size


def _singles(stores: Stores, written: int, steps: Steps) -> Measured:
    """Return the times of single calls, with texts that only one of the libraries gets.

    So no embedding comes from the cache of the service.
    """
    asked_of = written - _singles_written(stores)
    singles = {name: store for name, store in stores.items() if name not in BULK_ONLY}
    times: Measured = {(name, kind): Times() for kind in (WRITE, SEARCH) for name in singles}
    for number in steps.over(range(-WARM_UP, ROUNDS), "rounds"):
        for name, store in _turned(singles, number):
            wrote = store.ask(write=facts(written, CALLS))
            written += CALLS
            if number >= 0:
                times[name, WRITE].add(wrote)
            if name == INSERTED:
                continue
            asked = facts(asked_of, CALLS)
            found = store.ask(find=[question(one) for one in asked], limit=LIMIT)
            asked_of += CALLS
            if number >= 0:
                times[name, SEARCH].add(found, [one["text"] for one in asked])
    return {key: one for key, one in times.items() if one.ms}


def _singles_written(stores: Stores) -> int:
    return len(stores.keys() - BULK_ONLY) * (ROUNDS + WARM_UP) * CALLS


def _bulk(stores: Stores, written: int, steps: Steps) -> Measured:
    times: Measured = {(name, MANY): Times() for name in stores if name != AGENT_MEMORY}
    for number in steps.over(range(-1, BULK_ROUNDS), MANY):
        for name, _ in _turned({name: 0 for name, _ in times}, number):
            reply = stores[name].ask(write_all=facts(written, BULK))
            written += BULK
            if number >= 0:
                own = zip(reply["ms"], reply["embedding_ms"], strict=True)
                times[name, MANY].add(dict(reply) | {"ms": [ms - embed for ms, embed in own]})
    return times


def _turned(items: Mapping[str, T], number: int) -> list[tuple[str, T]]:
    """Return the items in an order that begins with another one in each round."""
    first = number % len(items)
    order = list(items.items())
    return order[first:] + order[:first]


def _row(size: int, name: str, kind: str, times: Times) -> dict[str, Cell]:
    median = statistics.median(times.ms)
    return {
        "facts": size,
        "call": kind,
        "library": name,
        "ms": median,
        "of these embedding": None if kind == MANY else statistics.median(times.embedding),
        "per s": 1_000 * (BULK if kind == MANY else 1) / median,
        "found %": 100 * statistics.mean(times.hits) if times.hits else None,
    }


GOALS = (
    (WRITE, OURS, AGENT_MEMORY, 1.5),
    (SEARCH, OURS, GRAPHITI, 8.0),
    (MANY, OURS, GRAPHITI, 2.0),
    (MANY, MEMORIES, GRAPHITI, 1.2),
)
"""Kind of call, ours, the other library, and how many times as fast ours must be at 10,000."""
JUDGED = 10_000


def _ratios(size: int, times: Measured) -> Iterator[dict[str, Cell]]:
    for kind, ours, other, goal in GOALS:
        if not {(ours, kind), (other, kind)} <= times.keys():
            continue
        own, theirs = times[ours, kind], times[other, kind]
        each = [b / a for a, b in zip(own.rounds, theirs.rounds, strict=True)]
        ratio = statistics.median(theirs.ms) / statistics.median(own.ms)
        yield {
            "facts": size,
            "call": kind,
            "library": ours,
            "times as fast as": other,
            "ratio": ratio,
            "min": min(each),
            "max": max(each),
            "at least": goal,
            "met": ratio >= goal if size >= JUDGED else None,
        }


def parse_peers(given: Sequence[str]) -> dict[str, str]:
    """Return the Python of each peer; see `bench.retrieval.parse_peers`.

    Raises:
        ConfigurationError: A text has another form, or the library has no facts here.
    """
    from bench import retrieval

    peers = retrieval.parse_peers(given)
    for name in peers:
        if name not in STORES:
            raise ConfigurationError(
                f"--peer {name} cannot store facts here.", hint=f"Use {' or '.join(STORES)}."
            )
    return peers
