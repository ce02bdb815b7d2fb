"""Files that are made on this machine and loaded by the server: kept beside their SHA-256."""

from __future__ import annotations

from pathlib import Path

from graphmem.adapters.local_server.files import write_private
from graphmem.adapters.local_server.jars import digest

SUFFIX = ".sha256"


def keep(draft: Path, target: Path) -> None:
    """Move a finished file to its place, and note its sum beside it."""
    write_private(_note(target), digest(draft) + "\n")
    draft.replace(target)


def is_intact(path: Path) -> bool:
    """Return whether a file is there and still has the octets with which it was kept."""
    try:
        return _note(path).read_text(encoding="utf-8").strip() == digest(path)
    except (OSError, UnicodeDecodeError):
        return False


def discard(path: Path) -> None:
    """Remove a file and its sum."""
    path.unlink(missing_ok=True)
    _note(path).unlink(missing_ok=True)


def is_orphan(path: Path) -> bool:
    """Return whether a path is the sum of a file that is gone."""
    return path.suffix == SUFFIX and not path.with_suffix("").exists()


def _note(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)
