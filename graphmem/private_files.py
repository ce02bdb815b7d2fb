"""Files and folders for one user: created exclusively, closed to others, written atomically."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from graphmem.errors import ConfigurationError

MODE = 0o600
OTHERS = stat.S_IRWXG | stat.S_IRWXO
_BINARY: int = getattr(os, "O_BINARY", 0)
_NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
# Opening a pipe must not wait for its other end.
_NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)


class NotPrivateError(PermissionError):
    """A file that `create` did not make for this user; `strerror` has the reason."""

    def __init__(self, path: Path, fault: str) -> None:
        super().__init__(errno.EPERM, fault, str(path))


def create(path: Path) -> int:
    """Create a file that only its owner may open; return a read-write descriptor.

    Raises:
        FileExistsError: the name is taken, also by a dangling link.
    """
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY, MODE)


def reopen(path: Path, flags: int) -> int:
    """Open a file that `create` made with flags of `os.open`; return its descriptor.

    Raises:
        NotPrivateError: it is a link or not a regular file, has another owner, or others may open
            it; or it has a second name and would be written to.
    """
    if path.is_symlink():
        raise NotPrivateError(path, "it is a link")
    descriptor = os.open(path, flags | _NO_LINK | _NO_WAIT | _BINARY)
    try:
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
        if fault := _fault(os.fstat(descriptor), writes=writes):
            raise NotPrivateError(path, fault)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _fault(found: os.stat_result, *, writes: bool) -> str:
    """Return how a file differs from those that `create` makes; empty if it does not.

    A second name matters for writing only. While `publish` links a file, it has two.
    """
    if not stat.S_ISREG(found.st_mode):
        return "it is not a regular file"
    if os.name != "posix":  # owners and modes are not available there
        return ""
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    if found.st_nlink > 1 and writes:
        return "it has a second name"
    if found.st_mode & OTHERS:
        return f"others can open it: its mode is {stat.S_IMODE(found.st_mode):03o}, not 600"
    return ""


def publish(draft: Path, target: Path) -> None:
    """Rename a finished file to a name that must not exist yet.

    Raises:
        FileExistsError: the name is taken; the draft stays.
    """
    try:
        # Renaming would replace a file created a moment ago; linking fails.
        os.link(draft, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        # Without hard links in the file system, an empty file reserves the name first.
        os.close(create(target))
        draft.replace(target)
    else:
        draft.unlink()


def make_folder(path: Path, *, setting: str) -> None:
    """Create a folder and its parents, accessible only to their owner.

    Raises:
        ConfigurationError: a file has its name, or it cannot be written.
    """
    hint = f"Set {setting} to a writable folder."
    try:
        for folder in reversed([path, *path.parents]):
            folder.mkdir(mode=0o700, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ConfigurationError(
            f"The folder {path} cannot be created: a file has this name.", hint=hint
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"The folder {path} cannot be created ({error.strerror}).", hint=hint
        ) from None
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise ConfigurationError(f"The folder {path} is not writable.", hint=hint)


def remove_others_access(path: Path, *, setting: str) -> None:
    """Remove other users' permissions from a folder of graphmem and from its content.

    Raises:
        ConfigurationError: see `exposed_mode`.
    """
    if exposed_mode(path, setting=setting):
        path = path.resolve()
        _make_private(path)
        for inside in path.rglob("*"):
            # Files may vanish or belong to another user; the folder's mode protects them.
            with suppress(OSError):
                _make_private(inside)


def exposed_mode(path: Path, *, setting: str) -> int:
    """Return the mode of a folder of graphmem if other users can open it; else 0.

    Raises:
        ConfigurationError: another user owns it or can change its content.
    """
    if os.name != "posix" or not path.is_dir():
        return 0
    info = path.stat()
    mode = stat.S_IMODE(info.st_mode)
    if info.st_uid == os.geteuid():
        return mode if mode & OTHERS else 0
    # Folders that only root can change, such as those in a container's image, are safe.
    if info.st_uid or mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigurationError(
            f"The folder {path} belongs to another user (number {info.st_uid}).",
            hint=f"Set {setting} to a folder of your own.",
        )
    return 0


def _make_private(path: Path) -> None:
    """Remove every permission of other users; links and their targets are not changed."""
    mode = path.lstat().st_mode
    if not stat.S_ISLNK(mode) and mode & OTHERS:
        path.chmod(stat.S_IMODE(mode) & ~OTHERS)


def write_private(path: Path, text: str) -> None:
    """Write a file atomically that only its owner can read."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        # Created with its final mode, so that others can never open it.
        with os.fdopen(create(draft), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def append_private(path: Path, text: str) -> None:
    """Append to a file that only its owner can read; create it if there is none.

    Raises:
        ConfigurationError: it cannot be written, or is not private.
    """
    try:
        try:
            descriptor = create(path)
        except FileExistsError:
            descriptor = reopen(path, os.O_WRONLY | os.O_APPEND)
        with os.fdopen(descriptor, "ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {fault_of(error)}.") from None


def read_or_create(path: Path, make: Callable[[], str], *, setting: str) -> str:
    """Return the text of a private file; if there is none, create it with the text of `make`.

    Of several processes that create it at once, all return the text of the first.

    Raises:
        NotPrivateError: see `reopen`.
        ConfigurationError: see `make_folder`.
        OSError: it cannot be read or written.
    """
    if not path.exists():
        make_folder(path.parent, setting=setting)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        write_private(draft, make())
        try:
            with suppress(FileExistsError):
                publish(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    with os.fdopen(reopen(path, os.O_RDONLY), encoding="utf-8") as file:
        return file.read()


def read_private(file: Path, max_bytes: int) -> str:
    """Return the text of a file of this user or of root that only its owner may read.

    It may be behind a link, as a container's secrets are. Only its first `max_bytes` are read.

    Raises:
        ConfigurationError: others may read it or own it, or it cannot be read.
    """
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | _NO_WAIT), "rb") as opened:
            info = os.fstat(opened.fileno())  # of the file that is read, not of one put there later
            text = opened.read(max_bytes).decode() if stat.S_ISREG(info.st_mode) else None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} cannot be read: {fault_of(error)}.") from None
    if text is None:
        raise ConfigurationError(f"{file} cannot be read: it is not a regular file.")
    if os.name == "posix" and info.st_uid not in (os.geteuid(), 0):
        raise ConfigurationError(
            f"{file} belongs to another user.", hint="Name a file of your own."
        )
    if os.name == "posix" and info.st_mode & OTHERS:
        raise ConfigurationError(f"Others may read {file}.", hint=f"Run `chmod 600 {file}`.")
    return text


def fault_of(error: OSError | UnicodeDecodeError) -> str:
    """Return why a file cannot be used."""
    return getattr(error, "strerror", None) or "it is not UTF-8"
