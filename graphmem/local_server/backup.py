"""Back up and restore all data of the managed server in one file.

Neo4j Community can copy a database only while it is offline, so the server is stopped meanwhile.
The file is a `neo4j-admin` dump; the same or a newer Neo4j can load it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from graphmem import private_files
from graphmem.errors import LocalServerError
from graphmem.local_server import process
from graphmem.local_server.files import DataFolder
from graphmem.local_server.jars import fetch
from graphmem.local_server.java import find_java
from graphmem.local_server.lifecycle import (
    ensure,
    ignore_progress,
    lock_timeout_s,
    stop_locked,
)
from graphmem.maven import Progress, Report
from graphmem.settings import Settings

DATABASE = "neo4j"
"""Database of all tenants; users and passwords are in another one, which is not backed up."""
DUMP = f"{DATABASE}.dump"


@dataclass(frozen=True)
class Backup:
    """Result of `back_up`.

    Attributes:
        size_bytes: size of the file, bytes.
        seconds: duration; the server is down for most of it.
    """

    file: Path
    size_bytes: int
    version: str
    seconds: float


def back_up(settings: Settings, file: Path, *, report: Report = ignore_progress) -> Backup:
    """Write all data to a new file atomically; restart the server if it was running."""
    started, folder, target = (
        time.monotonic(),
        DataFolder.of(settings),
        file.expanduser().absolute(),
    )
    if not folder.has_data:
        raise LocalServerError(f"{folder.root} contains no data.", hint="Nothing was written.")
    if target.exists() or not target.parent.is_dir():
        raise LocalServerError(
            f"{target} cannot be written: it exists already, or its folder does not exist.",
            hint="Name a new file in an existing folder.",
        )
    launcher = launcher_of(settings, folder, report)
    was_running = False
    try:
        with folder.locked(lock_timeout_s(settings)), _scratch_beside(target) as scratch:
            was_running = stop_locked(folder)
            report(Progress("prepare", "Writing the backup"))
            launcher.run_admin_tool(
                "The data could not be written into a backup.",
                ["database", "dump", DATABASE, f"--to-path={scratch}"],
            )
            _publish(Path(scratch) / DUMP, target)
    finally:
        if was_running:
            ensure(settings, report=report)
    took = time.monotonic() - started
    return Backup(target, target.stat().st_size, launcher.store.lock.neo4j, took)


def _scratch_beside(target: Path) -> tempfile.TemporaryDirectory[str]:
    """Return a private temporary folder on the same disk; its block removes it."""
    with _backup_failure(target):
        return tempfile.TemporaryDirectory(dir=target.parent, prefix=".graphmem-")


def _publish(draft: Path, target: Path) -> None:
    """Rename a finished dump to its final name, readable only by its owner."""
    with _backup_failure(target):
        draft.chmod(private_files.MODE)  # Java may have created it with another mode
        private_files.publish(draft, target)


@contextmanager
def _backup_failure(target: Path) -> Iterator[None]:
    """Translate an `OSError` into a `LocalServerError`."""
    try:
        yield
    except OSError as error:
        raise LocalServerError(
            f"{target} cannot be written: {error.strerror}.",
            hint="Name a new file in a writable folder.",
        ) from None


def restore(settings: Settings, file: Path, *, report: Report = ignore_progress) -> None:
    """Replace all data by a backup and start the server; keep the data if anything fails."""
    source, folder = file.expanduser().absolute(), DataFolder.of(settings)
    if not source.is_file():
        raise LocalServerError(f"{source} is not a file.", hint="Nothing was changed.")
    if not folder.has_data:
        ensure(settings, report=report)  # creates the password and the rest of the folder
    launcher = launcher_of(settings, folder, report)
    with folder.locked(lock_timeout_s(settings)):
        stop_locked(folder)
        _load(launcher, source, report)
    start_replaced(settings, report)


def start_replaced(settings: Settings, report: Report) -> None:
    """Start the server with a replaced database; put the old one back if it does not start."""
    folder = DataFolder.of(settings)
    try:
        ensure(settings, report=report)
    except LocalServerError:
        with folder.locked(lock_timeout_s(settings)):
            stop_locked(folder)
            folder.undo_set_aside(folder.replaced)
        raise


def _load(launcher: process.Launcher, source: Path, report: Report) -> None:
    """Load a dump; if that fails, put the old data back, at the latest at the next start."""
    folder = launcher.folder
    report(Progress("prepare", "Loading the backup"))
    with tempfile.TemporaryDirectory(dir=folder.root, prefix="load-") as scratch:
        # The admin tool requires a certain file name; a link avoids a copy.
        (Path(scratch) / DUMP).symlink_to(source)
        folder.set_aside(DATABASE)
        try:
            launcher.run_admin_tool(
                f"{source} could not be loaded; the data are unchanged.",
                ["database", "load", DATABASE, f"--from-path={scratch}"],
            )
        except BaseException:
            folder.undo_set_aside()
            raise
        folder.confirm_replacement()


def launcher_of(settings: Settings, folder: DataFolder, report: Report) -> process.Launcher:
    """Return the launcher of a data folder; fetch the server's jars first if they are missing."""
    return process.Launcher(find_java(settings), fetch(settings, report=report), folder)
