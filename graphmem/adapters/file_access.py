"""Files of users and exports, blocking and awaited."""

from __future__ import annotations

import asyncio
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from pathlib import Path

from graphmem import private_files
from graphmem.errors import DigestFileError, DigestLockedError, ExportFileError

LOCK_S = 30.0
"""How long another writer is waited for."""
LARGEST = 1_000_000
"""Octets of a file that is read for a pack."""
ATTEMPTS = 20
"""How often a file is read anew because an editor, which knows no lock, wrote it meanwhile."""
_WRITABLE = 0o222


class BlockingFiles:
    """Reads and writes in the calling thread."""

    async def read(self, path: Path) -> str | None:
        """Return the text of a file; None when there is none.

        Raises:
            DigestFileError: it cannot be read.
        """
        return _read(path)

    async def below(self, root: Path, name: str) -> str | None:
        """Return the text of a file that lies below a folder; see `ports.Files`."""
        return _below(root, name)

    async def revise(self, path: Path, change: Callable[[str | None], str]) -> None:
        """Put what `change` makes of a file's text in its place; see `ports.Files`.

        Raises:
            DigestFileError: it cannot be read or written.
            DigestLockedError: another process was at it for too long.
        """
        _revise(path, change)


class AwaitedFiles:
    """Reads and writes in a thread of its own."""

    async def read(self, path: Path) -> str | None:
        """Return the text of a file; see `BlockingFiles.read`."""
        return await asyncio.to_thread(_read, path)

    async def below(self, root: Path, name: str) -> str | None:
        """Return the text of a file that lies below a folder; see `ports.Files`."""
        return await asyncio.to_thread(_below, root, name)

    async def revise(self, path: Path, change: Callable[[str | None], str]) -> None:
        """Put what `change` makes of a file's text in its place; see `BlockingFiles.revise`."""
        await asyncio.to_thread(_revise, path, change)


def _read(path: Path) -> str | None:
    with _told(path):
        return _text(_found(path), path)


def _below(root: Path, name: str) -> str | None:
    # What an agent once touched may be anything by now, or be called anything.
    with suppress(OSError, ValueError):
        real = (root / name).resolve(strict=True)
        if real.is_relative_to(root.resolve()) and real.is_file():
            with real.open("rb") as file:
                found = file.read(LARGEST + 1)
            return found.decode("utf-8") if len(found) <= LARGEST else None
    return None


def _revise(path: Path, change: Callable[[str | None], str]) -> None:
    from filelock import FileLock, Timeout

    with _told(path):
        real = _found(path)
        lock = real.with_name(f".{real.name}.lock")
        try:
            with FileLock(lock, timeout=LOCK_S):
                _revised(real, path, change)
        except Timeout:
            raise DigestLockedError(
                f"Another process has been writing {path} for more than {LOCK_S:.0f} s."
            ) from None


def _revised(real: Path, path: Path, change: Callable[[str | None], str]) -> None:
    for _ in range(ATTEMPTS):
        stamp = _stamp(real)
        before = _text(real, path)
        after = change(before)
        if after == before:
            return
        draft = real.with_name(f".{real.name}.{secrets.token_hex(4)}.part")
        try:
            _write(draft, after, real)
            if _stamp(real) == stamp:
                draft.replace(real)
                return
        finally:
            draft.unlink(missing_ok=True)
    raise DigestFileError(
        f"{path} changes all the time.", hint="Try again when nothing else is writing it."
    )


def _found(path: Path) -> Path:
    """Return the file that a path leads to, links followed; it need not be there."""
    try:
        real = Path(os.path.realpath(path))
    except ValueError as error:  # a lone surrogate
        raise _refusal(path, str(error)) from None
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "is a folder" if stat.S_ISDIR(mode) else "is no ordinary file"
            raise DigestFileError(f"{path} {what}.", hint="Name a text file in it, or another one.")
    if not real.parent.is_dir():
        raise DigestFileError(f"There is no folder {path.parent}.", hint="Make it first.")
    return real


def _text(real: Path, path: Path) -> str | None:
    try:
        return real.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise DigestFileError(
            f"{path} is not UTF-8: octet {error.start} is none of a text.",
            hint="Save it as UTF-8, or name another file.",
        ) from None


def _stamp(real: Path) -> tuple[int, ...]:
    """Return what tells whether a file was written meanwhile."""
    try:
        seen = real.stat()
    except FileNotFoundError:
        return ()
    return seen.st_ino, seen.st_size, seen.st_mtime_ns


def _write(draft: Path, text: str, real: Path) -> None:
    """Write a draft with the permissions and the owner of the file that it is to replace."""
    try:
        kept = real.stat()
    except FileNotFoundError:
        kept = None
    if kept and not (kept.st_mode & _WRITABLE and os.access(real, os.W_OK)):
        raise PermissionError(EACCES, "it is read-only")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # Until it has the permissions of the file, for its owner alone.
    with os.fdopen(os.open(draft, flags, 0o600 if kept else 0o666), "wb") as file:
        file.write(text.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())
    if kept:
        if hasattr(os, "chown"):
            with suppress(PermissionError):
                os.chown(draft, kept.st_uid, kept.st_gid)
        draft.chmod(stat.S_IMODE(kept.st_mode))


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say in words what the operating system refuses."""
    try:
        yield
    except OSError as error:
        raise _refusal(path, error.strerror or str(error)) from None


def _refusal(path: Path, reason: str) -> DigestFileError:
    return DigestFileError(
        f"{path} cannot be read and written ({reason}).",
        hint="Make the file and its folder writable for your user, or name another file.",
    )


PIECE = 1 << 20
"""Octets that are read at once, and then on to the end of the line."""
LONGEST = 256 << 20
"""A longer line is no export's."""


class BlockingExports:
    """Reads and writes in the calling thread."""

    async def size(self, path: Path) -> int | None:
        """Return the octets of a file, None when there is none; see `ports.Exports`."""
        return _size(path)

    async def lines(self, path: Path, start: int) -> list[bytes]:
        """Return some lines of a file; see `ports.Exports`."""
        return _lines(path, start)

    async def append(self, path: Path, start: int, data: bytes) -> None:
        """Add to the end of a file; see `ports.Exports`."""
        _append(path, start, data)

    async def cut(self, path: Path, end: int) -> None:
        """Take away what follows; see `ports.Exports`."""
        _cut(path, end)

    async def finish(self, part: Path, path: Path) -> None:
        """Give a whole file its name; see `ports.Exports`."""
        _finish(part, path)


class AwaitedExports:
    """Reads and writes in a thread of its own."""

    async def size(self, path: Path) -> int | None:
        """Return the octets of a file, None when there is none; see `ports.Exports`."""
        return await asyncio.to_thread(_size, path)

    async def lines(self, path: Path, start: int) -> list[bytes]:
        """Return some lines of a file; see `ports.Exports`."""
        return await asyncio.to_thread(_lines, path, start)

    async def append(self, path: Path, start: int, data: bytes) -> None:
        """Add to the end of a file; see `ports.Exports`."""
        await asyncio.to_thread(_append, path, start, data)

    async def cut(self, path: Path, end: int) -> None:
        """Take away what follows; see `ports.Exports`."""
        await asyncio.to_thread(_cut, path, end)

    async def finish(self, part: Path, path: Path) -> None:
        """Give a whole file its name; see `ports.Exports`."""
        await asyncio.to_thread(_finish, part, path)


def _size(path: Path) -> int | None:
    with _export_failure(path):
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        if not path.is_file():
            raise ExportFileError(f"{path} is no ordinary file.", hint="Name another file.")
        return found.st_size


def _lines(path: Path, start: int) -> list[bytes]:
    with _export_failure(path), path.open("rb") as file:
        file.seek(start)
        found = file.read(PIECE)
        if found and not found.endswith(b"\n"):
            found += file.readline(LONGEST)
        # Only a line feed ends a line: `splitlines` knows more ends.
        lines = found.split(b"\n")
        return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _append(path: Path, start: int, data: bytes) -> None:
    with _export_failure(path), os.fdopen(_opened(path, start), "ab") as file:
        if file.seek(0, os.SEEK_END) != start:
            raise ExportFileError(
                f"Another export is writing {path}.", hint="Wait for it, or name another file."
            )
        file.write(data)


def _opened(path: Path, start: int) -> int:
    """Return a descriptor of a file that is made at its start, and otherwise is one of ours."""
    if start == 0:
        try:
            return private_files.create(path)
        except FileExistsError:
            pass  # an export that was killed before its first line
    return private_files.reopen(path, os.O_WRONLY | os.O_APPEND)


def _cut(path: Path, end: int) -> None:
    with _export_failure(path), os.fdopen(private_files.reopen(path, os.O_RDWR), "r+b") as file:
        file.truncate(end)


def _finish(part: Path, path: Path) -> None:
    with _export_failure(path):
        with os.fdopen(private_files.reopen(part, os.O_RDWR), "r+b") as file:
            os.fsync(file.fileno())
        try:
            private_files.publish(part, path)
        except FileExistsError:
            raise ExportFileError(
                f"{path} was made meanwhile.", hint=f"The export is {part}."
            ) from None


@contextmanager
def _export_failure(path: Path) -> Iterator[None]:
    """Say in words what the operating system refuses."""
    try:
        yield
    except private_files.NotPrivateError as error:
        raise ExportFileError(
            f"{path} was not made by an export of yours: {error.strerror}.",
            hint="Remove it to start again, or name another file.",
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ExportFileError(
            f"{path} cannot be read and written ({reason}).",
            hint="Check the name, the permissions and the space that is left.",
        ) from None
