"""The part of a handle that lets important episodes graduate and compresses unused ones."""

from __future__ import annotations

import os
from pathlib import Path

from graphmem.client.given import AskedId, file_of
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid, yes_or_no
from graphmem.model import (
    CompressionReport,
    GraduationReport,
    Name,
    Record,
    RestoredEpisode,
    UpkeepPolicy,
)
from graphmem.operations import upkeep
from graphmem.operations.upkeep import compressing
from graphmem.ports import OnPart, silent


class _By(Record):
    policy: UpkeepPolicy


class _File(Record):
    file: Name


class _Known(Record):
    id: AskedId


class AsyncEpisodes(Instrumented):
    """Upkeep of the episodes of one scope, awaited."""

    async def graduate(
        self,
        file: str | os.PathLike[str],
        *,
        dry_run: bool = False,
        policy: UpkeepPolicy | None = None,
    ) -> GraduationReport:
        """Give important episodes of the handle's own scope a line each in a digest.

        Due are those of importance 0.7 and more that were looked at three times or are older than
        14 days; at most ten in a call, the most important first. An episode graduates once into
        each digest, which is known by the name of its file.

        The lines stand between `<!-- graphmem:begin -->` and `<!-- graphmem:end -->`, in a file
        that is yours: nothing else in it is touched, and a line that you edit or delete stays as
        you left it. Without these lines a section is put at the end; without a file one is made.
        The file is written whole or not at all, under a lock, links followed and permissions kept.

        Args:
            file: for example MEMORY.md.
            dry_run: tell which lines would be written; nothing is.
            policy: other numbers than those.

        Raises:
            InvalidInputError: an argument does not fit.
            DigestFileError: the file cannot be read or written, or its markers are broken.
            DigestLockedError: another process was writing it for too long.
        """
        to, by = self._state.binding, _policy(policy)
        sure = not yes_or_no("dry_run", dry_run)
        return await compressing.graduate(to, _path(file), by, apply=sure)

    async def compress(
        self,
        *,
        dry_run: bool = False,
        policy: UpkeepPolicy | None = None,
        on_part: OnPart = silent,
    ) -> CompressionReport:
        """Reduce episodes of the handle's own scope that nobody needed to their summaries.

        Compressed are those older than 30 days, of an importance below 0.7, that nobody looked at
        and that were never restored, when their text is longer than what stays: the summary, else
        up to 300 characters of the text (`gist`). The full text goes to an archive in the same
        transaction and `restore_episode` puts it back; consolidation goes on reading it. Turns
        stay as they are, because beliefs quote them. Safe to interrupt and to repeat.

        Args:
            dry_run: tell what would be done; nothing is written.
            policy: other numbers than those.
            on_part: told `episode` and how many of them were seen to.

        Raises:
            InvalidInputError: an argument does not fit.
        """
        return await upkeep.compress(
            self._state.binding,
            _policy(policy),
            on_part,
            apply=not yes_or_no("dry_run", dry_run),
        )

    async def restore_episode(self, episode_id: str) -> RestoredEpisode:
        """Put the full text of a compressed episode back; `compress` leaves it alone from then on.

        One that pruning archived is found again. Of any other the result says that nothing changed.

        Raises:
            NotFoundError: nothing visible has this id.
            ForeignScopeError: the episode belongs to another scope.
            ArchiveDamagedError: the archive does not hold what was put into it.
        """
        return await upkeep.restore(self._state.binding, valid(_Known, id=episode_id).id)


def _policy(given: UpkeepPolicy | None) -> UpkeepPolicy:
    return valid(_By, policy=UpkeepPolicy() if given is None else given).policy


def _path(file: str | os.PathLike[str]) -> Path:
    path = file_of("file", file)
    # What has no name, `.` or `/`, is a folder, which the one who reads it says.
    if path.name:
        valid(_File, file=path.name)
    return path


class Episodes:
    """Upkeep of the episodes of one scope, blocking: the twin of `AsyncEpisodes`."""

    _state: HandleState

    graduate = blocking(AsyncEpisodes.graduate)
    compress = blocking(AsyncEpisodes.compress)
    restore_episode = blocking(AsyncEpisodes.restore_episode)
