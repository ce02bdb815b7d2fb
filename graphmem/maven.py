"""Locked jars of a Maven repository: download, and integrity of fetched and of built files."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, TypeVar

from graphmem.errors import ConfigurationError, ServerFetchError, UnavailableError
from graphmem.private_files import make_folder, remove_others_access, write_private
from graphmem.settings import Settings

if TYPE_CHECKING:
    import httpx

SUFFIX = ".sha256"
RETRY_S = 3_600.0
"""Seconds after a failure before a start tries again: the machine may have been too busy."""
UNUSED_S = 30 * 86_400.0
"""Seconds without a start after which a file that can be built again is removed."""

HASHING_THREADS = 2
THREADS = 8
TIMEOUT_S = 30.0
"""Timeout of a connection that delivers no byte, seconds."""
DISK_HINT = "Free disk space, or set GRAPHMEM_CACHE to a folder on another disk."

Folder = TypeVar("Folder", bound="JarFolder")


@dataclass(frozen=True)
class Progress:
    """One step of fetching or of starting the server; `str()` returns its text.

    Attributes:
        stage: current stage.
        text: description of the step, one line.
        files_done, files_total: numbers of files; 0 outside `fetch`.
        bytes_done, bytes_total: numbers of bytes; 0 outside `fetch`.
    """

    stage: Literal["licence", "fetch", "prepare", "start", "ready"]
    text: str
    files_done: int = 0
    files_total: int = 0
    bytes_done: int = 0
    bytes_total: int = 0

    def __str__(self) -> str:
        return self.text


Report: TypeAlias = Callable[[Progress], None]


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


def recent_failure(note: Path) -> str:
    """Return the reason in a note of a failure less than `RETRY_S` ago; empty if there is none."""
    try:
        age_s = time.time() - note.stat().st_mtime
        text = note.read_text(encoding="utf-8")
    except OSError:
        return ""
    return text.strip() if age_s < RETRY_S else ""


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


@dataclass(frozen=True)
class Jar:
    """One locked file: coordinates `group:artifact:version[:classifier]`, SHA-256, bytes."""

    coordinates: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """File name, unique in its folder."""
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


@dataclass
class JarFolder:
    """A folder of locked jars.

    Every use hashes all of them: 166 MB take 0.13 s on a processor with SHA-256 instructions.
    """

    folder: Path
    jars: tuple[Jar, ...]
    title: str
    """Description of these jars for messages."""
    licence: str
    """Licence notice that is reported before they are fetched."""
    failure: ClassVar[type[UnavailableError]] = ServerFetchError
    """Error that is raised if they cannot be fetched."""
    alternative: ClassVar[str] = ""
    """Alternative to these jars; the last part of the error's hint."""

    def missing(self) -> list[Jar]:
        """Return the jars that are absent or damaged; damaged ones are removed."""
        for jar in self.damaged():
            self.path(jar).unlink(missing_ok=True)
        return self.absent()

    def absent(self) -> list[Jar]:
        """Return the jars that do not exist in the folder."""
        return [jar for jar in self.jars if not self.path(jar).is_file()]

    def damaged(self) -> list[Jar]:
        """Return the jars whose content differs from the lock."""
        present = [jar for jar in self.jars if self.path(jar).is_file()]
        with ThreadPoolExecutor(HASHING_THREADS) as pool:
            digests = pool.map(lambda jar: digest(self.path(jar)), present)
        return [jar for jar, found in zip(present, digests, strict=True) if found != jar.sha256]

    def path(self, jar: Jar) -> Path:
        """Return the path of a jar in the folder."""
        return self.folder / jar.name

    def error(self, message: str, advice: str) -> UnavailableError:
        """Return the exception for a failure; its hint is the advice and the alternative."""
        return self.failure(message, hint=f"{advice} {self.alternative}".strip())


def digest(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def fetch_missing(store: Folder, settings: Settings, report: Report) -> Folder:
    """Return a folder of jars; fetch those that are missing or damaged.

    If all files exist, no network request is made.

    Args:
        store: the folder, with the jars and the error of a failure.
        settings: only `cache`, `maven_mirror` and `offline` are used.
        report: progress callback, called from this thread several times a second.

    Raises:
        UnavailableError: a file could not be fetched, was damaged twice, or the disk is full;
            the folder's `failure`.
        ConfigurationError: the cache folder cannot be written, or jgo is not installed.
    """
    remove_others_access(store.folder.parent, setting="GRAPHMEM_CACHE")
    if not store.missing():
        return store
    make_folder(store.folder, setting="GRAPHMEM_CACHE")
    from filelock import FileLock

    # No timeout: every wait of the holder is bounded, and the lock is freed when it dies.
    with FileLock(store.folder / "fetch.lock"):
        wanted = store.missing()
        if wanted:
            _check_feasible(store, wanted, settings)
            for scrap in store.folder.glob("*.part"):
                scrap.unlink(missing_ok=True)
            report(Progress("licence", store.licence))
            _Fetch(store, repository(settings, store.title), wanted).run(report)
    return store


def repository(settings: Settings, title: str) -> str:
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
            f"Fetching {title} requires the package jgo.",
            hint="Run `pip install 'graphmem[local]'`, or set GRAPHMEM_MAVEN_MIRROR.",
        ) from None
    return str(MAVEN_CENTRAL_URL).rstrip("/")


def _check_feasible(store: JarFolder, wanted: list[Jar], settings: Settings) -> None:
    if settings.offline:
        raise store.error(
            f"{len(wanted)} of {len(store.jars)} files of {store.title} are missing in "
            f"{store.folder}, and GRAPHMEM_OFFLINE forbids to fetch them.",
            "Unset it, or copy the folder from another machine.",
        )
    needed, free = sum(jar.size for jar in wanted), shutil.disk_usage(store.folder).free
    if free < needed:
        raise store.error(
            f"{needed / 1e6:.0f} MB are needed in {store.folder} for {store.title}; "
            f"{free / 1e6:.0f} MB are free.",
            DISK_HINT,
        )


class _DamagedError(Exception):
    """A fetched file differs from the lock."""


@dataclass
class _Fetch:
    """One download of several jars by several threads; the first failure ends it."""

    store: JarFolder
    source: str
    wanted: list[Jar]
    stopped: threading.Event = field(default_factory=threading.Event)

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
        sizes = [jar.size for jar in self.wanted if self.store.path(jar).is_file()]
        files, n_bytes, total = len(sizes), sum(sizes), sum(jar.size for jar in self.wanted)
        for draft in self.store.folder.glob("*.part"):
            with suppress(FileNotFoundError):  # It was finished or discarded meanwhile.
                n_bytes += draft.stat().st_size
        return Progress(
            "fetch",
            f"Fetching {self.store.title}: {files} of {len(self.wanted)} "
            f"files, {n_bytes / 1e6:.0f} of {total / 1e6:.0f} MB",
            files_done=files,
            files_total=len(self.wanted),
            bytes_done=n_bytes,
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
            return
        except httpx.HTTPStatusError as error:
            problem = f"answered {error.response.status_code}"
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            problem = f"failed ({str(error) or type(error).__name__})"
        except _DamagedError as error:
            problem = f"sent a damaged file twice ({error})"
        except OSError as error:
            raise self.store.error(
                f"{jar.name} could not be written to {self.store.folder}: {error.strerror}.",
                DISK_HINT,
            ) from None
        raise self.store.error(
            f"{jar.name} could not be fetched: {self.source} {problem}.",
            "Check the network and GRAPHMEM_MAVEN_MIRROR, then run it again; "
            "files already fetched are kept.",
        )

    def _attempt(self, client: httpx.Client, jar: Jar) -> None:
        draft = self.store.folder / f"{jar.name}.part"
        address = f"{self.source}/{jar.path}"
        plain = {"Accept-Encoding": "identity"}
        counted = 0
        try:
            with client.stream("GET", address, headers=plain) as reply, draft.open("wb") as out:
                reply.raise_for_status()
                # Raw: a reply that is compressed despite the request is never decompressed.
                for chunk in reply.iter_raw(1 << 16):
                    if self.stopped.is_set():
                        return
                    counted += len(chunk)
                    if counted > jar.size:
                        raise _DamagedError(f"more than its {jar.size} bytes")
                    out.write(chunk)
            if (found := digest(draft)) != jar.sha256:
                raise _DamagedError(f"{counted} of {jar.size} bytes, SHA-256 {found[:12]}…")
            draft.replace(self.store.path(jar))
        finally:
            draft.unlink(missing_ok=True)
