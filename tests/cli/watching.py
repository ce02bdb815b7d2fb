"""A user of the live dashboard, and made-up figures for it to show."""

from __future__ import annotations

import asyncio
import html
import os
import re
import select
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Self, TypeVar, cast

from textual.pilot import Pilot, WaitForScreenTimeout
from textual.widgets import Static, TabbedContent

from graphmem.cli.dashboard import DashboardApp, PaneTable
from graphmem.errors import GraphmemError
from graphmem.model import Card, Memory, Rating, Status, Tier
from graphmem.usage import Audit, RatedItem, RatingUpdate, SessionAudit, UsageCount, UsageDashboard

NOW = datetime(2026, 6, 1, 9, 30, tzinfo=UTC)
LONG = 3_600.0
"""Seconds: nothing is refreshed by itself."""
LIMIT_S = 300.0
"""How long a command on a terminal may take for one step."""
T = TypeVar("T")


def rated(item_id: str, elo: float, kind: str = "Memory") -> RatedItem:
    tier = Tier.MEDIUM if elo >= 1200 else Tier.LOW
    rating = Rating(elo=elo, tier=tier, games=7, touched_at=NOW)
    return RatedItem(kind=kind, id=item_id, scope="global", text=f"says {item_id}", rating=rating)


def done(
    event_id: str, session: str | None, *items: tuple[str, str], query: str = ""
) -> UsageCount:
    return UsageCount(
        id=event_id,
        at=NOW,
        scope="global",
        session_id=session,
        tool="recall" if query else None,
        query=query or None,
        items=tuple((kind, item, f"says {item}") for kind, item in items),
    )


def update(item_id: str, kind: str = "Memory") -> RatingUpdate:
    return RatingUpdate(
        search_id="e1", at=NOW, kind=kind, id=item_id, text="x", before=1200.0, after=1207.5
    )


def told(*top: RatedItem) -> UsageDashboard:
    return UsageDashboard(
        top=top,
        tiers={Tier.HIGH: 0, Tier.MEDIUM: 3, Tier.LOW: 1, Tier.VERY_LOW: 0},
        histogram=((1150.0, 1), (1200.0, 3)),
        activity=(
            done("e3", "monday", ("Memory", "m1"), ("Turn", "t1"), query="where is it?"),
            done("e2", None, ("Belief", "b1")),
            done("e1", "monday", query="nothing at all"),
        ),
        updates=(update("m1"), update("b1", "Belief")),
    )


class Figures:
    """What is told instead of a graph."""

    def __init__(self, *top: RatedItem) -> None:
        self.found = told(*(top or (rated("m1", 1250), rated("b1", 1180, "Belief"))))
        self.error: GraphmemError | None = None
        self.asked: list[tuple[tuple[str, ...], int]] = []
        self.expanded: list[str] = []
        self.audited: list[tuple[float, str | None]] = []
        self.open = threading.Event()
        """Cleared, no answer comes."""
        self.open.set()

    @property
    def usage(self) -> Self:
        return self

    def dashboard(self, *, kinds: Sequence[str], limit: int) -> UsageDashboard:
        self.asked.append((tuple(kinds), limit))
        found, error = self.found, self.error
        assert self.open.wait(300)
        if error is not None:
            raise error
        return found

    def expand(self, item_id: str, /) -> Card:
        self.expanded.append(item_id)
        if self.error is not None:
            raise self.error
        return Card(trust="person", item=memory(item_id), accesses=3, last_access_at=NOW)

    def audit(self, *, days: float, session_id: str | None) -> Audit:
        self.audited.append((days, session_id))
        one = SessionAudit(
            id="e0",
            session_id=str(session_id),
            agent="planner",
            scope="global",
            started_at=NOW,
            ended_at=None,
            searches=2,
            accesses=1,
            lost=None,
        )
        return Audit(sessions=(one,), findings=())


def memory(item_id: str) -> Memory:
    return Memory(
        id=item_id,
        scope="global",
        content=f"All of {item_id}.",
        content_hash="0",
        tags=(),
        status=Status.CURRENT,
        created_at=NOW,
        recorded_at=NOW,
        last_seen_at=NOW,
        reinforce_count=0,
    )


async def settled(work: Coroutine[Any, Any, None]) -> None:
    """Await what a pilot does.

    A pilot gives up if a widget has not handled its messages within 30 seconds.
    """
    with suppress(WaitForScreenTimeout):
        await work


class Watched:
    """A running dashboard and its user."""

    def __init__(self, app: DashboardApp, pilot: Pilot[None], figures: Figures) -> None:
        self.app = app
        self.pilot = pilot
        self.figures = figures

    async def press(self, *keys: str) -> None:
        await settled(self.pilot.press(*keys))

    async def until(self, holds: Callable[[], bool]) -> None:
        for _ in range(30_000):
            if holds():
                return
            await settled(self.pilot.pause(0.01))
        raise AssertionError(self.seen())

    async def refreshed(self) -> None:
        """Ask again and wait for what comes."""
        asked = len(self.figures.asked)
        await self.press("r")
        await self.answered(asked)

    async def answered(self, before: int) -> None:
        """Wait until nothing is asked any more, and something was since then."""
        await self.until(lambda: self.app._asked is None and len(self.figures.asked) > before)

    @property
    def tables(self) -> list[PaneTable]:
        return list(self.app.screen_stack[0].query(PaneTable))

    @property
    def pane(self) -> int:
        place = int(self.app.screen_stack[0].query_one(TabbedContent).active[-1])
        assert self.app.focused is self.tables[place]
        return place

    def column(self, place: int, column: int) -> list[str]:
        table = self.tables[place]
        return [str(table.get_row_at(n)[column]) for n in range(table.row_count)]

    def status(self) -> str:
        return str(self.app.screen_stack[0].query_one("#status", Static).render())

    def seen(self) -> str:
        """What stands on the screen."""
        drawn = re.sub(r"<[^>]*>", "", self.app.export_screenshot())
        return html.unescape(drawn).replace("\xa0", " ")


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *command: str) -> None:
        import pty  # not on every system

        self._master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", "LINES": "40", "COLUMNS": "120"}
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)
        self._seen = ""

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def until(self, *words: str) -> None:
        """Read on until all of these were drawn since the last time."""
        self._seen = ""
        end = time.monotonic() + LIMIT_S
        while not all(word in self._seen for word in words):
            assert time.monotonic() < end, self._seen
            self._seen += self._read()

    def ended(self) -> int:
        """Read on until the command has ended; return its exit code.

        A command waits until its terminal has room for its output.
        """
        end = time.monotonic() + LIMIT_S
        while self.process.poll() is None:
            assert time.monotonic() < end, self._seen
            self._seen += self._read()
        return self.process.returncode

    def _read(self) -> str:
        if not select.select([self._master], [], [], 0.1)[0]:
            return ""
        try:
            return os.read(self._master, 65_536).decode(errors="replace")
        except OSError:  # Linux: the command has closed its side
            return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


def watch(
    figures: Figures,
    play: Callable[[Watched], Coroutine[Any, Any, T]],
    *,
    every: float = LONG,
    **options: Any,
) -> T:
    """Sit before a dashboard whose first figures have come."""

    async def run() -> T:
        app = DashboardApp(cast("Any", figures), every=every, limit=20, **options)
        # A scroll that takes its time would still be on its way when it is looked at.
        app.animation_level = "none"
        async with app.run_test(size=(120, 30)) as pilot:
            watched = Watched(app, pilot, figures)
            if figures.open.is_set():
                await watched.answered(0)
            return await play(watched)

    return asyncio.run(run())
