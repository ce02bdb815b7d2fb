"""Files for one user: created exclusively, reopened only if that user created them."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

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
        NotPrivateError: it is a link or not a regular file, has another owner or a second name,
            or others may open it.
    """
    if path.is_symlink():
        raise NotPrivateError(path, "it is a link")
    descriptor = os.open(path, flags | _NO_LINK | _NO_WAIT | _BINARY)
    try:
        if fault := _fault(os.fstat(descriptor)):
            raise NotPrivateError(path, fault)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _fault(found: os.stat_result) -> str:
    """Return how a file differs from those that `create` makes; empty if it does not."""
    if not stat.S_ISREG(found.st_mode):
        return "it is not a regular file"
    if os.name != "posix":  # owners and modes are not available there
        return ""
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    if found.st_nlink > 1:
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
