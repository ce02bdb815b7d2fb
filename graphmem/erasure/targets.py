"""Find the nodes to erase, and the remaining events that mention them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from graphmem import stored
from graphmem.erasure import (
    ErasedText,
    ErasureTarget,
    RemainingNode,
    rules,
    tombstones,
    wording,
)
from graphmem.erasure.rules import Gone
from graphmem.graph import catalog
from graphmem.model import EventType
from graphmem.ports import OnProgress, RequestContext, Tx

PAGE = 500
"""Events per transaction."""

MEMORIES_OF = catalog.query("erase/memories_of", lambda row: row["id"])
BELIEFS_OF = catalog.query("erase/beliefs_of", lambda row: row["id"])
OF_SCOPE = catalog.query("erase/items_of_scope", dict)
EVENTS = catalog.query("erase/events", dict)
EVENTS_OF_SCOPE = catalog.query("erase/events_of_scope", dict)
HELD = catalog.query("erase/count_attached", dict)
TEXT_OF = catalog.query("erase/texts", lambda row: ErasedText(**row))
TEXTS = 50
CENSUS = catalog.query("erase/count_nodes", lambda row: row["counts"])

MENTION_PAGE = 5_000
"""Nodes of a kind read per transaction."""
TEXT_PAGE = 500
"""Nodes of a kind whose texts are read per transaction."""
FEW = 50
"""Number of ids up to which each is searched by itself; above it, id prefixes are searched."""
BEGINNINGS = ("m_", "b_")
ACROSS = "possible_update_of"
"""The only field in which an event mentions a node of another scope without an edge to it."""
END = "\U0010ffff"
"""A string that sorts after every id."""
SHOWN = 20
"""Maximum number of remaining nodes that a report names."""

UNSEAL = catalog.query("erase/unseal", catalog.ignored)
MENTIONS = catalog.query("erase/mentions", dict)
LATE_MENTIONS = catalog.query("erase/late_mentions", dict)
UNMENTION = catalog.query("erase/redact_mentions", catalog.ignored)
DIGEST_FILES = catalog.query("erase/digest_files", lambda row: str(row["file"]))
PAYLOADS = catalog.query("erase/payloads", dict)
CANDIDATES = catalog.query("erase/candidates", dict)


@dataclass(frozen=True, slots=True)
class ErasureSet:
    """Ids of the nodes to erase, by label."""

    memories: tuple[str, ...] = ()
    beliefs: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    """Ids of the turns to erase alone; those of `episodes` go with them."""
    rewritten: tuple[str, ...] = ()
    """Ids of the episodes of `turns`, which stay and are summarised again."""

    @property
    def params(self) -> dict[str, list[str]]:
        """Ids as parameters of the queries."""
        return {
            "memories": list(self.memories),
            "beliefs": list(self.beliefs),
            "episodes": list(self.episodes),
            "turns": list(self.turns),
        }

    @property
    def stated(self) -> list[str]:
        """Ids of the memories and beliefs."""
        return [*self.memories, *self.beliefs]

    @property
    def by_label(self) -> dict[str, tuple[str, ...]]:
        """Ids by label."""
        return {
            "Memory": self.memories,
            "Belief": self.beliefs,
            "Episode": self.episodes,
            "Turn": self.turns,
        }

    @property
    def mentioned(self) -> Gone:
        """Labels and ids of the memories and beliefs, which payloads may mention."""
        memories = {("Memory", one) for one in self.memories}
        return frozenset(memories | {("Belief", one) for one in self.beliefs})

    def __bool__(self) -> bool:
        return any(self.by_label.values())


def alone(what: str, item_id: str, episode_id: str | None = None) -> ErasureSet:
    """Return a set of one item; `episode_id` is that of a turn."""
    match what:
        case ErasureTarget.MEMORY:
            return ErasureSet(memories=(item_id,))
        case ErasureTarget.BELIEF:
            return ErasureSet(beliefs=(item_id,))
        case ErasureTarget.TURN:
            return ErasureSet(turns=(item_id,), rewritten=(episode_id,) if episode_id else ())
        case _:
            return ErasureSet(episodes=(item_id,))


async def whole(context: RequestContext, roots: ErasureSet) -> ErasureSet:
    """Return `roots` with the memories and beliefs that have no other source."""

    async def work(tx: Tx) -> ErasureSet:
        given = {"episodes": list(roots.episodes), "turns": list(roots.turns)}
        found = await tx.fetch(MEMORIES_OF, **given) if any(given.values()) else []
        memories = tuple(dict.fromkeys((*roots.memories, *found)))
        known, beliefs = -1, roots.beliefs
        while len(beliefs) > known:
            # A belief that is erased takes along those that generalise it.
            known = len(beliefs)
            derived = await tx.fetch(
                BELIEFS_OF, **given, memories=list(memories), beliefs=list(beliefs)
            )
            beliefs = tuple(dict.fromkeys((*beliefs, *derived)))
        return replace(roots, memories=memories, beliefs=beliefs)

    return await context.read(work)


async def some_of_scope(context: RequestContext, scope: str, limit: int) -> ErasureSet:
    """Return up to `limit` memories, beliefs and episodes of a scope; empty if it has none."""
    [row] = await context.fetch(OF_SCOPE, scope=scope, limit=limit)
    return ErasureSet(tuple(row["memories"]), tuple(row["beliefs"]), tuple(row["episodes"]))


async def events(tx: Tx, erased: ErasureSet) -> list[dict[str, Any]]:
    """Return the first events to erase with `erased`, and the other nodes they refer to.

    They are PAGE + 1 if there are more than PAGE.
    """
    return await tx.fetch(EVENTS, **erased.params, after="", limit=PAGE + 1)


async def events_of_scope(tx: Tx, scope: str | None) -> list[dict[str, Any]]:
    """Return some events of a scope or tenant, and the nodes of other scopes they refer to."""
    return await tx.fetch(EVENTS_OF_SCOPE, scope=scope, after="", limit=PAGE)


async def all_events(context: RequestContext, erased: ErasureSet) -> frozenset[str]:
    """Return the ids of all events to erase with `erased`."""
    found, after, more = set[str](), "", True
    while more:
        # Each page reads all of these events again, so few pages are large.
        page = {**erased.params, "after": after, "limit": MENTION_PAGE}
        rows = await context.fetch(EVENTS, **page)
        found.update(row["id"] for row in rows)
        more = len(rows) == MENTION_PAGE
        after = rows[-1]["id"] if rows else after
    return frozenset(found)


async def held(context: RequestContext, erased: ErasureSet) -> Counter[str]:
    """Return the number of nodes to erase, without events, by label."""
    [row] = await context.fetch(HELD, **erased.params)
    parts = {
        "Turn": row["turns"],
        "Archive": row["archives"],
        "Reply": row["replies"],
        "Rating": row["ratings"],
    }
    return +Counter(row["items"] | parts)


async def digest_files(
    context: RequestContext,
    scope: str | None,
    episodes: Sequence[str] | None,
    given: Sequence[Path],
) -> tuple[str, ...]:
    """Return the names of the digests with lines about episodes, besides the given files.

    Args:
        scope: scope of the episodes; None for all scopes.
        episodes: ids of the episodes; None for all.
    """
    if episodes is not None and not episodes:
        return ()
    files = await context.fetch(DIGEST_FILES, scope=scope, episodes=episodes)
    known = {path.name for path in given}
    return tuple(one for one in files if one not in known)


async def texts(context: RequestContext, erased: ErasureSet) -> tuple[ErasedText, ...]:
    """Return the texts of the nodes to erase, at most TEXTS."""
    return tuple(await context.fetch(TEXT_OF, **erased.params, limit=TEXTS))


async def census(context: RequestContext, scope: str | None) -> Counter[str]:
    """Return the number of nodes of each label in a scope or in the tenant."""
    [counts] = await context.fetch(CENSUS, scope=scope)
    return +Counter[str](counts)


@dataclass(frozen=True, slots=True)
class MentionedIds:
    """The ids to search for."""

    gone: rules.Gone
    """Labels and ids of the requested nodes and of the nodes erased with them."""
    asked: frozenset[str] = frozenset()
    """Ids of the requested nodes; empty if a whole scope was requested."""
    events: frozenset[str] = frozenset()
    """Ids of events to erase; their payloads need no redaction."""
    scope: str | None = None
    """The scope that is erased as a whole, with all its events; None if none is."""

    @property
    def beliefs(self) -> frozenset[str]:
        """Ids of the erased beliefs; replies mention no other nodes."""
        return frozenset(one for label, one in self.gone if label == "Belief")

    @property
    def marks(self) -> list[str]:
        """Search texts; every payload with an erased id contains at least one."""
        ids = sorted(one for _, one in self.gone)
        if self.scope is not None:
            return [ACROSS] if ids else []
        if len(ids) <= FEW:
            return ids
        return [*BEGINNINGS, *(one for one in ids if not one.startswith(BEGINNINGS))]


@dataclass(frozen=True, slots=True)
class _Mentions:
    """Events and replies of one page that mention an erased id."""

    events: Sequence[Mapping[str, Any]]
    """Events with their redacted payloads."""
    replies: Sequence[str]
    """Ids of replies about the requested node; they are emptied and not requested again."""
    copies: Sequence[str]
    """Ids of the events with copies of their notes, if these exist."""
    removed: Sequence[str]
    """Ids of replies about other erased nodes; erased, so that their passages can be read again."""

    @property
    def count(self) -> int:
        return len(self.events) + len(self.replies) + len(self.removed)


@dataclass(frozen=True, slots=True)
class Redaction:
    """The events and replies that lost their mentions of erased ids."""

    payloads: Mapping[str, str] = field(default_factory=dict)
    """New payloads by id of the event; those of copies of notes, too."""
    replies: frozenset[str] = frozenset()
    """Ids of the replies that were emptied or erased."""
    count: int = 0
    """Number of events and replies that mentioned the ids."""

    def __add__(self, other: Redaction) -> Redaction:
        return Redaction(
            {**self.payloads, **other.payloads},
            self.replies | other.replies,
            self.count + other.count,
        )


async def remove(
    context: RequestContext,
    ids: MentionedIds,
    on_progress: OnProgress,
    *,
    apply: bool,
    since: datetime | None = None,
) -> Redaction:
    """Redact the ids in the remaining events and replies, or only count these.

    Args:
        since: a server time; events that were recorded before it and have a seal are not read. With
            it, `ids` are not those of a whole scope.
    """
    done = Redaction()
    # Replies mention no memories.
    event, reply = "", "" if ids.beliefs else END
    marks = ids.marks
    if marks and since is not None:
        [page] = await context.fetch(LATE_MENTIONS, marks=marks, since=since, types=[*EventType])
        done += await _redacted(context, _found({**page, "replies": []}, ids), apply=apply)
        event = END
    while marks and (event, reply) != (END, END):
        place = {"event": event, "reply": reply, "beyond": ids.scope}
        [page] = await context.fetch(MENTIONS, marks=marks, limit=MENTION_PAGE, **place)
        done += await _redacted(context, _found(page, ids), apply=apply)
        on_progress("page", 1)
        event, reply = page["event"] or END, page["reply"] or END
    return done


async def unseal(
    tx: Tx, *, events: Sequence[str] = (), nodes: Sequence[str] = (), scope: str | None = None
) -> None:
    """Take events out of their seals before they are erased or redacted, or lose a relationship.

    Args:
        nodes: ids of memories, beliefs, episodes and turns, for their events.
        scope: scope of names and predicates, for their events; None for none.
    """
    await tx.fetch(UNSEAL, events=list(events), nodes=list(nodes), scope=scope)


async def _redacted(context: RequestContext, found: _Mentions, *, apply: bool) -> Redaction:
    if not apply or not found.count:
        return Redaction(count=found.count)
    payloads = {event["id"]: event["payload"] for event in found.events}
    replies = (*found.replies, *found.removed)

    async def work(tx: Tx) -> Redaction:
        await stored.lock(tx)
        rows = await tx.fetch(PAYLOADS, ids=found.copies) if found.copies else []
        copies = {row["id"]: rules.without(row["payload"], frozenset()) for row in rows}
        changed = {**copies, **payloads}
        await unseal(tx, events=[*changed])
        await tombstones.refuse_copies(tx, context, [("Reply", one, None) for one in replies])
        await tx.fetch(
            UNMENTION,
            events=[{"id": one, "payload": payload} for one, payload in changed.items()],
            replies=found.replies,
            removed=found.removed,
        )
        return Redaction(changed, frozenset(replies), found.count)

    return await context.write(work)


@dataclass(frozen=True, slots=True)
class WordedNode:
    """A node with a text that was searched for."""

    label: str
    id: str
    scope: str
    episodes: frozenset[str]
    """Ids of the episodes with which it is erased."""
    certain: bool
    """Whether it has the text, and not only a part of a name, initials or an ending."""

    @property
    def remaining(self) -> RemainingNode:
        """The node as reports name it."""
        return RemainingNode(label=self.label, id=self.id, scope=self.scope)


async def worded(
    context: RequestContext, search: wording.TextSearch, on_progress: OnProgress
) -> list[WordedNode]:
    """Return the nodes of the tenant with a text that is searched for, in any spelling."""
    found: list[WordedNode] = []
    ended: dict[str, str] = {}
    more = bool(search.needles)
    while more:
        pages = await context.fetch(
            CANDIDATES, prefilter=search.prefilter, ended=ended, limit=TEXT_PAGE
        )
        for page in pages:
            rows = page["nodes"]
            found += filter(None, (_worded(search, page["label"], row) for row in rows))
        ended = ended | {page["label"]: page["last"] or END for page in pages}
        more = any(page["last"] for page in pages)
        on_progress("page", 1)
    return found


def still_worded(
    search: wording.TextSearch, found: Sequence[WordedNode], redacted: Redaction
) -> list[WordedNode]:
    """Return the nodes that have the text also after a redaction."""
    kept = [one for one in found if one.id not in redacted.replies]
    return [
        one
        for one in kept
        if one.id not in redacted.payloads
        or search.finds(wording.strings(redacted.payloads[one.id]))
    ]


def _worded(search: wording.TextSearch, label: str, row: Mapping[str, Any]) -> WordedNode | None:
    documents = (text for one in row["documents"] for text in wording.strings(one))
    texts = [*row["texts"], *documents]
    certain = search.finds(texts)
    if not certain and not search.doubts(texts):
        return None
    return WordedNode(label, row["id"], row["scope"], frozenset(row["episodes"]), certain)


def _found(page: Mapping[str, Any], ids: MentionedIds) -> _Mentions:
    removed = [row for row in page["replies"] if rules.decides(row["decided"], ids.beliefs)]
    of_it = {row["id"] for row in removed if rules.decides(row["decided"], ids.asked)}
    events = [
        row
        for row in page["events"]
        if row["id"] not in ids.events and rules.names(row["payload"], ids.gone)
    ]
    return _Mentions(
        events=[
            {"id": row["id"], "payload": rules.without(row["payload"], ids.gone)} for row in events
        ],
        copies=[one for row in events for one in rules.note_copies(row["id"], row["payload"])],
        replies=sorted(of_it),
        removed=[row["id"] for row in removed if row["id"] not in of_it],
    )
