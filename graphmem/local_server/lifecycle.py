"""Start, inspect and stop the managed server."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from pydantic import SecretStr

from graphmem import maven
from graphmem.errors import (
    GraphAccessError,
    GraphmemError,
    GraphUnavailableError,
    LocalServerError,
)
from graphmem.graph.catalog import LANGUAGE
from graphmem.local_server import idle, process, warming
from graphmem.local_server.files import (
    PAGE_CACHE,
    DataFolder,
    ServerState,
    cache_root,
)
from graphmem.local_server.jars import JarStore, fetch, shipped_lock
from graphmem.local_server.java import AOT_SINCE, Java, find_java
from graphmem.local_server.process import USER
from graphmem.maven import Progress, Report
from graphmem.private_files import make_folder
from graphmem.rules import scoring, urls
from graphmem.settings import Settings

TRAINING_S = 900.0
"""Seconds the training server may take to answer; it runs at the lowest priority."""
DIMENSION = 8
"""Dimension of the vector indexes of the training server, which contain nothing."""
WRITING_S = 1800.0
"""Seconds the JVM may take to write the cache when it ends; it runs at the lowest priority."""

TRIES = 3
"""Maximum number of starts; another program may take a port, or an AOT cache may be broken."""


@dataclass(frozen=True)
class Endpoint:
    """Address and credentials of the server; its repr hides the password."""

    uri: str
    user: str
    password: SecretStr
    version: str


@dataclass(frozen=True)
class ServerStatus:
    """Status of the managed server, determined without starting it.

    Attributes:
        uptime_s: seconds since it was started; None if it is not running.
        heap: maximum heap of the running JVM, such as `1g`; None if it is not running or has no
            limit.
        page_cache: maximum page cache of the running server, such as `512m`; None if unknown.
        data_bytes, cache_bytes: size of its data and of the cache folder, bytes.
    """

    running: bool
    uri: str | None
    browser_url: str | None
    pid: int | None
    version: str | None
    uptime_s: float | None
    heap: str | None
    page_cache: str | None
    home: Path
    cache: Path
    password_file: Path
    data_bytes: int
    cache_bytes: int


def aot_cache_file(settings: Settings, java: Java, store: JarStore) -> Path | None:
    """Return the path of the AOT cache for this Java and these jars; None if Java has no AOT cache.

    The JVM accepts a cache only for the same build, class path and modification times of the jars.
    One that was trained on other reads is not used.
    """
    if java.major < AOT_SINCE:
        return None
    times = [(name, (store.folder / name).stat().st_mtime_ns) for name in store.class_path]
    key = sha256(
        repr((java.build, java.flags, str(store.folder), times, warming.HOT)).encode()
    ).hexdigest()
    return cache_root(settings) / "aot" / f"{key[:16]}.aot"


def aot_flags(cache: Path | None) -> list[str]:
    """Return the flags that make a server use the cache; empty if there is none.

    A cache that was changed after it was made is removed, because it contains code.
    """
    if cache is None:
        return []
    if not maven.is_intact(cache):
        maven.discard(cache)
        return []
    cache.touch()  # unused caches are removed after `maven.UNUSED_S`
    return [f"-XX:AOTCache={cache}", "-Xlog:disable", "-Xlog:all=error:stderr"]


def failure_note(cache: Path) -> Path:
    """Return the file with the reason why making this cache failed; it delays the next attempt."""
    return cache.with_suffix(".failed")


def make_aot_cache_in_background(settings: Settings, cache: Path | None) -> None:
    """Start making the cache, unless it exists, cannot be made or is being made."""
    if cache is None or cache.exists() or maven.recent_failure(failure_note(cache)):
        return
    make_folder(cache.parent, setting="GRAPHMEM_CACHE")
    process.run_in_background(__name__, cache=cache_root(settings).parent, java=settings.java)


def make_aot_cache(settings: Settings) -> None:
    """Make the cache now, unless another process is making it.

    Only the settings `cache` and `java` are used.
    """
    from filelock import FileLock, Timeout

    java = find_java(settings)
    store = JarStore.of(settings, shipped_lock())
    cache = aot_cache_file(settings, java, store)
    if cache is None:
        return
    make_folder(cache.parent, setting="GRAPHMEM_CACHE")
    try:
        with FileLock(cache.parent / "make.lock", timeout=0):
            maven.remove_unused(cache.parent, ".aot")
            if not maven.is_intact(cache):
                _train(java, store, cache)
    except Timeout:
        return


def _train(java: Java, store: JarStore, cache: Path) -> None:
    from neo4j.exceptions import DriverError, Neo4jError

    with tempfile.TemporaryDirectory(dir=cache.parent, ignore_cleanup_errors=True) as scratch:
        draft = Path(scratch) / "cache.aot"
        try:
            _run_once(java, store, DataFolder(Path(scratch) / "home"), draft)
            maven.keep(draft, cache)
        except (
            GraphmemError,
            process.ServerExitedError,
            OSError,
            DriverError,
            Neo4jError,
        ) as error:
            failure_note(cache).write_text(f"{error}\n", encoding="utf-8")


def _run_once(java: Java, store: JarStore, folder: DataFolder, draft: Path) -> None:
    """Run a server on a temporary folder until it has planned the longest reads.

    The cache then contains the profile of the planner, which takes most of the time of the first
    reads.
    """
    from graphmem.schema import migration

    small = Settings(heap="256m", page_cache="16m")
    folder.create()
    password = folder.password()
    flags = [f"-XX:AOTCacheOutput={draft}", "-Xlog:disable", "-Xlog:all=error:stderr"]
    launcher = process.Launcher(java, store, folder)
    # Without the flags: the tool would leave a cache of its own, should the server write none.
    launcher.set_password()
    state = replace(launcher, flags=flags).start(small)
    process.yield_processor(state.pid)
    written = True
    try:
        process.wait_ready(folder, state, TRAINING_S)
        with process.connect(state.uri, password) as driver, driver.session() as session:
            kept = {scoring.FIRST_GENERATION: DIMENSION}
            for statement, options in migration.schema_statements(kept, small.language):
                session.run(LANGUAGE + statement.text, options).consume()
            session.run(LANGUAGE + migration.AWAIT_INDEXES.text, seconds=TRAINING_S).consume()
            for name in warming.HOT:
                warming.plan(session, name, scoring.FIRST_GENERATION)
    finally:
        if (server := process.find(folder, state)) is not None:
            written = process.end(server, WRITING_S)
    if not written:
        raise LocalServerError(f"Java did not write the AOT cache within {WRITING_S:.0f} s.")


def ensure(settings: Settings, *, report: Report | None = None) -> Endpoint:
    """Return the endpoint of the managed server; start it if it is not running.

    A server that accepted a login before is not asked again: the caller connects to it.

    Missing files are fetched first. The server outlives this process; concurrent callers start
    one server and all get the same endpoint.

    Raises:
        ServerFetchError: its files could not be fetched.
        ServerLockedError: another process holds the data folder.
        LocalServerError: it did not start; carries the log's last lines.
        GraphAccessError: the password file does not match the data.
        ConfigurationError: no Java, or a folder that cannot be written.
    """
    on_progress = report or ignore_progress
    folder = DataFolder.of(settings)
    folder.create()
    with folder.locked(lock_timeout_s(settings)):
        if (state := process.running(folder)) is not None:
            return _log_in(folder, state, settings)
    from graphmem.local_server.plugin import building  # slow: imports all read rules

    java = find_java(settings)
    # Fetched without the folder's lock: it may take minutes, and `fetch` has its own lock.
    store = fetch(settings, report=on_progress)
    procedures = building.jar_for_start(settings, on_progress)
    with folder.locked(lock_timeout_s(settings)):
        if (state := process.running(folder)) is not None:
            return _log_in(folder, state, settings)
        folder.undo_set_aside()
        folder.claim_version(store.lock.neo4j)
        if procedures is None:
            building.remove(folder.plugins)
        else:
            building.install(procedures, folder.plugins)
        launcher = process.Launcher(java, store, folder)
        folder.password()
        if not folder.has_data:
            on_progress(Progress("prepare", "Setting a random password"))
            launcher.set_password()
        cache = aot_cache_file(settings, java, store)
        on_progress(Progress("start", f"Starting Neo4j {store.lock.neo4j}"))
        with warming.after_start(folder):
            state = _start(launcher, settings, cache)
            endpoint = _log_in(folder, state, settings)
        idle.watch(folder, state, settings.idle_stop_s)
        folder.remove_leftovers()
    make_aot_cache_in_background(settings, cache)
    on_progress(Progress("ready", f"Neo4j answers at {endpoint.uri}"))
    return endpoint


def running_uri(settings: Settings) -> str | None:
    """Return the Bolt address of the running managed server; None if it is not running."""
    state = process.running(DataFolder.of(settings))
    return None if state is None else state.uri


def stop(settings: Settings) -> bool:
    """Stop the managed server and return whether one was running."""
    folder = DataFolder.of(settings)
    if not folder.root.is_dir():
        return False
    folder.create()
    with folder.locked(lock_timeout_s(settings)):
        return stop_locked(folder)


def stop_locked(folder: DataFolder) -> bool:
    """Stop the server of a folder that the caller holds; return whether one was running."""
    server = process.find(folder, folder.read_state())
    if server is not None:
        process.end(server)
    folder.forget_state()
    return server is not None


def lock_timeout_s(settings: Settings) -> float:
    """Return the seconds to wait for the folder's lock: a failed start and a second one."""
    return 2 * settings.start_timeout_s + process.STOP_S


def status(settings: Settings) -> ServerStatus:
    """Return the status of the managed server without starting or changing anything."""
    folder = DataFolder.of(settings)
    state = folder.read_state()
    server = process.find(folder, state)
    running = state if server else None
    return ServerStatus(
        running=running is not None,
        uri=running.uri if running else None,
        browser_url=_browser(running) if running else None,
        pid=running.pid if running else None,
        version=running.version if running else folder.data_version(),
        uptime_s=time.time() - running.started_at if running else None,
        heap=process.max_heap_of(server) if server else None,
        page_cache=folder.configured(PAGE_CACHE) if server else None,
        home=folder.root,
        cache=cache_root(settings),
        password_file=folder.password_file,
        data_bytes=folder_bytes(folder.root),
        cache_bytes=folder_bytes(cache_root(settings)),
    )


def stored_password(settings: Settings) -> SecretStr | None:
    """Return the managed server's password; None before its first start."""
    folder = DataFolder.of(settings)
    return folder.password() if folder.password_file.exists() else None


def browse_link(settings: Settings, query: str) -> str | None:
    """Return the address of Neo4j Browser with a query in its editor.

    It is of the server of the URI, else of the managed one; None if that does not run. It never
    contains the password.
    """
    if settings.uri is not None:
        browser = settings.browser or urls.browser_url(settings.uri, settings.http_port)
        database = settings.database or ""
        return urls.deep_link(browser, settings.uri, settings.user, query, database)
    running = process.running(DataFolder.of(settings))
    return _browser(running, query) if running else None


def _browser(running: ServerState, query: str = "") -> str:
    browser = urls.browser_url(running.uri, running.http_port)
    return urls.deep_link(browser, running.uri, USER, query)


def ignore_progress(_: Progress) -> None:
    """Discard a progress report."""


def _start(launcher: process.Launcher, settings: Settings, cache: Path | None) -> ServerState:
    """Start the server and wait for it.

    Retry with other ports if the ports are taken, and without the AOT cache if the JVM crashes.
    """
    ports = (settings.bolt_port, settings.http_port)
    for tries_left in range(TRIES - 1, -1, -1):
        flags = aot_flags(cache)
        attempt = replace(launcher, flags=flags)
        state = attempt.start(settings, bolt_port=ports[0], http_port=ports[1])
        try:
            process.wait_ready(launcher.folder, state, settings.start_timeout_s)
        except process.ServerExitedError as exited:
            launcher.folder.forget_state()
            if not tries_left or not (
                exited.reason == "port" or (exited.reason == "crash" and flags)
            ):
                raise exited.error from None
            if exited.reason == "port":
                ports = (0, 0)
            elif cache is not None:
                cache.unlink(missing_ok=True)
        except BaseException:
            stop_locked(launcher.folder)  # leave no half-started server, even after Ctrl-C
            raise
        else:
            return state
    raise AssertionError("the last try returns or raises")


def _log_in(folder: DataFolder, state: ServerState, settings: Settings) -> Endpoint:
    """Return the endpoint of a started server; wait for its first login with this password."""
    password = folder.password()
    endpoint = Endpoint(uri=state.uri, user=USER, password=password, version=state.version)
    login = sha256(password.get_secret_value().encode()).hexdigest()
    if state.login == login:
        folder.mark_asked()
        return endpoint
    try:
        process.wait_ready(
            folder, state, settings.start_timeout_s, lambda: _accepts_login(endpoint)
        )
    except process.ServerExitedError as exited:
        raise exited.error from None
    except GraphAccessError:
        raise GraphAccessError(
            f"The password in {folder.password_file} does not match the data next to it.",
            hint="Restore that file, or set GRAPHMEM_HOME to another folder for a new graph.",
        ) from None
    folder.write_state(replace(state, login=login))
    return endpoint


def _accepts_login(endpoint: Endpoint) -> bool:
    """Return whether the server accepts a login; one that answers may not accept logins yet."""
    try:
        process.log_in(endpoint.uri, endpoint.user, endpoint.password)
    except GraphUnavailableError:
        return False
    return True


def folder_bytes(root: Path) -> int:
    """Return the bytes of all files below a folder, without files that vanish meanwhile."""
    total = 0
    for path in root.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def main() -> None:
    """Make the cache at the lowest priority."""
    process.yield_processor(os.getpid())
    make_aot_cache(Settings.load(os.environ))


if __name__ == "__main__":
    main()
