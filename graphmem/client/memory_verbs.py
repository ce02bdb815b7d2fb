"""Methods of a handle that write memories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from graphmem.client.arguments import MemoryChange, file_of, several
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import listed, valid, yes_or_no
from graphmem.erasure import ErasureReport, ErasureTarget, job
from graphmem.errors import InvalidInputError
from graphmem.model import (
    CommitOutcome,
    IngestReport,
    Message,
    Name,
    NewEpisode,
    NewMemory,
    Record,
    Supersession,
    Triple,
)
from graphmem.operations import episode, lineage
from graphmem.ports import OnProgress, silent
from graphmem.rules import transcripts

CLAIM_CONFIDENCE = 0.8
CLAIM_SOURCE_TYPE = "EXPLICIT"


class _Target(Record):
    what: ErasureTarget
    item_id: Name


class AsyncMemoryVerbs(AsyncNamespace):
    """Methods that write and erase memories, awaited."""

    async def remember(
        self,
        content: str,
        *,
        event_id: str | None = None,
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
            event_id: idempotency key; the same id and content return the first result again.
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
            event_id=event_id,
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

    async def remember_many(self, memories: Iterable[NewMemory | str]) -> Sequence[CommitOutcome]:
        """Store texts in their order, 500 in each transaction; duplicates among them are found too.

        Args:
            memories: texts, or `NewMemory` records.

        Raises:
            InvalidInputError: the argument is not a list, or a record is invalid.
            EventConflictError: an id was used for another event; earlier batches are kept.
        """
        if isinstance(memories, str) or not isinstance(memories, Iterable):
            raise InvalidInputError(
                "memories must be a list of texts or records.", hint="For one text use `remember`."
            )
        texts = [w if isinstance(w, NewMemory) else valid(NewMemory, content=w) for w in memories]
        return await self._state.commit(texts)

    async def ingest(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        on_progress: Callable[[Sequence[transcripts.IngestedMessage]], None] | None = None,
    ) -> IngestReport:
        """Store a conversation: each message as a turn, messages of people as memories too.

        Idempotent: run it again to resume an interrupted run. Messages are grouped by their
        `session`; messages of assistants, tools and systems are stored as turns only.

        Args:
            messages: messages in the order of the conversation; records, or mappings of fields.
            on_progress: called after each acknowledged batch with the outcomes of its messages.

        Raises:
            InvalidInputError: a message is invalid.
            EventConflictError: a message id was used for other words; its batch is not stored.
        """
        total = IngestReport()
        for batch in transcripts.batches(listed(messages)):
            context = self._state.context
            new = NewEpisode(session_id=batch.session_id, at=batch.messages[0].at)
            episode_id = await episode.open_episode(context, new)
            kept = await episode.add_messages(context, episode_id, batch.messages)
            memories = transcripts.conversation_memories(batch.messages, kept)
            outcomes = await self._state.commit(list(memories.values()))
            result = transcripts.pair_outcomes(batch.messages, list(memories), outcomes)
            total = transcripts.add_batch(total, kept, outcomes)
            if on_progress is not None:
                on_progress(result)
        return total

    async def supersede(
        self,
        memory_id: str,
        content: str,
        *,
        reason: str | None = None,
        event_id: str | None = None,
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
            event_id: idempotency key; the same id and content return the first result again.
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
        change = valid(MemoryChange, memory_id=memory_id, reason=reason)
        new = valid(
            NewMemory,
            content=content,
            event_id=event_id,
            at=at,
            tags=tags,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            episode_id=await self._state.opened_episode(),
        )
        return await lineage.supersede(
            self._state.context, change.memory_id, new, change.reason, self._state.all_rules()
        )

    async def forget(
        self,
        what: ErasureTarget | str,
        item_id: str,
        *,
        dry_run: bool = True,
        digests: Iterable[Path | str] = (),
        on_progress: OnProgress = silent,
    ) -> ErasureReport:
        """Erase a memory, a belief, an episode or a scope, with all data derived from it.

        Erasure is permanent. A tombstone, which is a hash without content, refuses the same data
        when it is sent again. Erasing a memory also erases its events and the beliefs that only
        its claims state. Erasing an episode also erases its turns and events, the memories and
        beliefs whose text has no other source, and everything consolidated or extracted from it.
        Nodes with other evidence are recomputed. A scope is erased whole, and its name is refused
        from then on. `admin.erase_tenant` erases a tenant. docs/erasure.md describes what the
        database files may still contain, and for how long.

        Safe to interrupt and to repeat: another call resumes the erasure.

        Args:
            what: memory, belief, episode or scope.
            item_id: id of the target; for a scope, the name of the handle's own.
            dry_run: report what would be erased without erasing; pass False to erase.
            digests: files that `graduate` wrote; lines about erased data are removed.
            on_progress: progress callback; receives `page` for each page of events, and `node` with
                the number of erased nodes.

        Raises:
            NotFoundError: no visible item has this id.
            ForeignScopeError: the target belongs to another scope, or is another scope.
            DigestFileError, DigestLockedError: a digest cannot be read or written.
            InvalidInputError: an argument is invalid.
        """
        given, applied = (
            valid(_Target, what=what, item_id=item_id),
            not yes_or_no("dry_run", dry_run),
        )
        files = [file_of("digests", file) for file in several("digests", digests)]
        request = job.ErasureRequest(given.what, given.item_id, applied, on_progress, files)
        if applied:
            # Waiting log entries may contain the id.
            await self._state.try_flush()
        return await job.forget(self._state.context, request)


class MemoryVerbs(Namespace):
    """Methods that write and erase memories; blocking twin of `AsyncMemoryVerbs`."""

    remember = blocking(AsyncMemoryVerbs.remember)
    remember_many = blocking(AsyncMemoryVerbs.remember_many)
    ingest = blocking(AsyncMemoryVerbs.ingest)
    supersede = blocking(AsyncMemoryVerbs.supersede)
    forget = blocking(AsyncMemoryVerbs.forget)
