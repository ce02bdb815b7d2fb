"""Diagnose the managed server: check everything it needs and give advice."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from graphmem import maven
from graphmem.errors import ConfigurationError, GraphAccessError, GraphmemError, ServerLockedError
from graphmem.local_server import lifecycle, process
from graphmem.local_server.files import (
    DataFolder,
    ServerState,
    cache_root,
    version_key,
)
from graphmem.local_server.jars import JarStore, shipped_lock
from graphmem.local_server.java import AOT_SINCE, find_java
from graphmem.local_server.memory import MemoryNeed
from graphmem.local_server.process import USER
from graphmem.private_files import exposed_mode
from graphmem.settings import Settings

CheckResult: TypeAlias = tuple[Literal["ok", "warn", "bad"], str, str]
"""Level, message and advice."""

LOW_SPACE_BYTES = 2_000_000_000
"""Free bytes below which a warning is given."""
MIN_SPACE_BYTES = 200_000_000
"""Free bytes below which Neo4j may fail to write."""


@dataclass(frozen=True)
class DoctorFinding:
    """Result of one check of `doctor`, with advice if there is a problem."""

    name: str
    level: Literal["ok", "warn", "bad"]
    message: str
    advice: str = ""


def diagnose(settings: Settings) -> list[DoctorFinding]:
    """Return the findings of all checks; nothing is started, fetched or changed.

    The checks log in to a running server and to the one at `settings.uri`.
    """
    folder = DataFolder.of(settings)
    state = folder.read_state()
    running = state if process.find(folder, state) else None
    checks: list[tuple[str, Iterator[CheckResult]]] = [
        ("java", _java(settings)),
        ("jars", _jars(settings)),
        ("procedures", _procedures(settings)),
        ("disk", _space(settings, folder)),
        ("memory", _memory(settings, folder, state)),
        ("folder", _folder(folder)),
        ("privacy", _privacy(folder.root, "GRAPHMEM_HOME")),
        ("privacy", _privacy(cache_root(settings), "GRAPHMEM_CACHE")),
        ("password", _password(folder)),
        ("lock", _lock(folder, state, running)),
        ("ports", _ports(settings, running)),
        ("bolt", _bolt(folder, running)),
        ("version", _version(folder, running)),
        ("aot", _aot(settings)),
        ("log", _log(folder, state)),
        ("GRAPHMEM_URI", _remote(settings)),
    ]
    return [DoctorFinding(name, *result) for name, results in checks for result in results]


def ok(message: str) -> CheckResult:
    """Return the result of a check that found no problem."""
    return "ok", message, ""


def warn(message: str, advice: str) -> CheckResult:
    """Return the result of a check that found a problem that does not stop the server."""
    return "warn", message, advice


def bad(message: str, advice: str) -> CheckResult:
    """Return the result of a check that found a problem that stops the server."""
    return "bad", message, advice


def _java(settings: Settings) -> Iterator[CheckResult]:
    try:
        java = find_java(settings)
    except GraphmemError as error:
        yield bad(error.message, error.hint)
    else:
        without = "" if java.has_vectors else ", without its module of vector instructions"
        yield ok(f"Java {java.major} from {java.source}{without}: {java.home}")


def _jars(settings: Settings) -> Iterator[CheckResult]:
    store = JarStore.of(settings, shipped_lock())
    broken, absent = store.damaged(), store.absent()
    n_jars = len(store.lock.jars)
    if broken:
        names = ", ".join(jar.name for jar in broken[:3])
        yield bad(
            f"{len(broken)} of {n_jars} files in {store.folder} are damaged: {names}.",
            "Run `graphmem server up`: it fetches them again.",
        )
    elif absent:
        yield warn(
            f"{len(absent)} of {n_jars} files are not fetched yet "
            f"({sum(jar.size for jar in absent) / 1e6:.0f} MB).",
            "Run `graphmem server up` while the network is available.",
        )
    else:
        yield ok(f"All {n_jars} files of Neo4j {store.lock.neo4j} are intact.")


def _procedures(settings: Settings) -> Iterator[CheckResult]:
    from graphmem.local_server.plugin.building import BuildPlan

    plan = BuildPlan.of(settings)
    if plan.is_built():
        size = plan.jar.stat().st_size
        yield ok(f"Compiled: {size / 1e3:.0f} kB.")
    elif reason := plan.failed():
        yield warn(
            f"The server runs without them: {reason}",
            "Only CALLs need them. Run `graphmem admin procedures build` to try again; the server "
            "loads them at its next start.",
        )
    else:
        yield ok("They will be compiled at the next start.")


def _space(settings: Settings, folder: DataFolder) -> Iterator[CheckResult]:
    absent = JarStore.of(settings, shipped_lock()).absent()
    needs = {
        "GRAPHMEM_HOME": (folder.root, MIN_SPACE_BYTES),
        "GRAPHMEM_CACHE": (cache_root(settings), sum(jar.size for jar in absent)),
    }
    for setting, (place, least) in needs.items():
        free = shutil.disk_usage(_existing(place)).free
        advice = f"Free disk space, or set {setting} to a folder on another disk."
        text = f"{free / 1e9:.1f} GB free for {place}."
        if free < least:
            yield bad(text, advice)
        elif free < LOW_SPACE_BYTES:
            yield warn(text, advice)
        else:
            yield ok(text)


def _memory(
    settings: Settings, folder: DataFolder, state: ServerState | None
) -> Iterator[CheckResult]:
    """Compare what the server and one client may take with what is free.

    A search reads the disk for vector indexes that free memory does not hold.
    """
    import psutil

    server = process.find(folder, state)
    used = server.memory_info().rss if server else 0
    free = psutil.virtual_memory().available + used
    need = MemoryNeed.of(settings)
    text = (
        f"At most {_gb(need.server)} for the server: heap {settings.heap}, page cache "
        f"{settings.page_cache}, {_gb(need.java)} for Java; {_gb(used)} now. "
        f"A client: {_gb(need.client)}. Vector indexes: {_gb(need.indexes)}. "
        f"Free for all: {_gb(free)}."
    )
    if free < need.server + need.client:
        yield warn(
            text,
            "Stop other programs, or set GRAPHMEM_HEAP (at least 256m) or GRAPHMEM_PAGE_CACHE.",
        )
    elif free < need.server + need.client + need.indexes:
        yield warn(text, "Add memory: searches read the disk for what does not fit.")
    else:
        yield ok(text)


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


def _existing(place: Path) -> Path:
    return next(path for path in (place, *place.parents) if path.exists())


def _folder(folder: DataFolder) -> Iterator[CheckResult]:
    place = _existing(folder.root)
    if not place.is_dir() or not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        yield bad(f"{place} is not a writable folder.", "Set GRAPHMEM_HOME to a writable folder.")
    elif place != folder.root:
        yield ok(f"{folder.root} will be created at the first start.")
    else:
        yield ok(f"{folder.root} is writable.")


def _privacy(place: Path, setting: str) -> Iterator[CheckResult]:
    try:
        mode = exposed_mode(place, setting=setting)
    except ConfigurationError as error:
        yield bad(error.message, error.hint)
        return
    if mode:
        yield warn(
            f"Other users can open {place} ({mode:03o}).",
            f"Run `chmod -R go= '{place}'`; the next start does it too.",
        )
    else:
        yield ok(f"{place} is closed to other users.")


def _password(folder: DataFolder) -> Iterator[CheckResult]:
    file = folder.password_file
    if not folder.root.is_dir() or (not file.exists() and not folder.has_data):
        yield ok("A random one will be generated at the first start.")
        return
    try:
        folder.password()
    except GraphmemError as error:
        yield bad(error.message, error.hint)
        return
    mode = file.stat().st_mode & 0o777
    if sys.platform != "win32" and mode & 0o077:
        yield bad(f"Other users can read {file} ({mode:03o}).", f"Run `chmod 600 '{file}'`.")
    else:
        yield ok(f"Only you can read {file}.")


def _lock(
    folder: DataFolder, state: ServerState | None, running: ServerState | None
) -> Iterator[CheckResult]:
    if folder.root.is_dir():
        try:
            with folder.locked(0):
                pass
        except ServerLockedError:
            yield warn("Another process is starting or stopping the server.", "Wait for it.")
            return
    if state and not running:
        yield warn(
            f"The server last started (process {state.pid}) ended without being stopped.",
            "Nothing to do: the next start recovers its data.",
        )
    else:
        yield ok("Free.")


def _ports(settings: Settings, running: ServerState | None) -> Iterator[CheckResult]:
    if running:
        ports = f"{running.bolt_port} (Bolt) and {running.http_port} (Browser)"
        yield ok(f"The server listens on {ports}.")
        return
    preferred = {"GRAPHMEM_BOLT_PORT": settings.bolt_port, "GRAPHMEM_HTTP_PORT": settings.http_port}
    taken = [f"{name} {port}" for name, port in preferred.items() if not process.is_free(port)]
    if taken:
        yield warn(
            f"Another program uses {', '.join(taken)}.",
            "Nothing to do: it will use other ports. Stop that program or set others to avoid it.",
        )
    else:
        yield ok("The preferred ports are free.")


def _bolt(folder: DataFolder, running: ServerState | None) -> Iterator[CheckResult]:
    if running is None:
        yield ok("Not running; it starts when needed.")
        return
    try:
        agent = process.log_in(running.uri, USER, folder.password())
    except GraphmemError as error:
        again = "Run `graphmem server down`, then `graphmem server up`."
        advice = (
            f"Restore {folder.password_file}." if isinstance(error, GraphAccessError) else again
        )
        yield bad(error.message, advice)
    else:
        yield ok(f"{agent} answers at {running.uri} and accepts the password.")


def _version(folder: DataFolder, running: ServerState | None) -> Iterator[CheckResult]:
    ours = shipped_lock().neo4j
    written_by = running.version if running else folder.data_version()
    if written_by and version_key(written_by) > version_key(ours):
        yield bad(
            f"The data were written by Neo4j {written_by}; this graphmem runs {ours}.",
            "Install a newer graphmem, or set GRAPHMEM_HOME to another folder.",
        )
    elif written_by and written_by != ours:
        yield warn(
            f"The data were written by Neo4j {written_by}; this graphmem runs {ours}.",
            "The next start upgrades them; after that, an older graphmem cannot read them.",
        )
    else:
        yield ok(f"Neo4j {ours}.")


def _aot(settings: Settings) -> Iterator[CheckResult]:
    store = JarStore.of(settings, shipped_lock())
    try:
        java = find_java(settings)
        cache = lifecycle.aot_cache_file(settings, java, store)
    except (GraphmemError, FileNotFoundError):
        return  # reported by an earlier check
    if cache is None:
        yield ok(f"None, because Java is older than {AOT_SINCE}; starts take longer.")
    elif maven.is_intact(cache):
        yield ok(f"{cache.stat().st_size / 1e6:.0f} MB; starts are fast.")
    elif cache.exists():
        yield warn(
            f"{cache} was changed after it was made.", "Nothing to do: the next start replaces it."
        )
    elif reason := maven.recent_failure(lifecycle.failure_note(cache)):
        yield warn(
            f"Making it failed, so starts take longer: {reason}",
            f"Delete {lifecycle.failure_note(cache)} to try again.",
        )
    else:
        yield ok("Not made yet; it is made in the background after a start.")


def _log(folder: DataFolder, state: ServerState | None) -> Iterator[CheckResult]:
    errors = process.run_errors(folder, state) if state else []
    if errors:
        yield warn(
            f"{len(errors)} errors since the last start; the newest: {errors[-1][:300]}",
            f"Read {folder.root / 'logs' / 'neo4j.log'}.",
        )
    else:
        yield ok("No errors since the last start.")


def _remote(settings: Settings) -> Iterator[CheckResult]:
    if settings.uri is None:
        return
    try:
        agent = process.log_in(settings.uri, settings.user, settings.password)
    except GraphmemError as error:
        yield bad(error.message, "Check the address, the user and the password.")
    else:
        yield ok(f"{agent} answers there and is used instead of the managed one.")
