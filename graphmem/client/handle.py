"""A handle on one scope of one tenant: everything that can be asked of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypedDict, Unpack

from pydantic import Field

from graphmem.client.adopting import Adopting, AsyncAdopting
from graphmem.client.attention import AsyncAttention, Attention
from graphmem.client.beliefs import AsyncBeliefs, Beliefs
from graphmem.client.consolidation import AsyncConsolidation, Consolidation
from graphmem.client.contexts import AsyncContexts, Contexts
from graphmem.client.episodes import AsyncEpisodes, Episodes
from graphmem.client.erasing import AsyncErasing, Erasing
from graphmem.client.evidence import AsyncEvidence, Evidence
from graphmem.client.extraction import AsyncExtraction, Extractions
from graphmem.client.given import AskedId, moment_of
from graphmem.client.items import AsyncItems, Items
from graphmem.client.lifecycle import AsyncLifecycle, Lifecycle
from graphmem.client.naming import AsyncNaming, Naming
from graphmem.client.origin import Origin, Said, unclaimed
from graphmem.client.packing import AsyncPacks, Packs
from graphmem.client.pruning import AsyncPrunes, Prunes
from graphmem.client.ratings import AsyncRatings, Ratings
from graphmem.client.reasons import AsyncReasons, Reasons
from graphmem.client.recalling import AsyncRecalling, Recalling
from graphmem.client.rolling_up import AsyncRollUps, RollUps
from graphmem.client.state import HandleState, blocking, bounded, listed, valid
from graphmem.client.transfer import AsyncTransfer, Transfer
from graphmem.errors import InvalidInputError
from graphmem.model import (
    AsOf,
    CommitOutcome,
    Episode,
    EventType,
    IngestReport,
    Instant,
    Memory,
    MemoryChain,
    MemoryEvent,
    Message,
    Name,
    NewMemory,
    Page,
    Record,
    Status,
    Supersession,
    Tags,
    Text,
    Turn,
)
from graphmem.operations import episode, lineage, memories
from graphmem.rules import transcripts

MOST_ROWS = 1_000
MOST_TURNS = 10**9


class Narrowing(TypedDict, total=False):
    """Which memories to list."""

    tags: Sequence[str]
    """All of them must be there."""
    source: str
    since: datetime
    until: datetime
    statuses: Sequence[Status]


class _Known(Record):
    id: AskedId


class _Change(Record):
    id: AskedId
    reason: Annotated[Text, Field(max_length=10_000)] | None = None


class _Filter(Record):
    tags: Tags = ()
    source: Name | None = None
    since: Instant | None = None
    until: Instant | None = None
    statuses: tuple[Status, ...] = (Status.CURRENT,)


class _Stretch(Record):
    id: Name | None = None
    session_id: Name | None = None
    summary: Text | None = None
    content: Text | None = None
    entities: Tags = ()
    importance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.5
    at: Instant | None = None


class Stretch(TypedDict, total=False):
    """What is known of an episode; every part is optional."""

    id: str
    session_id: str
    summary: str
    content: str
    entities: Sequence[str]
    importance: float
    """In [0, 1]; 0.5 by default."""
    at: datetime


class AsyncHandle(
    AsyncRecalling,
    AsyncContexts,
    AsyncAttention,
    AsyncEvidence,
    AsyncNaming,
    AsyncBeliefs,
    AsyncRatings,
    AsyncPrunes,
    AsyncPacks,
    AsyncRollUps,
    AsyncReasons,
    AsyncTransfer,
    AsyncAdopting,
    AsyncConsolidation,
    AsyncExtraction,
    AsyncEpisodes,
    AsyncItems,
    AsyncErasing,
    AsyncLifecycle,
):
    """Memory as one writer sees it, awaited."""

    def __init__(self, state: HandleState) -> None:
        self._state = state

    async def remember(self, content: str, **said: Unpack[Said]) -> CommitOutcome:
        """Commit one text and return what it became.

        With claims it is also a piece of evidence for each of them, in the same transaction,
        whether the text is new or not; `retract` takes that evidence back and leaves the memory.

        Raises:
            InvalidInputError: an argument does not fit, or the source type has no weight.
            EventConflictError: the id was used for something else.
        """
        [outcome] = await self._state.commit([valid(NewMemory, content=content, **said)])
        return outcome

    async def remember_many(self, wishes: Iterable[NewMemory | str]) -> Sequence[CommitOutcome]:
        """Commit texts in their order; duplicates among themselves are found too.

        Every 500 of them are one transaction.
        """
        if isinstance(wishes, str) or not isinstance(wishes, Iterable):
            raise InvalidInputError("wishes is no list.", hint="For one text there is `remember`.")
        texts = [w if isinstance(w, NewMemory) else valid(NewMemory, content=w) for w in wishes]
        return await self._state.commit(texts)

    async def ingest(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        on_batch: Callable[[Sequence[transcripts.IngestedMessage]], None] | None = None,
    ) -> IngestReport:
        """Keep a conversation: every message as a turn, what people said as memories too.

        Idempotent, so an interrupted run is resumed by running it again. Messages are grouped by
        their `session`; those of assistants, tools and systems stay turns.

        Args:
            messages: in the order they were said; records, or maps of their fields.
            on_batch: told after each acknowledged batch what became of its messages.

        Raises:
            InvalidInputError: a message does not fit.
            EventConflictError: a message id was used for other words; its batch is not kept.
        """
        total = IngestReport()
        for batch in transcripts.batches(listed(messages)):
            binding = self._state.binding
            stretch = episode.NewEpisode(session_id=batch.session_id, at=batch.messages[0].at)
            episode_id = await episode.open_episode(binding, stretch)
            kept = await episode.add_messages(binding, episode_id, batch.messages)
            wishes = transcripts.wishes(batch.messages, kept)
            outcomes = await self._state.commit(list(wishes.values()))
            result = transcripts.kept(batch.messages, list(wishes), outcomes)
            total = transcripts.counted(total, kept, outcomes)
            if on_batch is not None:
                on_batch(result)
        return total

    async def get(self, memory_id: str, *, as_of: AsOf | None = None) -> Memory:
        """Return a memory, whatever its status, and which of its claims have lost.

        No access is counted.

        Args:
            memory_id: of the memory.
            as_of: a pair of times; its status, counts and heads are then those that follow from
                the events seen at it. Its tags are those of now: they are kept with the memory.

        Raises:
            NotFoundError: nothing visible has this id, or had it then.
            InvalidInputError: nobody knows yet what will be known at `as_of`.
        """
        return await memories.get(self._state.binding, _known(memory_id), moment_of(as_of))

    async def history(
        self, memory_id: str, *, limit: int = MOST_ROWS, as_of: AsOf | None = None
    ) -> Sequence[MemoryEvent]:
        """Return the newest events of a memory, oldest of them first.

        Args:
            memory_id: of the memory.
            limit: 1 to 1,000.
            as_of: only events seen at this pair of times.

        Raises:
            NotFoundError, InvalidInputError: see `get`.
        """
        count = bounded("limit", limit, MOST_ROWS)
        return await lineage.history(
            self._state.binding, _known(memory_id), limit=count, as_of=moment_of(as_of)
        )

    async def chain(self, memory_id: str, *, as_of: AsOf | None = None) -> MemoryChain:
        """Return every memory that superseded or was superseded by this one, at any remove.

        Args:
            memory_id: of one of them.
            as_of: along supersessions seen at this pair of times; see `get`.

        Raises:
            NotFoundError, InvalidInputError: see `get`.
        """
        return await lineage.chain(self._state.binding, _known(memory_id), moment_of(as_of))

    async def supersede(
        self, memory_id: str, content: str, *, reason: str | None = None, **origin: Unpack[Origin]
    ) -> Supersession:
        """Put a text in the place of a memory, which stays readable and keeps its history.

        Raises:
            NotFoundError: nothing visible has this id.
            ForeignScopeError: the memory belongs to another scope.
            ContentRefusedError: hygiene refuses the text.
            SelfSupersessionError: the text is that of the memory itself.
            EventConflictError: the id was used for something else.
        """
        change = valid(_Change, id=memory_id, reason=reason)
        wish = unclaimed(content, origin)
        wish = wish.model_copy(update={"episode_id": await self._state.opened_episode()})
        by = lineage.LineageChange(reason=change.reason, at=wish.at, id=wish.id, actor=wish.actor)
        return await lineage.supersede(
            self._state.binding, change.id, wish, by, self._state.all_rules()
        )

    async def deprecate(
        self, memory_id: str, *, reason: str | None = None, **origin: Unpack[Origin]
    ) -> str:
        """Hide a memory from recall without a successor; return the event's id.

        Raises:
            NotFoundError, ForeignScopeError, EventConflictError: see `supersede`.
        """
        return await self._mark(memory_id, EventType.DEPRECATE, reason, origin)

    async def restore(
        self, memory_id: str, *, reason: str | None = None, **origin: Unpack[Origin]
    ) -> str:
        """Make a hidden memory current again; return the event's id.

        Raises:
            NotFoundError, ForeignScopeError, EventConflictError: see `supersede`.
        """
        return await self._mark(memory_id, EventType.RESTORE, reason, origin)

    async def _mark(
        self, memory_id: str, kind: EventType, reason: str | None, origin: Origin
    ) -> str:
        change = valid(_Change, id=memory_id, reason=reason)
        given = unclaimed("", origin)
        by = lineage.LineageChange(
            reason=change.reason, at=given.at, id=given.id, actor=given.actor
        )
        return await lineage.mark(self._state.binding, change.id, kind, by)

    async def add_episode(self, **stretch: Unpack[Stretch]) -> str:
        """Keep a stretch of experience, for example a document, and return its id.

        Raises:
            EventConflictError: the id was used for another episode.
        """
        given = valid(_Stretch, **stretch)
        return await episode.open_episode(self._state.binding, episode.NewEpisode(**dict(given)))

    async def episode(self, episode_id: str) -> Episode:
        """Return an episode.

        Raises:
            NotFoundError: nothing visible has this id.
        """
        return await episode.episode(self._state.binding, _known(episode_id))

    async def turns(
        self, episode_id: str, *, start: int = 0, limit: int = MOST_ROWS
    ) -> Sequence[Turn]:
        """Return turns of an episode in order, from position `start`."""
        count = bounded("limit", limit, MOST_ROWS)
        first = bounded("start", start, MOST_TURNS, least=0)
        known = _known(episode_id)
        return await episode.turns(self._state.binding, known, start=first, limit=count)

    async def list(
        self,
        *,
        cursor: str | None = None,
        limit: int = 50,
        as_of: AsOf | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Page:
        """Return one page of memories, newest first; no access is counted.

        Args:
            cursor: where the page before ended; ask with the same `as_of` and narrowing.
            limit: 1 to 1,000.
            as_of: a pair of times; what existed then is narrowed by what it was then, except that
                tags are those of now.
            narrowing: which memories to list.

        Raises:
            InvalidInputError: the cursor is not one that a page gave, or nobody knows yet what
                will be known at `as_of`.
        """
        given = valid(_Filter, **narrowing)
        want = memories.MemoryFilter(**dict(given))
        count = bounded("limit", limit, MOST_ROWS)
        return await memories.memory_page(
            self._state.binding, want, cursor=cursor, limit=count, as_of=moment_of(as_of)
        )


def _known(given: str) -> str:
    return valid(_Known, id=given).id


class Handle(
    Recalling,
    Contexts,
    Attention,
    Evidence,
    Naming,
    Beliefs,
    Ratings,
    Prunes,
    Packs,
    RollUps,
    Reasons,
    Transfer,
    Adopting,
    Consolidation,
    Extractions,
    Episodes,
    Items,
    Erasing,
    Lifecycle,
):
    """Memory as one writer sees it, blocking: the twin of `AsyncHandle`."""

    def __init__(self, state: HandleState) -> None:
        self._state = state

    _mark = AsyncHandle._mark

    remember = blocking(AsyncHandle.remember)
    remember_many = blocking(AsyncHandle.remember_many)
    ingest = blocking(AsyncHandle.ingest)
    get = blocking(AsyncHandle.get)
    history = blocking(AsyncHandle.history)
    chain = blocking(AsyncHandle.chain)
    supersede = blocking(AsyncHandle.supersede)
    deprecate = blocking(AsyncHandle.deprecate)
    restore = blocking(AsyncHandle.restore)
    add_episode = blocking(AsyncHandle.add_episode)
    episode = blocking(AsyncHandle.episode)
    turns = blocking(AsyncHandle.turns)
    list = blocking(AsyncHandle.list)
