"""Screenshots of Neo4j Browser for README.md and docs/how-to/browser.md, on a temporary server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.browser import Window, chromium, context
from bench.server import fresh_server
from graphmem import GraphMem, local_server
from graphmem.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

DEMO = ("--tenant", "demo", "--scope", "user:alice")
MANY = 500
TENANT = "figures"


def shoot(out: Path, report: Callable[[str], None]) -> list[Path]:
    """Write the screenshots into a folder and return their paths.

    Raises:
        SystemExit: Chromium is not on the PATH.
    """
    with demonstrated(out, report) as (settings, opened):
        window = Window(opened.new_page())
        password = local_server.ensure(settings).password.get_secret_value()
        with tempfile.TemporaryDirectory() as folder:
            style = command_output(settings, "admin", "browser", "--out", folder)["style"]
            window.open(link(settings, "memories", *DEMO), password)
            window.drop(Path(style), "{statement}")
        wanted = {
            "browser-slot": ("slot", "Alice", "deploys_from", *DEMO),
            "browser-belief": ("belief", contested(settings), "--tenant", TENANT),
        }
        for name, words in wanted.items():
            report(f"taking {name}")
            window.open(link(settings, *words), password)
            window.run()
            window.shoot(out / f"{name}.png")
    return [out / f"{name}.png" for name in wanted]


@contextmanager
def demonstrated(
    out: Path, report: Callable[[str], None]
) -> Iterator[tuple[Settings, BrowserContext]]:
    """Yield a server with the demo, and Chromium, for screenshots in a folder.

    Raises:
        SystemExit: Chromium is not on the PATH.
    """
    executable = chromium()
    if executable is None:
        sys.exit("Chromium is not on the PATH; run: apt-get install chromium fonts-dejavu-core")
    out.mkdir(parents=True, exist_ok=True)
    with fresh_server(report) as settings, context(executable) as opened:
        report("running the demo")
        command_output(settings, "demo")
        yield settings, opened


def link(settings: Settings, *words: str) -> str:
    """Return the URL that `graphmem server browse` would open."""
    return str(command_output(settings, "server", "browse", *words)["url"])


def command_output(settings: Settings, *words: str) -> Any:
    """Run a graphmem command on the server of these settings; return its JSON output."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHMEM_")}
    environ |= {"GRAPHMEM_HOME": str(settings.home)}
    if settings.cache is not None:
        environ["GRAPHMEM_CACHE"] = str(settings.cache)
    command = [sys.executable, "-m", "graphmem", *words, "--json"]
    done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, check=True)  # noqa: S603
    return json.loads(done.stdout)


def contested(settings: Settings) -> str:
    """Create a belief with much evidence on both sides and a revision; return its id."""
    with GraphMem.open(settings=settings) as opened:
        memory = opened.tenant(TENANT)
        turns = []
        for week in range(12):
            session = memory.session(f"week {week + 1}")
            words = "The pool was busy again." if week % 3 else "The pool kept up."
            session.add_messages([{"role": "user", "content": words}])
            [turn] = session.episodes.turns(session.episode_id).turns
            turns.append((turn.episode_id, turn.id))
        start = datetime.now(UTC) - timedelta(hours=MANY)
        done = memory.observe_many(
            {
                "subject": "worker pool",
                "predicate": "needs",
                "object": "four threads",
                "kind": "supporting" if n % 3 else "refuting",
                "source_type": ("TOOL", "EXPLICIT", "CLASSIFIER")[n % 7 % 3],
                "confidence": 0.3 + n % 5 / 10,
                "at": start + timedelta(hours=n),
                "episode_id": turns[n % 12][0],
                "turn_id": turns[n % 12][1],
            }
            for n in range(MANY)
        )
        belief = done[0].belief_id
        memory.beliefs.revise(belief, "worker pool needs eight threads", reason="queue grew")
    return belief
