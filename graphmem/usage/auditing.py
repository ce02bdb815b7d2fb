"""Read the log of a period, and audit its sessions."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from graphmem.graph import catalog
from graphmem.model import EventType
from graphmem.ports import Query, RequestContext
from graphmem.rules import read_options
from graphmem.usage import (
    Audit,
    SessionAudit,
    findings,
)
from graphmem.usage.findings import LoggedAccess, LoggedSearch, LoggedSession

AUDIT_PAGE = 500

UNNAMED = "unnamed agent"

SESSIONS = catalog.query("usage/sessions", dict)

SESSIONLESS = catalog.query("usage/sessionless", dict)


class _Log:
    """Log entries in the form that the audit rules take."""

    def __init__(self) -> None:
        self.searches: list[LoggedSearch] = []
        self.accesses: list[LoggedAccess] = []
        self.sessions: list[LoggedSession] = []
        self.audits: list[SessionAudit] = []

    def session(self, row: Mapping[str, Any]) -> None:
        """Add a session with its entries."""
        name = json.loads(row["payload"])["session_id"]
        ends = [one for one in row["entries"] if one["type"] == EventType.SESSION_END]
        gone = [one for one in row["entries"] if one["type"] == EventType.ROLL_UP]
        # After a roll-up it is unknown which search an access followed.
        for one in () if gone else row["entries"]:
            self.entry(one, name)
        n_searches = sum(one["type"] == EventType.SEARCH for one in row["entries"])
        n_searches += sum(json.loads(one["payload"])["searches"] for one in gone)
        n_accesses = sum(one["type"] == EventType.ACCESS for one in row["entries"])
        n_accesses += sum(json.loads(one["payload"]).get("accesses", 0) for one in gone)
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
        """Add one search or access; skip accesses to deleted items."""
        # An event that is being deleted has no type: the read is made again.
        kind = EventType(one["type"])
        if kind is EventType.SEARCH:
            payload = json.loads(one["payload"])
            asked = payload["tool"], payload["query"]
            self.searches.append(
                LoggedSearch(one["id"], session_id, *asked, one["at"], one["results"])
            )
        elif kind is EventType.ACCESS and one["item_id"] is not None:
            self.accesses.append(LoggedAccess(one["item_id"], session_id, one["at"]))


async def audit(
    context: RequestContext, since: datetime, until: datetime, session: str | None
) -> Audit:
    """Return the sessions that started in a period, by recording time, and their findings.

    Args:
        since: start of the period, inclusive.
        until: end of the period, exclusive.
        session: id of the only session to audit; entries outside sessions are then left out.
    """
    log = _Log()
    async for row in _rows(context, SESSIONS, since, until):
        if session in (None, json.loads(row["payload"])["session_id"]):
            log.session(row)
    if session is None:
        async for row in _rows(context, SESSIONLESS, since, until):
            log.entry(row["entry"], None)
    now = context.services.clock.now()
    return Audit(
        sessions=tuple(sorted(log.audits, key=lambda one: (one.started_at, one.id), reverse=True)),
        findings=tuple(findings.audit_findings(log.searches, log.accesses, log.sessions, now)),
    )


async def _rows(
    context: RequestContext,
    query: Query[dict[str, Any]],
    since: datetime,
    until: datetime,
) -> AsyncIterator[dict[str, Any]]:
    fetch = partial(context.fetch, query, since=since, until=until)
    async for rows in read_options.pages(fetch, at="recorded_at", size=AUDIT_PAGE):
        for row in rows:
            yield row
