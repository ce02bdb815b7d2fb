"""Rewrite the files of the managed server's database, so that they contain no deleted data.

Neo4j frees the blocks of deleted data without overwriting them, and Community has no tool that
compacts a store. `StoreCopy` copies all nodes, relationships and the schema into new files.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from graphmem.errors import LocalServerError
from graphmem.graph import catalog
from graphmem.local_server import process
from graphmem.local_server.backup import DATABASE, launcher_of, start_replaced
from graphmem.local_server.files import DATABASE_FOLDERS, DataFolder
from graphmem.local_server.jars import JarStore, shipped_lock
from graphmem.local_server.lifecycle import (
    ensure,
    ignore_progress,
    lock_timeout_s,
    stop,
    stop_locked,
)
from graphmem.local_server.plugin import building
from graphmem.local_server.plugin.java_source import PACKAGE
from graphmem.maven import Progress, Report
from graphmem.private_files import write_private
from graphmem.settings import Settings

SOURCE = "StoreCopy.java"
MAIN = "graphmem.StoreCopy"
SCHEMA = ("schema/create_constraints", "schema/create_indexes")


@dataclass(frozen=True)
class Compaction:
    """Result of `compact`.

    Attributes:
        before_bytes, after_bytes: size of the database and its transaction logs, bytes.
        seconds: duration; the server is down for most of it.
    """

    before_bytes: int
    after_bytes: int
    seconds: float


def compact(settings: Settings, *, report: Report = ignore_progress) -> Compaction:
    """Rewrite the database without deleted data; afterwards the server runs if it ran before.

    The old files stay until the server has started with the new ones, so a failure or a kill
    leaves one or the other complete. The disk must have room for both.
    """
    started, folder = time.monotonic(), DataFolder.of(settings)
    if not folder.has_data:
        raise LocalServerError(f"{folder.root} contains no data.", hint="Nothing was written.")
    found = launcher_of(settings, folder, report)
    launcher = replace(found, flags=[f"{process.MAX_HEAP}{settings.heap}"])
    text = files(__package__).joinpath(SOURCE).read_text(encoding="utf-8")
    tools = JarStore.of_build_tools(settings, shipped_lock())
    plan = building.BuildPlan({f"{PACKAGE}/{SOURCE}": text}, tools)
    jar = building.make_jar(plan, settings, report)
    was_running = False
    try:
        with folder.locked(lock_timeout_s(settings)):
            was_running = stop_locked(folder)
            folder.undo_set_aside()
            folder.claim_version(launcher.store.lock.neo4j)
            before = _size(folder)
            report(Progress("prepare", "Rewriting the database"))
            _rewrite(launcher, settings, jar)
            _replace(folder)
            after = _size(folder)
    except BaseException:
        if was_running:
            ensure(settings, report=report)
        raise
    start_replaced(settings, report)
    if not was_running:
        stop(settings)
    return Compaction(before, after, time.monotonic() - started)


def _rewrite(launcher: process.Launcher, settings: Settings, jar: Path) -> None:
    """Copy the database into the files of a new home."""
    folder = launcher.folder
    folder.remove_leftovers()
    folder.rewritten.mkdir(mode=0o700)
    configuration = folder.rewritten / "copy.conf"
    lines = {
        "server.memory.pagecache.size": settings.page_cache,
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "16M",
        "db.tx_log.rotation.retention_policy": "keep_none",
        "dbms.usage_report.enabled": "false",
    }
    write_private(configuration, "".join(f"{name}={value}\n" for name, value in lines.items()))
    homes = [str(folder.root), str(folder.rewritten), DATABASE, str(configuration)]
    launcher.run_tool(
        MAIN,
        "The database could not be rewritten; the data are unchanged.",
        [*homes, *(catalog.LANGUAGE + catalog.procedure(name).text for name in SCHEMA)],
        jar,
    )


def _replace(folder: DataFolder) -> None:
    """Replace the database by its copy; a kill before the end is undone by the next start."""
    folder.set_aside(DATABASE)
    try:
        for kind in DATABASE_FOLDERS:
            (folder.rewritten / "data" / kind / DATABASE).replace(
                folder.root / "data" / kind / DATABASE
            )
    except BaseException:
        folder.undo_set_aside()
        raise
    folder.confirm_replacement()


def _size(folder: DataFolder) -> int:
    roots = [folder.root / "data" / kind / DATABASE for kind in DATABASE_FOLDERS]
    return sum(path.stat().st_size for root in roots for path in root.rglob("*") if path.is_file())
