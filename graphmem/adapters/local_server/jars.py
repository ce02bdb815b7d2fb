"""Jars of the server: lock file, download, and integrity of fetched and of built files."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import file_digest
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphmem.adapters.local_server.files import (
    cache_root,
    make_folder,
    remove_others_access,
    write_private,
)
from graphmem.adapters.local_server.records import Progress, Report
from graphmem.errors import ConfigurationError, ServerFetchError
from graphmem.settings import Settings

if TYPE_CHECKING:
    import httpx


SUFFIX = ".sha256"
UNUSED_S = 30 * 86_400.0
"""Seconds without a start after which a file that can be built again is removed."""


def keep(draft: Path, target: Path) -> None:
    """Move a finished file to `target` and write its SHA-256 next to it."""
    write_private(_checksum_file(target), digest(draft) + "\n")
    draft.replace(target)


def is_intact(path: Path) -> bool:
    """Return whether a file exists and still has the content with which `keep` stored it."""
    try:
        return _checksum_file(path).read_text(encoding="utf-8").strip() == digest(path)
    except (OSError, UnicodeDecodeError):
        return False


def discard(path: Path) -> None:
    """Remove a file and its checksum."""
    path.unlink(missing_ok=True)
    _checksum_file(path).unlink(missing_ok=True)


def remove_unused(folder: Path, *suffixes: str) -> None:
    """Remove leftovers of a crash, and files with these suffixes that are no longer used.

    The caller holds the lock of the folder.
    """
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix == SUFFIX and not path.with_suffix("").exists():
            path.unlink()
        elif path.name.endswith(suffixes) and time.time() - path.stat().st_mtime > UNUSED_S:
            discard(path)


def _checksum_file(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


LOCK_FILE = "neo4j.lock.json"
HASHING_THREADS = 2
API = frozenset(
    {"org.neo4j:annotations", "org.neo4j:neo4j-graphdb-api", "org.neo4j:neo4j-procedure-api"}
    | {"org.neo4j:neo4j-gql-status", "org.neo4j:neo4j-resource"}
)
"""Jars of the server against which procedures are compiled."""
LICENCE = (
    "Neo4j Community {version} is licensed under the GPL v3 by Neo4j. It is fetched for you "
    "from a Maven repository and is not part of graphmem: https://neo4j.com/licensing/"
)
COMPILER_LICENCE = (
    "The Eclipse compiler for Java is licensed under the EPL 2.0. It is fetched for you from a "
    "Maven repository and is not part of graphmem: https://www.eclipse.org/legal/epl-2.0/"
)


@dataclass(frozen=True)
class Jar:
    """One locked file: coordinates `group:artifact:version[:classifier]`, SHA-256, bytes."""

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
        """Version of the artifact."""
        return self.coordinates.split(":")[2]

    @property
    def path(self) -> str:
        """Path inside a Maven repository."""
        group, artifact, version, *_ = self.coordinates.split(":")
        return f"{group.replace('.', '/')}/{artifact}/{version}/{self.name}"


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

    def dump(self) -> str:
        """Return the text of the lock file: one jar a line, sorted, so that diffs are readable."""
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
        """Return the lock of the jars that build the procedures plugin: compiler and API."""
        api = [jar for jar in self.jars if jar.coordinates.rpartition(":")[0] in API]
        return replace(self, jars=(self.compiler, *api))


def _lines(jars: Sequence[Jar]) -> str:
    return ",\n".join(
        f"    {json.dumps(jar.coordinates)}: {json.dumps([jar.sha256, jar.size])}"
        for jar in sorted(jars, key=lambda jar: jar.coordinates)
    )


@cache
def shipped_lock() -> JarLock:
    """Return the lock file that graphmem ships."""
    return JarLock.parse(files(__package__).joinpath(LOCK_FILE).read_text(encoding="utf-8"))


@dataclass
class JarStore:
    """The folder of one version's jars.

    Every start hashes all of them: 166 MB take 0.13 s on a processor with SHA-256 instructions.
    """

    folder: Path
    lock: JarLock
    title: str
    """Description of these jars for messages."""
    licence: str
    """Licence notice that is reported before they are fetched."""

    @classmethod
    def of(cls, settings: Settings, lock: JarLock) -> JarStore:
        """Return the store of the server's jars in the cache folder of the settings."""
        folder = cache_root(settings) / f"neo4j-{lock.neo4j}"
        return cls(folder, lock, f"Neo4j {lock.neo4j}", LICENCE.format(version=lock.neo4j))

    @classmethod
    def of_build_tools(cls, settings: Settings, lock: JarLock) -> JarStore:
        """Return the store of the jars that build the procedures plugin for that server."""
        folder = cache_root(settings) / f"procedures-{lock.neo4j}"
        return cls(folder, lock.tools(), "the compiler of procedures", COMPILER_LICENCE)

    @property
    def class_path(self) -> list[str]:
        """File names in a fixed order, because an AOT cache is valid for one class path only."""
        return [jar.name for jar in self.lock.jars]

    def missing(self) -> list[Jar]:
        """Return the jars that are absent or damaged; damaged ones are removed."""
        for jar in self.damaged():
            (self.folder / jar.name).unlink(missing_ok=True)
        return self.absent()

    def absent(self) -> list[Jar]:
        """Return the jars that do not exist in the folder."""
        return [jar for jar in self.lock.jars if not self._path(jar).is_file()]

    def damaged(self) -> list[Jar]:
        """Return the jars whose content differs from the lock."""
        present = [jar for jar in self.lock.jars if self._path(jar).is_file()]
        with ThreadPoolExecutor(HASHING_THREADS) as pool:
            digests = pool.map(lambda jar: digest(self._path(jar)), present)
        return [jar for jar, found in zip(present, digests, strict=True) if found != jar.sha256]

    def _path(self, jar: Jar) -> Path:
        return self.folder / jar.name


def digest(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


SHIPPED = Path(__file__).with_name(LOCK_FILE)
ECJ = "org.eclipse.jdt:ecj"


def make_lock(neo4j: str, browser: str, compiler: str, settings: Settings) -> JarLock:
    """Resolve the server, Neo4j Browser and the compiler; fetch and hash every jar.

    Raises:
        ServerFetchError: a version does not exist or a file cannot be fetched.
    """
    from jgo.maven import MavenContext

    wanted = (
        f"org.neo4j:neo4j:{neo4j}",
        f"org.neo4j.app:neo4j-server:{neo4j}",
        f"org.neo4j.client:neo4j-browser:{browser}",
    )
    with tempfile.TemporaryDirectory(prefix="graphmem-lock-") as folder:
        maven = MavenContext(
            repo_cache=Path(folder), remote_repos={"repository": repository(settings)}, timeout=60
        )
        needs = [maven.create_dependency(name) for name in wanted]
        for need in needs:
            need.raw = True  # as in a plain pom.xml: no artifact manages the others' versions
        try:
            first, rest = maven.resolver.resolve(needs)
            # Without parent poms and version lists.
            artifacts = [need.artifact for need in first + rest]
            with ThreadPoolExecutor(THREADS) as pool:
                jars = list(pool.map(_locked, (a for a in artifacts if a.packaging == "jar")))
            # Resolved separately: it shares nothing with the server and has no dependencies.
            built_by = _locked(maven.create_dependency(f"{ECJ}:{compiler}").artifact)
        except (RuntimeError, OSError, ValueError) as error:
            raise ServerFetchError(
                f"Neo4j {neo4j} with Browser {browser} and the Eclipse compiler {compiler} "
                f"could not be resolved: {error}",
                hint="Check the versions, the network and GRAPHMEM_MAVEN_MIRROR.",
            ) from error
    return JarLock(neo4j, browser, tuple(sorted(jars, key=lambda jar: jar.coordinates)), built_by)


def _locked(artifact: Any) -> Jar:
    path = artifact.resolve()
    coordinates = [artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier]
    return Jar(":".join(filter(None, coordinates)), digest(path), path.stat().st_size)


THREADS = 8
PLAIN = {"Accept-Encoding": "identity"}
TIMEOUT_S = 30.0
"""Timeout of a connection that delivers no byte, seconds."""


def fetch(settings: Settings, *, report: Report, lock: JarLock | None = None) -> JarStore:
    """Return the server's jars; fetch those that are missing or damaged.

    If all files exist, no network request is made.

    Args:
        settings: only `cache` and `maven_mirror` are used.
        report: progress callback, called from this thread several times a second.
        lock: files to fetch; the shipped lock by default.

    Raises:
        ServerFetchError: a file could not be fetched, was damaged twice, or the disk is full.
        ConfigurationError: the cache folder cannot be written, or jgo is not installed.
    """
    return fetch_missing(JarStore.of(settings, lock or shipped_lock()), settings, report)


def fetch_missing(store: JarStore, settings: Settings, report: Report) -> JarStore:
    """Fetch the missing jars of a store and return it; see `fetch`."""
    remove_others_access(store.folder.parent, setting="GRAPHMEM_CACHE")
    if not store.missing():
        return store
    make_folder(store.folder, setting="GRAPHMEM_CACHE")
    from filelock import FileLock

    # No timeout: every wait of the holder is bounded, and the lock is freed when it dies.
    with FileLock(store.folder / "fetch.lock"):
        wanted = store.missing()
        if wanted:
            _require_space(store, wanted)
            for scrap in store.folder.glob("*.part"):
                scrap.unlink(missing_ok=True)
            report(Progress("licence", store.licence))
            _Fetch(store, repository(settings), wanted).run(report)
    return store


def repository(settings: Settings) -> str:
    """Return the address of the Maven repository.

    Raises:
        ConfigurationError: no mirror is set, and jgo, which has the public address, is missing.
    """
    if settings.maven_mirror:
        return settings.maven_mirror.rstrip("/")
    try:
        from jgo import MAVEN_CENTRAL_URL
    except ModuleNotFoundError:
        raise ConfigurationError(
            "Fetching the managed Neo4j requires the package jgo.",
            hint="Run `pip install 'graphmem[local]'`, or set GRAPHMEM_MAVEN_MIRROR.",
        ) from None
    return str(MAVEN_CENTRAL_URL).rstrip("/")


def _require_space(store: JarStore, wanted: list[Jar]) -> None:
    needed = sum(jar.size for jar in wanted)
    free = shutil.disk_usage(store.folder).free
    if free < needed:
        raise ServerFetchError(
            f"{needed / 1e6:.0f} MB are needed in {store.folder} for {store.title}; "
            f"{free / 1e6:.0f} MB are free.",
            hint="Free disk space, or set GRAPHMEM_CACHE to a folder on another disk.",
        )


class _DamagedError(Exception):
    """A fetched file differs from the lock."""


@dataclass
class _Fetch:
    """One download of several jars by several threads; the first failure ends it."""

    store: JarStore
    source: str
    wanted: list[Jar]
    bytes_done: int = 0
    files_done: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def run(self, report: Report) -> None:
        import httpx

        wire = httpx.HTTPTransport(retries=2, limits=httpx.Limits(max_connections=THREADS))
        with (
            httpx.Client(transport=wire, timeout=TIMEOUT_S, follow_redirects=True) as client,
            ThreadPoolExecutor(THREADS) as pool,
        ):
            # Largest first, so that no thread ends long after the others.
            queue = sorted(self.wanted, key=lambda jar: -jar.size)
            running: set[Future[None]] = {
                pool.submit(self._fetch_jar, client, jar) for jar in queue
            }
            try:
                while running:
                    done, running = wait(running, timeout=0.1, return_when=FIRST_EXCEPTION)
                    for future in done:
                        future.result()
                    report(self._progress())
            finally:
                self.stopped.set()
                pool.shutdown(cancel_futures=True)

    def _progress(self) -> Progress:
        total = sum(jar.size for jar in self.wanted)
        return Progress(
            "fetch",
            f"Fetching {self.store.title}: {self.files_done} of {len(self.wanted)} "
            f"files, {self.bytes_done / 1e6:.0f} of {total / 1e6:.0f} MB",
            files_done=self.files_done,
            files_total=len(self.wanted),
            bytes_done=self.bytes_done,
            bytes_total=total,
        )

    def _fetch_jar(self, client: httpx.Client, jar: Jar) -> None:
        """Fetch one jar; retry once after a damaged file or a broken connection."""
        import httpx

        try:
            try:
                self._attempt(client, jar)
            except (httpx.TransportError, _DamagedError):
                self._attempt(client, jar)
        except httpx.HTTPStatusError as error:
            raise self._failure(jar, f"answered {error.response.status_code}") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._failure(jar, f"failed ({str(error) or type(error).__name__})") from None
        except _DamagedError as error:
            raise self._failure(jar, f"sent a damaged file twice ({error})") from None
        except OSError as error:
            raise ServerFetchError(
                f"{jar.name} could not be written to {self.store.folder}: {error.strerror}.",
                hint="Free disk space, or set GRAPHMEM_CACHE to a folder on another disk.",
            ) from None

    def _failure(self, jar: Jar, problem: str) -> ServerFetchError:
        return ServerFetchError(
            f"{jar.name} could not be fetched: {self.source} {problem}.",
            hint="Check the network and GRAPHMEM_MAVEN_MIRROR, then run it again; "
            "files already fetched are kept.",
        )

    def _attempt(self, client: httpx.Client, jar: Jar) -> None:
        draft = self.store.folder / f"{jar.name}.part"
        counted = 0
        address = f"{self.source}/{jar.path}"
        try:
            with client.stream("GET", address, headers=PLAIN) as reply, draft.open("wb") as out:
                reply.raise_for_status()
                # Raw: a reply that is compressed despite the request is never decompressed.
                for chunk in reply.iter_raw(1 << 16):
                    if self.stopped.is_set():
                        return
                    counted += len(chunk)
                    self._count(len(chunk))
                    if counted > jar.size:
                        raise _DamagedError(f"more than its {jar.size} bytes")
                    out.write(chunk)
            if (found := digest(draft)) != jar.sha256:
                raise _DamagedError(f"{counted} of {jar.size} bytes, SHA-256 {found[:12]}…")
            draft.replace(self.store.folder / jar.name)
            self._count(0, files=1)
        except BaseException:
            self._count(-counted)
            raise
        finally:
            draft.unlink(missing_ok=True)

    def _count(self, size: int, *, files: int = 0) -> None:
        with self.guard:
            self.bytes_done += size
            self.files_done += files
