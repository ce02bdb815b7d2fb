"""Store episodes, and read them and their turns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from graphmem.errors import ErasedError, EventConflictError, NotFoundError
from graphmem.graph import catalog
from graphmem.model import (
    AsOf,
    Episode,
    EpisodePage,
    EventSource,
    EventType,
    MemoryEvent,
    NewEpisode,
    TurnPage,
)
from graphmem.model.terms import embedding_fields
from graphmem.ports import RequestContext
from graphmem.rules import claims, drafts, identity, read_options, trust
from graphmem.stored import TURNS

if TYPE_CHECKING:
    from graphmem.model.terms import Embedding

IMPORTANCE = 0.5
"""Importance of an episode whose turns have not been summarised, unless a caller gives another."""
OPEN = catalog.query("episode/open", dict)
UPDATE = catalog.query("episode/update", catalog.ignored)
GET = catalog.query("episode/get", lambda row: Episode(**row["episode"]))
LIST = catalog.query("episode/list", dict)
HISTORY = catalog.query("episode/history", dict)


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
