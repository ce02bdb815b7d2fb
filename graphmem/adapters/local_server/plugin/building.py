"""The plugin's jar: compiled once for each of its sources, and kept in the cache."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from graphmem.adapters.local_server import jars
from graphmem.adapters.local_server.files import environment, make_folder
from graphmem.adapters.local_server.jars import JarLock, JarStore, filled, shipped_lock
from graphmem.adapters.local_server.java import OLDEST, Java, find_java
from graphmem.adapters.local_server.plugin.java_source import offered, sources
from graphmem.adapters.local_server.records import Progress, Report
from graphmem.errors import ConfigurationError, LocalServerError, ProceduresNotBuiltError
from graphmem.settings import Settings

MAIN = "org.eclipse.jdt.internal.compiler.batch.Main"
COMPILING_S = 300.0
"""How long the compiler may take, on a machine that has much else to do."""
UNUSED_S = 30 * 86_400.0
"""After this long without a start, a jar is no longer wanted."""
RETRY_S = 3_600.0
"""A start does not try again what failed less than this long ago."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""When every file of the jar was made: the same sources give the same octets."""


@dataclass(frozen=True)
class BuildPlan:
    """What to compile, with what, and where the jar goes."""

    texts: Mapping[str, str]
    tools: JarStore

    @classmethod
    def of(cls, settings: Settings, lock: JarLock | None = None) -> BuildPlan:
        """Return the plan for these settings and the locked server; nothing is fetched or made."""
        return cls(sources(offered(settings)), JarStore.of_tools(settings, lock or shipped_lock()))

    @property
    def jar(self) -> Path:
        """Where the jar is kept: its name changes with its sources and the tools."""
        told = (sorted(self.texts.items()), self.tools.lock.jars, version("graphmem"))
        key = sha256(repr(told).encode()).hexdigest()
        return self.tools.folder / f"graphmem-{key[:16]}.plugin.jar"

    @property
    def failure_note(self) -> Path:
        """The file that says why making this jar failed."""
        return self.jar.with_suffix(".failed")

    def is_made(self) -> bool:
        """Whether the jar is there and as it was made: the server runs what is in it."""
        return jars.is_intact(self.jar)

    def failed(self) -> str:
        """Return why making this jar failed a short while ago; empty when it did not."""
        try:
            age_s = time.time() - self.failure_note.stat().st_mtime
            text = self.failure_note.read_text(encoding="utf-8")
        except OSError:
            return ""
        return text.strip() if age_s < RETRY_S else ""


def build(settings: Settings, *, report: Report, lock: JarLock | None = None) -> Path:
    """Return the jar in the cache, made when it is not there yet.

    Args:
        settings: `cache`, `java` and `maven_mirror`; and what procedures assume of an argument that
            is left out: `source_weights` and the bounds of the sequential test.
        report: told what takes long.
        lock: of the server that will load it; the shipped one by default.

    Raises:
        ServerFetchError: the compiler could not be fetched.
        ProceduresNotBuiltError: it refused the sources, or could not be run.
        ConfigurationError: no Java, or the cache cannot be written.
    """
    plan = BuildPlan.of(settings, lock)
    if plan.is_made():
        plan.jar.touch()  # unused ones are removed after a while
        return plan.jar
    make_folder(plan.tools.folder, setting="GRAPHMEM_CACHE")
    try:
        java = find_java(settings)
        filled(plan.tools, settings, report)
        _make(plan, java, report)
    except Exception as error:
        plan.failure_note.write_text(f"{error}\n", encoding="utf-8")
        raise
    plan.failure_note.unlink(missing_ok=True)
    return plan.jar


def _make(plan: BuildPlan, java: Java, report: Report) -> None:
    from filelock import FileLock

    with FileLock(plan.tools.folder / "build.lock"):
        _clean(plan.tools.folder)
        if plan.is_made():
            return
        report(Progress("prepare", "Compiling the procedures"))
        scratch = Path(tempfile.mkdtemp(dir=plan.tools.folder))
        try:
            classes = compiled(plan, java, scratch)
            pack(classes, scratch / "draft")
            jars.keep(scratch / "draft", plan.jar)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _clean(folder: Path) -> None:
    """Remove what a crash left, and the jars of sources no longer in use."""
    for path in folder.iterdir():
        ours = path.suffix == ".failed" or path.name.endswith(".plugin.jar")
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif jars.is_orphan(path):
            path.unlink()
        elif ours and time.time() - path.stat().st_mtime > UNUSED_S:
            jars.discard(path)


def compiled(plan: BuildPlan, java: Java, scratch: Path) -> dict[str, bytes]:
    """Return every class file by its path.

    Args:
        plan: what to compile.
        java: runs the compiler, which brings none of its own.
        scratch: an empty folder.

    Raises:
        ProceduresNotBuiltError: the compiler refused, could not be run, or took too long.
    """
    written, classes = [], scratch / "classes"
    for name, text in sorted(plan.texts.items()):
        path = scratch / "sources" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
        written.append(str(path.relative_to(scratch)))
    compiler, *api = [str(plan.tools.folder / jar.name) for jar in plan.tools.lock.jars]
    command = [str(java.executable), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"]
    command += ["-cp", compiler, MAIN, f"-{OLDEST}", "-encoding", "UTF-8", "-proc:none", "-nowarn"]
    command += ["-cp", os.pathsep.join(api), "-d", str(classes), *written]
    try:
        done = subprocess.run(  # noqa: S603 - our own java
            command,
            cwd=scratch,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMPILING_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProceduresNotBuiltError(f"The compiler of procedures failed: {error}.") from None
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise ProceduresNotBuiltError(log_tail=said[-4_000:])
    found = sorted(path for path in classes.rglob("*.class"))
    return {path.relative_to(classes).as_posix(): path.read_bytes() for path in found}


def pack(classes: Mapping[str, bytes], target: Path) -> None:
    """Write a jar whose octets depend on its classes alone."""
    manifest = (
        f"Manifest-Version: 1.0\nImplementation-Title: graphmem procedures\n"
        f"Implementation-Version: {version('graphmem')}\n\n"
    )
    files = {"META-INF/MANIFEST.MF": manifest.encode(), **dict(sorted(classes.items()))}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as jar:
        for name, octets in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            jar.writestr(entry, octets)


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
