"""Putting the plugin where a server loads it when it starts."""

from __future__ import annotations

import logging
import secrets
import shutil
from pathlib import Path

from graphmem.adapters.local_server.plugin.building import BuildPlan, build
from graphmem.adapters.local_server.records import Report
from graphmem.errors import ConfigurationError, LocalServerError
from graphmem.settings import Settings

log = logging.getLogger("graphmem")

FILE = "graphmem-procedures.jar"
"""Its name in a folder of plugins, whatever version it is."""


def ready(settings: Settings, report: Report) -> Path | None:
    """Return the jar for a server that is about to start; None, and a warning, when there is none.

    A server without procedures is better than no server. What failed is not tried again by every
    start.
    """
    try:
        plan = BuildPlan.of(settings)
        if not plan.is_made() and (reason := plan.failed()):
            log.warning("Neo4j starts without graphmem's procedures, as before: %s", reason)
            return None
        return build(settings, report=report)
    except (LocalServerError, ConfigurationError, OSError) as error:
        log.warning("Neo4j starts without graphmem's procedures: %s", error)
        return None


def install(jar: Path, plugins: Path) -> Path:
    """Put the jar into a server's folder of plugins, whole, and return where it is now.

    Other plugins are left alone.
    """
    target = plugins / FILE
    plugins.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{FILE}.{secrets.token_hex(4)}.part")
    try:
        shutil.copyfile(jar, draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target


def remove(plugins: Path) -> None:
    """Take the jar out of a folder of plugins: that of another graphmem runs another Cypher."""
    (plugins / FILE).unlink(missing_ok=True)
