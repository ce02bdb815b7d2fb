"""Fetching the server's jars from a Maven repository, each checked against the lock."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphmem.adapters.local_server.files import make_folder, narrow
from graphmem.adapters.local_server.jars import Jar, JarLock, JarStore, digest, shipped_lock
from graphmem.adapters.local_server.records import Progress, Report
from graphmem.errors import ConfigurationError, ServerFetchError
from graphmem.settings import Settings

if TYPE_CHECKING:
    import httpx

THREADS = 8
PLAIN = {"Accept-Encoding": "identity"}
TIMEOUT_S = 30.0
"""Without one byte."""


def fetch(settings: Settings, *, report: Report, lock: JarLock | None = None) -> JarStore:
    """Return the server's jars, fetching what is not there yet.

    Nothing is asked of the network when all files are there.

    Args:
        settings: `cache` and `maven_mirror` count.
        report: called from this thread, several times a second.
        lock: what to fetch; the shipped lock by default.

    Raises:
        ServerFetchError: a file could not be fetched, stayed damaged, or does not fit the disk.
        ConfigurationError: the cache folder cannot be written, or jgo is not installed.
    """
    return filled(JarStore.of(settings, lock or shipped_lock()), settings, report)


def filled(shelf: JarStore, settings: Settings, report: Report) -> JarStore:
    """Return a shelf with all its jars, as `fetch` does."""
    narrow(shelf.folder.parent, setting="GRAPHMEM_CACHE")
    if not shelf.missing():
        return shelf
    make_folder(shelf.folder, setting="GRAPHMEM_CACHE")
    from filelock import FileLock

    # Without a time limit: every wait of the holder is bounded, and its death frees the lock.
    with FileLock(shelf.folder / "fetch.lock"):
        wanted = shelf.missing()
        if wanted:
            _require_space(shelf, wanted)
            for scrap in shelf.folder.glob("*.part"):
                scrap.unlink(missing_ok=True)
            report(Progress("licence", shelf.licence))
            _Fetch(shelf, repository(settings), wanted).run(report)
    return shelf


def repository(settings: Settings) -> str:
    """Return the address of the Maven repository.

    Raises:
        ConfigurationError: no mirror is set and jgo, which knows the public one, is missing.
    """
    if settings.maven_mirror:
        return settings.maven_mirror.rstrip("/")
    try:
        from jgo import MAVEN_CENTRAL_URL
    except ModuleNotFoundError:
        raise ConfigurationError(
            "The managed Neo4j needs the package jgo to be fetched.",
            hint="Run `pip install 'graphmem[local]'`, or set GRAPHMEM_MAVEN_MIRROR.",
        ) from None
    return str(MAVEN_CENTRAL_URL).rstrip("/")


def _require_space(shelf: JarStore, wanted: list[Jar]) -> None:
    needed = sum(jar.size for jar in wanted)
    free = shutil.disk_usage(shelf.folder).free
    if free < needed:
        raise ServerFetchError(
            f"{needed / 1e6:.0f} MB are needed in {shelf.folder} for {shelf.title}; "
            f"{free / 1e6:.0f} MB are free.",
            hint="Make room, or set GRAPHMEM_CACHE to a folder on another disk.",
        )


class _DamagedError(Exception):
    """What arrived is not what the lock says."""


@dataclass
class _Fetch:
    """One round of fetching by several threads; the first failure ends it."""

    shelf: JarStore
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
            # The largest first, so that no thread ends long after the others.
            queue = sorted(self.wanted, key=lambda jar: -jar.size)
            running: set[Future[None]] = {pool.submit(self._one, client, jar) for jar in queue}
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
            f"Fetching {self.shelf.title}: {self.files_done} of {len(self.wanted)} "
            f"files, {self.bytes_done / 1e6:.0f} of {total / 1e6:.0f} MB",
            files_done=self.files_done,
            files_total=len(self.wanted),
            bytes_done=self.bytes_done,
            bytes_total=total,
        )

    def _one(self, client: httpx.Client, jar: Jar) -> None:
        """Fetch one jar; what is damaged or breaks off is fetched once more."""
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
                f"{jar.name} could not be written to {self.shelf.folder}: {error.strerror}.",
                hint="Make room there, or set GRAPHMEM_CACHE to a folder on another disk.",
            ) from None

    def _failure(self, jar: Jar, what: str) -> ServerFetchError:
        return ServerFetchError(
            f"{jar.name} could not be fetched: {self.source} {what}.",
            hint="Check the network and GRAPHMEM_MAVEN_MIRROR, then run it again: "
            "what was fetched is kept.",
        )

    def _attempt(self, client: httpx.Client, jar: Jar) -> None:
        draft = self.shelf.folder / f"{jar.name}.part"
        counted = 0
        address = f"{self.source}/{jar.path}"
        try:
            with (
                client.stream("GET", address, headers=PLAIN) as reply,
                draft.open("wb") as out,
            ):
                reply.raise_for_status()
                # Raw: what a source compressed all the same is not unpacked, however small.
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
            draft.replace(self.shelf.folder / jar.name)
            self._count(0, files=1)
        except BaseException:
            self._count(-counted)
            raise
        finally:
            draft.unlink(missing_ok=True)

    def _count(self, octets: int, *, files: int = 0) -> None:
        with self.guard:
            self.bytes_done += octets
            self.files_done += files
