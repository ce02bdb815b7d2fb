"""Namespace `episodes` of a handle."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

from graphmem.client.arguments import (
    MAX_ROWS,
    AskedId,
    AsOfLike,
    Limit,
    file_of,
    moment_of,
)
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.conversation import summaries
from graphmem.errors import InvalidInputError
from graphmem.model import (
    Episode,
    EpisodePage,
    Instant,
    Name,
    NewEpisode,
    SummaryReport,
    TurnPage,
)
from graphmem.operations import episode
from graphmem.ports import OnProgress, silent
from graphmem.rules import read_options
from graphmem.upkeep import (
    CompressionReport,
    GraduationReport,
    PinReceipt,
    RestoredEpisode,
    UpkeepPolicy,
    compression,
    pruning,
)
from graphmem.validation import valid_part

MAX_FILE_NAME = 200
"""Maximum number of characters of the name of a digest, which identifies it in the graph."""


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
        importance: float | None = None,
        at: datetime | None = None,
    ) -> str:
        """Store an episode, for example a document, and return its id.

        If the session has an episode already, what is given here replaces that of the episode, and
        the rest stays; `history` shows the change. A summary, entities or an importance that are
        given are never replaced by those of the turns.

        Args:
            episode_id: id of the episode; a new one by default.
            session_id: name of the session that it belongs to.
            summary: summary of the episode.
            content: full text of the episode.
            entities: names of the people and things that it is about.
            importance: importance, 0 to 1; by default that of its turns, or 0.5 without turns.
            at: when it happened, with a time zone; now by default.

        Raises:
            EventConflictError: the id was used for another episode.
        """
        new = valid_part(NewEpisode, locals())
        return await episode.open_episode(self._state.context, new, update=True)

    async def get(self, episode_id: AskedId) -> Episode:
        """Return an episode.

        Args:
            episode_id: id of the episode.
        """
        return await episode.episode(self._state.context, episode_id)

    async def list(
        self,
        *,
        cursor: str | None = None,
        limit: Limit = 50,
        session_id: Name | None = None,
        sessions_only: bool = False,
        since: Instant | None = None,
        until: Instant | None = None,
        include_archived: bool = False,
        as_of: AsOfLike | None = None,
    ) -> EpisodePage:
        """Return one page of episodes, newest first. The read is not logged as an access.

        Args:
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of episodes, 1 to 1,000.
            session_id: list only episodes of this session.
            sessions_only: leave out episodes without a session, for example documents.
            since: list only episodes that happened at or after this time.
            until: list only episodes that happened before this time.
            include_archived: include episodes that pruning archived.
            as_of: valid and known time of the read. Texts are current: they have no history.
        """
        want = episode.EpisodeFilter(
            session_id=session_id,
            since=since,
            until=until,
            sessions_only=sessions_only,
            include_archived=include_archived,
        )
        return await episode.episode_page(
            self._state.context, want, cursor=cursor, limit=limit, as_of=moment_of(as_of)
        )

    async def turns(
        self, episode_id: AskedId, *, cursor: str | None = None, limit: Limit = MAX_ROWS
    ) -> TurnPage:
        """Return one page of the turns of an episode, in their order.

        Args:
            episode_id: id of the episode.
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of turns, 1 to 1,000.

        Raises:
            NotFoundError: no visible episode has this id, which is not that of the session.
        """
        first = read_options.parse_position_cursor(cursor)
        page = await episode.turns(self._state.context, episode_id, start=first, limit=limit)
        own = self._state.session
        if not page.turns and (own is None or own.episode_id != episode_id):
            await episode.episode(self._state.context, episode_id)
        return page

    async def summarise(
        self,
        episode_id: AskedId | None = None,
        *,
        by_rules: bool = False,
        dry_run: bool = False,
        on_progress: OnProgress = silent,
    ) -> SummaryReport:
        """Summarise conversations of the write scope.

        The end of a session and `ingest` do this by rules. This method does it for conversations
        whose turns have changed since, for example after an interruption, and, if the settings
        name a language model, for those that the model has not summarised. A reply of the model is
        stored and checked: names and values that do not occur in the conversation dismiss it, and
        the rules are used instead. Safe to interrupt and to repeat.

        Args:
            episode_id: summarise only this conversation, even if its turns did not change.
            by_rules: use no language model, even if one is set.
            dry_run: report the summaries; nothing is written. A model is asked and paid.
            on_progress: progress callback; receives `episode` and the number processed.

        Raises:
            NotFoundError: the scope has no episode of this id.
            ConfigurationError: the provider of the language model is unknown.
        """
        to = self._state.context
        how = summaries.SummaryOptions(
            llm=None if by_rules else to.services.llm,
            apply=not dry_run,
            on_progress=on_progress,
        )
        return await summaries.summarise(to, how, episode_id)

    async def graduate(
        self,
        file: str | os.PathLike[str],
        *,
        dry_run: bool = False,
        policy: UpkeepPolicy | None = None,
    ) -> GraduationReport:
        """Add a line for each important episode to a digest file.

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
            policy: thresholds; those of the settings by default.

        Raises:
            DigestFileError: the file cannot be read or written, or its markers are broken.
            DigestLockedError: another process held the lock for too long.
        """
        to, path = self._state.context, file_of("file", file)
        if len(path.name) > MAX_FILE_NAME:
            raise InvalidInputError(f"file: its name has more than {MAX_FILE_NAME} characters.")
        try:
            path.name.encode()
        except UnicodeEncodeError:
            raise InvalidInputError("file: its name must be valid Unicode.") from None
        used = policy or to.services.settings.upkeep
        return await compression.graduate(to, path, used, apply=not dry_run)

    async def compress(
        self,
        *,
        dry_run: bool = False,
        policy: UpkeepPolicy | None = None,
        on_progress: OnProgress = silent,
    ) -> CompressionReport:
        """Reduce unused episodes of the write scope to summaries.

        An episode is compressed if it is older than 30 days, its importance is below 0.7, it was
        neither accessed nor restored, and its text is longer than what replaces it. That is the
        summary, else up to 300 characters of the text (`gist`). The full text moves to an archive
        in the same transaction; `restore` restores it, and consolidation still reads it.

        The turns of a conversation whose newest turn is that old leave the search indexes instead,
        and recall finds its summary only. Their words stay where they are: beliefs quote them, and
        repeated messages are recognised by them. Safe to interrupt and to repeat.

        Args:
            dry_run: report what would be done; nothing is written.
            policy: thresholds; those of the settings by default.
            on_progress: progress callback; receives `episode` and the number processed.
        """
        to = self._state.context
        used = policy or to.services.settings.upkeep
        return await compression.compress(to, used, on_progress, apply=not dry_run)

    async def restore(self, episode_id: AskedId) -> RestoredEpisode:
        """Restore the text of an episode. `compress` skips it from then on.

        An episode that pruning archived is searchable again. For any other episode, the result
        reports no change.

        Args:
            episode_id: id of the episode.

        Raises:
            ArchiveDamagedError: the archive does not hold what was put into it.
        """
        return await compression.restore(self._state.context, episode_id)

    async def pin(self, episode_id: AskedId) -> PinReceipt:
        """Protect an episode from pruning, however rarely it is used.

        Args:
            episode_id: id of the episode.
        """
        return await pruning.pin(self._state.context, episode_id, pinned=True)

    async def unpin(self, episode_id: AskedId) -> PinReceipt:
        """End the protection of an episode from pruning.

        Args:
            episode_id: id of the episode.
        """
        return await pruning.pin(self._state.context, episode_id, pinned=False)


class Episodes(Namespace):
    """Methods that write, read, graduate and compress episodes; see `AsyncEpisodes`."""

    add = blocking(AsyncEpisodes.add)
    get = blocking(AsyncEpisodes.get)
    list = blocking(AsyncEpisodes.list)
    turns = blocking(AsyncEpisodes.turns)
    summarise = blocking(AsyncEpisodes.summarise)
    graduate = blocking(AsyncEpisodes.graduate)
    compress = blocking(AsyncEpisodes.compress)
    restore = blocking(AsyncEpisodes.restore)
    pin = blocking(AsyncEpisodes.pin)
    unpin = blocking(AsyncEpisodes.unpin)
