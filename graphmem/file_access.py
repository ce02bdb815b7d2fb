"""Users' text files and export files."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EACCES
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from graphmem import private_files
from graphmem.errors import DigestFileError, DigestLockedError, ExportFileError
from graphmem.io_modes import IOMode

LOCK_S = 30.0
"""Maximum wait for another writer, seconds."""
LARGEST = 1_000_000
"""Maximum size of a file that is read for a pack, bytes."""
ATTEMPTS = 20
"""Maximum number of attempts; an editor, which ignores the lock, may write the file meanwhile."""
_WRITABLE = 0o222
F = TypeVar("F", "TextFiles", "ExportFiles")
P = ParamSpec("P")
T = TypeVar("T")

PIECE = 1 << 20
"""Bytes read at once; reading continues to the end of the line."""
LONGEST = 256 << 20
"""Maximum bytes read to complete a line; an export contains no longer lines."""


def _in_mode(
    work: Callable[Concatenate[F, P], T],
) -> Callable[Concatenate[F, P], Coroutine[Any, Any, T]]:
    """Return a coroutine method that does the work in the I/O mode of its object."""

    @wraps(work)
    async def run(self: F, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.mode.run(partial(work, self, *args, **kwargs))

    return run


@dataclass(frozen=True, slots=True)
class TextFiles:
    """UTF-8 text files that users own: read in full, or changed in part."""

    mode: IOMode

    @_in_mode
    def read(self, path: Path) -> str | None:
        """Return the text of a file; None if it does not exist."""
        with _digest_failure(path):
            return _text(_resolved(path), path)

    @_in_mode
    def below(self, root: Path, name: str) -> str | None:
        """Return the text of a file below a folder.

        None if it does not exist, is outside the folder (links followed), or is not a text of at
        most 1 MB.
        """
        # An agent once named this file: it may have changed since, and its name may be invalid.
        with suppress(OSError, ValueError):
            real = (root / name).resolve(strict=True)
            if real.is_relative_to(root.resolve()) and real.is_file():
                with real.open("rb") as file:
                    data = file.read(LARGEST + 1)
                return data.decode("utf-8") if len(data) <= LARGEST else None
        return None

    @_in_mode
    def revise(self, path: Path, change: Callable[[str | None], str]) -> None:
        """Replace a file's text by the result of `change`, completely or not at all.

        Links are followed and permissions kept. Only one writer revises a file at a time;
        `change` may run more than once, and if it raises, the file stays unchanged.
        """
        from filelock import FileLock, Timeout

        with _digest_failure(path):
            real = _resolved(path)
            lock = real.with_name(f".{real.name}.lock")
            try:
                with FileLock(lock, timeout=LOCK_S):
                    _replace_text(real, path, change)
            except Timeout:
                raise DigestLockedError(
                    f"Another process has been writing {path} for more than {LOCK_S:.0f} s."
                ) from None


def _replace_text(real: Path, path: Path, change: Callable[[str | None], str]) -> None:
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
        f"{path} keeps changing.", hint="Try again when no other program is writing it."
    )


def _resolved(path: Path) -> Path:
    """Return the path of a file with links followed; the file need not exist."""
    try:
        real = Path(os.path.realpath(path))
    except ValueError as error:  # invalid Unicode
        raise _digest_error(path, str(error)) from None
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise DigestFileError(f"{path} is {kind}.", hint="Name a text file.")
    if not real.parent.is_dir():
        raise DigestFileError(f"The folder {path.parent} does not exist.", hint="Create it first.")
    return real


def _text(real: Path, path: Path) -> str | None:
    try:
        return real.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise DigestFileError(
            f"{path} is not UTF-8: invalid byte at position {error.start}.",
            hint="Save it as UTF-8, or name another file.",
        ) from None


def _stamp(real: Path) -> tuple[int, ...]:
    """Return values that change when another program writes the file."""
    try:
        info = real.stat()
    except FileNotFoundError:
        return ()
    return info.st_ino, info.st_size, info.st_mtime_ns


def _write(draft: Path, text: str, real: Path) -> None:
    """Write a draft with the permissions and the owner of the file that it will replace."""
    try:
        info = real.stat()
    except FileNotFoundError:
        info = None
    if info and not (info.st_mode & _WRITABLE and os.access(real, os.W_OK)):
        raise PermissionError(EACCES, "it is read-only")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # It holds texts of the graph: only the owner reads it, unless the file had other permissions.
    with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
        file.write(text.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())
    if info:
        if hasattr(os, "chown"):
            with suppress(PermissionError):
                os.chown(draft, info.st_uid, info.st_gid)
        draft.chmod(stat.S_IMODE(info.st_mode))


@contextmanager
def _digest_failure(path: Path) -> Iterator[None]:
    """Translate an `OSError` into a `DigestFileError`."""
    try:
        yield
    except OSError as error:
        raise _digest_error(path, error.strerror or str(error)) from None


def _digest_error(path: Path, reason: str) -> DigestFileError:
    return DigestFileError(
        f"{path} cannot be read and written ({reason}).",
        hint="Make the file and its folder writable for your user, or name another file.",
    )


@dataclass(frozen=True, slots=True)
class ExportFiles:
    """Files of an export, partial and complete. Failures raise ExportFileError."""

    mode: IOMode

    @_in_mode
    def size(self, path: Path) -> int | None:
        """Return the bytes of a file; None if it does not exist."""
        with _export_failure(path):
            try:
                info = path.stat()
            except FileNotFoundError:
                return None
            if not path.is_file():
                raise ExportFileError(f"{path} is not a regular file.", hint="Name another file.")
            return info.st_size

    @_in_mode
    def lines(self, path: Path, start: int) -> list[bytes]:
        """Return some lines of a file from an offset, including line ends; none at its end.

        The last line of a truncated file has no line end.
        """
        with _export_failure(path), path.open("rb") as file:
            file.seek(start)
            data = file.read(PIECE)
            if data and not data.endswith(b"\n"):
                data += file.readline(LONGEST)
            # Only a line feed ends a line; `splitlines` would split at other characters too.
            lines = data.split(b"\n")
            return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])

    @_in_mode
    def append(self, path: Path, start: int, data: bytes) -> None:
        """Append to a file that ends at `start`; at 0, create it, accessible to its owner only."""
        with _export_failure(path), os.fdopen(_opened(path, start), "ab") as file:
            if file.seek(0, os.SEEK_END) != start:
                raise ExportFileError(
                    f"Another export is writing {path}.", hint="Wait for it, or name another file."
                )
            file.write(data)

    @_in_mode
    def cut(self, path: Path, end: int) -> None:
        """Truncate a file at an offset."""
        with _export_failure(path), os.fdopen(private_files.reopen(path, os.O_RDWR), "r+b") as file:
            file.truncate(end)

    @_in_mode
    def finish(self, part: Path, path: Path) -> None:
        """Sync a complete file to disk and rename it to a name that must not exist yet."""
        with _export_failure(path):
            with os.fdopen(private_files.reopen(part, os.O_RDWR), "r+b") as file:
                os.fsync(file.fileno())
            try:
                private_files.publish(part, path)
            except FileExistsError:
                raise ExportFileError(
                    f"Another program created {path} meanwhile.", hint=f"The export is {part}."
                ) from None


def _opened(path: Path, start: int) -> int:
    """Return a descriptor of a file: a new one if `start` is 0, else one that an export created."""
    if start == 0:
        try:
            return private_files.create(path)
        except FileExistsError:
            pass  # an export that was killed before its first line
    return private_files.reopen(path, os.O_WRONLY | os.O_APPEND)


@contextmanager
def _export_failure(path: Path) -> Iterator[None]:
    """Translate errors of the operating system into an `ExportFileError`."""
    try:
        yield
    except private_files.NotPrivateError as error:
        raise ExportFileError(
            f"{path} was not created by an export of yours: {error.strerror}.",
            hint="Remove it to start again, or name another file.",
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ExportFileError(
            f"{path} cannot be read and written ({reason}).",
            hint="Check the name, the permissions and the free disk space.",
        ) from None
