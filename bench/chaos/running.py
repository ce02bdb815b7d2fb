"""A whole chaos run: writers, faults in turn, and the checks afterwards."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bench.bare import Bare
from bench.chaos.faults import Site, small_disk
from bench.chaos.judging import checked_rows
from bench.chaos.proxy import proxy_to
from bench.chaos.writers import Journal, Writer
from bench.figures import Cell, Report, Table
from bench.server import settings_in
from graphmem import GraphMem, Handle, local_server
from graphmem.client import connect
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from bench.progress import Steps

TENANT = "chaos"
QUIET_S = 20.0
"""Seconds between two faults, in which clients reconnect and the server replans its queries."""

WRITES = "writes"
FAULTS = "faults"
LAWS = "afterwards"

Row: TypeAlias = dict[str, Cell]


def measure(seconds: float, writers: int, steps: Steps) -> Report:
    """Return what these writers had acknowledged in this time, and how much of it persists."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="graphmem-chaos-")))
        home = folder / "home"
        is_small = stack.enter_context(small_disk(home))
        settings = settings_in(home)
        stack.callback(local_server.stop, settings)
        steps.say("starting a server")
        endpoint = local_server.ensure(settings)
        proxy = stack.enter_context(proxy_to("127.0.0.1", 0))
        site = Site(settings, proxy)
        site.start()
        known = settings.model_copy(
            update={
                "uri": proxy.uri,
                "password": endpoint.password,
                "max_pool_size": 2 * writers,
                "max_retry_time_s": 5.0,
            }
        )
        with GraphMem.open(settings=settings, embedder=HashEmbedder()):
            pass  # updates the schema
        steps.say(f"{writers} writers")
        with GraphMem.open(settings=known, embedder=HashEmbedder()) as client:
            memory = client.tenant(TENANT)
            journal, struck = run(memory, site.faults(), seconds, writers, steps)
            site.start()
            wrong = memory.admin.verify().wrong
        steps.say("judging")
        with Bare(connect.address(settings, steps.say)) as bare:
            rows = checked_rows(journal.writes, bare, TENANT)
    return Report(
        name="chaos",
        tables=[
            Table(WRITES, rows),
            Table(FAULTS, [{"fault": name, "times": n} for name, n in sorted(struck.items())]),
            Table(LAWS, _laws(len(wrong), journal)),
        ],
        notes=[
            f"{writers} threads on one client, through a proxy, for {seconds:.0f} s; a write that "
            "is not acknowledged is often tried again under the same ids. One clock in "
            "four is an hour fast, one in four an hour slow.",
            "Lost: acknowledged but missing. By half: part of a transaction is present.",
            *([] if is_small else ["No small disk could be mounted, so none was full."]),
        ],
        setting={"writers": writers, "seconds": seconds},
    )


def run(
    memory: Handle,
    faults: Mapping[str, Callable[[], None]],
    seconds: float,
    writers: int,
    steps: Steps,
    *,
    quiet_s: float = QUIET_S,
) -> tuple[Journal, Counter[str]]:
    """Run writers for `seconds` while the faults strike in turn; return their journal.

    Also returns the number of times that each fault struck.
    """
    over, struck = threading.Event(), Counter[str]()
    threads = [Writer(memory, number, over) for number in range(writers)]
    first = Writer(memory, writers, over)
    first.write_once()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    try:
        while time.monotonic() < deadline:
            for name, strike in faults.items():
                time.sleep(min(quiet_s, max(deadline - time.monotonic(), 0)))
                if time.monotonic() >= deadline:
                    break
                steps.say(name)
                strike()
                struck[name] += 1
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return _joined([thread.journal for thread in (first, *threads)]), struck


def _joined(journals: Sequence[Journal]) -> Journal:
    whole = Journal()
    for journal in journals:
        whole.writes += journal.writes
        whole.unexpected += journal.unexpected
        whole.unavailable += journal.unavailable
    return whole


def _laws(wrong: int, journal: Journal) -> list[Row]:
    odd = ", ".join(f"{text} {n}" for text, n in sorted(journal.unexpected.items()))
    away = ", ".join(f"{code} {n}" for code, n in sorted(journal.unavailable.items()))
    return [
        {"what": "caches that differ from the events", "found": str(wrong), "met": not wrong},
        {"what": "errors other than `unavailable`", "found": odd or "none", "met": not odd},
        {"what": "writes that failed as unavailable", "found": away or "none", "met": None},
    ]
