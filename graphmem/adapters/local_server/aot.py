"""The ahead-of-time cache of the server's classes: made once in the background, halves a start.

Run as a module, it makes the cache: starts a throw-away server at the lowest priority, lets it
warm up, stops it, and lets the JVM write what it learned.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

from graphmem import catalog
from graphmem.adapters.local_server import bolt, made_files, process
from graphmem.adapters.local_server.environment import environment
from graphmem.adapters.local_server.files import DataFolder, cache_root, make_folder
from graphmem.adapters.local_server.jars import JarStore, shipped_lock
from graphmem.adapters.local_server.java import AOT_SINCE, Java, find_java
from graphmem.adapters.local_server.records import USER
from graphmem.errors import GraphmemError
from graphmem.settings import Settings

TRAINING_S = 180.0
"""How long the training server may take to answer: it only gets what others leave."""
UNUSED_S = 30 * 86_400.0
"""After this long without a start, a cache is no longer wanted."""
WRITING_S = 300.0
"""How long the JVM may take to write the cache at its end."""


def cache_file(settings: Settings, java: Java, shelf: JarStore) -> Path | None:
    """Return where the cache of this Java and these jars is kept; None when Java has none.

    The JVM takes a cache only for the same build, class path, and times of the jars.
    """
    if java.major < AOT_SINCE:
        return None
    times = [(name, (shelf.folder / name).stat().st_mtime_ns) for name in shelf.class_path]
    key = sha256(repr((java.build, java.flags, str(shelf.folder), times)).encode()).hexdigest()
    return cache_root(settings) / "aot" / f"{key[:16]}.aot"


def use(cache: Path | None) -> list[str]:
    """Return the flags that make a server use the cache, when there is one.

    One that was changed since it was made is removed, for it holds code.
    """
    if cache is None:
        return []
    if not made_files.is_intact(cache):
        made_files.discard(cache)
        return []
    cache.touch()  # unused ones are removed after a while
    return [f"-XX:AOTCache={cache}", "-Xlog:disable", "-Xlog:all=error:stderr"]


def failure_note(cache: Path) -> Path:
    """Return the file that says why making this cache failed, and keeps us from trying again."""
    return cache.with_suffix(".failed")


def make_in_background(settings: Settings, cache: Path | None) -> None:
    """Start making the cache, unless it exists, cannot be made or is being made."""
    if cache is None or cache.exists() or failure_note(cache).exists():
        return
    make_folder(cache.parent, setting="GRAPHMEM_CACHE")
    command = [sys.executable, "-m", __name__, "--cache", str(cache_root(settings).parent)]
    command += ["--java", str(settings.java)] if settings.java else []
    process.spawn_apart(command, env=environment("PYTHON", "VIRTUAL_ENV"))


def make(settings: Settings) -> None:
    """Make the cache now, unless another process is at it.

    Args:
        settings: `cache` and `java` count.
    """
    from filelock import FileLock, Timeout

    java = find_java(settings)
    shelf = JarStore.of(settings, shipped_lock())
    cache = cache_file(settings, java, shelf)
    if cache is None:
        return
    make_folder(cache.parent, setting="GRAPHMEM_CACHE")
    try:
        with FileLock(cache.parent / "make.lock", timeout=0):
            _clean(cache.parent)
            if not made_files.is_intact(cache):
                _train(java, shelf, cache)
    except Timeout:
        return


def _clean(folder: Path) -> None:
    """Remove what a crash left, and the caches of Javas and jars no longer in use."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif made_files.is_orphan(path):
            path.unlink()
        elif path.suffix == ".aot" and time.time() - path.stat().st_mtime > UNUSED_S:
            made_files.discard(path)


def _train(java: Java, shelf: JarStore, cache: Path) -> None:
    scratch = Path(tempfile.mkdtemp(dir=cache.parent))
    draft = scratch / "cache.aot"
    try:
        _run_once(java, shelf, DataFolder(scratch / "home"), draft)
        made_files.keep(draft, cache)
    except (GraphmemError, process.DiedError, OSError) as error:
        failure_note(cache).write_text(f"{error}\n", encoding="utf-8")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run_once(java: Java, shelf: JarStore, folder: DataFolder, draft: Path) -> None:
    """Run a server on a throw-away folder until it has answered one query."""
    small = Settings(heap="256m", page_cache="16m")
    folder.create()
    password = folder.password()
    flags = [f"-XX:AOTCacheOutput={draft}", "-Xlog:disable", "-Xlog:all=error:stderr"]
    launcher = process.Launcher(java, shelf, folder, flags)
    launcher.set_password()
    state = launcher.start(small)
    try:
        process.wait_ready(folder, state, TRAINING_S)
        # A real query too: the parser and the planner are most of what a first answer waits for.
        wanted = {"tenant": "default", "scopes": ["global"], "skip": 0, "limit": 1}
        bolt.rehearse(state.uri, USER, password, catalog.procedure("browser/memories"), wanted)
    finally:
        if (server := process.find(folder, state)) is not None:
            process.end(server, WRITING_S)


def main() -> None:
    """Make the cache at the lowest priority."""
    import psutil

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--java", type=Path)
    options = parser.parse_args()
    lowest = psutil.IDLE_PRIORITY_CLASS if sys.platform == "win32" else 19
    psutil.Process().nice(lowest)
    make(Settings(cache=options.cache, java=options.java))


if __name__ == "__main__":
    main()
