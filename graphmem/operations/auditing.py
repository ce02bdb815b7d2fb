"""Read what agents did in their sessions, and hold it against the search protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.model import Audit, EventType, SessionAudit
from graphmem.ports import Query, RequestContext
from graphmem.rules import moments, protocol
from graphmem.rules.conflicts import consistent
from graphmem.rules.protocol import LoggedAccess, LoggedSearch, LoggedSession

AUDIT_PAGE = 500
UNNAMED = "unnamed agent"

SESSIONS = catalog.query("attention/sessions", dict)
HOMELESS = catalog.query("attention/homeless", dict)


class _Log:
    """What was logged, as the protocol's rules read it."""

    def __init__(self) -> None:
        self.searches: list[LoggedSearch] = []
        self.accesses: list[LoggedAccess] = []
        self.sessions: list[LoggedSession] = []
        self.audits: list[SessionAudit] = []

    def session(self, row: Mapping[str, Any]) -> None:
        """Take a session and all that was logged in it."""
        name = json.loads(row["payload"])["session_id"]
        ends = [one for one in row["entries"] if one["type"] == EventType.SESSION_END]
        gone = [one for one in row["entries"] if one["type"] == EventType.ROLL_UP]
        # Of what was rolled up nobody can tell any more which search a look followed.
        for one in () if gone else row["entries"]:
            self.entry(one, name)
        n_searches = sum(one["type"] == EventType.SEARCH for one in row["entries"])
        n_searches += sum(json.loads(one["payload"])["searches"] for one in gone)
        n_accesses = sum(one["type"] == EventType.ACCESS for one in row["entries"])
        logged = json.loads(ends[0]["payload"]).get("logged") if ends else None
        ended_at = ends[0]["at"] if ends else None
        agent = row["agent"]
        self.sessions.append(LoggedSession(name, agent or UNNAMED, row["started_at"], ended_at))
        self.audits.append(
            SessionAudit(
                id=row["id"],
                session_id=name,
                agent=agent,
                scope=row["scope"],
                started_at=row["started_at"],
                ended_at=ended_at,
                searches=n_searches,
                accesses=n_accesses,
                lost=None if logged is None else logged - n_searches - n_accesses,
            )
        )

    def entry(self, one: Mapping[str, Any], session_id: str | None) -> None:
        """Take one search or look; what was looked at and is gone leaves no look."""
        if one["type"] == EventType.SEARCH:
            told = json.loads(one["payload"])
            asked = told["tool"], told["query"]
            self.searches.append(LoggedSearch(one["id"], session_id, *asked, one["at"], one["results"]))
        elif one["type"] == EventType.ACCESS and one["item_id"] is not None:
            self.accesses.append(LoggedAccess(one["item_id"], session_id, one["at"]))


@consistent
async def audit(to: RequestContext, since: datetime, until: datetime, session: str | None) -> Audit:
    """Return the sessions that began in a time, as it was recorded, and that time's findings.

    Args:
        to: where.
        since: recorded then or later.
        until: and before.
        session: only those of this name, and nothing outside sessions.
    """
    log = _Log()
    async for row in _rows(to, SESSIONS, since, until):
        if session in (None, json.loads(row["payload"])["session_id"]):
            log.session(row)
    for kind in (EventType.SEARCH, EventType.ACCESS) if session is None else ():
        async for row in _rows(to, HOMELESS, since, until, type=kind):
            log.entry(row["entry"], None)
    now = to.world.clock.now()
    return Audit(
        sessions=tuple(sorted(log.audits, key=lambda one: (one.started_at, one.id), reverse=True)),
        findings=tuple(protocol.findings(log.searches, log.accesses, log.sessions, now)),
    )


async def _rows(
    to: RequestContext, query: Query[dict[str, Any]], since: datetime, until: datetime, **asked: Any
) -> AsyncIterator[dict[str, Any]]:
    after: tuple[datetime, str] = (moments.BEGINNING, "")
    while True:
        rows = await _page(to, query, since, until, after, asked)
        for row in rows:
            yield row
        if len(rows) < AUDIT_PAGE:
            return
        after = rows[-1]["recorded_at"], rows[-1]["id"]


async def _page(
    to: RequestContext,
    query: Query[dict[str, Any]],
    since: datetime,
    until: datetime,
    after: tuple[datetime, str],
    asked: Mapping[str, Any],
) -> list[dict[str, Any]]:
    return await to.world.graph.read(
        lambda tx: tx.fetch(
            query,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            since=since,
            until=until,
            after_at=after[0],
            after_id=after[1],
            limit=AUDIT_PAGE,
            **asked,
        )
    )
