"""Lock what a write depends on, and look up, read and check what is stored already."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphmem.english import mentions
from graphmem.errors import EventConflictError, ForeignScopeError, NotFoundError
from graphmem.graph import catalog
from graphmem.model import Turn
from graphmem.ports import RequestContext, Tx
from graphmem.rules import rejections

if TYPE_CHECKING:
    from graphmem.model.terms import Embedding
    from graphmem.rules.claims import EvidenceDraft
    from graphmem.rules.drafts import TextDraft

LOCK_TENANT = catalog.query("commit/lock", dict)
LOCK_EVENT_IDS = catalog.query("belief/lock_event_ids", catalog.ignored)
FIND_EXISTING = catalog.query("belief/find_existing", dict)
KNOWN_CLAIMS = catalog.query("belief/known_claims", dict)
APPEND = catalog.query("belief/append", dict)
RULED = catalog.query("reject/ruled", lambda row: str(row["key"]))
TURNS = catalog.query("episode/turns", lambda row: Turn(**row["turn"]))


async def lock(tx: Tx, event_ids: Iterable[str] = ()) -> str | None:
    """Lock the tenant and the ids of the events to write; return what the last lock left."""
    [held] = await tx.fetch(LOCK_TENANT)
    if ids := sorted(event_ids):
        await tx.fetch(LOCK_EVENT_IDS, ids=ids)
    last_lock: str | None = held["last_lock"]
    return last_lock


async def find_existing(
    tx: Tx | RequestContext, event_ids: Iterable[str] = (), belief_ids: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the stored events and beliefs with these ids; see belief/find_existing."""
    asked = {"event_ids": list(event_ids), "belief_ids": list(belief_ids)}
    [found] = await tx.fetch(FIND_EXISTING, **asked)
    return found


async def turn_pages(
    context: RequestContext, episode_id: str, *, first: int = 0, size: int = 1_000
) -> AsyncIterator[list[Turn]]:
    """Yield the turns of an episode of the write scope in order, a page at a time."""
    asked = {"scopes": [context.scope], "episode_id": episode_id, "limit": size}
    while turns := await context.fetch(TURNS, **asked, **{"from": first}):
        yield turns
        if len(turns) < size:
            return
        first = turns[-1].position + 1


class KnownClaims(NamedTuple):
    """Stored data that the wording and the embedding of claims depend on."""

    templates: dict[str, str]
    """Templates of predicates, by key."""
    beliefs: dict[str, Mapping[str, Any]]
    """Beliefs that are embedded, by id."""


async def known_claims(
    tx: Tx | RequestContext,
    predicate_keys: Iterable[str | None],
    belief_ids: Iterable[str] = (),
) -> KnownClaims:
    """Return the templates of predicates, and those of some beliefs that exist."""
    [found] = await tx.fetch(
        KNOWN_CLAIMS,
        predicates=sorted({key for key in predicate_keys if key}),
        belief_ids=sorted({*belief_ids}),
    )
    beliefs = {row["id"]: row for row in found["beliefs"]}
    return KnownClaims(parse_templates(found["templates"]), beliefs)


def parse_templates(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the templates of predicates, by key."""
    return {row["key"]: row["template"] for row in rows}


async def append_missing(
    tx: Tx,
    context: RequestContext,
    batch: Sequence[EvidenceDraft],
    embeddings: Mapping[str, Embedding],
) -> None:
    """Append the evidence for beliefs of the write scope that is not stored yet.

    Args:
        batch: evidence; its ids are derived from its contents.
    """
    rows = [
        draft.row(context.tenant_scope, embeddings.get(draft.claim.id))
        # Sorted by belief, so that two writers take locks in one order and cannot deadlock.
        for draft in sorted(batch, key=lambda draft: (draft.claim.id, draft.event_id))
    ]
    if rows:
        await tx.fetch(APPEND, scopes=[context.scope], predicates=[], events=rows)


def check_same_request(event: Mapping[str, Any], event_id: str, request_hash: str) -> None:
    """Check that a stored event is the requested one."""
    if event["request_hash"] != request_hash:
        raise EventConflictError(f"The id {event_id!r} was used for something else.")


def check_attached(missing: Sequence[str]) -> None:
    """Check that the episodes and turns exist to which a write attaches something."""
    if missing:
        raise NotFoundError(
            f"No episode or turn {missing[0]!r} to attach this to.",
            hint="Give the id of one that this handle can read, or omit it.",
        )


def check_distinct(ready: Iterable[TextDraft | EvidenceDraft], kind: str) -> None:
    """Check that no two different requests of a batch have one event id."""
    seen: dict[str, str] = {}
    for draft in ready:
        if seen.setdefault(draft.event_id, draft.request_hash) != draft.request_hash:
            raise EventConflictError(
                f"The id {draft.event_id!r} is used twice, for different {kind}."
            )


async def without_rejected(
    tx: Tx, tenant: str, found: dict[str, Any], times: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return a row of recall/hits without the turns and episodes that state only what is rejected.

    They do if a person rejected their text or each of its sentences, or all evidence that quotes a
    turn of one sentence.

    Args:
        times: valid and known time of the read; None: nothing is left out.
    """
    hits = [hit for hit in found["hits"] if hit["kind"] in ("turn", "episode")]
    if times is None or not found["ruled"] or not hits:
        return found
    keys = {hit["node"]: _value_keys(tenant, hit["item"]) for hit in hits}
    asked = sorted({key for whole, parts in keys.values() for key in (whole, *parts)})
    ruled = {*await tx.fetch(RULED, keys=asked, valid=times["valid"], known=times["known"])}
    for hit in hits:
        whole, parts = keys[hit["node"]]
        if hit["is_rejected"] and len(parts) == 1:
            # A summary may be this sentence.
            ruled.update((whole, *parts))
    gone = {
        node
        for node, (whole, parts) in keys.items()
        if whole in ruled or (parts and ruled.issuperset(parts))
    }
    left = [hit for hit in found["hits"] if hit["node"] not in gone]
    hidden = [] if left else [["rejected", len(gone)]]
    return {**found, "hits": left, "hidden_counts": found["hidden_counts"] + hidden}


def _value_keys(tenant: str, item: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the key of the text of a turn or an episode, and those of its sentences."""
    text = next(filter(None, map(item.get, ("text", "summary", "content", "gist"))), "")
    whole, *parts = (
        rejections.value_key(tenant, rejections.text_digest(one))
        for one in (text, *mentions.split_sentences(text))
    )
    return whole, parts


def own(row: Mapping[str, Any] | None, label: str, item_id: str, scope: str) -> Mapping[str, Any]:
    """Return the row of a visible item, which must be of the write scope.

    Args:
        row: the item with its scope; None if there is none.
        label: kind of the item, for errors, for example "Belief".
    """
    if row is None:
        raise NotFoundError(f"No {label.lower()} {item_id!r}.")
    if row["scope"] != scope:
        raise ForeignScopeError(f"{label} {item_id!r} belongs to scope {row['scope']!r}.")
    return row
