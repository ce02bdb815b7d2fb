"""Write decisions, each unit and its reply in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from graphmem import stored
from graphmem.consolidation.decisions import BeliefWrite, StatusMark
from graphmem.consolidation.sources import ScopeSnapshot
from graphmem.errors import ErasedError, LeaseLostError
from graphmem.graph import catalog
from graphmem.integrity import Mismatch
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import drafts, vitality
from graphmem.rules.claims import Claim, recorded_claim
from graphmem.rules.read_options import ReadOptions

LEASE_S = 120
"""Seconds without a renewal after which another worker takes over the lease."""

LEASE = catalog.query("consolidate/lease", dict)
RELEASE = catalog.query("consolidate/release", catalog.ignored)
BEGIN = catalog.query("consolidate/begin", lambda row: row["done"])
END = catalog.query("consolidate/end", catalog.ignored)
STANDING = catalog.query("consolidate/standing", lambda row: row["standing"])
MARK = catalog.query("belief/mark", dict)

PAGE = 200
LINKS = 500

KEPT = catalog.query("consolidate/outcomes", lambda row: (row["id"], json.loads(row["decided"])))
LACKING = catalog.query("consolidate/missing_links", dict)
REPLAY = catalog.query("consolidate/replay", lambda row: row["linked"])


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's right to consolidate a scope."""

    owner: str
    seen: ScopeSnapshot
    seconds: int
    resumed: bool


async def take(context: RequestContext, owner: str, seconds: int) -> Mapping[str, Any] | None:
    """Take or renew the lease and return its row; None if another worker holds it."""
    rows = await context.fetch(LEASE, owner=owner, seconds=seconds)
    return rows[0] if rows else None


async def give_back(
    context: RequestContext, owner: str, *, finished: bool, away: bool = False, failed: int = 0
) -> None:
    """Release the lease; the snapshot of an unfinished run is kept for the run that resumes it.

    Args:
        finished: whether every cluster was completed.
        away: whether a model was unavailable, so that runs that are due wait before the next one.
        failed: number of clusters that a later run tries again.
    """
    await context.fetch(RELEASE, owner=owner, finished=finished, away=away, failed=failed)


async def write(context: RequestContext, lease: Lease, unit: BeliefWrite, synthesiser: str) -> bool:
    """Write a unit without its erased parts and return whether it was new.

    Return False if another worker wrote it first.

    Raises:
        LeaseLostError: another worker has taken over the run.
        ErasedError: the scope or the tenant was erased.
    """
    try:
        return await _write(context, lease, unit, synthesiser)
    except ErasedError as error:
        left = unit.without(error.ids)
        if (len(left.evidence), len(left.marks)) == (len(unit.evidence), len(unit.marks)):
            raise
        if unit.parts:
            # The model was shown a part that was erased: the others are read again.
            return False
        return await write(context, lease, left, synthesiser)


async def _write(
    context: RequestContext, lease: Lease, unit: BeliefWrite, synthesiser: str
) -> bool:
    now = max(context.services.clock.now(), lease.seen.known)
    by = context.read_params(MARK, ReadOptions(), now)
    batch = [one.draft(synthesiser, now) for one in unit.evidence]
    reply = {
        "id": unit.reply_id,
        "done": unit.problem is None,
        "failed": unit.problem is not None and not unit.is_unanswered,
        "synthesiser": synthesiser,
        "known": lease.seen.known,
        "decided": unit.decided() if unit.parts or unit.problem is None else None,
        "raw": unit.raw,
        "problem": None if unit.problem is None else ": ".join(unit.problem),
        **asdict(unit.spent),
    }

    async def work(tx: Tx) -> bool:
        done = await tx.fetch(BEGIN, owner=lease.owner, seconds=lease.seconds, id=unit.reply_id)
        if not done:
            raise LeaseLostError
        if done[0]:
            return False
        drawn = [one.drawn_from.event_id for one in unit.evidence if one.drawn_from]
        if drawn:
            # A retraction or rejection since the snapshot has not reached the new belief.
            await stored.lock(tx)
            if await tx.fetch(STANDING, ids=drawn) != [len(drawn)]:
                return False
        if batch:
            await stored.append_missing(tx, context, batch, unit.embeddings)
        if unit.marks:
            await stored.lock(tx)
            rows = [_mark_row(context, unit, mark, synthesiser) for mark in unit.marks]
            await tx.fetch(MARK, events=rows, **by)
        await tx.fetch(END, reply=reply, passages=sorted({one.id for one in unit.passages}))
        return True

    return await context.write(work)


def _mark_row(
    context: RequestContext, unit: BeliefWrite, mark: StatusMark, synthesiser: str
) -> dict[str, Any]:
    payload = {"reason": mark.reason, "reply_id": unit.reply_id, **mark.payload}
    asked = mark.type, mark.belief_id, unit.reply_id
    return {
        **drafts.event(unit.mark_id(mark), context.scope, mark.type, mark.at, asked, payload),
        "belief_id": mark.belief_id,
        "source": vitality.STANDARD_VITALITY.consolidation,
        "actor": synthesiser,
    }


async def replay(context: RequestContext, *, repair: bool, on_page: OnProgress) -> list[Mismatch]:
    """Return every consolidation event in the tenant without an edge to its belief.

    Args:
        repair: recreate the belief and the edge with the same id, wording and evidence, without a
            model. Evidence from other sources about a missing belief is not restored.
        on_page: progress callback; receives `reply` and the number of replies checked.
    """
    wrong: list[Mismatch] = []
    claims: dict[str, Claim] = {}
    marks: list[dict[str, Any]] = []
    after = ""
    while rows := await context.fetch(KEPT, after=after, limit=PAGE):
        after = rows[-1][0]
        links: dict[str, str] = {}
        for _, decided in rows:
            claims |= {one["id"]: recorded_claim(one) for one in decided["beliefs"]}
            links |= {one[0]: one[1] for one in decided["evidence"]}
            links |= {one[0]: one[1] for one in decided["marks"]}
        ends = [{"event_id": event, "belief_id": belief} for event, belief in links.items()]
        lacking = await context.fetch(LACKING, links=ends)
        wrong += [_mismatch(**one) for one in lacking]
        if repair:
            await _relink(context, lacking, claims)
            # A belief that is only marked here may be defined in another reply.
            marks += [one for one in lacking if one["belief_id"] not in claims]
        on_page("reply", len(rows))
    await _relink(context, marks, claims)
    return wrong


def _mismatch(event_id: str, belief_id: str) -> Mismatch:
    return Mismatch(kind="belief", id=belief_id, cached="no edge", found=f"event {event_id}")


async def _relink(
    context: RequestContext, lacking: Iterable[Mapping[str, Any]], claims: Mapping[str, Claim]
) -> None:
    rows = sorted(
        (
            {
                "event_id": one["event_id"],
                "claim": claims[one["belief_id"]].row(context.tenant_scope, None),
            }
            for one in lacking
            if one["belief_id"] in claims
        ),
        key=lambda row: (row["claim"]["id"], row["event_id"]),
    )
    for links in drafts.batches(rows, LINKS):
        await context.fetch(REPLAY, links=links)
