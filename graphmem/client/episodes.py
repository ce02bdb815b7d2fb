"""Namespace `episodes` of a handle."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from graphmem.client.arguments import AskedId, AsOfLike, file_of, moment_of
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import MAX_ROWS, bounded, valid, yes_or_no
from graphmem.model import Episode, EpisodePage, Instant, Name, NewEpisode, Record, TurnPage
from graphmem.operations import episode
from graphmem.ports import OnProgress, silent
from graphmem.rules import read_options
from graphmem.upkeep import (
    CompressionReport,
    GraduationReport,
    RestoredEpisode,
    UpkeepPolicy,
    compression,
)

MAX_TURNS = 10**9


class _Policy(Record):
    policy: UpkeepPolicy


class _File(Record):
    file: Name


class _Known(Record):
    episode_id: AskedId


class _Filter(Record):
    session_id: Name | None = None
    since: Instant | None = None
    until: Instant | None = None


class AsyncEpisodes(AsyncNamespace):
    """Methods that write, read, graduate and compress episodes, awaited."""

    _prefix = "episodes."

    async def add(
        self,
        *,
        episode_id: str | None = None,
        session_id: str | None = None,
        summary: str | None = None,
        content: str | None = None,
        entities: Sequence[str] = (),
        importance: float = 0.5,
        at: datetime | None = None,
    ) -> str:
        """Store an episode, for example a document, and return its id.

        Args:
            episode_id: id of the episode; a new one by default.
            session_id: name of the session that it belongs to.
            summary: summary of the episode.
            content: full text of the episode.
            entities: names of the people and things that it is about.
            importance: importance, 0 to 1.
            at: when it happened, with a time zone; now by default.

        Raises:
            EventConflictError: the id was used for another episode.
            InvalidInputError: an argument is invalid.
        """
        new = valid(
            NewEpisode,
            episode_id=episode_id,
            session_id=session_id,
            summary=summary,
            content=content,
            entities=entities,
            importance=importance,
            at=at,
        )
        return await episode.open_episode(self._state.context, new)

    async def get(self, episode_id: str) -> Episode:
        """Return an episode.

        Raises:
            NotFoundError: no visible episode has this id.
        """
        return await episode.episode(
            self._state.context, valid(_Known, episode_id=episode_id).episode_id
        )

    async def list(
        self,
        *,
        cursor: str | None = None,
        limit: int = 50,
        session_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_archived: bool = False,
        as_of: AsOfLike | None = None,
    ) -> EpisodePage:
        """Return one page of episodes, newest first; the read is not logged as an access.

        Args:
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of episodes, 1 to 1,000.
            session_id: list only episodes of this session.
            since: list only episodes that happened at or after this time.
            until: list only episodes that happened before this time.
            include_archived: include episodes that pruning archived.
            as_of: valid and known time of the read. Texts are current: they have no history.

        Raises:
            InvalidInputError: an argument is invalid, the cursor is not from a page, or
                `as_of.known` is in the future.
        """
        given = valid(_Filter, session_id=session_id, since=since, until=until)
        want = episode.EpisodeFilter(
            **dict(given), include_archived=yes_or_no("include_archived", include_archived)
        )
        count = bounded("limit", limit, MAX_ROWS)
        return await episode.episode_page(
            self._state.context, want, cursor=cursor, limit=count, as_of=moment_of(as_of)
        )

    async def turns(
        self, episode_id: str, *, cursor: str | None = None, limit: int = MAX_ROWS
    ) -> TurnPage:
        """Return one page of the turns of an episode, in their order.

        Args:
            episode_id: id of the episode.
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of turns, 1 to 1,000.

        Raises:
            InvalidInputError: an argument is invalid.
        """
        count = bounded("limit", limit, MAX_ROWS)
        first = read_options.parse_position_cursor(cursor)
        known = valid(_Known, episode_id=episode_id).episode_id
        return await episode.turns(self._state.context, known, start=first, limit=count)

    async def graduate(
        self,
        file: str | os.PathLike[str],
        *,
        dry_run: bool = False,
        policy: UpkeepPolicy | None = None,
    ) -> GraduationReport:
        """Add a line for each important episode of the handle's own scope to a digest file.

        Episodes with an importance of at least 0.7 graduate after three accesses or at an age of
        14 days; at most ten per call, the most important first. An episode graduates once into
        each digest, which is identified by its file name.

        The lines are between `<!-- graphmem:begin -->` and `<!-- graphmem:end -->`. The rest of
        the file is not modified, and lines that you edit or delete stay as you left them. Without
        these markers a section is appended; without a file one is created. The write is atomic
        and under a lock; it follows links and keeps permissions.

        Args:
            file: path of the digest, for example MEMORY.md.
            dry_run: report the lines that would be written; nothing is written.
            policy: thresholds; those above by default.

        Raises:
            InvalidInputError: an argument is invalid.
            DigestFileError: the file cannot be read or written, or its markers are broken.
            DigestLockedError: another process held the lock for too long.
        """
        to, thresholds = self._state.context, _policy(policy)
        apply = not yes_or_no("dry_run", dry_run)
        return await compression.graduate(to, _path(file), thresholds, apply=apply)

    async def compress(
        self,
        *,
        dry_run: bool = False,
        policy: UpkeepPolicy | None = None,
        on_progress: OnProgress = silent,
    ) -> CompressionReport:
        """Reduce unused episodes of the handle's own scope to their summaries.

        An episode is compressed if it is older than 30 days, its importance is below 0.7, it was
        neither accessed nor restored, and its text is longer than what replaces it. That is the
        summary, else up to 300 characters of the text (`gist`). The full text moves to an archive
        in the same transaction; `restore` restores it, and consolidation still reads it.
        Turns are not changed, because beliefs quote them. Safe to interrupt and to repeat.

        Args:
            dry_run: report what would be done; nothing is written.
            policy: thresholds; those above by default.
            on_progress: progress callback; receives `episode` and the number processed.

        Raises:
            InvalidInputError: an argument is invalid.
        """
        return await compression.compress(
            self._state.context,
            _policy(policy),
            on_progress,
            apply=not yes_or_no("dry_run", dry_run),
        )

    async def restore(self, episode_id: str) -> RestoredEpisode:
        """Restore the full text of a compressed episode; `compress` skips it from then on.

        An episode that pruning archived is searchable again. For any other episode, the result
        reports no change.

        Raises:
            NotFoundError: no visible episode has this id.
            ForeignScopeError: the episode belongs to another scope.
            ArchiveDamagedError: the archive does not hold what was put into it.
        """
        return await compression.restore(
            self._state.context, valid(_Known, episode_id=episode_id).episode_id
        )


class Episodes(Namespace):
    """Methods that write, read, graduate and compress episodes; see `AsyncEpisodes`."""

    add = blocking(AsyncEpisodes.add)
    get = blocking(AsyncEpisodes.get)
    list = blocking(AsyncEpisodes.list)
    turns = blocking(AsyncEpisodes.turns)
    graduate = blocking(AsyncEpisodes.graduate)
    compress = blocking(AsyncEpisodes.compress)
    restore = blocking(AsyncEpisodes.restore)


def _policy(given: UpkeepPolicy | None) -> UpkeepPolicy:
    return valid(_Policy, policy=UpkeepPolicy() if given is None else given).policy


def _path(file: str | os.PathLike[str]) -> Path:
    path = file_of("file", file)
    # A path without a name, `.` or `/`, is a directory; reading it fails later.
    if path.name:
        valid(_File, file=path.name)
    return path
