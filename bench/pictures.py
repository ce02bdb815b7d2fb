"""The pictures of Neo4j Browser in README.md and docs/browser.md, of a server of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.browser import Window, chromium, context
from bench.server import fresh_server
from graphmem import GraphMem
from graphmem.adapters import local_server
from graphmem.settings import Settings

DEMO = ("--tenant", "demo", "--scope", "user:alice")
MANY = 500
TENANT = "figures"


def shoot(out: Path, report: Callable[[str], None]) -> list[Path]:
    """Write the pictures into a folder and return where.

    Raises:
        SystemExit: no Chromium is on the PATH.
    """
    found = chromium()
    if found is None:
        sys.exit("No chromium is on the PATH: apt-get install chromium fonts-dejavu-core")
    out.mkdir(parents=True, exist_ok=True)
    with fresh_server(report) as settings, context(found) as opened:
        window = Window(opened.new_page())
        password = local_server.ensure(settings).password.get_secret_value()
        report("running the demo")
        said(settings, "demo")
        with tempfile.TemporaryDirectory() as folder:
            style = said(settings, "admin", "browser", "--out", folder)["style"]
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


def link(settings: Settings, *words: str) -> str:
    """Return what `graphmem server browse` would open."""
    return str(said(settings, "server", "browse", *words)["url"])


def said(settings: Settings, *words: str) -> Any:
    """Run a command of graphmem on the server of these settings; return its JSON."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHMEM_")}
    environ |= {"GRAPHMEM_HOME": str(settings.home)}
    if settings.cache is not None:
        environ["GRAPHMEM_CACHE"] = str(settings.cache)
    command = [sys.executable, "-m", "graphmem", *words, "--json"]
    done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, check=True)  # noqa: S603
    return json.loads(done.stdout)


def contested(settings: Settings) -> str:
    """Give a belief much evidence on both sides, and a revision; return its id."""
    with GraphMem.open(settings) as opened:
        memory = opened.tenant(TENANT)
        spoken = []
        for week in range(12):
            session = memory.session(f"week {week + 1}")
            words = "The pool was busy again." if week % 3 else "The pool kept up."
            session.add_messages([{"role": "user", "content": words}])
            [turn] = session.turns(session.episode_id)
            spoken.append((turn.episode_id, turn.id))
        begun = datetime.now(UTC) - timedelta(hours=MANY)
        done = memory.observe_many(
            {
                "subject": "worker pool",
                "predicate": "needs",
                "object": "four threads",
                "kind": "supporting" if n % 3 else "refuting",
                "source_type": ("TOOL", "EXPLICIT", "CLASSIFIER")[n % 7 % 3],
                "confidence": 0.3 + n % 5 / 10,
                "at": begun + timedelta(hours=n),
                "episode": spoken[n % 12][0],
                "turn": spoken[n % 12][1],
            }
            for n in range(MANY)
        )
        belief = done[0].belief_id
        memory.revise(belief, "worker pool needs eight threads", reason="queue grew")
    return belief
