"""Supersede, deprecate and restore memories, and read their history and chains."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphmem import catalog
from graphmem.errors import (
    ContentRefusedError,
    EventConflictError,
    ForeignScopeError,
    NotFoundError,
    SelfSupersessionError,
)
from graphmem.model import (
    AsOf,
    ChainLink,
    EventSource,
    EventType,
    Memory,
    MemoryChain,
    MemoryEvent,
    NewMemory,
    Outcome,
    Supersession,
)
from graphmem.model.terms import Embedding
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, formulas, identity, read_options
from graphmem.rules.conflicts import retry_conversion
from graphmem.rules.drafts import TextDraft
from graphmem.rules.hygiene import Rule

LOCK = catalog.query("commit/lock", catalog.ignored)
LOOK = catalog.query("lineage/find_existing", dict)
MARK = catalog.query("lineage/mark", lambda row: row["written"])
COMMIT_LOOK = catalog.query("commit/find_existing", dict)
COMMIT_WRITE = catalog.query("commit/write", dict)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
SUPERSEDE = catalog.query("lineage/supersede", lambda row: row["written"])


HISTORY = catalog.query("lineage/history", dict)
CHAIN = catalog.query("lineage/chain", dict)
CHAIN_AS_OF = catalog.query("lineage/chain_as_of", dict)


async def mark(context: RequestContext, memory_id: str, kind: EventType, by: EventSource) -> str:
    """Deprecate or restore a memory and return the event's id; the note of `by` is the reason.

    Raises:
        NotFoundError: no visible memory has this id.
        ForeignScopeError: the memory belongs to another scope.
        EventConflictError: the given event id belongs to a different event.
        InvalidInputError: the event is in the future.
    """
    now = context.services.clock.now()
    event_id = by.event_id or identity.event_id(now)
    row = {
        "id": event_id,
        "about": memory_id,
        "label": "Memory",
        "scope": context.scope,
        "type": kind,
        "occurred_at": drafts.event_time(by.at, now),
        "request_hash": drafts.request_hash(
            context.scope, kind, memory_id, by.note, by.at, by.actor
        ),
        **drafts.origin_fields(by),
        "payload": json.dumps({"reason": by.note} if by.note else {}),
    }

    async def work(tx: Tx) -> None:
        event, _ = await _look(tx, context, memory_id, event_id)
        if event is None:
            await tx.fetch(MARK, events=[row])
        elif event["request_hash"] != row["request_hash"]:
            raise EventConflictError(f"The id {event_id!r} was used for something else.")

    await context.write(work)
    return event_id


async def supersede(
    context: RequestContext,
    older_id: str,
    wish: NewMemory,
    reason: str | None,
    rules: Sequence[Rule],
) -> Supersession:
    """Supersede a memory by a text and return both ids.

    The text is stored verbatim: only a memory with exactly this content is reused, and it becomes
    current again if it was hidden. Everything is written in one transaction.

    Raises:
        ContentRefusedError: hygiene refuses the text; nothing is written.
        SelfSupersessionError: the text equals that of the memory.
        NotFoundError, ForeignScopeError, EventConflictError, InvalidInputError: see `mark`.
    """
    now = context.services.clock.now()
    draft = drafts.draft(wish, context.tenant_scope, now, rules)
    # The caller's id is that of the SUPERSEDE event; the new memory's event has its own.
    draft = replace(draft, event_id=identity.event_id(now))
    if draft.reasons:
        raise ContentRefusedError(f"The text was refused: {', '.join(draft.reasons)}.")
    [embedding] = await context.services.embed_documents([identity.normalise(wish.content)])
    asked = drafts.request_hash(draft.request_hash, older_id, reason, wish.actor)
    event_id = wish.event_id or identity.event_id(now)

    async def work(tx: Tx) -> Supersession:
        event, older = await _look(tx, context, older_id, event_id)
        if event is not None:
            if event["request_hash"] != asked:
                raise EventConflictError(f"The id {event_id!r} was used for something else.")
            return Supersession(**json.loads(event["payload"]))
        if older["content_hash"] == draft.content_hash:
            raise SelfSupersessionError
        newer_id = await _keep(tx, context, draft, embedding)
        done = Supersession(newer_id=newer_id, older_id=older_id, event_id=event_id, reason=reason)
        row = drafts.event_row(
            draft, context.tenant_scope, EventType.SUPERSEDE, done.model_dump()
        ) | {"id": event_id, "request_hash": asked}
        await tx.fetch(SUPERSEDE, event=row, newer_id=newer_id, older_id=older_id)
        return done

    return await context.write(work)


@retry_conversion
async def history(
    context: RequestContext, memory_id: str, *, limit: int, as_of: AsOf | None = None
) -> list[MemoryEvent]:
    """Return the newest events of a memory, in chronological order.

    Raises:
        NotFoundError: no visible memory has this id, or had it at `as_of`.
        InvalidInputError: `as_of.known` is in the future.
    """
    [found] = await context.fetch(
        HISTORY, memory_id=memory_id, limit=limit, **read_options.time_bounds(as_of)
    )
    read_options.check_not_future(as_of, found["now"])
    if not found["events"]:
        raise read_options.memory_not_found(memory_id, as_of)
    return [read_options.parse_memory_event(event) for event in found["events"]]


@retry_conversion
async def chain(context: RequestContext, memory_id: str, as_of: AsOf | None = None) -> MemoryChain:
    """Return every memory that superseded this one or was superseded by it, at any distance.

    Raises:
        NotFoundError: no visible memory has this id, or had it at `as_of`.
        InvalidInputError: `as_of.known` is in the future.
    """
    if as_of is None:
        rows, provisional = (await context.fetch(CHAIN, memory_id=memory_id), False)
    else:
        times = read_options.time_bounds(as_of)
        [then] = await context.fetch(CHAIN_AS_OF, memory_id=memory_id, **times)
        rows, provisional = then["memories"], read_options.is_provisional(as_of, then["now"])
    if memory_id not in {row["card"]["id"] for row in rows}:
        raise read_options.memory_not_found(memory_id, as_of)
    links = [ChainLink(**link, older_id=row["card"]["id"]) for row in rows for link in row["links"]]
    links.sort(key=lambda link: (link.occurred_at, link.event_id))
    cards = claims.add_chain_ends((row["card"] for row in rows), links)
    memories = tuple(Memory(**card, provisional=provisional) for card in cards)
    hidden = {link.older_id for link in links if link.in_force}
    return MemoryChain(
        memories=memories,
        links=tuple(links),
        head_ids=tuple(m.id for m in memories if m.id not in hidden),
        provisional=provisional,
    )


async def _look(
    tx: Tx, context: RequestContext, memory_id: str, event_id: str
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
    await tx.fetch(LOCK)
    [found] = await tx.fetch(LOOK, event_id=event_id, memory_id=memory_id)
    memory = found["memory"]
    if memory is None:
        raise NotFoundError(f"No memory {memory_id!r}.")
    if memory["scope"] != context.scope:
        raise ForeignScopeError(f"Memory {memory_id!r} belongs to scope {memory['scope']!r}.")
    return found["event"], memory


async def _keep(tx: Tx, context: RequestContext, draft: TextDraft, embedding: Embedding) -> str:
    """Create the memory of a text in the writer's own scope, or add an event to an existing one."""
    own = {"event_id": draft.event_id, "exact_ids": [draft.memory_id], "embedding": None}
    found = await tx.fetch(
        COMMIT_LOOK, scopes=[context.scope], rows=[own], candidates=1, min_score=1.0
    )
    exact = found[0]["exact"] if found else None
    tags = sorted({*(exact["tags"] if exact else ()), *draft.memory.tags})
    kind = EventType.REINFORCE_EXACT if exact else EventType.ADD
    became = {
        "outcome": Outcome.EXACT_DUPE if exact else Outcome.INSERTED_NEW,
        "memory_id": draft.memory_id,
    }
    event = drafts.event_row(draft, context.tenant_scope, kind, became) | {
        "memory_id": draft.memory_id,
        "memory": None if exact else drafts.memory_row(draft, context.tenant_scope, embedding),
        "episode_id": draft.memory.episode_id,
        "turn_id": draft.memory.turn_id,
        **drafts.facet_fields(draft, context.tenant_scope, tags),
    }
    await tx.fetch(COMMIT_WRITE, events=[event])
    if exact:
        again = formulas.retrace_params({draft.memory_id: [draft.event_id]})
        await tx.fetch(RETRACE, **again)
    return draft.memory_id
