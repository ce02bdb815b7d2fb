"""Log searches and accesses; beliefs and traces do not depend on this log.

Only the accessibility of a belief (see rules/formulas.py) and ratings do.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeAlias

from graphmem.errors import ErasedError, NotFoundError, TenantMovedError
from graphmem.graph import catalog
from graphmem.model import EventType
from graphmem.ports import OnProgress, Query, RequestContext, Services, Tx
from graphmem.rules import drafts, identity, rating
from graphmem.usage import RollUpReport

LONGEST_QUERY = 2_000
"""Characters of a query that are logged."""

BEGIN = catalog.query("usage/start_sessions", lambda row: row["written"])
END = catalog.query("usage/end_sessions", lambda row: row["written"])
SEARCH = catalog.query("usage/log_searches", lambda row: row["written"])
LOG = catalog.query("usage/log_accesses", lambda row: row["written"])
ARTIFACTS = catalog.query("usage/create_artifacts", catalog.ignored)
LABELLED = catalog.query("usage/labels", lambda row: (row["id"], row["label"]))


ITEMS = ("Memory", "Belief", "Turn", "Episode")
LABELS = (*ITEMS, "Artifact")
"""Labels of what a search can return."""

_TENANT = attrgetter("tenant")

_Part: TypeAlias = tuple[Query[int], list[Mapping[str, Any]]]

PAGE = 50
"""Sessions per transaction."""
ALONE = 500
"""Searches or accesses outside any session, or artifacts, per transaction."""

ROLLABLE = catalog.query("usage/count_rollable", dict)
CHECKPOINT = catalog.query("usage/checkpoint", dict)
ROLL_UP = catalog.query("usage/roll_up", catalog.ignored)
ROLLABLE_ALONE = catalog.query("usage/count_rollable_sessionless", dict)
FIND_ALONE = catalog.query("usage/sessionless_searches", dict)
ROLL_UP_ALONE = catalog.query("usage/roll_up_sessionless", catalog.ignored)
REMOVE_ARTIFACTS = catalog.query("usage/remove_artifacts", dict)


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """A file, symbol or document that an agent uses."""

    scope: str
    kind: str
    ref: str

    @property
    def id(self) -> str:
        """Id derived from scope, kind and reference."""
        return "ar_" + identity.digest(self.scope, self.kind, self.ref)[:32]


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The start of a session, or its end."""

    tenant: str
    event_id: str
    scope: str
    at: datetime
    session_id: str
    """Session id chosen by the caller."""
    agent: str | None
    within: str | None = None
    """Event id of the session's start; None if this entry is the start."""
    logged: int = 0
    """Searches and accesses made in the session, for an end. Those missing from the graph were
    lost."""
    shared: bool = False
    """Whether other processes log in it too, so that none of them ends it."""


@dataclass(frozen=True, slots=True)
class AccessEntry:
    """One access to one item."""

    tenant: str
    event_id: str
    scope: str
    label: str
    """Memory, Belief, Turn, Episode or Artifact."""
    item_id: str
    at: datetime
    actor: str | None
    within: str | None = None
    """Event id of the session's start; None outside a session."""
    artifact: ArtifactRef | None = None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result of a search."""

    label: str | None
    """Label of the node; None if unknown, which matches any node with the id."""
    id: str
    similarity: float | None = None
    """Calibrated cosine to the query."""
    content_hash: str | None = None
    artifact: ArtifactRef | None = None


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """One search and its results, best first."""

    tenant: str
    event_id: str
    scope: str
    at: datetime
    actor: str | None
    tool: str
    query: str
    found: tuple[SearchHit, ...]
    within: str | None = None
    """Event id of the session's start; None outside a session."""


Entry: TypeAlias = SessionStart | SearchEntry | AccessEntry


def session_start(
    context: RequestContext, session_id: str, agent: str | None, *, shared: bool = False
) -> SessionStart:
    """Return a session start, at the current time; that of a shared session is one a day."""
    fields = _event_fields(context)
    if shared:
        # A session is over after a day without entries, so what is logged on its day is in time.
        day = f"{fields['at']:%Y-%m-%d}"
        kind = EventType.SESSION_START
        fields["event_id"] = f"day_{identity.digest(kind, context.scope, session_id, day)[:32]}"
    return SessionStart(**fields, session_id=session_id, agent=agent, shared=shared)


def _event_fields(context: RequestContext) -> dict[str, Any]:
    """Return the fields of an entry made from a handle's scope at the current time."""
    now = context.services.clock.now()
    event_id = identity.event_id(now)
    return {"tenant": context.tenant, "event_id": event_id, "scope": context.scope, "at": now}


def ended(start: SessionStart, now: datetime, logged: int) -> SessionStart:
    """Return the end of a session with `logged` searches and accesses."""
    event_id = identity.event_id(now)
    return replace(start, event_id=event_id, at=now, within=start.event_id, logged=logged)


def access(
    context: RequestContext,
    label: str,
    item_id: str,
    start: SessionStart | None,
    artifact: ArtifactRef | None = None,
) -> AccessEntry:
    """Return an access to an item from a handle's scope, at the current time."""
    return AccessEntry(
        **_event_fields(context),
        label=label,
        item_id=item_id,
        actor=start.session_id if start else None,
        within=start.event_id if start else None,
        artifact=artifact,
    )


def search(
    context: RequestContext,
    tool: str,
    query: str,
    found: Iterable[SearchHit],
    start: SessionStart | None,
) -> SearchEntry:
    """Return a search from a handle's scope, at the current time."""
    return SearchEntry(
        **_event_fields(context),
        actor=start.session_id if start else None,
        tool=tool,
        query=query[:LONGEST_QUERY],
        found=tuple(found),
        within=start.event_id if start else None,
    )


async def labelled(
    context: RequestContext, ids: Sequence[str], kind: str, labels: Sequence[str] = LABELS
) -> dict[str, str]:
    """Return the labels of items; an entry about an item that is not visible is not written.

    Args:
        kind: start of the message about missing ids.
        labels: labels that an item may have.
    """
    found = dict(await context.fetch(LABELLED, ids=ids, labels=labels)) if ids else {}
    if missing := [repr(one) for one in dict.fromkeys(ids) if one not in found]:
        raise NotFoundError(
            f"{kind} {', '.join(missing)}.",
            hint="Give ids that a read returned, or (kind, ref) of a file, symbol or document.",
        )
    return found


async def write(services: Services, entries: Iterable[Entry]) -> int:
    """Append entries in one transaction and return how many searches and accesses are new.

    Entries already stored are skipped, so the call can be repeated. Erased data is left out:
    accesses to it, search results, searches without remaining results, and entries of an erased
    scope or tenant. So are entries of a tenant that moved to another server. Accesses to missing
    items and searches with only missing results are skipped.
    """
    whole = list(entries)
    try:
        return await _write(services, whole)
    except ErasedError as error:
        parts = [list(of) for _, of in groupby(sorted(whole, key=_TENANT), _TENANT)]
        if len(parts) > 1:
            # Tenants may share an id that only one of them has erased.
            return sum([await write(services, part) for part in parts])
        left = [kept for one in whole if (kept := _without(one, error)) is not None]
        if left == whole:
            raise
        return await write(services, left)
    except TenantMovedError as error:
        return await write(services, [one for one in whole if one.tenant != error.tenant])


def _without(one: Entry, error: ErasedError) -> Entry | None:
    """Return an entry without erased data; None if nothing remains."""
    if one.event_id in error.ids or not error.places.isdisjoint(
        {(one.tenant, one.scope), (one.tenant, None)}
    ):
        return None
    if isinstance(one, AccessEntry):
        return None if one.item_id in error.ids else one
    if isinstance(one, SessionStart) or not one.found:
        return one
    found = tuple(hit for hit in one.found if hit.id not in error.ids)
    return replace(one, found=found) if found else None


async def _write(services: Services, entries: Sequence[Entry]) -> int:
    by_tenant = groupby(sorted(entries, key=_TENANT), _TENANT)
    batches = [(tenant, _batch(list(of))) for tenant, of in by_tenant]

    async def work(tx: Tx) -> int:
        written = 0
        for tenant, (artifacts, parts) in batches:
            if artifacts:
                await tx.fetch(ARTIFACTS, tenant=tenant, artifacts=artifacts)
            for query, rows in parts:
                new = sum(await tx.fetch(query, tenant=tenant, events=rows))
                written += new if query in (SEARCH, LOG) else 0
        return written

    return await services.graph.write(work) if batches else 0


def _batch(entries: Sequence[Entry]) -> tuple[list[Mapping[str, Any]], list[_Part]]:
    """Return the artifacts of a tenant's entries, and their rows by query, in order."""
    # A fixed order makes concurrent writers wait for each other and rarely deadlock.
    bounds = [one for one in entries if isinstance(one, SessionStart)]
    searches = sorted(
        (one for one in entries if isinstance(one, SearchEntry)), key=attrgetter("event_id")
    )
    looks = [one for one in entries if isinstance(one, AccessEntry)]
    looks.sort(key=lambda one: (one.label, one.item_id, one.event_id))
    known = {
        artifact.id: artifact
        for artifact in (
            *(one.artifact for one in looks),
            *(hit.artifact for one in searches for hit in one.found),
        )
        if artifact is not None
    }
    artifacts: list[Mapping[str, Any]] = [
        {"id": one.id, "scope": one.scope, "kind": one.kind, "ref": one.ref}
        for one in sorted(known.values(), key=lambda one: one.id)
    ]
    parts: list[_Part] = [
        (BEGIN, [_bound_row(one) for one in bounds if one.within is None]),
        (SEARCH, [_search_row(one) for one in searches]),
        (LOG, [_access_row(one) for one in looks]),
        (END, [_bound_row(one) for one in bounds if one.within is not None]),
    ]
    return artifacts, [(query, rows) for query, rows in parts if rows]


def _bound_row(one: SessionStart) -> Mapping[str, Any]:
    kind = EventType.SESSION_START if one.within is None else EventType.SESSION_END
    payload = {"session_id": one.session_id} | ({"logged": one.logged} if one.within else {})
    return _row(one, kind, (one.session_id, one.event_id), payload) | {"actor": one.agent}


def _search_row(one: SearchEntry) -> Mapping[str, Any]:
    asked = {"tool": one.tool, "query": one.query}
    names = ("label", "id", "similarity", "content_hash")
    found = [
        {"rank": rank, **{name: getattr(hit, name) for name in names}}
        for rank, hit in enumerate(one.found, 1)
    ]
    row = _row(one, EventType.SEARCH, asked.values(), asked)
    return row | {"actor": one.actor, "found": found}


def _access_row(one: AccessEntry) -> Mapping[str, Any]:
    about = {"label": one.label, "item_id": one.item_id}
    row = _row(one, EventType.ACCESS, about.values())
    return row | about | {"actor": one.actor}


def _row(
    one: Entry, kind: EventType, asked: Iterable[str], payload: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    event = drafts.event(one.event_id, one.scope, kind, one.at, (one.scope, kind, *asked), payload)
    return event | {"within": one.within}


async def rollable(context: RequestContext, before: datetime) -> RollUpReport:
    """Return a preview of `roll_up`."""

    async def work(tx: Tx) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        within = await tx.fetch(ROLLABLE, before=before)
        [alone] = await tx.fetch(ROLLABLE_ALONE, before=before)
        return within, alone

    within, alone = await context.read(work)
    found = (
        within[0] if within else dict.fromkeys(("sessions", "searches", "results", "accesses"), 0)
    )
    return RollUpReport(
        applied=False, **{name: n + alone.get(name, 0) for name, n in found.items()}
    )


async def roll_up(
    context: RequestContext, before: datetime, on_progress: OnProgress
) -> RollUpReport:
    """Roll up rated sessions that ended before a time, and older entries outside any session.

    Artifacts that no entry refers to any more are removed, unless their rating is above LOW.

    Sessions are taken in order of their ends, up to the first that ended later. The call is safe
    to interrupt and to run concurrently: one transaction removes entries and checkpoints the
    ratings that depend on them.
    """
    counted = {"sessions": 0, "searches": 0, "results": 0, "accesses": 0, "artifacts": 0}

    async def work(tx: Tx) -> list[dict[str, Any]]:
        rows = await tx.fetch(CHECKPOINT, before=before, sessions=PAGE, by_search=rule.by_search)
        events = [_event(row, now) for row in rows if row["searches"] or row["accesses"]]
        if events:
            await tx.fetch(ROLL_UP, events=events)
        return rows

    now, rule = context.services.clock.now(), rating.from_settings(context.services.settings)
    faded = {
        "valid": now,
        "rating_decay": rating.decay_params(rule),
        "medium": rule.medium,
    }
    while rows := await context.write(work):
        counted["sessions"] += sum(row["searches"] > 0 for row in rows)
        for name in ("searches", "results", "accesses"):
            counted[name] += sum(row[name] for row in rows)
        on_progress("session", len(rows))
    while alone := await context.write(lambda tx: _alone(tx, before, now)):
        for name in ("searches", "results", "accesses"):
            counted[name] += sum(row[name] for row in alone)
        on_progress("search", len(alone))
    after = ""
    while page := await context.fetch(REMOVE_ARTIFACTS, after=after, limit=ALONE, **faded):
        after = page[0]["after"]
        counted["artifacts"] += page[0]["removed"]
    return RollUpReport(applied=True, **counted)


async def _alone(tx: Tx, before: datetime, now: datetime) -> list[dict[str, Any]]:
    """Roll up a page of entries outside any session, which have no effect on ratings."""
    rows = await tx.fetch(FIND_ALONE, before=before, limit=ALONE)
    by_scope: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_scope[row["scope"]].append(row)
    if rows:
        events = [_of_alone(scope, found, now) for scope, found in sorted(by_scope.items())]
        await tx.fetch(ROLL_UP_ALONE, events=events)
    return rows


def _of_alone(scope: str, rows: Sequence[Mapping[str, Any]], now: datetime) -> dict[str, Any]:
    names = ("searches", "results", "accesses")
    payload = {name: sum(row[name] for row in rows) for name in names}
    ids = [row["id"] for row in rows]
    # The same entries, brought back by an import, get the same id.
    kind, event_id = EventType.ROLL_UP, f"roll_{identity.digest(EventType.ROLL_UP, *ids)[:32]}"
    return drafts.event(event_id, scope, kind, now, (scope, kind, *ids), payload) | {"ids": ids}


def _event(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    scope, kind = row["scope"], EventType.ROLL_UP
    counts = {name: row[name] for name in ("searches", "results", "games", "accesses")}
    payload = {**json.loads(row["payload"]), **counts}
    event = drafts.event(f"roll_{row['id']}", scope, kind, now, (scope, kind, row["id"]), payload)
    return {**event, "actor": row["agent"], "within": row["id"]}
