"""The harness of faults: that it sees what is lost, and nothing is by a network that is bad."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from rich.console import Console

from bench.bare import Bare
from bench.chaos import faults, judging, running, writers
from bench.chaos.faults import Site
from bench.chaos.proxy import proxy_to
from bench.chaos.writers import Write
from bench.progress import Steps
from graphmem import GraphMem
from graphmem.client import connect
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.plugins.graph import fresh_tenant


class There:
    """A driver that finds these events and turns."""

    def __init__(self, events: list[str], turns: dict[str, int]) -> None:
        self._events = events
        self._turns = turns

    def rows(self, text: str, **params: Any) -> list[dict[str, Any]]:
        if text == judging.TURNS:
            return [{"text": text, "times": n} for text, n in self._turns.items()]
        return [{"id": one} for one in params["ids"] if one in self._events]


def test_what_is_lost_or_there_by_half_or_twice_is_seen() -> None:
    writes = [
        Write("observe", ("a",), is_done=True),
        Write("observe", ("gone",), is_done=True),
        Write("remember_many", ("b", "half"), is_done=False),
        Write("remember_many", ("c", "d"), is_done=True),
        Write("remember_many", ("x", "y"), is_done=False),
        Write("add_messages", ("hello",), is_done=True),
        Write("read", (), is_done=True),
        Write("read", ()),
    ]
    bare: Any = There(["a", "b", "c", "d"], {"hello": 2})
    talk, observe, read, many = judging.checked_rows(writes, bare, "t")
    assert (observe["acknowledged"], observe["lost"], observe["met"]) == (2, 1, False)
    assert (many["by half"], many["not there"], many["lost"]) == (1, 1, 0)
    assert (read["by half"], read["not there"], read["met"]) == (0, 1, True)
    assert (talk["twice"], talk["met"]) == (1, False)


@pytest.mark.system
@pytest.mark.server
def test_writers_on_a_bad_network_lose_nothing(
    migrated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("DOWN_S", 0.3), ("SLOW_S", 1.0), ("DELAY_S", 0.01)):
        monkeypatch.setattr(faults, name, value)
    # A server that has just started plans each query first; the writers wait.
    monkeypatch.setattr(writers, "AGAIN", 1.0)
    tenant, at = fresh_tenant(), urlsplit(str(migrated.uri))
    steps = Steps(Console(quiet=True))
    with proxy_to(str(at.hostname), int(at.port or 0)) as proxy:
        site = Site(migrated, proxy)
        by_proxy = migrated.model_copy(update={"uri": proxy.uri, "max_retry_time_s": 5.0})
        with GraphMem.open(settings=by_proxy, embedder=HashEmbedder()) as client:
            memory = client.tenant(tenant)
            strikes = {"cut off": site.cut, "slow network": site.slow}
            journal, struck = running.run(memory, strikes, 6, 4, steps, quiet_s=0.5)
            wrong = memory.admin.verify().wrong
    with Bare(connect.address(migrated, steps.say)) as bare:
        rows = judging.checked_rows(journal.writes, bare, tenant)
    assert [row for row in rows if not row["met"]] == []
    assert struck.keys() == strikes.keys()
    assert len(rows) == 9
    assert not journal.unexpected
    assert wrong == ()
