"""Export files: appended to line by line, taken up again where they end, read in pieces."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphmem import private_files
from graphmem.errors import ExportFileError

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
