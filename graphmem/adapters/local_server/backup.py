"""Backups of the managed server: all of its data in one file, and back.

Neo4j Community copies a database only while it is shut, so the server is stopped meanwhile. The
file is a dump as `neo4j-admin` makes it: any Neo4j as new as this one, or newer, loads it.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from graphmem import private_files
from graphmem.adapters.local_server import process
from graphmem.adapters.local_server.files import DataFolder
from graphmem.adapters.local_server.jars import fetch
from graphmem.adapters.local_server.java import find_java
from graphmem.adapters.local_server.lifecycle import ensure, patience_s, quiet, stop_locked
from graphmem.adapters.local_server.records import Progress, Report
from graphmem.errors import LocalServerError
from graphmem.settings import Settings

DATABASE = "neo4j"
"""The one of all tenants; users and passwords are in another, which stays with its folder."""
DUMP = f"{DATABASE}.dump"


@dataclass(frozen=True)
class Backup:
    """A backup that was made.

    Attributes:
        octets: length of the file.
        seconds: how long it took, the server being down for most of it.
    """

    file: Path
    octets: int
    version: str
    seconds: float


def back_up(settings: Settings, file: Path, *, report: Report = quiet) -> Backup:
    """Write all data into a new file, whole or not at all; a server that ran runs again.

    Raises:
        LocalServerError: the file is there already, there are no data, or Neo4j's tool failed.
        ServerFetchError, ServerLockedError, ConfigurationError: see `ensure`.
    """
    started, folder, target = (
        time.monotonic(),
        DataFolder.of(settings),
        file.expanduser().absolute(),
    )
    if not folder.has_data:
        raise LocalServerError(f"There are no data in {folder.root}.", hint="Nothing was written.")
    if target.exists() or not target.parent.is_dir():
        raise LocalServerError(
            f"{target} cannot be written: it is there already, or its folder is not.",
            hint="Name a new file in a folder that is there.",
        )
    launcher = _launcher(settings, folder, report)
    ran = False
    try:
        with (
            folder.locked(patience_s(settings)),
            _scratch_beside(target) as scratch,
        ):
            ran = stop_locked(folder)
            report(Progress("prepare", "Writing the backup"))
            launcher.administer(
                "The data could not be written into a backup.",
                ["database", "dump", DATABASE, f"--to-path={scratch}"],
            )
            _publish(Path(scratch) / DUMP, target)
    finally:
        if ran:
            ensure(settings, report=report)
    took = time.monotonic() - started
    return Backup(target, target.stat().st_size, launcher.shelf.lock.neo4j, took)


def _scratch_beside(target: Path) -> tempfile.TemporaryDirectory[str]:
    """Return a folder on the same disk, closed to others, that goes with its block."""
    with _told(target):
        return tempfile.TemporaryDirectory(dir=target.parent, prefix=".graphmem-")


def _publish(draft: Path, target: Path) -> None:
    """Give a finished dump its name, for its owner alone.

    Raises:
        LocalServerError: the name was taken meanwhile, or nothing can be written there.
    """
    with _told(target):
        draft.chmod(private_files.MODE)  # of Java, whatever its umask was
        private_files.publish(draft, target)


@contextmanager
def _told(target: Path) -> Iterator[None]:
    """Say in words why the operating system refuses a file."""
    try:
        yield
    except OSError as error:
        raise LocalServerError(
            f"{target} cannot be written: {error.strerror}.",
            hint="Name a new file in a folder that you can write.",
        ) from None


def restore(settings: Settings, file: Path, *, report: Report = quiet) -> None:
    """Put a backup in the place of all data and start the server; whatever fails, they stay.

    Raises:
        LocalServerError: there is no such file, Neo4j's admin tool refused it, or the server does
            not start with it, as when a newer Neo4j wrote it.
        ServerFetchError, ServerLockedError, ConfigurationError: see `ensure`.
    """
    source, folder = file.expanduser().absolute(), DataFolder.of(settings)
    if not source.is_file():
        raise LocalServerError(f"{source} is no file.", hint="Nothing was changed.")
    if not folder.has_data:
        ensure(settings, report=report)  # makes the password, and what else a folder has
    launcher = _launcher(settings, folder, report)
    with folder.locked(patience_s(settings)):
        stop_locked(folder)
        _load(launcher, source, report)
    try:
        ensure(settings, report=report)
    except LocalServerError:
        with folder.locked(patience_s(settings)):
            stop_locked(folder)
            folder.put_back(folder.replaced)
        raise
    shutil.rmtree(folder.replaced, ignore_errors=True)


def _load(launcher: process.Launcher, source: Path, report: Report) -> None:
    """Load a dump; what was there is put back when that fails, by the next start at the latest."""
    folder = launcher.folder
    report(Progress("prepare", "Loading the backup"))
    with tempfile.TemporaryDirectory(dir=folder.root, prefix="load-") as scratch:
        # The admin tool wants a name of its own, and a link costs nothing.
        (Path(scratch) / DUMP).symlink_to(source)
        folder.put_aside(DATABASE)
        try:
            launcher.administer(
                f"{source} could not be loaded; the data are as before.",
                ["database", "load", DATABASE, f"--from-path={scratch}"],
            )
        except BaseException:
            folder.put_back()
            raise
        folder.give_away()


def _launcher(settings: Settings, folder: DataFolder, report: Report) -> process.Launcher:
    return process.Launcher(find_java(settings), fetch(settings, report=report), folder)
