"""Store episodes and their turns verbatim, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from graphmem import catalog
from graphmem.errors import EventConflictError, NotFoundError
from graphmem.model import (
    AsOf,
    Episode,
    EpisodePage,
    EventSource,
    EventType,
    MemoryEvent,
    Message,
    NewEpisode,
    Trust,
    Turn,
    TurnPage,
    TurnsReceipt,
)
from graphmem.model.terms import embedding_fields
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, identity, passages, read_options, transcripts, trust

if TYPE_CHECKING:
    from graphmem.model.terms import Embedding

IMPORTANCE = 0.5
"""Importance of an episode whose turns have not been summarised, unless a caller gives another."""
OPEN = catalog.query("episode/open", dict)
UPDATE = catalog.query("episode/update", catalog.ignored)
LOOK = catalog.query("episode/find_existing", dict)
LOCK = catalog.query("episode/lock", catalog.ignored)
ADD_TURNS = catalog.query("episode/add_turns", lambda row: row["added"])
TURNS = catalog.query("episode/turns", lambda row: Turn(**row["turn"]))
GET = catalog.query("episode/get", lambda row: Episode(**row["episode"]))
LIST = catalog.query("episode/list", dict)
HISTORY = catalog.query("episode/history", dict)


async def open_episode(context: RequestContext, new: NewEpisode, *, update: bool = False) -> str:
    """Create an episode unless it exists, embed its summary or content, and return its id.

    The id is the given one, else that of the session, else a new one.

    Args:
        context: request context.
        new: the episode.
        update: whether what is given replaces that of a session's existing episode.

    Raises:
        EventConflictError: the given id belongs to an episode with other content.
        InvalidInputError: `at` is in the future.
    """
    now = context.services.clock.now()
    if new.episode_id is not None:
        episode_id = new.episode_id
    elif new.session_id is not None:
        episode_id = identity.episode_id(context.scope, new.session_id)
    else:
        episode_id = "ep_" + identity.event_id(now)
    asked = drafts.request_hash(
        context.scope,
        new.session_id,
        new.summary,
        new.content,
        str(IMPORTANCE if new.importance is None else new.importance),
        new.at,
        *new.entities,
    )
    row = {
        "id": episode_id,
        "scope": context.scope,
        "scope_key": identity.scope_key(context.tenant, context.scope),
        "session_id": new.session_id,
        "summary": new.summary,
        "content": new.content,
        "entities": list(new.entities),
        "importance": IMPORTANCE if new.importance is None else new.importance,
        "stated": _stated(new),
        "trust": _trust(context, new),
        "occurred_at": drafts.event_time(new.at, now),
        "request_hash": asked,
    }
    embedding = await _embedding(context, new.summary or new.content)
    [found] = await context.fetch(OPEN, episode=row | embedding_fields(embedding))
    if found["request_hash"] != asked:
        if new.episode_id is not None:
            raise EventConflictError(f"The id {new.episode_id!r} was used for another episode.")
        if update:
            await _update(context, episode_id, new, found["summary"])
    return episode_id


def _stated(new: NewEpisode) -> list[str]:
    """Return the names of the fields that are given and that a summary of turns would fill."""
    given = {
        "summary": new.summary is not None,
        "entities": bool(new.entities),
        "importance": new.importance is not None,
    }
    return [name for name, is_given in given.items() if is_given]


def _trust(context: RequestContext, new: NewEpisode) -> int | None:
    """Return the rank of the text that an episode is given; None without one."""
    return None if new.summary is None and new.content is None else trust.rank(context.trust)


async def _embedding(context: RequestContext, text: str | None) -> Embedding | None:
    if not (text or "").strip():
        return None
    [embedding] = await context.services.embed_documents([text or ""])
    return embedding


async def _update(
    context: RequestContext, episode_id: str, new: NewEpisode, summary: str | None
) -> None:
    # A stored summary is what the episode is found by, not its content.
    text = new.summary or (new.content if not (summary or "").strip() else None)
    row = {
        "id": episode_id,
        "summary": new.summary,
        "content": new.content,
        "entities": list(new.entities) or None,
        "importance": new.importance,
        "stated": _stated(new),
        "trust": _trust(context, new),
        "occurred_at": new.at,
    }
    embedding = await _embedding(context, text)
    given = EventSource(source="episodes.add")
    now = context.services.clock.now()
    event = claims.source_event(given, context.scope, EventType.UPDATE, now, (episode_id,))
    await context.fetch(UPDATE, episode=row | embedding_fields(embedding), event=event)


Attempts: TypeAlias = dict[tuple[Message, ...], transcripts.TurnPlan]
"""Writes of messages that were begun and not acknowledged, to recognise a retry by."""


@dataclass(frozen=True, slots=True)
class NewMessages:
    """Messages to append to a conversation."""

    episode_id: str
    messages: Sequence[Message]
    keyed: Sequence[bool] | None = None
    """Whether the id or time of each identifies it; None: of all."""
    repeats: bool = True
    """Whether one or two messages that repeat the last ones are new."""
    after: str | None = None
    """Id of the turn that the messages answer; None if they are a list of their own."""
    attempts: Attempts = field(default_factory=dict)
    """Writes to this episode that were not acknowledged; receives that of the call."""

    def own_ids(self, writer: Trust) -> list[tuple[str, ...]]:
        """Return the turn ids that the senders' ids and times give the messages."""
        keyed = [True] * len(self.messages) if self.keyed is None else self.keyed
        return transcripts.own_ids(self.episode_id, self.messages, keyed, writer)


async def add_messages(context: RequestContext, new: NewMessages) -> TurnsReceipt:
    """Append a conversation's messages to its episode, each once, in their order.

    See `transcripts.plan_turns`. All are written in one transaction. Blank texts are stored without
    an embedding.

    Raises:
        NotFoundError: the episode does not exist.
        InvalidInputError: the time of a message is in the future.
    """
    now = context.services.clock.now()
    for message in new.messages:
        drafts.event_time(message.at, now)
    plan = await _add(context, new, now) if new.messages else transcripts.TurnPlan([], [], 0)
    return TurnsReceipt(episode_id=new.episode_id, turn_ids=tuple(plan.ids), added=len(plan.new))


async def turns(context: RequestContext, episode_id: str, *, start: int, limit: int) -> TurnPage:
    """Return turns of an episode in order, from position `start`; empty if it has none."""
    found = await context.fetch(TURNS, episode_id=episode_id, **{"from": start}, limit=limit)
    return TurnPage(
        turns=tuple(found), next_cursor=read_options.next_page(start, limit, len(found))
    )


async def episode(context: RequestContext, episode_id: str) -> Episode:
    """Return an episode.

    Raises:
        NotFoundError: no visible episode has this id.
    """
    found = await context.fetch(GET, ids=[episode_id])
    if not found:
        raise NotFoundError(f"No episode {episode_id!r}.")
    return found[0]


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """Filter for a list of episodes."""

    session_id: str | None = None
    sessions_only: bool = False
    since: datetime | None = None
    until: datetime | None = None
    include_archived: bool = False


async def episode_page(
    context: RequestContext,
    want: EpisodeFilter,
    *,
    cursor: str | None,
    limit: int,
    as_of: AsOf | None = None,
) -> EpisodePage:
    """Return one page of episodes, newest first, and the cursor of the next.

    Raises:
        InvalidInputError: `cursor` was not returned by `episode_page`, or `as_of.known` is in the
            future.
    """
    before_at, before_id = read_options.parse_time_cursor(cursor)
    [page] = await context.services.graph.read(
        lambda tx: tx.fetch(
            LIST,
            tenant=context.tenant,
            scopes=list(context.read_scopes),
            session_id=want.session_id,
            sessions_only=want.sessions_only,
            since=want.since,
            until=want.until,
            include_archived=want.include_archived,
            before_at=before_at,
            before_id=before_id,
            limit=limit,
            **read_options.time_bounds(as_of),
        )
    )
    found = tuple(Episode(**one) for one in page["episodes"])
    last = found[-1] if len(found) == limit else None
    return EpisodePage(
        episodes=found,
        next_cursor=read_options.time_cursor(last.occurred_at, last.id) if last else None,
        provisional=read_options.is_provisional(as_of or AsOf(), page["now"]),
    )


async def _add(context: RequestContext, new: NewMessages, now: datetime) -> transcripts.TurnPlan:
    messages, own = new.messages, new.own_ids(context.trust)
    embeddings: dict[int, Embedding] = {}
    plan, written = await context.read(lambda tx: _plan(tx, new, own))
    if written:
        return plan._replace(new=[])  # By an earlier call.

    async def work(tx: Tx) -> tuple[transcripts.TurnPlan, bool]:
        await tx.fetch(LOCK, episode_id=new.episode_id)
        fresh, written = await _plan(tx, new, own)
        if written or not fresh.new or _lacking(fresh, messages, embeddings):
            return fresh, written
        rows = [
            _row(context, fresh, place, messages[i], embeddings.get(i), now)
            for place, i in enumerate(fresh.new)
        ]
        new.attempts[tuple(messages)] = fresh
        await _write(tx, new.episode_id, rows)
        return fresh, True

    while plan.new and not written:
        # Repeats only if another writer changed the conversation in between.
        lacking = _lacking(plan, messages, embeddings)
        if lacking:
            texts = [
                passages.prefix_speaker(messages[i].name, messages[i].content) for i in lacking
            ]
            made = await context.services.embed_documents(texts)
            embeddings.update(zip(lacking, made, strict=True))
        plan, written = await context.write(work)
    return plan


async def _plan(
    tx: Tx, new: NewMessages, own: Sequence[tuple[str, ...]]
) -> tuple[transcripts.TurnPlan, bool]:
    """Return what to write, and whether an attempt whose result was lost wrote it already.

    The ids of an attempt contain the positions it found free, so its turns exist only if it, or an
    equal call at the same time, wrote them.
    """
    tried = new.attempts.get(tuple(new.messages))
    stored = await _stored(tx, new, [*chain.from_iterable(own), *(tried.ids if tried else ())])
    if tried and {turn.id for turn in stored.turns}.issuperset(tried.ids):
        return tried, True
    plan = (
        transcripts.plan_reply(new.episode_id, new.messages, new.after, stored)
        if new.after
        else transcripts.plan_turns(new.episode_id, new.messages, own, stored, repeats=new.repeats)
    )
    return plan, False


async def _stored(tx: Tx, new: NewMessages, ids: Sequence[str]) -> transcripts.StoredConversation:
    [found] = await tx.fetch(
        LOOK,
        episode_id=new.episode_id,
        ids=[*ids, new.after] if new.after else ids,
        texts=list({message.content for message in new.messages}),
        human_roles=sorted(transcripts.HUMAN_ROLES),
        system_roles=sorted(transcripts.SYSTEM_ROLES),
    )
    turns = [
        transcripts.StoredTurn(t["id"], t["position"], (t["role"], t["name"], t["text"]))
        for t in found["turns"]
    ]
    return transcripts.StoredConversation(
        sorted(turns, key=lambda turn: turn.position),
        sorted(found["systems"]),
        found["asked"],
        found["next"],
    )


def _lacking(
    plan: transcripts.TurnPlan, messages: Sequence[Message], embeddings: Mapping[int, Embedding]
) -> list[int]:
    return [i for i in plan.new if i not in embeddings and messages[i].content.strip()]


def _row(
    context: RequestContext,
    plan: transcripts.TurnPlan,
    place: int,
    message: Message,
    embedding: Embedding | None,
    now: datetime,
) -> dict[str, Any]:
    return {
        "id": plan.ids[plan.new[place]],
        "scope": context.scope,
        "scope_key": identity.scope_key(context.tenant, context.scope),
        "position": plan.next + place,
        "role": message.role,
        "trust": trust.turn_rank(message.role, context.trust),
        "name": message.name,
        "text": message.content,
        "occurred_at": message.at or now,
        **embedding_fields(embedding),
    }


async def _write(tx: Tx, episode_id: str, rows: list[dict[str, Any]]) -> None:
    written = await tx.fetch(ADD_TURNS, episode_id=episode_id, turns=rows)
    if written != [len(rows)]:
        raise NotFoundError(f"No episode {episode_id!r}.")


async def history(
    context: RequestContext, episode_id: str, *, limit: int, as_of: AsOf | None = None
) -> list[MemoryEvent]:
    """Return the newest events of an episode, in chronological order.

    Raises:
        NotFoundError: no visible episode has this id.
        InvalidInputError: `as_of.known` is in the future.
    """
    [found] = await context.fetch(
        HISTORY, episode_id=episode_id, limit=limit, **read_options.time_bounds(as_of)
    )
    read_options.check_not_future(as_of, found["now"])
    if found["events"] is None:
        raise NotFoundError(f"No episode {episode_id!r}.")
    return [read_options.parse_memory_event(event) for event in found["events"]]
