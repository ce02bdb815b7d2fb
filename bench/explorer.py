"""Time of each page of the explorer, in the server's process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from bench import synthetic
from bench.figures import Cell, Report, Table, percentile
from bench.server import connected, fresh_server
from bench.store import memory_row, write_memories
from graphmem import Handle
from graphmem.model import GLOBAL_SCOPE
from graphmem.ports import Role, run_now
from graphmem.rules import claims, identity
from graphmem.serve.keys import Grant, KeyFile
from graphmem.serve.listening import ListenAddress
from graphmem.serve.server import Options, guarded
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from bench.bare import Bare
    from bench.progress import Steps
    from graphmem.settings import Settings

TENANT = "desk"
SUBJECTS, PREDICATES = 500, 4
VALUES = 10_000
"""Values of one slot, of which one holds at a time, and of another, of which all may hold."""
CONVERSATIONS, TURNS = 100, 20
ROWS = 100
"""Memories of one time, written together."""
RUNS, PORT = 9, 8767
LIMITS = {10_000: 300.0, 100_000: 1_000.0}
"""Maximum p50 in milliseconds by number of memories."""
START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def measure(sizes: Sequence[int], steps: Steps) -> Report:
    """Return the times of the pages at these numbers of memories, each on an empty server."""
    rows = list[dict[str, Cell]]()
    for size in sizes:
        with fresh_server(steps.say) as settings:
            with connected(settings, HashEmbedder(), steps.say) as (client, bare):
                fill(client.tenant(TENANT), bare, size, steps)
            with opened(settings) as http:
                rows += timed(http, size, steps)
    return Report(
        name="explorer",
        tables=[Table("milliseconds of a page in the server's process", rows)],
        notes=[f"Median of {RUNS} requests after one that fills the caches of plans."],
        setting={
            "subjects": SUBJECTS,
            "predicates": PREDICATES,
            "values of the long slots": VALUES,
            "turns": CONVERSATIONS * TURNS,
        },
    )


def fill(memory: Handle, bare: Bare, size: int, steps: Steps) -> None:
    """Write memories, conversations, beliefs, and two slots of many values."""
    source = synthetic.Memories(size, seed=1)
    for number in steps.over(range(source.blocks), f"load {size:,}"):
        _load(bare, source.block(number).texts, number * synthetic.BLOCK)
    texts = source.block(0).texts
    for number in steps.over(range(CONVERSATIONS), "conversations"):
        start = START + number * timedelta(hours=1)
        with memory.session(f"talk {number}") as session:
            session.add_messages(
                {
                    "role": "user",
                    "name": "Ada",
                    "content": f"{texts[(number * TURNS + n) % size]} (talk {number})",
                    "at": start + n * MINUTE,
                }
                for n in range(TURNS)
            )
    steps.say("beliefs")
    memory.predicates.declare("located_in", cardinality="ONE")
    memory.observe_many(
        {"subject": f"Person {s}", "predicate": f"knows_{p}", "object": f"City {s * p % 37}"}
        for s in range(SUBJECTS)
        for p in range(PREDICATES)
    )
    for predicate in ("likes", "located_in"):
        for first in steps.over(range(0, VALUES, 1_000), predicate):
            memory.observe_many(
                {
                    "subject": "Ada",
                    "predicate": predicate,
                    "object": f"place {n}",
                    "at": START + n * MINUTE,
                }
                for n in range(first, first + 1_000)
            )
    bare.await_indexes()


def _load(bare: Bare, texts: Sequence[str], first: int) -> None:
    block = synthetic.Corpus(texts, run_now(HashEmbedder().embed(texts, Role.DOCUMENT)))
    rows = [memory_row(TENANT, block, first, n, tokens=False) for n in range(len(texts))]
    for at in range(0, len(rows), ROWS):
        write_memories(bare, TENANT, [START + (first + at) * MINUTE], rows[at : at + ROWS])


def addresses(size: int) -> Iterator[tuple[str, str]]:
    """Yield the pages: their names and addresses."""

    def page(title: str, path: str, **query: str) -> tuple[str, str]:
        return title, f"{path}?{urlencode(query)}"

    def belief(predicate: str, subject: str = "Ada", value: str = "place 77") -> str:
        return claims.triple_claim(GLOBAL_SCOPE, subject, predicate, value).id

    text = synthetic.Memories(size, seed=1).block(0).texts[7]
    episode = identity.episode_id(GLOBAL_SCOPE, "talk 7")
    short = belief("knows_2", "Person 7", "City 14")
    yield page("home", "/")
    yield page("search", "/search", q=text.rpartition(" ")[0])
    # Its number is in the names of values.
    yield page("search that finds a slot of many values", "/search", q=text)
    yield page("subject", "/subject", name="Person 7")
    yield page("slot", "/slot", subject="Person 7", predicate="knows_2")
    yield page("slot of many values, all at once", "/slot", subject="Ada", predicate="likes")
    yield page("slot of many values, one at a time", "/slot", subject="Ada", predicate="located_in")
    yield page("belief", "/item", id=short)
    yield page("belief among many, all at once", "/item", id=belief("likes"))
    yield page("belief among many, one at a time", "/item", id=belief("located_in"))
    yield page("memory", "/item", id=identity.memory_id(GLOBAL_SCOPE, text))
    yield page("episode", "/item", id=episode)
    yield page("review", "/review")
    yield page("replay", "/replay", q=text.rpartition(" ")[0])
    yield page("graph of a belief", "/graph", id=short)
    yield page("graph of one among many", "/graph", id=belief("located_in"))
    yield page("usage", "/usage")
    yield page("jobs", "/jobs")
    yield page("plan of an erasure", "/erase", id=short)
    right = {"step": "preview", "how": "changed", "right": "City 99", "reason": "moved"}
    yield page("correction of a belief", "/correct", id=short, **right)
    yield page("correction among many", "/correct", id=belief("located_in"), **right)


@contextmanager
def opened(settings: Settings) -> Iterator[TestClient]:
    """Yield the application in this process, with the cookie of a session."""
    from starlette.testclient import TestClient

    with tempfile.TemporaryDirectory() as folder:
        more = {
            "serve_keys": Path(folder) / "keys.json",
            "embedder": "hash",
            "serve_requests_per_s": 1e6,
        }
        own = settings.model_copy(update=more)
        rights = ("read", "write", "review", "erase", "admin")
        grant = Grant(tenant=TENANT, scopes=("*",), rights=rights)
        _, key = KeyFile.of(own).create("bench", grant, days=None)
        application = guarded(Options(own, ListenAddress(port=PORT)), PORT)
        with TestClient(application, base_url=f"http://127.0.0.1:{PORT}") as http:
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            http.post("/login", content=urlencode({"key": key}), headers=form)
            yield http


def timed(http: TestClient, size: int, steps: Steps) -> list[dict[str, Cell]]:
    """Return a row for each page."""
    most = next((ms for count, ms in LIMITS.items() if size <= count), None)
    rows = list[dict[str, Cell]]()
    for name, address in steps.over(list(addresses(size)), "pages"):
        took, found = list[float](), http.get("/login")
        for _ in range(RUNS + 1):
            started = time.perf_counter()
            found = http.get(address)
            took.append(1000 * (time.perf_counter() - started))
        answered = found.status_code == 200
        p50 = percentile(took[1:], 0.5)
        rows.append(
            {
                "memories": size,
                "page": name,
                "first": took[0],
                "p50": p50,
                "max": max(took[1:]),
                "kB": len(found.content) / 1000,
                "status": found.status_code,
                "wanted": None if most is None else f"<= {most:g}",
                "met": answered and (most is None or p50 <= most),
            }
        )
    return rows
