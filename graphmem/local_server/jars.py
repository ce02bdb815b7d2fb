"""Jars of the server: lock file, folders and licences."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from graphmem.local_server.files import cache_root
from graphmem.maven import Jar, JarFolder, Report, fetch_missing
from graphmem.settings import Settings

LOCK_FILE = "neo4j.lock.json"
API = frozenset(
    {"org.neo4j:annotations", "org.neo4j:neo4j-graphdb-api", "org.neo4j:neo4j-procedure-api"}
    | {"org.neo4j:neo4j-gql-status", "org.neo4j:neo4j-resource", "org.neo4j:neo4j"}
)
"""Jars of the server against which procedures and `StoreCopy` are compiled."""
LICENCE = (
    "Neo4j Community {version} is licensed under the GPL v3 by Neo4j. It is fetched for you "
    "from a Maven repository and is not part of graphmem: https://neo4j.com/licensing/"
)
COMPILER_LICENCE = (
    "The Eclipse compiler for Java is licensed under the EPL 2.0. It is fetched for you from a "
    "Maven repository and is not part of graphmem: https://www.eclipse.org/legal/epl-2.0/"
)


@dataclass(frozen=True)
class JarLock:
    """All locked files of one version of the server."""

    neo4j: str
    browser: str
    jars: tuple[Jar, ...]
    compiler: Jar
    """Compiler of the procedures plugin; the server itself does not need it."""

    @classmethod
    def parse(cls, text: str) -> JarLock:
        """Parse the text of a lock file."""
        data = json.loads(text)
        jars = (Jar(name, *entry) for name, entry in data["jars"].items())
        [compiler] = (Jar(name, *entry) for name, entry in data["compiler"].items())
        return cls(data["neo4j"], data["browser"], tuple(jars), compiler)

    def tools(self) -> JarLock:
        """Return the lock of the jars that build the procedures plugin: compiler and API."""
        api = [jar for jar in self.jars if jar.coordinates.rpartition(":")[0] in API]
        return replace(self, jars=(self.compiler, *api))


@cache
def shipped_lock() -> JarLock:
    """Return the lock file that graphmem ships."""
    return JarLock.parse(files(__package__).joinpath(LOCK_FILE).read_text(encoding="utf-8"))


@dataclass
class JarStore(JarFolder):
    """The folder of one version's jars."""

    lock: JarLock

    @classmethod
    def of(cls, settings: Settings, lock: JarLock) -> JarStore:
        """Return the store of the server's jars in the cache folder of the settings."""
        folder = cache_root(settings) / f"neo4j-{lock.neo4j}"
        licence = LICENCE.format(version=lock.neo4j)
        return cls(folder, lock.jars, f"Neo4j {lock.neo4j}", licence, lock)

    @classmethod
    def of_build_tools(cls, settings: Settings, lock: JarLock) -> JarStore:
        """Return the store of the jars that build the procedures plugin for that server."""
        folder = cache_root(settings) / f"procedures-{lock.neo4j}"
        tools = lock.tools()
        return cls(folder, tools.jars, "the compiler of procedures", COMPILER_LICENCE, tools)

    @property
    def class_path(self) -> list[str]:
        """File names in a fixed order, because an AOT cache is valid for one class path only."""
        return [jar.name for jar in self.jars]


def fetch(settings: Settings, *, report: Report, lock: JarLock | None = None) -> JarStore:
    """Return the server's jars; fetch those that are missing or damaged.

    If all files exist, no network request is made.

    Args:
        settings: only `cache`, `maven_mirror` and `offline` are used.
        report: progress callback, called from this thread several times a second.
        lock: files to fetch; the shipped lock by default.

    Raises:
        ServerFetchError: a file could not be fetched, was damaged twice, or the disk is full.
        ConfigurationError: the cache folder cannot be written, or jgo is not installed.
    """
    return fetch_missing(JarStore.of(settings, lock or shipped_lock()), settings, report)
