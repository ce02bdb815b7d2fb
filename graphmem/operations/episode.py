"""Store episodes and their turns verbatim, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from graphmem.english import passages
from graphmem.errors import ErasedError, EventConflictError, NotFoundError
from graphmem.graph import catalog
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
    TurnPage,
    TurnsReceipt,
    roles,
    zones,
)
from graphmem.model.terms import embedding_fields
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, identity, read_options, transcripts, trust
from graphmem.stored import TURNS

if TYPE_CHECKING:
    from graphmem.model.terms import Embedding

IMPORTANCE = 0.5
"""Importance of an episode whose turns have not been summarised, unless a caller gives another."""
OPEN = catalog.query("episode/open", dict)
UPDATE = catalog.query("episode/update", catalog.ignored)
LOOK = catalog.query("episode/find_existing", dict)
LOCK = catalog.query("episode/lock", catalog.ignored)
ADD_TURNS = catalog.query("episode/add_turns", lambda row: row["added"])
GET = catalog.query("episode/get", lambda row: Episode(**row["episode"]))
LIST = catalog.query("episode/list", dict)
HISTORY = catalog.query("episode/history", dict)

Attempts: TypeAlias = dict[tuple[Message, ...], Sequence[str]]
"""Turn ids of messages whose write began, in a call that failed, to recognise its retry by."""


async def open_episode(context: RequestContext, new: NewEpisode, *, update: bool = False) -> str:
    """Create an episode unless it exists, embed its summary or content, and return its id.

    The id is the given one, else that of the session, else a new one.

    Args:
        update: whether what is given replaces that of a session's existing episode.
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
    try:
        [found] = await context.fetch(OPEN, episode=row | embedding_fields(embedding))
    except ErasedError as error:
        if new.session_id is None or episode_id not in error.ids:
            raise
        raise ErasedError(
            f"session_id: the conversation {new.session_id!r} was erased, so its name is not used "
            "again.",
            hint="Nothing was written. Use another name for the session.",
            ids=error.ids,
        ) from None
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
    """Failed calls for this episode; receives this one if it fails."""

    def own_ids(self, writer: Trust) -> list[tuple[str, ...]]:
        """Return the turn ids that the senders' ids and times give the messages."""
        keyed = [True] * len(self.messages) if self.keyed is None else self.keyed
        return transcripts.own_ids(self.episode_id, self.messages, keyed, writer)


async def add_messages(context: RequestContext, new: NewMessages) -> TurnsReceipt:
    """Append a conversation's messages to its episode, each once, in their order.

    See `transcripts.plan_turns`. All are written in one transaction. Blank texts are stored without
    an embedding.
    """
    now = context.services.clock.now()
    for message in new.messages:
        drafts.event_time(message.at, now)
    if not new.messages:
        return TurnsReceipt(episode_id=new.episode_id, turn_ids=(), added=0)
    plan = await _Addition(context, new, now).run()
    return TurnsReceipt(episode_id=new.episode_id, turn_ids=tuple(plan.ids), added=len(plan.new))


async def turns(context: RequestContext, episode_id: str, *, start: int, limit: int) -> TurnPage:
    """Return turns of an episode in order, from position `start`; empty if it has none."""
    found = await context.fetch(TURNS, episode_id=episode_id, **{"from": start}, limit=limit)
    return TurnPage(
        turns=tuple(found), next_cursor=read_options.next_page(start, limit, len(found))
    )


async def episode(context: RequestContext, episode_id: str) -> Episode:
    """Return an episode."""
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
    """Return one page of episodes, newest first, and the cursor of the next."""
    before_at, before_id = read_options.parse_time_cursor(cursor)
    [page] = await context.services.graph.read(
        lambda tx: tx.fetch(
            LIST,
            tenant=context.tenant,
            scopes=list(context.read_scopes),
            **asdict(want),
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


class _Addition:
    """Adds messages: plans, embeds what is new, and writes it if the plan still holds."""

    def __init__(self, context: RequestContext, new: NewMessages, now: datetime) -> None:
        self._context, self._new, self._now = context, new, now
        self._own = new.own_ids(context.trust)
        self._earlier = new.attempts.get(tuple(new.messages), ())
        self._embeddings: dict[int, Embedding] = {}
        self._begun: transcripts.TurnPlan | None = None
        """The plan whose write began."""

    async def run(self) -> transcripts.TurnPlan:
        """Return the plan that was carried out."""
        plan = await self._context.read(self._plan)
        try:
            while plan.new and plan is not self._begun:
                # Repeats only if another writer changed the conversation in between.
                await self._embed(self._lacking(plan))
                plan = await self._context.write(self._write)
        except BaseException:
            if self._begun:
                self._new.attempts[tuple(self._new.messages)] = self._begun.ids
            raise
        return plan

    async def _plan(self, tx: Tx) -> transcripts.TurnPlan:
        new, tried = self._new, self._begun.ids if self._begun else self._earlier
        stored = await _stored(tx, new, self._own, tried)
        if tried and {turn.id for turn in stored.turns}.issuperset(tried):
            # The ids contain the positions that were free, so the attempt wrote these turns.
            return self._begun or transcripts.TurnPlan(list(tried), [], stored.next)
        if new.after:
            return transcripts.plan_reply(new.episode_id, new.messages, new.after, stored)
        return transcripts.plan_turns(
            new.episode_id, new.messages, self._own, stored, repeats=new.repeats
        )

    def _lacking(self, plan: transcripts.TurnPlan) -> list[int]:
        messages = self._new.messages
        return [i for i in plan.new if i not in self._embeddings and messages[i].content.strip()]

    async def _embed(self, lacking: Sequence[int]) -> None:
        if lacking:
            messages = [self._new.messages[i] for i in lacking]
            texts = [passages.prefix_speaker(one.name, one.content) for one in messages]
            made = await self._context.services.embed_documents(texts)
            self._embeddings.update(zip(lacking, made, strict=True))

    async def _write(self, tx: Tx) -> transcripts.TurnPlan:
        await tx.fetch(LOCK, episode_id=self._new.episode_id)
        plan = await self._plan(tx)
        if plan.new and plan is not self._begun and not self._lacking(plan):
            rows = [
                _row(
                    self._context,
                    plan,
                    place,
                    self._new.messages[i],
                    self._embeddings.get(i),
                    self._now,
                )
                for place, i in enumerate(plan.new)
            ]
            self._begun = plan
            await _write(tx, self._new.episode_id, rows)
        return plan


async def _stored(
    tx: Tx, new: NewMessages, own: Sequence[tuple[str, ...]], tried: Sequence[str]
) -> transcripts.StoredConversation:
    ids = [*chain.from_iterable(own), *tried]
    [found] = await tx.fetch(
        LOOK,
        episode_id=new.episode_id,
        ids=[*ids, new.after] if new.after else ids,
        texts=list({message.content for message in new.messages}),
        human_roles=sorted(roles.HUMAN_ROLES),
        system_roles=sorted(roles.SYSTEM_ROLES),
    )
    turns = [
        transcripts.StoredTurn(t["id"], t["position"], (t["role"], t["name"], t["text"]))
        for t in found["turns"]
    ]
    stored = transcripts.StoredConversation(
        sorted(turns, key=lambda turn: turn.position),
        sorted(found["systems"]),
        found["asked"],
        found["next"],
    )
    return transcripts.with_erased(new.episode_id, new.messages, own, stored, found["erased"])


def _row(
    context: RequestContext,
    plan: transcripts.TurnPlan,
    place: int,
    message: Message,
    embedding: Embedding | None,
    now: datetime,
) -> dict[str, Any]:
    at = message.at or now
    return {
        "id": plan.ids[plan.new[place]],
        "scope": context.scope,
        "scope_key": identity.scope_key(context.tenant, context.scope),
        "position": plan.next + place,
        "role": message.role,
        "trust": trust.turn_rank(message.role, context.trust),
        "name": message.name,
        "text": message.content,
        "occurred_at": at,
        "time_zone": zones.of_sender(at, message.time_zone, context.services.settings.time_zone),
        **embedding_fields(embedding),
    }


async def _write(tx: Tx, episode_id: str, rows: list[dict[str, Any]]) -> None:
    written = await tx.fetch(ADD_TURNS, episode_id=episode_id, turns=rows)
    if written != [len(rows)]:
        raise NotFoundError(f"No episode {episode_id!r}.")


async def history(
    context: RequestContext, episode_id: str, *, limit: int, as_of: AsOf | None = None
) -> list[MemoryEvent]:
    """Return the newest events of an episode, in chronological order."""
    [found] = await context.fetch(
        HISTORY, episode_id=episode_id, limit=limit, **read_options.time_bounds(as_of)
    )
    read_options.check_not_future(as_of, found["now"])
    if found["events"] is None:
        raise NotFoundError(f"No episode {episode_id!r}.")
    return [read_options.parse_memory_event(event) for event in found["events"]]
