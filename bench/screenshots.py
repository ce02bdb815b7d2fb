"""Screenshots of the explorer for README.md and its page, of the demo on a temporary server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.pictures import DEMO, demonstrated
from graphmem import GraphMem, Handle
from graphmem.cli.demo import ASKED, PREDICATE, SUBJECT
from graphmem.rules.links import address
from graphmem.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

LIVES = "lives_in"
PATIENCE_S = 120.0


class Shot(NamedTuple):
    """A page to show."""

    name: str
    path: str
    height: int
    width: int = 1280
    scheme: Any = "light"


def shoot(out: Path, report: Callable[[str], None]) -> list[Path]:
    """Write the screenshots into a folder and return their paths.

    Raises:
        SystemExit: Chromium is not on the PATH.
    """
    with demonstrated(out, report) as (settings, opened):
        return taken(opened, settings, out, report)


def taken(
    opened: BrowserContext, settings: Settings, out: Path, report: Callable[[str], None]
) -> list[Path]:
    """Take the screenshots of a memory that has the demo's scope."""
    with GraphMem.open(settings=settings) as database:
        wanted = shots(database.tenant(DEMO[1]).scope(DEMO[3]))
    files = list[Path]()
    with served(settings) as link:
        page = opened.new_page()
        page.goto(link)
        page.get_by_role("heading", name="What it knows").wait_for()
        for one in wanted:
            report(f"taking {one.name}")
            page.set_viewport_size({"width": one.width, "height": one.height})
            page.emulate_media(color_scheme=one.scheme)
            page.goto(link.partition("/login")[0] + one.path)
            files.append(out / f"explorer-{one.name}.png")
            page.screenshot(path=files[-1])
    return files


def shots(memory: Handle) -> list[Shot]:
    """Return the pages to show."""
    [home, *_] = memory.current(SUBJECT, LIVES).candidates
    past = memory.current(SUBJECT, PREDICATE).candidates[-1]
    asked = f"Where does {SUBJECT} live?"
    found = memory.recall(asked, kinds=["memory"], limit=50).bites
    [claimed, *_] = [bite.id for bite in found if home.object in bite.text]
    return [
        Shot("home", "/", 800),
        Shot("search", address("/search", q=ASKED), 844, width=390),
        Shot("replay", address("/replay", q=ASKED), 940),
        Shot(
            "slot",
            address("/slot", subject=SUBJECT, predicate=PREDICATE, valid=str(past.last_at)[:10]),
            900,
        ),
        Shot("belief", address("/item", id=home.belief_id), 860, scheme="dark"),
        Shot("graph", address("/graph", id=claimed, open=home.belief_id), 680),
    ]


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """Yield the one-time link of a server of the explorer."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHMEM_")}
    environ |= {"GRAPHMEM_HOME": str(settings.home)}
    if settings.cache is not None:
        environ["GRAPHMEM_CACHE"] = str(settings.cache)
    command = [sys.executable, "-m", "graphmem", "serve", "--port", "0", *DEMO]
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(command, env=environ, stderr=log)  # noqa: S603
        try:
            yield _link(server, log)
        finally:
            server.terminate()
            server.wait()


def _link(server: subprocess.Popen[bytes], log: Any) -> str:
    end = time.monotonic() + PATIENCE_S
    while server.poll() is None and time.monotonic() < end:
        log.seek(0)
        if found := re.search(r"http://\S+/login\?ticket=\S+", log.read()):
            return found[0]
        time.sleep(0.1)
    log.seek(0)
    sys.exit(f"graphmem serve printed no link:\n{log.read()}")
