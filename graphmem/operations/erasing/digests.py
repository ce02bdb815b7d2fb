"""Digests that tell of episodes which are forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graphmem.ports import RequestContext
from graphmem.rules import digest


async def remove(
    to: RequestContext, paths: Sequence[Path], episodes: Sequence[str], *, apply: bool
) -> int:
    """Take the lines of episodes out of digests, and return how many there were.

    Raises:
        DigestFileError: one cannot be read or written, or its markers do not make one section.
        DigestLockedError: another process was at one for too long.
    """
    lines = 0
    for path in paths if episodes else ():
        text = await to.world.files.read(path)
        if text is None:
            continue
        count = len(digest.lines_of(text, episodes, path.name))
        lines += count
        if apply and count:
            await to.world.files.revise(
                path,
                lambda now, name=path.name: digest.without(now or "", episodes, name),  # type: ignore[misc]
            )
    return lines
