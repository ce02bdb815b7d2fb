"""Files that commands write for the user, each written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

import click


def write(path: Path, content: str | bytes) -> None:
    """Write a file; an existing one is replaced only by a whole one, and keeps its permissions."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    real = Path(os.path.realpath(path))
    try:
        if real.exists() and not real.is_file():
            # A pipe or a device cannot be replaced.
            real.write_bytes(data)
            return
        draft = real.with_name(f".{real.name}.{secrets.token_hex(4)}.part")
        try:
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                draft.chmod(stat.S_IMODE(real.stat().st_mode))
            draft.replace(real)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "Check the free space and the permissions; the former file was kept."
        raise click.FileError(str(path), f"{reason}. {hint}") from None
