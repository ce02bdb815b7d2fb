"""State of a handle and of its session."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from graphmem.client.log_queue import AccessLog
from graphmem.conversation import summaries
from graphmem.conversation.storing import Attempts
from graphmem.conversation.supplied import ShownItems
from graphmem.errors import GraphmemError
from graphmem.model import (
    CommitOutcome,
    EvidenceSource,
    NewEpisode,
    NewMemory,
    Observation,
    Trust,
)
from graphmem.operations import commit, episode, ids
from graphmem.operations.evidence import writing
from graphmem.ports import RequestContext
from graphmem.rules import hygiene, identity
from graphmem.rules.hygiene import Rule
from graphmem.usage import access_log
from graphmem.usage.access_log import (
    AccessEntry,
    ArtifactRef,
    SearchEntry,
    SearchHit,
    SessionStart,
)

if TYPE_CHECKING:
    from graphmem.conversation.streaming import ReplyStream

E = TypeVar("E", bound=EvidenceSource)
W = TypeVar("W", NewMemory, Observation)
OnCommit = Callable[[CommitOutcome], None]

log = logging.getLogger("graphmem")


@dataclass(slots=True)
class SessionState:
    """State of an open session."""

    session_id: str
    episode_id: str
    is_open: bool = False
    """Whether the episode is known to exist in the graph."""
    has_new_turns: bool = False
    """Whether it added turns that its summary does not cover."""
    supplied: set[str] = field(default_factory=set)
    """Hashes of the texts shown to the agent; the same texts are rejected as an echo."""
    shown: ShownItems = field(default_factory=ShownItems)
    """Results of the session's searches, from which replies are taken."""
    streams: list[ReplyStream] = field(default_factory=list)
    """Replies that come in parts and are stored at their end."""
    replies: set[str] = field(default_factory=set)
    """Replies whose citations were read."""
    agent: str | None = None
    shared: bool = False
    """Whether other processes log in it, too."""
    extracts: bool = True
    """Whether to extract evidence when the session is closed."""
    asks_model: bool = False
    """Whether the language model reads it then, and not the rules."""
    start: SessionStart | None = None
    """Start entry in the log; None if nothing was logged since the session last ended."""


@dataclass(slots=True)
class HandleState:
    """Request context of a handle, with its hygiene rules, hooks and session."""

    context: RequestContext
    rules: tuple[Rule, ...]
    hooks: tuple[OnCommit, ...] = ()
    session: SessionState | None = None
    accesses: AccessLog = field(default_factory=AccessLog)
    """Pending log entries, shared by all handles of a client."""
    logged: bool = True
    """Whether this handle may write to the search log, if the setting allows it too."""
    attempts: dict[tuple[str, str], Attempts] = field(default_factory=dict)
    """Calls that stored messages and failed, by tenant and episode, shared like `accesses`."""

    @property
    def logs(self) -> bool:
        """Whether searches and accesses go to the search log."""
        return self.logged and self.context.services.settings.access_log

    def with_trust(self, writer: Trust) -> HandleState:
        """Return the state of the same handle for a writer of this trust."""
        return replace(self, context=replace(self.context, trust=writer))

    async def opened_episode(self) -> str | None:
        """Return the id of the session's episode, created if needed; None outside a session."""
        if self.session is None:
            return None
        if not self.session.is_open:
            new = NewEpisode(session_id=self.session.session_id)
            await episode.open_episode(self.context, new)
            self.session.is_open = True
        return self.session.episode_id

    async def placed(self, given: E) -> E:
        """Return evidence with the session's episode, unless it names one or none is open."""
        if given.episode_id is not None or (opened := await self.opened_episode()) is None:
            return given
        return given.model_copy(update={"episode_id": opened})

    async def with_whole_ids(self, given: Sequence[W]) -> list[W]:
        """Return records that name episodes and turns by whole ids; short ones may be given."""
        named = [one for record in given for one in (record.episode_id, record.turn_id) if one]
        known = await ids.resolved(self.context, named)
        return [
            record.model_copy(
                update={
                    "episode_id": known.get(record.episode_id or "", record.episode_id),
                    "turn_id": known.get(record.turn_id or "", record.turn_id),
                }
            )
            if known
            else record
            for record in given
        ]

    async def commit(
        self, memories: Sequence[NewMemory], *, imported: bool = False
    ) -> list[CommitOutcome]:
        """Commit memories within the session, then call the hooks."""
        episode_id = await self.opened_episode()
        if episode_id is not None:
            memories = [
                new if new.episode_id else new.model_copy(update={"episode_id": episode_id})
                for new in memories
            ]
        outcomes = await commit.remember(
            self.context, memories, self.all_rules(), imported=imported
        )
        self.call_hooks(outcomes)
        beliefs = sorted({belief_id for outcome in outcomes for belief_id in outcome.belief_ids})
        if beliefs:
            await writing.embed_statements(self.context, beliefs)
        return outcomes

    async def accessed(self, label: str, item_id: str, artifact: ArtifactRef | None = None) -> None:
        """Log an access to an item; try to write the log if enough entries are pending."""
        if not self.logs:
            return
        start = self._start()
        await self._log(access_log.access(self.context, label, item_id, start, artifact), start)

    async def searched(self, tool: str, query: str, hits: Iterable[SearchHit]) -> None:
        """Log a search and its results; try to write the log if enough entries are pending."""
        if not self.logs:
            return
        start = self._start()
        await self._log(access_log.search(self.context, tool, query, hits, start), start)

    async def summarise_turns(self) -> None:
        """Summarise the turns that the session added; if that fails, log a warning."""
        session = self.session
        if session is None or not session.has_new_turns:
            return
        try:
            await summaries.refresh(self.context, [session.episode_id])
            session.has_new_turns = False
        except GraphmemError as error:
            log.warning("The session's turns are still to be summarised: %s", error.code)

    def end_session(self) -> None:
        """Log the end of the session; a later log entry starts it again."""
        if self.session is not None and self.session.start is not None:
            self.accesses.end(self.session.start, self.context.services.clock.now())
            self.session.start = None

    def end_sessions(self) -> None:
        """Log the end of every session of the client."""
        self.accesses.end_all(self.context.services.clock.now())

    def _start(self) -> SessionStart | None:
        session = self.session
        if session is not None and (session.start is None or session.shared):
            session.start = access_log.session_start(
                self.context, session.session_id, session.agent, shared=session.shared
            )
        return session.start if session else None

    async def _log(self, entry: AccessEntry | SearchEntry, start: SessionStart | None) -> None:
        if self.accesses.add(entry, start):
            await self.try_flush()

    async def flush(self) -> int:
        """Write pending log entries in one transaction; return the number that were new."""
        waiting = self.accesses.waiting()
        written = await access_log.write(self.context.services, waiting)
        self.accesses.written(waiting)
        return written

    async def settle(self, error: BaseException | None) -> None:
        """Write pending log entries at the end of a block, without hiding an error of the block."""
        await (self.flush() if error is None else self.try_flush())

    async def try_flush(self) -> None:
        """Write pending log entries; if that fails, log a warning and keep them."""
        try:
            await self.flush()
        except GraphmemError as error:
            waiting = len(self.accesses.waiting())
            log.warning("%d log entries are still to be written: %s", waiting, error.code)

    async def close(self) -> None:
        """End the sessions, write the log and close the connections; see `GraphMem.close`."""
        try:
            await self.write_rest()
        finally:
            self.accesses.give_up()
            await self.context.services.graph.close()

    async def write_rest(self) -> None:
        """End the sessions and write the log for the last time, without starting a server."""
        self.context.services.graph.stay_down()
        self.end_sessions()
        await self.try_flush()

    def all_rules(self) -> tuple[Rule, ...]:
        """Return the hygiene rules of the handle and its session."""
        if self.session is None:
            return self.rules
        return (*self.rules, hygiene.echo_rule(self.session.supplied, identity.content_hash))

    def call_hooks(self, outcomes: Iterable[CommitOutcome]) -> None:
        """Call the hooks of commits, in order; a hook that raises is logged."""
        for outcome in outcomes:
            for hook in self.hooks:
                try:
                    hook(outcome)
                except Exception:  # A failing hook must not undo the commit.
                    log.exception("An on_commit hook failed on event %s.", outcome.event_id)
