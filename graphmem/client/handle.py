"""A handle on one scope of one tenant, with every operation on memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from graphmem.client.adopting import Adopting, AsyncAdopting
from graphmem.client.attention import AsyncAttention, Attention
from graphmem.client.beliefs import AsyncBeliefs, Beliefs
from graphmem.client.consolidation import AsyncConsolidation, Consolidation
from graphmem.client.contexts import AsyncContexts, Contexts
from graphmem.client.declarations import AsyncDeclarations, Declarations
from graphmem.client.episodes import AsyncEpisodes, Episodes
from graphmem.client.erasing import AsyncErasing, Erasing
from graphmem.client.evidence import AsyncEvidence, Evidence
from graphmem.client.extraction import AsyncExtraction, Extractions
from graphmem.client.given import AskedId, moment_of
from graphmem.client.items import AsyncItems, Items
from graphmem.client.lifecycle import AsyncLifecycle, Lifecycle
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
    EventSource,
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
    Triple,
)
from graphmem.operations import episode, lineage, memories
from graphmem.rules import transcripts

MOST_ROWS = 1_000
MOST_TURNS = 10**9
CLAIM_CONFIDENCE = 0.8
CLAIM_SOURCE_TYPE = "EXPLICIT"


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


class AsyncHandle(
    AsyncRecalling,
    AsyncContexts,
    AsyncAttention,
    AsyncEvidence,
    AsyncDeclarations,
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
    """All operations on the memory of one tenant and scope, awaited."""

    def __init__(self, state: HandleState) -> None:
        self._state = state

    async def remember(
        self,
        content: str,
        *,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        tags: Sequence[str] = (),
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        episode_id: str | None = None,
        turn_id: str | None = None,
        claims: Sequence[Triple | tuple[str, str, str]] = (),
        confidence: float = CLAIM_CONFIDENCE,
        source_type: str = CLAIM_SOURCE_TYPE,
    ) -> CommitOutcome:
        """Store one text as a memory and return the outcome.

        With claims the text is also evidence for each of them, in the same transaction, whether
        the text is new or a duplicate. `retract` takes that evidence back and keeps the memory.

        Args:
            content: the text, one sentence worth recalling.
            id: idempotency key; the same id and content return the first result again.
            at: when it was stated, with a time zone; now by default.
            tags: labels of the memory.
            source: where it comes from, for example manual, hook or import.
            actor: who wrote it.
            artifact_ref: file name, address or session that it comes from.
            episode_id: episode that the text comes from; the session's by default.
            turn_id: turn that the text quotes.
            claims: triples that the text states: subject, predicate and object of each.
            confidence: confidence of the claims, 0 to 1.
            source_type: source type of the claims' evidence; it must have a weight.

        Raises:
            InvalidInputError: an argument is invalid, the source type has no weight, or confidence
                or source_type is given without claims.
            EventConflictError: the id was used for another event.
        """
        # The default objects of the signature count as not given.
        of_claims: dict[str, Any] = {}
        if confidence is not CLAIM_CONFIDENCE:
            of_claims["confidence"] = confidence
        if source_type is not CLAIM_SOURCE_TYPE:
            of_claims["source_type"] = source_type
        new = valid(
            NewMemory,
            content=content,
            id=id,
            at=at,
            tags=tags,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            episode_id=episode_id,
            turn_id=turn_id,
            claims=claims,
            **of_claims,
        )
        [outcome] = await self._state.commit([new])
        return outcome

    async def remember_many(self, wishes: Iterable[NewMemory | str]) -> Sequence[CommitOutcome]:
        """Store texts in their order, 500 in each transaction; duplicates among them are found too.

        Args:
            wishes: texts, or `NewMemory` records.

        Raises:
            InvalidInputError: the argument is not a list, or a record is invalid.
            EventConflictError: an id was used for another event; earlier batches are kept.
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
        """Store a conversation: each message as a turn, messages of people as memories too.

        Idempotent: run it again to resume an interrupted run. Messages are grouped by their
        `session`; messages of assistants, tools and systems are stored as turns only.

        Args:
            messages: messages in the order of the conversation; records, or mappings of fields.
            on_batch: called after each acknowledged batch with the outcomes of its messages.

        Raises:
            InvalidInputError: a message is invalid.
            EventConflictError: a message id was used for other words; its batch is not stored.
        """
        total = IngestReport()
        for batch in transcripts.batches(listed(messages)):
            binding = self._state.binding
            stretch = episode.NewEpisode(session_id=batch.session_id, at=batch.messages[0].at)
            episode_id = await episode.open_episode(binding, stretch)
            kept = await episode.add_messages(binding, episode_id, batch.messages)
            wishes = transcripts.conversation_memories(batch.messages, kept)
            outcomes = await self._state.commit(list(wishes.values()))
            result = transcripts.pair_outcomes(batch.messages, list(wishes), outcomes)
            total = transcripts.add_batch(total, kept, outcomes)
            if on_batch is not None:
                on_batch(result)
        return total

    async def get(self, memory_id: str, *, as_of: AsOf | None = None) -> Memory:
        """Return a memory of any status, and which of its claims have lost.

        The read is not logged as an access.

        Args:
            memory_id: id of the memory.
            as_of: valid and known time; status, counts and heads follow from the events seen then.
                Tags are current: they have no history.

        Raises:
            NotFoundError: no visible memory has this id, or it was not known at that time.
            InvalidInputError: `as_of.known` is in the future.
        """
        return await memories.get(self._state.binding, _known(memory_id), moment_of(as_of))

    async def history(
        self, memory_id: str, *, limit: int = MOST_ROWS, as_of: AsOf | None = None
    ) -> Sequence[MemoryEvent]:
        """Return the newest events of a memory, oldest of them first.

        Args:
            memory_id: id of the memory.
            limit: maximum number of events, 1 to 1,000.
            as_of: return only events seen at this valid and known time.

        Raises:
            NotFoundError, InvalidInputError: see `get`.
        """
        count = bounded("limit", limit, MOST_ROWS)
        return await lineage.history(
            self._state.binding, _known(memory_id), limit=count, as_of=moment_of(as_of)
        )

    async def chain(self, memory_id: str, *, as_of: AsOf | None = None) -> MemoryChain:
        """Return all memories of the supersession chain that this memory belongs to.

        Args:
            memory_id: id of a memory of the chain.
            as_of: follow supersessions seen at this valid and known time; see `get`.

        Raises:
            NotFoundError, InvalidInputError: see `get`.
        """
        return await lineage.chain(self._state.binding, _known(memory_id), moment_of(as_of))

    async def supersede(
        self,
        memory_id: str,
        content: str,
        *,
        reason: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        tags: Sequence[str] = (),
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
    ) -> Supersession:
        """Replace a memory by a new text; the older memory stays readable with its history.

        Args:
            memory_id: id of the memory to replace.
            content: the new text.
            reason: why; kept with the event.
            id: idempotency key; the same id and content return the first result again.
            at: when it was stated, with a time zone; now by default.
            tags: labels of the memory.
            source: where it comes from, for example manual, hook or import.
            actor: who wrote it.
            artifact_ref: file name, address or session that it comes from.

        Raises:
            NotFoundError: no visible memory has this id.
            ForeignScopeError: the memory belongs to another scope.
            ContentRefusedError: a hygiene rule rejected the text.
            SelfSupersessionError: the text is that of the memory itself.
            EventConflictError: the id was used for another event.
            InvalidInputError: an argument is invalid.
        """
        change = valid(_Change, id=memory_id, reason=reason)
        new = valid(
            NewMemory,
            content=content,
            id=id,
            at=at,
            tags=tags,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            episode_id=await self._state.opened_episode(),
        )
        return await lineage.supersede(
            self._state.binding, change.id, new, change.reason, self._state.all_rules()
        )

    async def deprecate(
        self,
        memory_id: str,
        *,
        reason: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
    ) -> str:
        """Hide a memory from recall without a successor, and return the id of the event.

        Args:
            memory_id: id of the memory.
            reason: why; kept with the event.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who wrote it.
            artifact_ref: file name, address or session that it comes from.

        Raises:
            NotFoundError, ForeignScopeError, EventConflictError, InvalidInputError: see
                `supersede`.
        """
        origin = valid(
            EventSource,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
        )
        return await self._mark(memory_id, EventType.DEPRECATE, reason, origin)

    async def restore(
        self,
        memory_id: str,
        *,
        reason: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
    ) -> str:
        """Make a hidden memory current again, and return the id of the event.

        Args:
            memory_id: id of the memory.
            reason: why; kept with the event.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who wrote it.
            artifact_ref: file name, address or session that it comes from.

        Raises:
            NotFoundError, ForeignScopeError, EventConflictError, InvalidInputError: see
                `supersede`.
        """
        origin = valid(
            EventSource,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
        )
        return await self._mark(memory_id, EventType.RESTORE, reason, origin)

    async def _mark(
        self, memory_id: str, kind: EventType, reason: str | None, origin: EventSource
    ) -> str:
        change = valid(_Change, id=memory_id, reason=reason)
        by = origin.model_copy(update={"note": change.reason})
        return await lineage.mark(self._state.binding, change.id, kind, by)

    async def list(
        self,
        *,
        cursor: str | None = None,
        limit: int = 50,
        tags: Sequence[str] = (),
        source: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        statuses: Sequence[Status] = (Status.CURRENT,),
        as_of: AsOf | None = None,
    ) -> Page:
        """Return one page of memories, newest first; the read is not logged as an access.

        Args:
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of memories, 1 to 1,000.
            tags: list only memories with all of these tags.
            source: list only memories with an event from this source.
            since: list only memories created at or after this time.
            until: list only memories created before this time.
            statuses: list only memories of these statuses.
            as_of: valid and known time of the read. Tags are current: they have no history.

        Raises:
            InvalidInputError: an argument is invalid, the cursor is not from a page, or
                `as_of.known` is in the future.
        """
        given = valid(
            _Filter, tags=tags, source=source, since=since, until=until, statuses=statuses
        )
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
    Declarations,
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
    """All operations on the memory of one tenant and scope; blocking twin of `AsyncHandle`."""

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
    list = blocking(AsyncHandle.list)
