"""Throughput and latency of recall over HTTP, compared with the Python client."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import Cell, Report, Table
from bench.readers import Answers, ask_at_once
from bench.server import KEPT, fresh_server
from graphmem import GraphMem
from graphmem.serve.keys import Grant, KeyFile

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.settings import Settings

READERS = (1, 8, 32)
ROUNDS, CALLS = 3, 96
"""Rounds of each kind, in turn, and calls of all readers together in each."""
MEMORIES, QUESTIONS = 1_000, 16
"""Memories, and questions, few enough that each process soon has their vectors."""
WANTED_SHARE, WANTED_MS = 0.85, 4.0
CITIES = ("Lisbon", "Porto", "Braga", "Faro", "Evora", "Coimbra", "Aveiro", "Setubal")
READY_S = 120


def measure(steps: Steps) -> Report:
    """Return the answers per second of the client and over HTTP, in alternating rounds."""
    workers = os.cpu_count() or 1
    with fresh_server(steps.say) as settings, GraphMem.open(settings=settings) as memory:
        steps.say("writing")
        memory.remember_many([_sentence(n) for n in range(MEMORIES)])
        with _served(settings, workers) as (address, key):
            ask = _asking(address, key)
            rows = [_compared(memory, ask, one) for one in steps.over(READERS, "readers")]
    return Report(
        name="serve",
        tables=[Table(f"recall(limit=10) of {MEMORIES:,} memories", rows)],
        notes=["The client and the readers share one process; the server has one for each core."],
        setting={"workers": workers, "calls": ROUNDS * CALLS},
    )


def _sentence(number: int) -> str:
    city = CITIES[number % len(CITIES)]
    return f"Employee {number} works in {city} on project {number * 7 % 501}."


def _question(number: int) -> str:
    return f"Which project does employee {number % QUESTIONS * 37} work on?"


def _compared(
    memory: GraphMem, over_http: Callable[[int], object], readers: int
) -> dict[str, Cell]:
    def own(number: int) -> object:
        return memory.recall(_question(number), limit=10)

    answers = {"client": Answers(), "http": Answers()}
    shares = [range(start, CALLS, readers) for start in range(readers)]
    for ask in (own, over_http):  # plans, and each process's vectors of the questions
        ask_at_once(ask, shares, Answers())
    for _ in range(ROUNDS):
        ask_at_once(own, shares, answers["client"])
        ask_at_once(over_http, shares, answers["http"])
    client, http_answers = answers["client"], answers["http"]
    if client.errors or http_answers.errors:
        raise RuntimeError(f"{client.errors} {http_answers.errors}")
    share = http_answers.per_second / client.per_second
    overhead = (http_answers.within(0.5) or 0) - (client.within(0.5) or 0)
    return {
        "readers": readers,
        "client a second": client.per_second,
        "HTTP a second": http_answers.per_second,
        "share": share,
        "client p50 ms": client.within(0.5),
        "HTTP p50 ms": http_answers.within(0.5),
        "HTTP p99 ms": http_answers.within(0.99),
        "overhead p50 ms": overhead,
        "wanted": f">= {WANTED_SHARE:g}" + (f", <= {WANTED_MS:g} ms" if readers == 1 else ""),
        "met": share >= WANTED_SHARE and (readers > 1 or overhead <= WANTED_MS),
    }


def _asking(address: str, key: str) -> Callable[[int], object]:
    """Return a function that asks over a kept connection of its thread."""
    own = threading.local()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def ask(number: int) -> object:
        if not hasattr(own, "connection"):
            own.connection = http.client.HTTPConnection(address)
        body = json.dumps({"query": _question(number), "limit": 10})
        own.connection.request("POST", "/v1/recall", body, headers)
        answer = own.connection.getresponse()
        text = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(text)
        return json.loads(text)

    return ask


@contextmanager
def _served(settings: Settings, workers: int) -> Iterator[tuple[str, str]]:
    """Serve the settings' server; yield the address and a key."""
    with tempfile.TemporaryDirectory() as folder:
        keys, log = Path(folder) / "keys.json", Path(folder) / "log.txt"
        own = settings.model_copy(update={"serve_keys": keys})
        grant = Grant(tenant=settings.tenant, scopes=(settings.scope,))
        _, key = KeyFile.of(own).create("bench", grant, days=None)
        environ = {name: os.environ[name] for name in KEPT if name in os.environ}
        environ |= {
            "GRAPHMEM_HOME": str(settings.home),
            "GRAPHMEM_SERVE_KEYS": str(keys),
            "GRAPHMEM_SERVE_REQUESTS_PER_S": "1000000",
            "PYTHONPATH": str(Path.cwd()),
        }
        command = [sys.executable, "-m", "graphmem", "serve", "--port", "0"]
        with log.open("w") as errors:
            server = subprocess.Popen(  # noqa: S603 - the own command
                [*command, "--workers", str(workers)], env=environ, stderr=errors
            )
        try:
            yield _ready(log), key
        finally:
            server.terminate()
            server.wait(30)


def _ready(log: Path) -> str:
    for _ in range(READY_S * 10):
        if found := re.search(r"Serving http://(\S+)\. ", log.read_text()):
            connection = http.client.HTTPConnection(found[1])
            try:
                connection.request("GET", "/health/ready")
                if connection.getresponse().status == 200:
                    return found[1]
            except OSError:
                pass
        time.sleep(0.1)
    raise TimeoutError(log.read_text())
