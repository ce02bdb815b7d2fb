"""Reject values, and take rejections back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphmem import stored
from graphmem.errors import NotFoundError
from graphmem.graph import catalog
from graphmem.model import AsOf, EventSource, EventType, Rejection, RejectionReceipt, Triple
from graphmem.operations.evidence import drawn, writing
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, read_options, rejections, trust

FIND_TARGET = catalog.query("reject/find_target", dict)
STATE_VALUE = catalog.query("reject/place", catalog.ignored)
RULE = catalog.query("reject/rule", dict)
REFRESH = catalog.query("reject/refresh", catalog.ignored)
SPREAD = catalog.query("reject/spread", catalog.ignored)
FIND = catalog.query("reject/find", rejections.parse)


async def rule(
    context: RequestContext, kind: EventType, target: str | Triple, by: EventSource
) -> RejectionReceipt:
    """Append a REJECT or UNREJECT event and return what it applies to.

    A value of a slot that no belief states yet gets a belief, so that it can be looked up.

    Args:
        context: request context; the ruling holds for the readers of its write scope.
        by: source of the event; its note is the reason.
    """
    trust.check_right("reject", context.trust)
    aim = await _aim(context, target)
    row = claims.source_event(
        context.named(by).model_copy(update={"note": None}),
        context.scope,
        kind,
        context.services.clock.now(),
        (context.scope, kind, aim.id, by.note),
    )

    async def work(tx: Tx) -> tuple[RejectionReceipt, list[str]]:
        """Return the receipt and the ids of the tombstones."""
        await stored.lock(tx, [row["id"]])
        [found] = await tx.fetch(FIND_TARGET, event_id=row["id"], **aim.asked)
        item = await _item(tx, context, aim, found)
        digests = dict.fromkeys(rejections.item_digests(item))
        digests |= dict.fromkeys(map(rejections.text_digest, found["statements"]))
        keys = [rejections.value_key(context.tenant, digest) for digest in digests]
        if kind is EventType.UNREJECT:
            # A decision about a value is taken back with all sentences that it was about.
            digests |= dict.fromkeys(found["digests"])
        ruled = [rejections.tombstone(context.tenant, context.scope, one) for one in digests]
        tombstones = [one["id"] for one in ruled]
        if found["event"] is not None:
            stored.check_same_request(found["event"], row["id"], row["request_hash"])
            done = {"memory_ids": [], "belief_ids": [], "rejected": found["rejected"]}
            return _receipt(row["id"], done, found), tombstones
        event = row | {
            "value_digests": list(digests),
            "trust": trust.rank(context.trust),
            "payload": _payload(item, by.note),
        }
        if by.at is None and found["ruled_at"] is not None:
            later = read_options.next_instant(found["ruled_at"])
            event["occurred_at"] = max(event["occurred_at"], later)
        if aim.claim is not None and not found["statements"]:
            await _state_value(tx, item, event, found)
        [done] = await tx.fetch(RULE, event=event, tombstones=ruled, value_keys=keys)
        if done["rejected"] != found["rejected"]:
            await drawn.follow_ruling(tx, event, [one["value_key"] for one in ruled])
        return _receipt(row["id"], done, found), tombstones

    receipt, tombstones = await context.write(work)
    # A belief with another spelling may have been written concurrently: evidence takes no lock.
    await context.fetch(SPREAD, ids=tombstones)
    if aim.claim is not None:
        await writing.embed_statements(context, [aim.id])
    return receipt


async def find(context: RequestContext, item_id: str, as_of: AsOf) -> Rejection | None:
    """Return the rejection of what a memory or a belief states; None if it is not rejected."""
    now = context.services.clock.now()
    bounds = {"valid": as_of.valid or now, "known": as_of.known}
    return next(iter(await context.fetch(FIND, id=item_id, **bounds)), None)


@dataclass(frozen=True, slots=True)
class _Aim:
    """Target of a ruling, before it is looked up."""

    id: str
    """Id of a memory or a belief."""
    claim: dict[str, Any] | None
    """Claim of a value, as a row; None for an item that must exist."""
    asked: Mapping[str, Any]
    """Parameters of reject/find_target."""


async def _aim(context: RequestContext, target: str | Triple) -> _Aim:
    """Return what a ruling is about; a value is worded by the template of its predicate."""
    if isinstance(target, str):
        return _Aim(target, None, {"id": target, "value_keys": None})
    parts = target.subject, target.predicate, target.object
    claim = claims.triple_claim(context.scope, *parts)
    known = await stored.known_claims(context, [claim.predicate_key])
    row = claims.reword_claim(claim, known.templates).row(context.tenant_scope, None)
    keys = [key for key in (row["value_key"], row["statement_key"]) if key is not None]
    asked = {"id": None, "value_keys": keys}
    return _Aim(claim.id, row | {"label": "Belief"}, asked)


async def _item(
    tx: Tx, context: RequestContext, aim: _Aim, found: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the claim or the stored item."""
    if aim.claim is not None:
        return aim.claim
    item = found["item"]
    if item is None:
        raise NotFoundError(f"No memory or belief {aim.id!r}.")
    if item["value_key"] is None:
        # Another tool wrote the memory.
        keys = rejections.item_keys(context.tenant, item)
        await tx.fetch(REFRESH, items=[keys | {name: item[name] for name in ("label", "id")}])
    return dict(item)


async def _state_value(
    tx: Tx, claim: Mapping[str, Any], event: Mapping[str, Any], found: Mapping[str, Any]
) -> None:
    if event["type"] == EventType.UNREJECT and not found["rejected"]:
        raise NotFoundError("No belief states this value, and nothing rejects it.")
    await tx.fetch(STATE_VALUE, claim=claim, event=event)


def _payload(item: Mapping[str, Any], reason: str | None) -> str:
    payload = {"memory_id" if item["label"] == "Memory" else "belief_id": item["id"]}
    payload |= {"reason": reason} if reason else {}
    return json.dumps(payload, ensure_ascii=False)


def _receipt(event_id: str, done: Mapping[str, Any], found: Mapping[str, Any]) -> RejectionReceipt:
    return RejectionReceipt(
        event_id=event_id,
        rejected=done["rejected"],
        changed=done["rejected"] != found["rejected"],
        memory_ids=tuple(sorted(done["memory_ids"])),
        belief_ids=tuple(sorted(done["belief_ids"])),
        repeated=found["event"] is not None,
    )
