"""State of a handle, and the queue of its log entries."""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from graphmem.english import openings
from graphmem.errors import GraphmemError
from graphmem.model import (
    AnyBite,
    CommitOutcome,
    EvidenceSource,
    NewEpisode,
    NewMemory,
    Observation,
    Trust,
)
from graphmem.operations import commit, episode, ids, summaries
from graphmem.operations.evidence import writing
from graphmem.ports import RequestContext, run_now
from graphmem.rules import hygiene, identity, short_ids
from graphmem.rules.hygiene import Rule
from graphmem.usage import access_log
from graphmem.usage.access_log import (
    AccessEntry,
    ArtifactRef,
    Entry,
    SearchEntry,
    SearchHit,
    SessionStart,
)

if TYPE_CHECKING:
    from graphmem.client.streaming import ReplyStream
    from graphmem.ports import Telemetry

FULL_LOG = 100
"""Number of new entries after which the log is written."""
MAX_LOG = 10_000
"""Maximum number of entries kept while they cannot be written; the newest are kept."""

E = TypeVar("E", bound=EvidenceSource)
W = TypeVar("W", NewMemory, Observation)
OnCommit = Callable[[CommitOutcome], None]

log = logging.getLogger("graphmem")

MAX_ASKED, MAX_SHOWN = 20, 200
"""Maximum questions and results that a reply is compared with; the latest are kept."""


class AccessLog:
    """Log entries of all handles of a client that are not known to be in the graph.

    Safe to share between threads. Entries stay here until their write is acknowledged, so an
    interrupted write is repeated with the same ids.
    """

    def __init__(self, telemetry: Telemetry | None = None) -> None:
        self._telemetry = telemetry
        self._waiting: dict[str, Entry] = {}
        self._open: dict[str, tuple[SessionStart, int]] = {}
        """Open sessions, and the number of entries logged in each."""
        self._new = 0
        """Number of entries added since `add` last returned True."""
        self._lost = 0
        self._written = 0
        self._lock = Lock()

    @property
    def lost(self) -> int:
        """Number of entries discarded because they could not be written in time."""
        return self._lost

    def add(self, entry: AccessEntry | SearchEntry, start: SessionStart | None = None) -> bool:
        """Add an entry, and the start of its session if it is new; return whether to write now.

        Only one of every `FULL_LOG` calls returns True. Concurrent callers thus do not all write,
        and a server that accepts no writes is not asked at every call.
        """
        with self._changing():
            if start is not None:
                if start.event_id not in self._open:
                    self._waiting[start.event_id] = start
                self._open[start.event_id] = (start, self._logged(start) + 1)
            self._waiting[entry.event_id] = entry
            if len(self._waiting) > MAX_LOG:
                self._drop_oldest()
            self._new += 1
            if self._new < FULL_LOG:
                return False
            self._new = 0
            return True

    def end(self, start: SessionStart, now: datetime) -> None:
        """Add the end of a session, unless nothing was logged in it."""
        with self._changing():
            if start.event_id in self._open:
                self._end(start, now)

    def end_all(self, now: datetime) -> None:
        """Add the ends of all open sessions."""
        with self._changing():
            for start, _ in list(self._open.values()):
                self._end(start, now)

    def waiting(self) -> list[Entry]:
        """Return the unwritten entries, oldest first."""
        with self._lock:
            return list(self._waiting.values())

    def written(self, entries: Sequence[Entry]) -> None:
        """Remove entries that are in the graph."""
        with self._changing():
            for entry in entries:
                self._written += self._waiting.pop(entry.event_id, None) is not None
            self._new = len(self._waiting)

    def give_up(self) -> None:
        """Discard the unwritten entries and count them as lost."""
        with self._changing():
            self._lost += len(self._waiting)
            self._waiting.clear()

    def start_over(self) -> None:
        """Forget the entries in a forked process; its parent writes them and ends the sessions."""
        self._lock = Lock()  # another thread of the parent may have held it
        self._waiting, self._open, self._new = {}, {}, 0

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold the lock, and report the changes to telemetry afterwards."""
        with self._lock:
            waiting, written, lost = len(self._waiting), self._written, self._lost
            yield
            if self._telemetry is not None:
                self._telemetry.logged(
                    waiting=len(self._waiting) - waiting,
                    written=self._written - written,
                    lost=self._lost - lost,
                )

    def _logged(self, start: SessionStart) -> int:
        return self._open[start.event_id][1] if start.event_id in self._open else 0

    def _end(self, start: SessionStart, now: datetime) -> None:
        _, logged = self._open.pop(start.event_id)
        if not start.shared:
            end = access_log.ended(start, now, logged)
            self._waiting[end.event_id] = end

    def _drop_oldest(self) -> None:
        # Drops the oldest entry, but no start or end: they separate a session from the others.
        for event_id, entry in self._waiting.items():
            if not isinstance(entry, SessionStart):
                del self._waiting[event_id]
                self._lost += 1
                return


@dataclass(slots=True)
class ShownItems:
    """Results that a session was shown, to find those that a reply was taken from."""

    forms: dict[str, str] = field(default_factory=dict)
    """Ids by the form in which they were shown."""
    labels: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Questions since the last reply."""
    texts: dict[str, str] = field(default_factory=dict)
    """Texts of their results by id."""

    def add(self, question: str, bites: Iterable[AnyBite], forms: Mapping[str, str]) -> None:
        """Note the results of a search.

        Args:
            forms: ids by the form in which they are shown.
        """
        self.forms |= forms
        self.asked = [*self.asked[1 - MAX_ASKED :], question]
        for bite in bites:
            self.labels[bite.id] = bite.kind.capitalize()
            self.texts.setdefault(bite.id, bite.text)
        for item_id in list(self.texts)[:-MAX_SHOWN]:
            del self.texts[item_id]

    def used_by(self, reply: str) -> list[tuple[str, str]]:
        """Return label and id of what a reply cites; if it cites nothing, of what it repeats.

        The next reply is not compared with the same results.
        """
        used = short_ids.cited(reply, self.forms) or openings.words_taken(
            reply, self.asked, self.texts
        )
        self.asked, self.texts = [], {}
        return [(self.labels[one], one) for one in used if one in self.labels]


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
    attempts: dict[tuple[str, str], episode.Attempts] = field(default_factory=dict)
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
        if given.episode_id is not None:
            return given
        return given.model_copy(update={"episode_id": await self.opened_episode()})

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


_BLOCKING: WeakKeyDictionary[AccessLog, RequestContext] = WeakKeyDictionary()
_AWAITED: WeakKeyDictionary[AccessLog, RequestContext] = WeakKeyDictionary()


def watch(state: HandleState, *, awaited: bool) -> None:
    """Write the client's waiting log entries at interpreter exit, even if it was not closed.

    The event loop of an async client is closed by then; a warning gives the number of lost entries.
    """
    (_AWAITED if awaited else _BLOCKING)[state.accesses] = state.context


def _start_over() -> None:
    for accesses in (*_BLOCKING, *_AWAITED):
        accesses.start_over()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_start_over)


@atexit.register
def _write() -> None:
    for accesses, context in list(_BLOCKING.items()):
        run_now(HandleState(context=context, rules=(), accesses=accesses).write_rest())
    for accesses in list(_AWAITED):
        if waiting := len(accesses.waiting()):
            log.warning("%d log entries were lost: the client was not closed.", waiting)
