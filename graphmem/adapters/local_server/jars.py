"""The server's jars: what the lock file names, and what of it lies on this machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from hashlib import file_digest
from importlib.resources import files
from pathlib import Path

from graphmem.adapters.local_server.files import cache_root
from graphmem.settings import Settings

LOCK_FILE = "neo4j.lock.json"
HASHING_THREADS = 2
API = frozenset(
    {"org.neo4j:annotations", "org.neo4j:neo4j-graphdb-api", "org.neo4j:neo4j-procedure-api"}
    | {"org.neo4j:neo4j-gql-status", "org.neo4j:neo4j-resource"}
)
"""Of the server's jars, what procedures are compiled against."""
LICENCE = (
    "Neo4j Community {version} is licensed under the GPL v3 by Neo4j. It is fetched for you "
    "from a Maven repository and is no part of graphmem: https://neo4j.com/licensing/"
)
COMPILER_LICENCE = (
    "The Eclipse compiler for Java is licensed under the EPL 2.0. It is fetched for you from a "
    "Maven repository and is no part of graphmem: https://www.eclipse.org/legal/epl-2.0/"
)


@dataclass(frozen=True)
class Jar:
    """One locked file: Maven coordinates `group:artifact:version[:classifier]`, sum, octets."""

    coordinates: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """File name, unique among the jars of one server."""
        _, artifact, version, *classifier = self.coordinates.split(":")
        return "-".join([artifact, version, *classifier]) + ".jar"

    @property
    def version(self) -> str:
        """Of the artifact."""
        return self.coordinates.split(":")[2]

    @property
    def path(self) -> str:
        """Path inside a Maven repository."""
        group, artifact, version, *_ = self.coordinates.split(":")
        return f"{group.replace('.', '/')}/{artifact}/{version}/{self.name}"


@dataclass(frozen=True)
class JarLock:
    """Every file of one version of the server."""

    neo4j: str
    browser: str
    jars: tuple[Jar, ...]
    compiler: Jar
    """Compiles the plugin of procedures; the server itself has no use for it."""

    @classmethod
    def parse(cls, text: str) -> JarLock:
        """Read a lock file."""
        data = json.loads(text)
        jars = (Jar(name, *entry) for name, entry in data["jars"].items())
        [compiler] = (Jar(name, *entry) for name, entry in data["compiler"].items())
        return cls(data["neo4j"], data["browser"], tuple(jars), compiler)

    def dump(self) -> str:
        """Return the lock file, one jar a line, in order, so that a change reads well."""
        versions = "".join(
            f'  "{name}": {json.dumps(value)},\n'
            for name, value in (("neo4j", self.neo4j), ("browser", self.browser))
        )
        lists = ",\n".join(
            f'  "{name}": {{\n{_lines(jars)}\n  }}'
            for name, jars in (("compiler", [self.compiler]), ("jars", self.jars))
        )
        return f"{{\n{versions}{lists}\n}}\n"

    def tools(self) -> JarLock:
        """Return what building the plugin of procedures takes: the compiler and the API."""
        api = [jar for jar in self.jars if jar.coordinates.rpartition(":")[0] in API]
        return replace(self, jars=(self.compiler, *api))


def _lines(jars: Sequence[Jar]) -> str:
    return ",\n".join(
        f"    {json.dumps(jar.coordinates)}: {json.dumps([jar.sha256, jar.size])}"
        for jar in sorted(jars, key=lambda jar: jar.coordinates)
    )


@cache
def shipped_lock() -> JarLock:
    """Return the lock that this graphmem carries."""
    return JarLock.parse(files(__package__).joinpath(LOCK_FILE).read_text(encoding="utf-8"))


@dataclass
class JarStore:
    """The folder of one version's jars.

    Every start hashes them all: 166 MB take 0.13 s of a processor that knows SHA-256.
    """

    folder: Path
    lock: JarLock
    title: str
    """What these jars are, in words."""
    licence: str
    """What is said before they are fetched."""

    @classmethod
    def of(cls, settings: Settings, lock: JarLock) -> JarStore:
        """Return the shelf of the server that the settings name."""
        folder = cache_root(settings) / f"neo4j-{lock.neo4j}"
        return cls(folder, lock, f"Neo4j {lock.neo4j}", LICENCE.format(version=lock.neo4j))

    @classmethod
    def of_tools(cls, settings: Settings, lock: JarLock) -> JarStore:
        """Return the shelf of what builds the plugin of procedures for that server."""
        folder = cache_root(settings) / f"procedures-{lock.neo4j}"
        return cls(folder, lock.tools(), "the compiler of procedures", COMPILER_LICENCE)

    @property
    def class_path(self) -> list[str]:
        """File names in a fixed order: an AOT cache belongs to one class path."""
        return [jar.name for jar in self.lock.jars]

    def missing(self) -> list[Jar]:
        """Return the jars that are absent or damaged; damaged ones are removed."""
        for jar in self.damaged():
            (self.folder / jar.name).unlink(missing_ok=True)
        return self.absent()

    def absent(self) -> list[Jar]:
        """Return the jars that are not there."""
        return [jar for jar in self.lock.jars if not self._path(jar).is_file()]

    def damaged(self) -> list[Jar]:
        """Return the jars that are there and not what the lock says."""
        present = [jar for jar in self.lock.jars if self._path(jar).is_file()]
        with ThreadPoolExecutor(HASHING_THREADS) as pool:
            sound = pool.map(self._is_sound, present)
        return [jar for jar, is_sound in zip(present, sound, strict=True) if not is_sound]

    def _path(self, jar: Jar) -> Path:
        return self.folder / jar.name

    def _is_sound(self, jar: Jar) -> bool:
        return digest(self._path(jar)) == jar.sha256


def digest(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
