"""Methods of a handle that write memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from graphmem.client.arguments import (
    AskedId,
    RoleMap,
    TagsLike,
    event_source,
    file_of,
    role_map,
    several,
)
from graphmem.client.erasures import signed
from graphmem.client.jobs import extract_facts
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.conversation import ingestion, storing, summaries
from graphmem.conversation.given import AnyMessage, given_messages
from graphmem.erasure import ErasureReport, ErasureTarget, job
from graphmem.erasure.job import ErasureRequest
from graphmem.errors import InvalidInputError
from graphmem.model import (
    CommitOutcome,
    IngestReport,
    Instant,
    Name,
    NewEpisode,
    NewMemory,
    Note,
    OnUpdate,
    Origin,
    Supersession,
    Triple,
)
from graphmem.operations import episode, ids, lineage
from graphmem.ports import OnProgress, silent
from graphmem.validation import As, valid, valid_part

CLAIM_CONFIDENCE = 0.8
CLAIM_SOURCE_TYPE = "EXPLICIT"


class AsyncMemoryVerbs(AsyncNamespace):
    """Methods that write and erase memories, awaited."""

    async def remember(
        self,
        content: str,
        *,
        event_id: str | None = None,
        at: datetime | None = None,
        tags: TagsLike = (),
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        episode_id: AskedId | None = None,
        turn_id: AskedId | None = None,
        claims: Sequence[Triple | tuple[str, str, str]] = (),
        confidence: float = CLAIM_CONFIDENCE,
        source_type: str = CLAIM_SOURCE_TYPE,
        on_update: OnUpdate = "insert",
    ) -> CommitOutcome:
        """Store one text as a memory and return the outcome.

        With claims the text is also evidence for each of them, in the same transaction, whether
        the text is new or a duplicate. `retract` takes that evidence back and keeps the memory.

        Args:
            content: the text, one sentence worth recalling.
            event_id: idempotency key of the event; the same content returns the first result again.
            at: when it was stated, with a time zone; now by default.
            tags: tags of the memory.
            source: where it comes from, for example manual or hook.
            actor: who wrote it.
            artifact_ref: file, address or session that it comes from.
            episode_id: episode that the text comes from; the session's by default.
            turn_id: turn that the text quotes.
            claims: triples that the text states: subject, predicate and object of each. One that
                must not be stored is left out (`refused_claims`); the text is stored.
            confidence: confidence of the claims, 0 to 1.
            source_type: source type of the claims' evidence; it must have a weight.
            on_update: what to do if the text is another version of a current memory of the write
                scope, for example with another number or date. "insert" stores it and names that
                memory in `possible_update_of`, "supersede" also replaces that memory if the words
                leave no doubt that both are about one thing, and "propose" stores a proposal to
                replace it, which `proposals.accept` decides. A text that was stated before that
                memory replaces nothing. A superseded text that is stated again always replaces its
                successors.

        Raises:
            InvalidInputError: an argument is invalid, the source type has no weight, or confidence
                or source_type is given without claims.
        """
        # The default objects of the signature count as not given.
        given = dict(locals())
        if confidence is CLAIM_CONFIDENCE:
            del given["confidence"]
        if source_type is CLAIM_SOURCE_TYPE:
            del given["source_type"]
        [outcome] = await self._state.commit([valid_part(NewMemory, given)])
        return outcome

    async def remember_many(
        self,
        memories: Iterable[NewMemory | str],
        *,
        on_update: Annotated[OnUpdate, As(OnUpdate)] | None = None,
    ) -> Sequence[CommitOutcome]:
        """Store texts in their order, 500 in each transaction; duplicates among them are found too.

        Args:
            memories: texts, or `NewMemory` records.
            on_update: see `remember`; None for that of each record, which is "insert" by default.

        Raises:
            InvalidInputError: the argument is not a list, or a record is invalid.
            EventConflictError: an id was used for another event; earlier batches are kept.
        """
        if isinstance(memories, str) or not isinstance(memories, Iterable):
            raise InvalidInputError(
                "memories must be a list of texts or records.", hint="For one text use `remember`."
            )
        texts = [w if isinstance(w, NewMemory) else valid(NewMemory, content=w) for w in memories]
        if on_update is not None:
            texts = [one.model_copy(update={"on_update": on_update}) for one in texts]
        return await self._state.commit(await self._state.with_whole_ids(texts))

    async def ingest(
        self,
        messages: Iterable[AnyMessage],
        on_progress: OnProgress = silent,
        *,
        roles: RoleMap | None = None,
    ) -> IngestReport:
        """Store conversations: each message as a turn, as `add_messages` in sessions would.

        Idempotent: run it again to resume an interrupted run. Messages are grouped by their
        `session`. At the end of each one, facts are read from it by rules, unless the setting
        `session_facts` is off, and it gets a summary, entities and an importance; see
        `episodes.summarise`.

        Args:
            messages: messages in the order of the conversation; see `add_messages`.
            on_progress: progress callback; receives `message` and the number stored, for each
                acknowledged batch.
            roles: what other roles mean; see `add_messages`.

        Raises:
            InvalidInputError: a message is invalid.
        """
        state = self._state
        given = given_messages(messages, role_map(state.context.services.settings, roles))
        added = 0
        for session_id, parts in ingestion.batches(given.messages):
            new = NewEpisode(session_id=session_id)
            episode_id = await episode.open_episode(state.context, new)
            for part in parts:
                new_messages = storing.NewMessages(episode_id, part)
                added += (await storing.add_messages(state.context, new_messages)).added
                on_progress("message", len(part))
            if state.context.services.settings.session_facts:
                await extract_facts(state, session_id)
            await summaries.refresh(state.context, [episode_id])
        return IngestReport(
            messages=len(given.messages),
            turns_added=added,
            skipped=given.skipped,
            notes=given.notes,
        )

    async def supersede(
        self,
        memory_id: AskedId,
        content: str,
        *,
        reason: Note | None = None,
        fork: bool = False,
        at: Instant | None = None,
        origin: Origin | None = None,
        tags: TagsLike = (),
    ) -> Supersession:
        """Replace a memory by a new text. The older memory stays readable with its history.

        If the memory was replaced before, the head of its chain is replaced, and `older_id` of the
        result is the id of that head.

        Args:
            memory_id: id of the memory to replace, or of an earlier version of it.
            content: the new text.
            reason: the reason; kept with the event.
            fork: replace exactly this memory, so that a chain may have several heads.
            at: when it was stated, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.
            tags: tags of the memory.

        Raises:
            ContentRefusedError: a hygiene rule rejected the text.
            SelfSupersessionError: the text is that of the memory to replace.
            ForkedChainError: the chain has several heads.
        """
        by = event_source(origin, at, reason)
        own = by.model_dump(exclude={"note"})
        episode_id = await self._state.opened_episode()
        new = valid(NewMemory, content=content, tags=tags, episode_id=episode_id, **own)
        rules = self._state.all_rules()
        done, outcome = await lineage.supersede(
            self._state.context, memory_id, new, by.note, rules, fork=fork
        )
        self._state.call_hooks([] if outcome is None else [outcome])
        return done

    async def forget(
        self,
        what: Annotated[ErasureTarget | str, As(ErasureTarget)],
        item_id: Name,
        *,
        dry_run: bool = True,
        digests: Iterable[Path | str] = (),
        actor: Name | None = None,
        reason: Note | None = None,
        on_progress: OnProgress = silent,
    ) -> ErasureReport:
        """Erase an item or a scope, with all data derived from it.

        Erasure is permanent. A tombstone, which is a hash without content, refuses the same data
        when it is sent again. Erasing a memory also erases its events and the beliefs that only
        its claims state. Erasing an episode also erases its turns and events, the memories and
        beliefs whose text has no other source, and everything consolidated or extracted from it.
        Erasing a turn erases the same of that one message; its episode is summarised again.
        Nodes with other evidence are recomputed. A scope is erased whole, and its name is refused
        from then on. `admin.erase_person` erases a person in all scopes, `admin.erase_tenant` a
        tenant. The report contains a signed certificate, which names the files that may still
        contain erased data; `graphmem server compact` rewrites them.

        Safe to interrupt and to repeat: another call resumes the erasure.

        Args:
            what: memory, belief, episode, turn or scope.
            item_id: id of the target; for a scope, the name of the handle's own.
            dry_run: report what would be erased without erasing; pass False to erase.
            digests: files that `graduate` wrote, without lines about erased data afterwards.
            actor: who asks for it; kept with the record of the erasure and in its certificate.
            reason: the reason; kept likewise, so it must not repeat the erased data.
            on_progress: progress callback; receives `page` for each page of events, and `node` with
                the number of erased nodes.

        Raises:
            ForeignScopeError: the target belongs to another scope, or is another scope.
            DigestFileError, DigestLockedError: a digest cannot be read or written.
            ConfigurationError: the signing key cannot be used; nothing is erased.
        """
        files = [file_of("digests", file) for file in several("digests", digests)]
        target = ErasureTarget(what)
        if target is not ErasureTarget.SCOPE:
            item_id = (await ids.resolved(self._state.context, [item_id])).get(item_id, item_id)
        request = ErasureRequest(target, item_id, not dry_run, on_progress, files, actor, reason)
        done = await signed(self._state, job.forget, request)
        if done.applied:
            await summaries.refresh(self._state.context, done.rewritten)
        return done


class MemoryVerbs(Namespace):
    """Methods that write and erase memories; blocking twin of `AsyncMemoryVerbs`."""

    remember = blocking(AsyncMemoryVerbs.remember)
    remember_many = blocking(AsyncMemoryVerbs.remember_many)
    ingest = blocking(AsyncMemoryVerbs.ingest)
    supersede = blocking(AsyncMemoryVerbs.supersede)
    forget = blocking(AsyncMemoryVerbs.forget)
