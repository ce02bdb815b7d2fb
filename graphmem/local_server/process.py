"""Start a detached server process, wait until Bolt answers, and stop it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SecretStr

from graphmem.errors import (
    GraphAccessError,
    GraphUnavailableError,
    LocalServerError,
    ServerLockedError,
)
from graphmem.local_server.files import (
    DataFolder,
    ServerState,
    environment,
    newer_data_error,
)
from graphmem.local_server.jars import JarStore
from graphmem.local_server.java import Java
from graphmem.private_files import write_private
from graphmem.settings import PREFIX, Settings

if TYPE_CHECKING:
    import psutil
    from neo4j import Driver


USER = "neo4j"
"""The only user of a fresh Neo4j."""
MAX_HEAP = "-Xmx"
MAIN = "org.neo4j.server.Neo4jCommunity"
ADMIN = "org.neo4j.cli.AdminTool"
POLL_S = 0.02
EMPTY_COMMAND_LINE_S = 1.0
"""Seconds a process may have an empty command line before it counts as another program."""
LOWEST = 19
"""Lowest priority of a process on Unix."""
STOP_S = 30.0
"""Seconds a server may take to stop before it is killed."""
TAIL_LINES = 20
LOG_BYTES = 200_000
UMASK = 0o077
"""Umask of every started process: only the owner can read the files that it writes."""

_UNFIT_HEAP = re.compile(
    "(maximum|initial) heap|larger Java heap|OutOfMemoryError: Java heap space"
    "|insufficient memory for the Java|Could not reserve enough space"
)
_NEWER_DATA = re.compile("newer version of neo4j|UnsupportedLogVersionException", re.IGNORECASE)

_HANDSHAKE = bytes.fromhex("6060b017" + "00000805" + "00" * 12)
"""Bolt handshake that offers versions 5.8 to 5.0."""


@dataclass(frozen=True)
class Launcher:
    """Everything needed to run a class of the server on a data folder."""

    java: Java
    store: JarStore
    folder: DataFolder
    flags: list[str] = field(default_factory=list)

    def set_password(self) -> None:
        """Set the password of a fresh data folder, before the first start."""
        # The tool reads the password from the file, so it never appears in a process list.
        self.run_admin_tool(
            "The password of the new data folder could not be set.",
            ["dbms", "set-initial-password", f"@{self.folder.password_file}"],
        )

    def run_admin_tool(self, problem: str, arguments: list[str]) -> None:
        """Run Neo4j's admin tool and wait for it to end."""
        self.run_tool(ADMIN, problem, arguments)

    def run_tool(self, main: str, problem: str, arguments: list[str], *jars: Path) -> None:
        """Run a class and wait for it to end.

        Args:
            problem: message of the error if it fails.
            jars: jars to add to the class path.
        """
        done = subprocess.run(  # noqa: S603 - our own java
            self._command(main, ["-XX:TieredStopAtLevel=1", *self.flags], arguments),
            cwd=self.store.folder,
            env=self._environment(*jars),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            umask=UMASK,
        )
        if done.returncode:
            raise LocalServerError(problem, log_tail=_shorten(done.stdout + done.stderr))

    def start(self, settings: Settings, *, bolt_port: int = 0, http_port: int = 0) -> ServerState:
        """Start the server, write its state to the folder, and return without waiting for it.

        If a preferred port is taken or 0, another free port is used.
        """
        bolt_port, http_port = free_ports(bolt_port, http_port)
        self.folder.write_configuration(settings, bolt_port=bolt_port, http_port=http_port)
        logs = self.folder.root / "logs"
        # Neo4j's launcher derives these from server.memory.heap.*; its main class does not.
        flags = [*self.flags, f"-Xms{settings.heap}", f"{MAX_HEAP}{settings.heap}"]
        flags += [f"-XX:ErrorFile={logs / 'jvm-crash-%p.log'}", "-XX:-CreateCoredumpOnCrash"]
        log = logs / "neo4j.log"
        log_from = log.stat().st_size if log.exists() else 0
        write_private(logs / "console.log", "")
        with (logs / "console.log").open("wb") as console:
            pid = spawn_detached(
                self._command(MAIN, flags, identity(self.folder)),
                cwd=self.store.folder,
                env=self._environment(),
                stdout=console,
            )
        state = ServerState(pid, time.time(), bolt_port, http_port, self.store.lock.neo4j, log_from)
        self.folder.write_state(state)
        return state

    def _command(self, main: str, flags: list[str], arguments: list[str]) -> list[str]:
        return [str(self.java.executable), *self.java.flags, *flags, main, *arguments]

    def _environment(self, *jars: Path) -> dict[str, str]:
        # The class path is relative to the folder of the jars, so it is short and needs no quoting.
        home = {"NEO4J_HOME": str(self.folder.root), "NEO4J_CONF": str(self.folder.conf)}
        class_path = [*self.store.class_path, *map(str, jars)]
        return environment() | home | {"CLASSPATH": os.pathsep.join(class_path)}


def spawn_detached(
    command: list[str],
    *,
    stdin: Any = subprocess.DEVNULL,
    stdout: Any = subprocess.DEVNULL,
    **options: Any,
) -> int:
    """Start a process in its own session, so that it outlives this one; return its id."""
    detached: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        detached = {"creationflags": flags}
    process = subprocess.Popen(  # noqa: S603 - a command of ours
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.STDOUT,
        umask=UMASK,
        **detached,
        **options,
    )
    # The process keeps running on purpose; a return code prevents Popen's ResourceWarning.
    process.returncode = 0
    return process.pid


def yield_processor(pid: int) -> None:
    """Set a process of ours to the lowest priority.

    Linux weighs whole sessions against each other, so that of a process that has its own is
    lowered, too.
    """
    import psutil

    psutil.Process(pid).nice(psutil.IDLE_PRIORITY_CLASS if sys.platform == "win32" else LOWEST)
    group = Path(f"/proc/{pid}/autogroup")
    with suppress(OSError):
        if group.exists() and os.getsid(pid) == pid:
            group.write_text(str(LOWEST), encoding="ascii")


def run_in_background(
    module: str, *, stdin: Any = subprocess.DEVNULL, **settings: Path | None
) -> None:
    """Run a module in a process that outlives this one and has only these settings."""
    values = {f"{PREFIX}{name.upper()}": str(value) for name, value in settings.items() if value}
    command = [sys.executable, "-m", module]
    spawn_detached(command, stdin=stdin, env=environment("PYTHON", "VIRTUAL_ENV") | values)


def identity(folder: DataFolder) -> list[str]:
    """Return the arguments that identify the server of a data folder."""
    return [f"--home-dir={folder.root}", f"--config-dir={folder.conf}"]


def find(folder: DataFolder, state: ServerState | None) -> psutil.Process | None:
    """Return the running server of a data folder, or None.

    The operating system reuses process ids after a crash, so the process must also run Neo4j on
    exactly this folder.
    """
    if state is None:
        return None
    import psutil

    try:
        process = psutil.Process(state.pid)
        if _is_dead(process):
            process.wait(0)  # reap it if it is a child of this process
            return None
        ours = {MAIN, *identity(folder)} <= set(_command_line(process))
    except psutil.Error:
        return None
    return process if ours else None


def max_heap_of(server: psutil.Process) -> str | None:
    """Return the maximum heap of a running server, such as `1g`; None if it has no limit.

    The value comes from the process, because the configuration has only the requested one.
    """
    import psutil

    with suppress(psutil.Error):
        for argument in reversed(_command_line(server)):
            if argument.startswith(MAX_HEAP):
                return argument.removeprefix(MAX_HEAP)
    return None


def _is_dead(process: psutil.Process) -> bool:
    """Return whether a process has ended completely, though its parent may not have reaped it.

    A JVM whose first thread has ended is a zombie too, while other threads still hold its files.
    """
    import psutil

    return bool(process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1)


def _command_line(process: psutil.Process) -> list[str]:
    """Return the command line of a process; wait while it is starting or ending.

    Linux shows an empty one for a moment after `exec`. Under load this happened in one start of
    twenty, and the server that had just started was considered dead.
    """
    deadline = time.monotonic() + EMPTY_COMMAND_LINE_S
    command: list[str]
    while not (command := process.cmdline()) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return command


def running(folder: DataFolder) -> ServerState | None:
    """Return the state of a data folder's running server, or None."""
    state = folder.read_state()
    return state if find(folder, state) else None


def wait_ready(
    folder: DataFolder,
    state: ServerState,
    timeout_s: float,
    ready: Callable[[], object] | None = None,
) -> None:
    """Wait until Bolt answers and `ready`, called once Bolt answers, returns true."""
    deadline = time.monotonic() + timeout_s
    while not (answers(state.bolt_port) and (ready is None or ready())):
        if find(folder, state) is None:
            raise _exit_error(folder, state)
        if time.monotonic() > deadline:
            raise LocalServerError(
                f"Neo4j did not answer within {timeout_s:.0f} s.",
                hint="Set GRAPHMEM_START_TIMEOUT_S higher, or run `graphmem server doctor`.",
                log_tail=log_tail(folder, state),
            )
        time.sleep(POLL_S)


def end(process: psutil.Process, timeout_s: float = STOP_S) -> bool:
    """Terminate a server and return true; kill it and return false if it takes too long."""
    import psutil

    with suppress(psutil.NoSuchProcess):
        process.terminate()
        if not _ended(process, timeout_s):
            process.kill()
            _ended(process, timeout_s)
            return False
    return True


def _ended(process: psutil.Process, timeout_s: float) -> bool:
    """Wait until a process has ended and return whether it has.

    A zombie counts as ended: its parent, such as an agent's server that started this one, may
    never reap it.
    """
    import psutil

    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            process.wait(POLL_S)
        except psutil.TimeoutExpired:
            if not _is_dead(process):
                continue
            with suppress(psutil.TimeoutExpired):
                process.wait(0)
        return True
    return False


def free_ports(*preferred: int) -> list[int]:
    """Return unused loopback ports: the preferred ones where they are free."""
    with ExitStack() as held:
        return [_bind(port, held) or _bind(0, held) for port in preferred]


def is_free(port: int) -> bool:
    """Return whether this loopback port is unused."""
    with ExitStack() as held:
        return bool(_bind(port, held))


def _bind(port: int, held: ExitStack) -> int:
    """Bind a port until `held` closes and return it; return 0 if it is taken."""
    holder = held.enter_context(socket.socket())
    if sys.platform != "win32":  # on Windows the option would take the port from its owner
        # Otherwise ports of recently closed connections would count as taken.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        holder.bind(("127.0.0.1", port))
        holder.listen(1)
    except OSError:
        return 0
    return int(holder.getsockname()[1])


def log_tail(folder: DataFolder, state: ServerState) -> str:
    """Return the last log lines since the server was started, for an error message."""
    return _shorten(_run_log(folder, state))


def run_errors(folder: DataFolder, state: ServerState) -> list[str]:
    """Return the lines of level ERROR since the server was started."""
    return [line for line in _run_log(folder, state).splitlines() if " ERROR " in line]


def _run_log(folder: DataFolder, state: ServerState) -> str:
    """Return Neo4j's log of this run, followed by the JVM's console output."""
    logs = folder.root / "logs"
    return _read(logs / "neo4j.log", state.log_from) + _read(logs / "console.log", 0)


def _read(path: Path, start: int) -> str:
    """Return a log from an offset on; at most its last `LOG_BYTES` bytes."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            start = start if start <= size else 0  # the log was rotated since
            file.seek(max(start, size - LOG_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _shorten(text: str) -> str:
    """Return the last lines of a log without stack frames and blank lines."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("\t")]
    return "\n".join(line[:400] for line in lines[-TAIL_LINES:])


class ServerExitedError(Exception):
    """A server ended while it was starting.

    Attributes:
        error: exception to raise to the caller.
        reason: `port` if its port was taken meanwhile, `crash` if the JVM itself failed.
    """

    def __init__(self, error: LocalServerError, reason: Literal["port", "crash", "other"]) -> None:
        super().__init__(str(error))
        self.error = error
        self.reason = reason


def _exit_error(folder: DataFolder, state: ServerState) -> ServerExitedError:
    """Return the reason in the log of a server that ended."""
    text = _run_log(folder, state)
    tail = _shorten(text)
    if "locked by another process" in text:
        locked = ServerLockedError(
            f"Another Neo4j uses the data in {folder.root}.",
            hint="Stop it, or set GRAPHMEM_HOME to another folder.",
        )
        return ServerExitedError(locked, "other")
    if _NEWER_DATA.search(text):
        return ServerExitedError(
            newer_data_error(folder.root, "of a newer release", state.version), "other"
        )
    if "already in use" in text:
        taken = LocalServerError("The ports of Neo4j were taken while it started.", log_tail=tail)
        return ServerExitedError(taken, "port")
    if _UNFIT_HEAP.search(text):
        unfit = LocalServerError(
            "Java cannot run Neo4j with this heap.",
            hint="Set GRAPHMEM_HEAP to at least 256m and to less than the free memory.",
            log_tail=tail,
        )
        return ServerExitedError(unfit, "other")
    crashed = "fatal error has been detected by the Java Runtime" in text
    dead = LocalServerError("Neo4j ended while it was starting.", log_tail=tail)
    return ServerExitedError(dead, "crash" if crashed else "other")


def answers(port: int, *, timeout_s: float = 1.0) -> bool:
    """Return whether a Bolt server answers the handshake on this loopback port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout_s) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(_HANDSHAKE)
            reply = connection.recv(4)
    except OSError:
        return False
    return len(reply) == 4 and reply != bytes(4)


def log_in(uri: str, user: str, password: SecretStr | None) -> str:
    """Log in and return the server's name and version, such as `Neo4j/2026.08.1`.

    Raises:
        GraphAccessError: it rejected the credentials.
        GraphUnavailableError: it cannot be reached, or the address is invalid.
    """
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, ConfigurationError, DriverError, Neo4jError

    from graphmem.graph import refusals

    secret = password.get_secret_value() if password else ""
    try:
        with GraphDatabase.driver(
            uri, auth=(user, secret), connection_timeout=10, telemetry_disabled=True
        ) as driver:
            return str(driver.get_server_info().agent)
    except AuthError:
        raise GraphAccessError from None
    except (DriverError, Neo4jError, ConfigurationError, ValueError, OSError) as error:
        if isinstance(error, Neo4jError) and error.code == refusals.TOO_MANY_TRIES:
            raise refusals.query_error(error) from None
        raise GraphUnavailableError(f"Neo4j at {uri} cannot be reached: {error}.") from None


def connect(uri: str, password: SecretStr) -> Driver:
    """Return a driver of the managed server; it ignores notifications about an empty graph."""
    from neo4j import GraphDatabase

    return GraphDatabase.driver(
        uri,
        auth=(USER, password.get_secret_value()),
        telemetry_disabled=True,
        notifications_min_severity="OFF",
    )
