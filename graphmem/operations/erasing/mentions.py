"""What stays and names what is forgotten: ids in payloads, and replies that told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem import catalog
from graphmem.model import RemainingNode
from graphmem.ports import OnPart, RequestContext
from graphmem.rules import erasure

MENTION_PAGE = 5_000
"""Nodes of a kind that are looked at in one transaction."""
FEW = 50
"""Ids that are looked for one by one; of more, what an id begins with."""
BEGINNINGS = ("m_", "b_")
ACROSS = "possible_update_of"
"""The one field by which an event names something of another scope that it does not lead to."""
END = "\U0010ffff"
"""No id comes after it."""
SHOWN = 20

MENTIONS = catalog.query("erase/mentions", dict)
UNMENTION = catalog.query("erase/unmention", catalog.ignored)
ELSEWHERE = catalog.query("erase/elsewhere", dict)


@dataclass(frozen=True, slots=True)
class MentionedIds:
    """What is looked for."""

    gone: erasure.Gone
    """What was asked for and what goes with it, as labels and ids."""
    asked: str | None = None
    """The id of what was asked for; None: a whole scope was."""
    events: frozenset[str] = frozenset()
    """That go: what they name goes with them."""
    scope: str | None = None
    """That goes as a whole, with all events in it."""

    @property
    def beliefs(self) -> frozenset[str]:
        """Of what goes, the beliefs, which are all that replies name."""
        return frozenset(one for label, one in self.gone if label == "Belief")

    @property
    def marks(self) -> list[str]:
        """Texts one of which stands in all that names it."""
        ids = sorted(one for _, one in self.gone)
        if self.scope is not None:
            return [ACROSS] if ids else []
        if len(ids) <= FEW:
            return ids
        return [*BEGINNINGS, *(one for one in ids if not one.startswith(BEGINNINGS))]


@dataclass(frozen=True, slots=True)
class _Mentions:
    """What of a page names something of what goes."""

    events: Sequence[Mapping[str, Any]]
    """With payloads that name it no more."""
    replies: Sequence[str]
    """That told of what was asked for: they are emptied, and nobody is asked again."""
    removed: Sequence[str]
    """That told of something else that goes: erased, and the rest may be read anew."""

    @property
    def count(self) -> int:
        return len(self.events) + len(self.replies) + len(self.removed)


async def remove(to: RequestContext, ids: MentionedIds, on_part: OnPart, *, apply: bool) -> int:
    """Take ids out of all events and replies that stay, and return how many named one."""
    changed = 0
    event = reply = ""
    marks = ids.marks
    while marks and (event, reply) != (END, END):
        place = {"event": event, "reply": reply, "beyond": ids.scope}
        [page] = await to.world.graph.read(
            lambda tx, place=place: tx.fetch(  # type: ignore[misc]
                MENTIONS, tenant=to.wall.tenant, marks=marks, limit=MENTION_PAGE, **place
            )
        )
        found = _found(page, ids)
        if apply and found.count:
            await _write(to, found)
        changed += found.count
        on_part("page", 1)
        event, reply = page["event"] or END, page["reply"] or END
    return changed


async def elsewhere(to: RequestContext, texts: Sequence[str], on_part: OnPart) -> tuple[RemainingNode, ...]:
    """Return nodes that hold one of the texts, SHOWN at most."""
    found: list[RemainingNode] = []
    ended: dict[str, str] = {}
    more = bool(texts)
    while more and len(found) < SHOWN:
        pages = await to.world.graph.read(
            lambda tx, ended=ended: tx.fetch(  # type: ignore[misc]
                ELSEWHERE, tenant=to.wall.tenant, texts=texts, ended=ended, limit=MENTION_PAGE
            )
        )
        found += [RemainingNode(label=page["label"], id=one) for page in pages for one in page["ids"]]
        ended = ended | {page["label"]: page["last"] or END for page in pages}
        more = any(page["last"] for page in pages)
        on_part("page", 1)
    return tuple(found[:SHOWN])


def _found(page: Mapping[str, Any], ids: MentionedIds) -> _Mentions:
    told = [row for row in page["replies"] if erasure.decides(row["decided"], ids.beliefs)]
    asked = frozenset((ids.asked or "",))
    of_it = {row["id"] for row in told if erasure.decides(row["decided"], asked)}
    return _Mentions(
        events=[
            {"id": row["id"], "payload": erasure.without(row["payload"], ids.gone)}
            for row in page["events"]
            if row["id"] not in ids.events and erasure.names(row["payload"], ids.gone)
        ],
        replies=sorted(of_it),
        removed=[row["id"] for row in told if row["id"] not in of_it],
    )


async def _write(to: RequestContext, found: _Mentions) -> None:
    await to.world.graph.write(
        lambda tx: tx.fetch(
            UNMENTION,
            tenant=to.wall.tenant,
            events=found.events,
            replies=found.replies,
            removed=found.removed,
        )
    )
