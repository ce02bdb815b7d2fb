"""Build, cache and install the jar of the procedures plugin."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from graphmem import maven
from graphmem.errors import ConfigurationError, LocalServerError, ProceduresNotBuiltError
from graphmem.local_server.files import environment
from graphmem.local_server.jars import JarLock, JarStore, shipped_lock
from graphmem.local_server.java import OLDEST, Java, find_java
from graphmem.local_server.plugin.java_source import procedure_specs, sources
from graphmem.maven import Progress, Report, fetch_missing
from graphmem.private_files import make_folder
from graphmem.settings import Settings
from graphmem.version import __version__

MAIN = "org.eclipse.jdt.internal.compiler.batch.Main"
COMPILING_S = 300.0
"""Seconds the compiler may take, even on a busy machine."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Timestamp of every file in the jar, so that the same sources give the same bytes."""

log = logging.getLogger("graphmem")

FILE = "graphmem-procedures.jar"
"""Name of the jar in a server's plugins folder, the same for every version."""


@dataclass(frozen=True)
class BuildPlan:
    """Sources and tools of one build, and the path of its jar."""

    texts: Mapping[str, str]
    tools: JarStore

    @classmethod
    def of(cls, settings: Settings, lock: JarLock | None = None) -> BuildPlan:
        """Return the plan for these settings and the locked server; fetch and build nothing."""
        return cls(
            sources(procedure_specs(settings)),
            JarStore.of_build_tools(settings, lock or shipped_lock()),
        )

    @property
    def jar(self) -> Path:
        """Path of the jar in the cache; its name changes with its sources and the tools."""
        inputs = (sorted(self.texts.items()), self.tools.lock.jars, __version__)
        key = sha256(repr(inputs).encode()).hexdigest()
        return self.tools.folder / f"graphmem-{key[:16]}.plugin.jar"

    @property
    def failure_note(self) -> Path:
        """File with the reason why building this jar failed."""
        return self.jar.with_suffix(".failed")

    def is_built(self) -> bool:
        """Return whether the jar exists unchanged; the server runs the code in it."""
        return maven.is_intact(self.jar)

    def failed(self) -> str:
        """Return why building this jar failed lately; empty if it did not."""
        return maven.recent_failure(self.failure_note)


def build(settings: Settings, *, report: Report, lock: JarLock | None = None) -> Path:
    """Return the jar in the cache; build it if it does not exist yet.

    Args:
        settings: `cache`, `java` and `maven_mirror`; and defaults of procedure arguments:
            `source_weights` and the bounds of the sequential test.
        report: progress callback for slow steps.
        lock: lock of the server that will load the jar; the shipped one by default.

    Raises:
        ServerFetchError: the compiler could not be fetched.
        ProceduresNotBuiltError: the compiler rejected the sources, or could not be run.
        ConfigurationError: no Java, or the cache cannot be written.
    """
    return make_jar(BuildPlan.of(settings, lock), settings, report)


def make_jar(plan: BuildPlan, settings: Settings, report: Report) -> Path:
    """Return the jar of a plan; see `build`."""
    if plan.is_built():
        plan.jar.touch()  # unused jars are removed after `maven.UNUSED_S`
        return plan.jar
    make_folder(plan.tools.folder, setting="GRAPHMEM_CACHE")
    try:
        java = find_java(settings)
        fetch_missing(plan.tools, settings, report)
        _build_jar(plan, java, report)
    except Exception as error:
        plan.failure_note.write_text(f"{error}\n", encoding="utf-8")
        raise
    plan.failure_note.unlink(missing_ok=True)
    return plan.jar


def _build_jar(plan: BuildPlan, java: Java, report: Report) -> None:
    from filelock import FileLock

    with FileLock(plan.tools.folder / "build.lock"):
        maven.remove_unused(plan.tools.folder, ".failed", ".plugin.jar")
        if plan.is_built():
            return
        report(Progress("prepare", "Compiling the procedures"))
        with tempfile.TemporaryDirectory(
            dir=plan.tools.folder, ignore_cleanup_errors=True
        ) as scratch:
            draft = Path(scratch) / "draft"
            write_jar(compile_sources(plan, java, Path(scratch)), draft)
            maven.keep(draft, plan.jar)


def compile_sources(plan: BuildPlan, java: Java, scratch: Path) -> dict[str, bytes]:
    """Compile in an empty folder; return the content of every class file by its path."""
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
        output = (done.stdout + done.stderr).strip()
        raise ProceduresNotBuiltError(log_tail=output[-4_000:])
    paths = sorted(path for path in classes.rglob("*.class"))
    return {path.relative_to(classes).as_posix(): path.read_bytes() for path in paths}


def write_jar(classes: Mapping[str, bytes], target: Path) -> None:
    """Write a jar whose bytes depend only on its classes and graphmem's version."""
    manifest = (
        f"Manifest-Version: 1.0\nImplementation-Title: graphmem procedures\n"
        f"Implementation-Version: {__version__}\n\n"
    )
    files = {"META-INF/MANIFEST.MF": manifest.encode(), **dict(sorted(classes.items()))}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as jar:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            jar.writestr(entry, content)


def jar_for_start(settings: Settings, report: Report) -> Path | None:
    """Return the jar for a server that is about to start; log a warning and return None on failure.

    A server without procedures is better than no server. A failed build is retried later,
    not at every start.
    """
    try:
        plan = BuildPlan.of(settings)
        if not plan.is_built() and (reason := plan.failed()):
            log.warning("Neo4j starts without graphmem's procedures, as before: %s", reason)
            return None
        return build(settings, report=report)
    except (LocalServerError, ConfigurationError, OSError) as error:
        log.warning("Neo4j starts without graphmem's procedures: %s", error)
        return None


def install(jar: Path, plugins: Path) -> Path:
    """Copy the jar atomically into a server's plugins folder and return its path there.

    Other plugins are not changed.
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
    """Remove the jar from a plugins folder; the jar of another graphmem runs different Cypher."""
    (plugins / FILE).unlink(missing_ok=True)
