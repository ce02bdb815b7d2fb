"""One server process: start it apart from us, wait until Bolt answers, end it."""

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

from graphmem.adapters.local_server import bolt
from graphmem.adapters.local_server.files import (
    DataFolder,
    ServerState,
    environment,
    newer_data_error,
    write_private,
)
from graphmem.adapters.local_server.jars import JarStore
from graphmem.adapters.local_server.java import Java
from graphmem.errors import LocalServerError, ServerLockedError
from graphmem.settings import Settings

if TYPE_CHECKING:
    import psutil

MAX_HEAP = "-Xmx"
MAIN = "org.neo4j.server.Neo4jCommunity"
ADMIN = "org.neo4j.cli.AdminTool"
POLL_S = 0.02
NAMELESS_S = 1.0
"""How long a process may be without a command line before it counts as none of ours."""
STOP_S = 30.0
"""How long a server may take to stop before it is killed."""
TAIL_LINES = 20
LOG_OCTETS = 200_000
UMASK = 0o077
"""Of every process that is started: what it writes is for its owner alone."""

_UNFIT_HEAP = re.compile(
    "(maximum|initial) heap|larger Java heap|OutOfMemoryError: Java heap space"
    "|insufficient memory for the Java|Could not reserve enough space"
)
_NEWER_DATA = re.compile("newer version of neo4j|UnsupportedLogVersionException", re.IGNORECASE)


@dataclass(frozen=True)
class Launcher:
    """What is needed to run a class of the server on a data folder."""

    java: Java
    shelf: JarStore
    folder: DataFolder
    flags: list[str] = field(default_factory=list)

    def set_password(self) -> None:
        """Give a fresh data folder its password, before the first start.

        Raises:
            LocalServerError: Neo4j's admin tool refused.
        """
        # The tool reads the password from the file: no other process sees it in our arguments.
        self.administer(
            "The password of the new data folder could not be set.",
            ["dbms", "set-initial-password", f"@{self.folder.password_file}"],
        )

    def administer(self, problem: str, arguments: list[str]) -> None:
        """Run Neo4j's admin tool to its end.

        Args:
            problem: what it means when it fails, a sentence.
            arguments: of the tool.

        Raises:
            LocalServerError: it failed; carries the last lines of what it printed.
        """
        done = subprocess.run(  # noqa: S603 - our own java
            self._command(ADMIN, ["-XX:TieredStopAtLevel=1"], arguments),
            cwd=self.shelf.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            umask=UMASK,
        )
        if done.returncode:
            raise LocalServerError(problem, log_tail=_shorten(done.stdout + done.stderr))

    def start(self, settings: Settings, *, bolt_port: int = 0, http_port: int = 0) -> ServerState:
        """Start the server, note it in the folder, and return without waiting for it.

        Args:
            settings: memory limits.
            bolt_port: wished; another is taken when somebody has it, any when it is 0.
            http_port: likewise.
        """
        bolt_port, http_port = free_ports(bolt_port, http_port)
        self.folder.write_configuration(settings, bolt_port=bolt_port, http_port=http_port)
        logs = self.folder.root / "logs"
        # Neo4j's launcher makes these of server.memory.heap.*; its main class does not.
        flags = [*self.flags, f"-Xms{settings.heap}", f"{MAX_HEAP}{settings.heap}"]
        flags += [f"-XX:ErrorFile={logs / 'jvm-crash-%p.log'}", "-XX:-CreateCoredumpOnCrash"]
        log = logs / "neo4j.log"
        log_from = log.stat().st_size if log.exists() else 0
        write_private(logs / "console.log", "")
        with (logs / "console.log").open("wb") as console:
            pid = spawn_apart(
                self._command(MAIN, flags, identity(self.folder)),
                cwd=self.shelf.folder,
                env=self._environment(),
                stdout=console,
            )
        state = ServerState(pid, time.time(), bolt_port, http_port, self.shelf.lock.neo4j, log_from)
        self.folder.write_state(state)
        return state

    def _command(self, main: str, flags: list[str], arguments: list[str]) -> list[str]:
        return [str(self.java.executable), *self.java.flags, *flags, main, *arguments]

    def _environment(self) -> dict[str, str]:
        # The class path is relative to the folder of the jars: short, and free of quoting.
        home = {"NEO4J_HOME": str(self.folder.root), "NEO4J_CONF": str(self.folder.conf)}
        return environment() | home | {"CLASSPATH": os.pathsep.join(self.shelf.class_path)}


def spawn_apart(command: list[str], *, stdout: Any = subprocess.DEVNULL, **options: Any) -> int:
    """Start a process in a session of its own, so that it outlives this one; return its id."""
    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    process = subprocess.Popen(  # noqa: S603 - a command of ours
        command,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT,
        umask=UMASK,
        **apart,
        **options,
    )
    # It is left on purpose; without a code, Popen would warn of that when it is collected.
    process.returncode = 0
    return process.pid


def identity(folder: DataFolder) -> list[str]:
    """Return the arguments by which the server of a data folder is known."""
    return [f"--home-dir={folder.root}", f"--config-dir={folder.conf}"]


def find(folder: DataFolder, state: ServerState | None) -> psutil.Process | None:
    """Return the living server of a data folder.

    A process id is used again after a crash, so the process must also run our server on this
    very folder; any other one is left alone.
    """
    if state is None:
        return None
    import psutil

    try:
        process = psutil.Process(state.pid)
        if _is_dead(process):
            process.wait(0)  # a dead child of this process goes when somebody asks for it
            return None
        ours = {MAIN, *identity(folder)} <= set(_command_line(process))
    except psutil.Error:
        return None
    return process if ours else None


def heap_of(server: psutil.Process) -> str | None:
    """Return the largest heap that a running server was given, such as `1g`; None without one.

    It is read from the process, because the configuration says only what was asked for.
    """
    import psutil

    with suppress(psutil.Error):
        for argument in reversed(_command_line(server)):
            if argument.startswith(MAX_HEAP):
                return argument.removeprefix(MAX_HEAP)
    return None


def _is_dead(process: psutil.Process) -> bool:
    """Return whether all of a process has ended, though somebody may still have to ask for it.

    A Java whose first thread has ended looks like that too, while others still hold its files.
    """
    import psutil

    return bool(process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1)


def _command_line(process: psutil.Process) -> list[str]:
    """Return the command line of a process, waiting for it while it is being born or dies.

    Linux shows an empty one for a moment after `exec`, which under load one start in twenty met:
    a server that had just begun was taken for dead.
    """
    deadline = time.monotonic() + NAMELESS_S
    command: list[str]
    while not (command := process.cmdline()) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return command


def wait_ready(
    folder: DataFolder,
    state: ServerState,
    timeout_s: float,
    ready: Callable[[], object] | None = None,
) -> None:
    """Wait until Bolt answers.

    Args:
        folder: the server's.
        state: of the server.
        timeout_s: seconds to wait at most.
        ready: what must be true too, asked once Bolt answers.

    Raises:
        DiedError: the server ended.
        LocalServerError: it took longer than `timeout_s` seconds; with its log's last lines.
    """
    deadline = time.monotonic() + timeout_s
    while not (bolt.answers(state.bolt_port) and (ready is None or ready())):
        if find(folder, state) is None:
            raise _death(folder, state)
        if time.monotonic() > deadline:
            raise LocalServerError(
                f"Neo4j did not answer within {timeout_s:.0f} s.",
                hint="Set GRAPHMEM_START_TIMEOUT_S higher, or run `graphmem server doctor`.",
                log_tail=log_tail(folder, state),
            )
        time.sleep(POLL_S)


def end(process: psutil.Process, timeout_s: float = STOP_S) -> None:
    """Stop a server: ask, wait, and kill it when it does not listen."""
    import psutil

    with suppress(psutil.NoSuchProcess):
        process.terminate()
        if not _ended(process, timeout_s):
            process.kill()
            _ended(process, timeout_s)


def _ended(process: psutil.Process, timeout_s: float) -> bool:
    """Wait until a process has ended and return whether it has.

    What another process started, and lives to ask for, has ended too while it is asked for by
    nobody: an agent's server that brought this one up asks for nothing.
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


def free_ports(*wished: int) -> list[int]:
    """Return loopback ports nobody uses: the wished ones where they are free."""
    with ExitStack() as held:
        return [_hold(port, held) or _hold(0, held) for port in wished]


def is_free(port: int) -> bool:
    """Return whether nobody uses this loopback port."""
    with ExitStack() as held:
        return bool(_hold(port, held))


def _hold(port: int, held: ExitStack) -> int:
    """Bind a port until `held` closes; 0 when it is taken."""
    holder = held.enter_context(socket.socket())
    if sys.platform != "win32":  # there the option would take the port from its owner
        # Otherwise connections that ended a moment ago would count as taken.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        holder.bind(("127.0.0.1", port))
        holder.listen(1)
    except OSError:
        return 0
    return int(holder.getsockname()[1])


def log_tail(folder: DataFolder, state: ServerState) -> str:
    """Return the last lines of what the server wrote since it was started, for an error."""
    return _shorten(_run_log(folder, state))


def run_errors(folder: DataFolder, state: ServerState) -> list[str]:
    """Return the lines of level ERROR since the server was started."""
    return [line for line in _run_log(folder, state).splitlines() if " ERROR " in line]


def _run_log(folder: DataFolder, state: ServerState) -> str:
    """Return what Neo4j logged in this run, then what the JVM said on its console."""
    logs = folder.root / "logs"
    return _read(logs / "neo4j.log", state.log_from) + _read(logs / "console.log", 0)


def _read(path: Path, start: int) -> str:
    """Return a log from an offset on, its end when it is long."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            start = start if start <= size else 0  # it was rotated since
            file.seek(max(start, size - LOG_OCTETS))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _shorten(text: str) -> str:
    """Keep the lines that say something: stack frames and blank lines go."""
    said = [line for line in text.splitlines() if line.strip() and not line.startswith("\t")]
    return "\n".join(line[:400] for line in said[-TAIL_LINES:])


class DiedError(Exception):
    """A server ended while it was starting.

    Attributes:
        error: what to tell the user.
        reason: `port` when its port was taken meanwhile, `crash` when the JVM itself failed.
    """

    def __init__(self, error: LocalServerError, reason: Literal["port", "crash", "other"]) -> None:
        super().__init__(str(error))
        self.error = error
        self.reason = reason


def _death(folder: DataFolder, state: ServerState) -> DiedError:
    """Return what the log of a dead server says."""
    text = _run_log(folder, state)
    tail = _shorten(text)
    if "locked by another process" in text:
        locked = ServerLockedError(
            f"Another Neo4j uses the data in {folder.root}.",
            hint="End it, or set GRAPHMEM_HOME to another folder.",
        )
        return DiedError(locked, "other")
    if _NEWER_DATA.search(text):
        return DiedError(
            newer_data_error(folder.root, "of a newer release", state.version), "other"
        )
    if "already in use" in text:
        taken = LocalServerError("The ports of Neo4j were taken while it started.", log_tail=tail)
        return DiedError(taken, "port")
    if _UNFIT_HEAP.search(text):
        unfit = LocalServerError(
            "Java cannot run Neo4j with this heap.",
            hint="Set GRAPHMEM_HEAP to 256m or more, and to less than the machine has free.",
            log_tail=tail,
        )
        return DiedError(unfit, "other")
    crashed = "fatal error has been detected by the Java Runtime" in text
    dead = LocalServerError("Neo4j ended while it was starting.", log_tail=tail)
    return DiedError(dead, "crash" if crashed else "other")
