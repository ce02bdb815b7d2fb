"""Seal the events of a tenant, and check what was sealed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem import stored
from graphmem.graph import catalog
from graphmem.integrity import Mismatch, SealReport, SealState, seals
from graphmem.integrity.contents import content_digests, contents, covered
from graphmem.integrity.seals import Finding, SealCheck
from graphmem.ports import OnProgress, RequestContext, Tx, silent
from graphmem.rules import drafts, read_options

PAGE = 500
"""Events of a seal, and of its transaction."""
MAX_LINKED = 8_000
"""Salts for nodes that the events of a seal state; one event states few."""
SEALS = 4
"""Seals checked at a time, with their events."""
LATE_PAGE = 5_000
"""Events read at a time in the search for those without a seal."""
STEP_S = 0.05
"""Seconds between two checks for open transactions."""

OPEN = catalog.query("schema/open_transactions", dict)
HEAD = catalog.query("seal/head", dict)
UNSEALED = catalog.query("seal/unsealed", lambda row: row["event"])
WAITING = catalog.query("seal/waiting", lambda row: row["event"])
WAITING_NODES = catalog.query("seal/waiting_nodes", lambda row: row["node"])
UNCOVERED = catalog.query("seal/uncovered", lambda row: row["node"])
NODES = catalog.query("seal/nodes", lambda row: row["node"])
APPEND = catalog.query("seal/append", catalog.ignored)
DEFER = catalog.query("seal/defer", catalog.ignored)
LATE = catalog.query("seal/find_late", dict)
LATE_NODES = catalog.query("seal/find_uncovered", dict)
NEWEST = catalog.query("seal/newest", dict)
TOUCHED = catalog.query("seal/touched", lambda row: (row["label"], row["key"]))
CHECK = catalog.query("seal/check", dict)

PROBLEMS: Mapping[seals.Problem, tuple[str, str]] = {
    "changed": ("as seal {seal} has it", "changed: a property or a relationship differs"),
    "stale": ("as seal {seal} has it", "changed: no event without a seal changed it"),
    "missing": ("in seal {seal}", "missing: deleted, but not by an erasure"),
    "added": ("not in seal {seal}", "added: related to the seal, which does not contain it"),
    "broken": ("a digest of the seal before it", "changed, or a seal before it is missing"),
}
"""How a finding is shown: by the seal, and as found."""


async def settled(context: RequestContext) -> datetime:
    """Return a server time for which every earlier write is visible.

    An open transaction may have recorded something already. So this waits for the transactions
    open now, at most as long as one may take.
    """
    found = await _open(context)
    known: datetime = found["now"]
    waits, left = set(found["open"]), read_options.MAX_OPEN_TRANSACTION.total_seconds()
    while left > 0 and waits & set((await _open(context))["open"]):
        await context.services.clock.sleep(STEP_S)
        left -= STEP_S
    return known


async def _open(context: RequestContext) -> dict[str, Any]:
    [found] = await context.fetch(OPEN)
    return found


async def seal(context: RequestContext, on_progress: OnProgress, *, late: bool) -> SealReport:
    """Seal every event recorded until now, and those that wait for it.

    Evidence is written without the tenant's lock, so a chain cannot be extended by each write.

    Args:
        late: also seal events recorded before the end of the newest seal.
    """
    if late:
        await defer_late(context, on_progress)
    return await _seal(context, await settled(context), on_progress)


async def seal_waiting(context: RequestContext) -> None:
    """Seal the events that an erasure redacted or an import brought; without any, do nothing."""
    await _seal(context, None, silent)


async def defer_late(context: RequestContext, on_progress: OnProgress) -> None:
    """Mark events recorded before the end of the newest seal, so that the next one covers them."""
    heads = await context.fetch(HEAD)
    after = ""
    while heads and (page := await _late(context, heads[0]["until"], after))["looked"]:
        after = page["after"]
        await _defer(context, "Event", page["late"])
        on_progress("searched", page["looked"])
    async for label, late in _late_nodes(
        context, heads[0]["until"] if heads else None, on_progress
    ):
        await _defer(context, label, late)


async def defer_changed(context: RequestContext, nodes: Sequence[tuple[str, str]]) -> None:
    """Mark the nodes of these labels and ids that differ from their seals for the next one.

    An import may have changed them: it merges the properties of its file into existing nodes.
    """
    sealed = sorted({one for one in nodes if one[0] in contents()})
    for some in drafts.batches(sealed, PAGE):
        rows = [{"label": one[0], "key": one[1], "entry": seals.entry(*one)} for one in some]
        for row in await context.fetch(NEWEST, nodes=rows, content=covered()):
            if row["leaves"] != seals.leaves_of(row["salt"], content_digests(row["node"])):
                await _defer(context, row["node"]["label"], [row["node"]["key"]])


async def _defer(context: RequestContext, label: str, keys: Sequence[str]) -> None:
    if keys:
        await context.fetch(DEFER, nodes=[{"label": label, "key": key} for key in keys])


async def _seal(
    context: RequestContext, until: datetime | None, on_progress: OnProgress
) -> SealReport:
    count = events = 0
    # Without anything to seal, nothing is locked and no tenant comes into being.
    while await _has_more(context, until) and (made := await _next(context, until)) is not None:
        count, events = count + 1, events + made
        on_progress("event", made)
    heads = await context.fetch(HEAD)
    head = heads[0] if heads else {"id": None, "digest": None, "until": None}
    return SealReport(
        events=events, seals=count, seal=head["id"], head=head["digest"], until=head["until"]
    )


async def _has_more(context: RequestContext, until: datetime | None) -> bool:
    if await context.fetch(WAITING, limit=1) or await context.fetch(
        WAITING_NODES, content=covered(), limit=1
    ):
        return True
    if until is None:
        return False
    heads = await context.fetch(HEAD)
    end = heads[0]["until"] if heads else read_options.BEGINNING
    return bool(
        await _unsealed(context.fetch, end, until, 1) or await _unseen(context.fetch, end, until, 1)
    )


async def _next(context: RequestContext, until: datetime | None) -> int | None:
    """Append one seal and return the number of its events; None if nothing is left."""
    salts = seals.salts(4 * PAGE + MAX_LINKED)

    async def work(tx: Tx) -> int | None:
        await stored.lock(tx)
        heads = await tx.fetch(HEAD)
        end = heads[0]["until"] if heads else read_options.BEGINNING
        found = await tx.fetch(WAITING, limit=PAGE) if heads else []
        nodes = await tx.fetch(WAITING_NODES, content=covered(), limit=PAGE) if heads else []
        if not found and not nodes and until is not None:
            nodes = await _unseen(tx.fetch, end, until, PAGE)
            # The end may pass only nodes that are sealed.
            if len(nodes) < PAGE:
                found = await _unsealed(tx.fetch, end, until, PAGE)
                # After a full page, other events may have the time of its last one.
                end = max(end, found[-1]["recorded_at"] if len(found) == PAGE else until)
        if not found and not nodes:
            return None
        before = (heads[0]["id"], heads[0]["digest"]) if heads else None
        events = _digests(found)
        nodes += await tx.fetch(NODES, content=covered(), nodes=_stated(found, nodes))
        contents = {seals.entry(one["label"], one["key"]): content_digests(one) for one in nodes}
        made = seals.make(before, end, events, salts, contents)._asdict()
        await tx.fetch(
            APPEND,
            until=made.pop("sealed_until"),
            **made,
            events=[one["id"] for one in found],
            nodes=[{"label": one["label"], "key": one["key"]} for one in nodes],
        )
        return len(events)

    return await context.write(work)


def _digests(events: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {seals.entry("Event", one["id"]): seals.stored_digest(one) for one in events}


def _stated(
    events: Sequence[Mapping[str, Any]], nodes: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Return the nodes that events state something about, without those given."""
    known = {(one["label"], one["key"]) for one in nodes}
    found = {
        (link["label"], link["key"])
        for event in events
        for link in event["links"]
        if link["type"] in seals.STATES and link["label"] in contents()
    }
    return [{"label": label, "key": key} for label, key in sorted(found - known)]


async def _unsealed(
    fetch: Callable[..., Awaitable[list[dict[str, Any]]]],
    since: datetime,
    until: datetime,
    limit: int,
) -> list[dict[str, Any]]:
    return await fetch(UNSEALED, types=seals.SEALED, since=since, until=until, limit=limit)


async def _unseen(
    fetch: Callable[..., Awaitable[list[dict[str, Any]]]],
    since: datetime,
    until: datetime,
    limit: int,
) -> list[dict[str, Any]]:
    return await fetch(UNCOVERED, content=covered(), since=since, until=until, limit=limit)


async def check(
    context: RequestContext, head: str | None, on_progress: OnProgress
) -> tuple[SealState, list[Mismatch]]:
    """Return the state of the seals, and each event or seal that was changed, added or deleted.

    Args:
        head: digest that a seal must have; None if any will do.
    """
    found, after = SealCheck(head), ""
    late: list[str] = []
    wrong: list[Mismatch] = []
    while pages := await context.fetch(CHECK, content=covered(), after=after, limit=SEALS):
        for page in pages:
            one = seals.Seal(**page["seal"])
            end = found.until
            late += (e["id"] for e in page["events"] if end is not None and e["recorded_at"] < end)
            digests = _digests(page["events"])
            nodes = {
                seals.entry(x["label"], x["key"]): seals.CoveredNode(
                    content_digests(x), x["newest"]
                )
                for x in page["nodes"]
            }
            wrong += map(mismatch, await _unexcused(context, found.take(one, digests, nodes)))
            after = one.id
            on_progress("event", len(digests))
    unsealed, without = await _without(context, found.until, on_progress)
    async for label, keys in _late_nodes(context, found.until, on_progress):
        wrong += (unsealed_node(label, key) for key in keys)
    if head is not None and found.asked_in is None:
        wrong.append(unknown_head(head))
    return state(found, unsealed - len(without), tuple(late)), [*wrong, *without]


def state(found: SealCheck, unsealed: int, late: tuple[str, ...] | None) -> SealState:
    """Return the counts of a check, and the ids of the events that were sealed late."""
    return SealState(
        seals=found.number,
        head=found.head or None,
        until=found.until,
        sealed=found.sealed,
        erased=found.erased,
        contents=found.contents,
        unsealed=unsealed,
        late=None if late is None else len(late),
        late_ids=late or (),
        asked_in=found.asked_in,
    )


def mismatch(found: Finding) -> Mismatch:
    """Return a finding as a mismatch of a report."""
    cached, shown = PROBLEMS[found.problem]
    return Mismatch(
        kind=found.kind, id=found.id, cached=cached.format(seal=found.seal), found=shown
    )


def unsealed_event(event_id: str) -> Mismatch:
    """Return the mismatch of an event that was added among sealed ones."""
    return Mismatch(
        kind="event",
        id=event_id,
        cached="in no seal",
        found="added: recorded before the end of the newest seal",
    )


def unsealed_node(label: str, key: str) -> Mismatch:
    """Return the mismatch of a node that was added among sealed ones."""
    return Mismatch(
        kind=label.lower(),
        id=key,
        cached="in no seal",
        found="added: no event without a seal states it",
    )


def unknown_head(head: str) -> Mismatch:
    """Return the mismatch of a digest that no seal has."""
    return Mismatch(kind="seal", id=head, cached="the digest to compare with", found="in no seal")


async def _without(
    context: RequestContext, until: datetime | None, on_progress: OnProgress
) -> tuple[int, Sequence[Mismatch]]:
    """Return the number of events without a seal, and those of them that were added."""
    unsealed, after = 0, ""
    wrong: list[Mismatch] = []
    before = until or read_options.BEGINNING
    while (page := await _late(context, before, after))["looked"]:
        after = page["after"]
        unsealed += page["unsealed"]
        wrong += map(unsealed_event, page["late"])
        on_progress("searched", page["looked"])
    return unsealed, wrong


async def _late(context: RequestContext, before: datetime, after: str) -> dict[str, Any]:
    [page] = await context.fetch(
        LATE, telemetry=sorted(seals.TELEMETRY), before=before, after=after, limit=LATE_PAGE
    )
    return page


async def _unexcused(context: RequestContext, found: Sequence[Finding]) -> list[Finding]:
    """Return findings without the nodes that an event without a seal may have changed."""
    labels = {label.lower(): label for label in contents()}
    asked = [{"label": labels[one.kind], "key": one.id} for one in found if one.problem == "stale"]
    touched = {*(await context.fetch(TOUCHED, nodes=asked) if asked else ())}
    return [
        one for one in found if one.problem != "stale" or (labels[one.kind], one.id) not in touched
    ]


async def _late_nodes(
    context: RequestContext, before: datetime | None, on_progress: OnProgress
) -> AsyncIterator[tuple[str, Sequence[str]]]:
    """Yield labels with the keys of nodes that were added before a time, without a seal.

    No event without a seal states them. Before the first seal (None) there are none.
    """
    for label in contents() if before is not None else ():
        after = ""
        while True:
            [page] = await context.fetch(
                LATE_NODES, label=label, before=before, after=after, limit=LATE_PAGE
            )
            if not page["looked"]:
                break
            after = page["after"]
            yield label, page["late"]
            on_progress("searched", page["looked"])
