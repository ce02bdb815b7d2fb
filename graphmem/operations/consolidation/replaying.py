"""Make what consolidation derived again, from its events and the replies that were kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphmem import catalog
from graphmem.model import Mismatch
from graphmem.ports import OnPart, RequestContext
from graphmem.rules import identity
from graphmem.rules.claims import Claim

PAGE = 200
LINKS = 500

KEPT = catalog.query("consolidate/kept", lambda row: (row["id"], json.loads(row["decided"])))
LACKING = catalog.query("consolidate/lacking", dict)
REPLAY = catalog.query("consolidate/replay", lambda row: row["linked"])


async def replay(to: RequestContext, *, mend: bool, on_page: OnPart) -> list[Mismatch]:
    """Return every event of consolidation in the tenant that does not lead to its belief.

    Args:
        to: where.
        mend: make the belief and the edge again: the same id, wording and evidence, without a
            model. Evidence that somebody else gave about a belief that is gone does not come back
            with it.
        on_page: told `reply` and how many of them were looked at.
    """
    wrong: list[Mismatch] = []
    claims: dict[str, Claim] = {}
    marks: list[dict[str, Any]] = []
    after = ""
    while rows := await _kept(to, after):
        after = rows[-1][0]
        links: dict[str, str] = {}
        for _, decided in rows:
            claims |= {one["id"]: Claim(**one) for one in decided["beliefs"]}
            links |= {one[0]: one[1] for one in decided["said"]}
            links |= {one[0]: one[1] for one in decided["marks"]}
        lacking = await _lacking(to, links)
        wrong += [_mismatch(**one) for one in lacking]
        if mend:
            await _mend(to, lacking, claims)
            # What was decided of a belief that is only marked here may say elsewhere what it says.
            marks += [one for one in lacking if one["belief_id"] not in claims]
        on_page("reply", len(rows))
    await _mend(to, marks, claims)
    return wrong


def _mismatch(event_id: str, belief_id: str) -> Mismatch:
    return Mismatch(kind="belief", id=belief_id, cached="no edge", found=f"event {event_id}")


async def _kept(to: RequestContext, after: str) -> list[tuple[str, dict[str, Any]]]:
    return await to.world.graph.read(
        lambda tx: tx.fetch(KEPT, tenant=to.wall.tenant, after=after, limit=PAGE)
    )


async def _lacking(to: RequestContext, links: Mapping[str, str]) -> list[dict[str, Any]]:
    rows = [{"event_id": event, "belief_id": belief} for event, belief in links.items()]
    return await to.world.graph.read(
        lambda tx: tx.fetch(LACKING, tenant=to.wall.tenant, links=rows)
    )


async def _mend(
    to: RequestContext, lacking: Iterable[Mapping[str, Any]], claims: Mapping[str, Claim]
) -> None:
    rows = sorted(
        (
            {"event_id": one["event_id"], "claim": claims[one["belief_id"]].row(to.wall, None)}
            for one in lacking
            if one["belief_id"] in claims
        ),
        key=lambda row: (row["claim"]["id"], row["event_id"]),
    )
    for start in range(0, len(rows), LINKS):
        await _linked(to, rows[start : start + LINKS])


async def _linked(to: RequestContext, links: Sequence[Mapping[str, Any]]) -> None:
    await to.world.graph.write(
        lambda tx: tx.fetch(
            REPLAY,
            tenant=to.wall.tenant,
            tenant_key=identity.tenant_key(to.wall.tenant),
            links=links,
        )
    )
