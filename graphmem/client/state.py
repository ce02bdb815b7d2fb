"""What a handle holds, and the steps that blocking and awaited handles share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from graphmem.client.access_log import AccessLog
from graphmem.errors import GraphmemError, InvalidInputError
from graphmem.model import CommitOutcome, Message, NewMemory
from graphmem.operations import access_log, commit, episode, evidence
from graphmem.operations.access_log import (
    AccessEntry,
    ArtifactRef,
    SearchEntry,
    SearchHit,
    SessionStart,
)
from graphmem.ports import RequestContext, run_now
from graphmem.rules import hygiene, identity
from graphmem.rules.hygiene import Rule

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
OnCommit = Callable[[CommitOutcome], None]

log = logging.getLogger("graphmem")

MOST_TOLD = 10
LONGEST_STEP = 80
"""Characters of a field's name that an error shows."""


@dataclass(slots=True)
class SessionState:
    """One stretch of conversation that is going on."""

    session_id: str
    episode_id: str
    is_open: bool = False
    """Whether its episode is known to be in the graph."""
    supplied: set[str] = field(default_factory=set)
    """Hashes of what memory gave to the agent: said again by it, they are an echo."""
    agent: str | None = None
    start: SessionStart | None = None
    """As the log knows it; None: nothing was logged since it began or ended last."""


@dataclass(slots=True)
class HandleState:
    """Where a handle works and what it applies to every commit."""

    binding: RequestContext
    rules: tuple[Rule, ...]
    hooks: tuple[OnCommit, ...] = ()
    session: SessionState | None = None
    accesses: AccessLog = field(default_factory=AccessLog)
    """Shared by all handles of an opened client."""
    logged: bool = True
    """Whether this handle may write to the search log; the setting may still turn it off."""

    @property
    def logs(self) -> bool:
        """Whether searches and accesses go to the search log."""
        return self.logged and self.binding.world.settings.access_log

    async def opened_episode(self) -> str | None:
        """Return the episode of the session, made when needed; None outside a session."""
        if self.session is None:
            return None
        if not self.session.is_open:
            stretch = episode.NewEpisode(session_id=self.session.session_id)
            await episode.open_episode(self.binding, stretch)
            self.session.is_open = True
        return self.session.episode_id

    async def commit(self, wishes: Sequence[NewMemory]) -> list[CommitOutcome]:
        """Commit texts within the session, then tell the hooks."""
        episode_id = await self.opened_episode()
        if episode_id is not None:
            wishes = [
                wish if wish.episode_id else wish.model_copy(update={"episode_id": episode_id})
                for wish in wishes
            ]
        outcomes = await commit.remember(self.binding, wishes, self.all_rules())
        for outcome in outcomes:
            self._tell(outcome)
        beliefs = sorted({belief_id for outcome in outcomes for belief_id in outcome.belief_ids})
        if beliefs:
            await evidence.embed_statements(self.binding, beliefs)
        return outcomes

    async def accessed(self, label: str, item_id: str, artifact: ArtifactRef | None = None) -> None:
        """Note that an item was looked at; when enough of that waits, try to write it."""
        if not self.logs:
            return
        start = self._start()
        await self._log(access_log.access(self.binding, label, item_id, start, artifact), start)

    async def searched(self, tool: str, query: str, found: Iterable[SearchHit]) -> None:
        """Note a search and what it found; when enough of that waits, try to write it."""
        if not self.logs:
            return
        start = self._start()
        await self._log(access_log.search(self.binding, tool, query, found, start), start)

    def end_session(self) -> None:
        """Note that the session has ended; what is logged in it from now on begins it anew."""
        if self.session is not None and self.session.start is not None:
            self.accesses.end(self.session.start, self.binding.world.clock.now())
            self.session.start = None

    def end_sessions(self) -> None:
        """Note that every session of the client has ended."""
        self.accesses.end_all(self.binding.world.clock.now())

    def _start(self) -> SessionStart | None:
        session = self.session
        if session is not None and session.start is None:
            session.start = access_log.begun(self.binding, session.session_id, session.agent)
        return session.start if session else None

    async def _log(self, entry: AccessEntry | SearchEntry, start: SessionStart | None) -> None:
        if self.accesses.add(entry, start):
            await self.try_flush()

    async def flush(self) -> int:
        """Write what is logged and waits, in one transaction; return how many entries are new."""
        waiting = self.accesses.waiting()
        written = await access_log.write(self.binding.world, waiting)
        self.accesses.written(waiting)
        return written

    async def settle(self, error: BaseException | None) -> None:
        """Write what is logged and waits when a block ends; an error in it goes before one here."""
        await (self.flush() if error is None else self.try_flush())

    async def try_flush(self) -> None:
        """Write what is logged and waits; when that fails, say so in the log and keep it."""
        try:
            await self.flush()
        except GraphmemError as error:
            waiting = len(self.accesses.waiting())
            log.warning("%d log entries are still to be written: %s", waiting, error.code)

    async def close(self) -> None:
        """Give the connections back; what of the log could not be written is lost."""
        self.accesses.give_up()
        await self.binding.world.graph.close()

    def all_rules(self) -> tuple[Rule, ...]:
        """Return the hygiene rules in force, the session's own included."""
        if self.session is None:
            return self.rules
        return (*self.rules, hygiene.echo_of(self.session.supplied, identity.content_hash))

    def _tell(self, outcome: CommitOutcome) -> None:
        for hook in self.hooks:
            try:
                hook(outcome)
            except Exception:  # The commit stands whatever a listener does.
                log.exception("An on_commit hook failed on event %s.", outcome.event_id)


def blocking(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], T]:
    """Return the blocking twin of a coroutine method that awaits ports only."""

    def twin(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return run_now(method(self, *args, **kwargs))

    update_wrapper(twin, method)
    return twin


def valid(record: type[M], /, **fields: Any) -> M:
    """Return a record of what a caller gave.

    Raises:
        InvalidInputError: a field does not fit; the message names it and never quotes it.
    """
    try:
        return record(**fields)
    except ValidationError as error:
        raise InvalidInputError(_wrong(record, error), hint=_hint(error)) from None
    except RecursionError:
        raise InvalidInputError(f"{record.__name__}: it is nested too deeply.") from None


def _wrong(record: type[BaseModel], error: ValidationError) -> str:
    """Return what does not fit: the first places, for a list may be wrong in thousands."""
    found = error.errors(include_input=False, include_url=False)
    told = [f"{_place(e) or record.__name__}: {_said(e)}" for e in found[:MOST_TOLD]]
    more = len(found) - len(told)
    return "; ".join(told) + (f"; and {more:,} more." if more else ".")


def _place(error: ErrorDetails) -> str:
    """Return where something does not fit; a name that its caller made up is cut short."""
    return ".".join(str(step)[:LONGEST_STEP] for step in error["loc"])


def _said(error: ErrorDetails) -> str:
    """Return what is wrong with a field, in words that fit a text."""
    limits = error.get("ctx", {})
    if limits.get("field_type") == "Value" and error["type"] == "too_long":
        return f"has more than {limits['max_length']:,} characters"
    if limits.get("field_type") == "Value" and error["type"] == "too_short":
        return "is empty"
    if error["type"] == "string_pattern_mismatch":
        return "is blank"
    return error["msg"].removeprefix("Value error, ")


def listed(messages: Iterable[Message | Mapping[str, Any]]) -> list[Message]:
    """Return the messages that a caller gave as records.

    Raises:
        InvalidInputError: one does not fit; names its place, from 0.
    """
    if not isinstance(messages, Iterable):
        raise InvalidInputError("messages is no list.")
    return [_message(place, given) for place, given in enumerate(messages)]


def _message(place: int, given: Message | Mapping[str, Any]) -> Message:
    if isinstance(given, Message):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"Message {place}: it is no map.")
    try:
        return valid(Message, **{str(key): value for key, value in given.items()})
    except InvalidInputError as error:
        raise InvalidInputError(f"Message {place}: {error.message}", hint=error.hint) from None


def _hint(error: ValidationError) -> str:
    kinds = {e["type"] for e in error.errors(include_input=False)}
    if "timezone_aware" in kinds:
        return "Give an instant with its time zone, for example datetime.now(UTC)."
    return ""


def yes_or_no(name: str, value: bool) -> bool:  # noqa: FBT001 - as it was given
    """Return a yes or no that a caller gave.

    Raises:
        InvalidInputError: it is neither True nor False; a text such as "no" would count as a yes.
    """
    if not isinstance(value, bool):
        raise InvalidInputError(f"{name} must be True or False.")
    return value


def bounded(name: str, value: int, most: int, *, least: int = 1) -> int:
    """Return a count that a caller gave.

    Raises:
        InvalidInputError: it is no whole number from `least` to `most`.
    """
    if type(value) is not int or not least <= value <= most:
        raise InvalidInputError(f"{name} must be a whole number from {least} to {most}.")
    return value
