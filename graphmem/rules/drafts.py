"""Drafts of texts to be written, and the rows of memories and events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from graphmem.errors import InvalidInputError
from graphmem.model import (
    GLOBAL_SCOPE,
    EventSource,
    EventType,
    NewMemory,
    RefusedClaim,
    TenantScope,
    Triple,
)
from graphmem.model.terms import embedding_fields
from graphmem.rules import hygiene, identity, rejections

if TYPE_CHECKING:
    from graphmem.model.terms import Embedding

T = TypeVar("T")

MAX_CLOCK_SKEW = timedelta(minutes=5)
"""Maximum time by which a caller's clock may be ahead."""


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield slices of at most `size` items, like `itertools.batched` of Python 3.12."""
    return (items[start : start + size] for start in range(0, len(items), size))


@dataclass(frozen=True, slots=True)
class TextDraft:
    """One offered text, prepared before any transaction."""

    memory: NewMemory
    """The text with the claims that may be stored."""
    event_id: str
    occurred_at: datetime
    content_hash: str
    request_hash: str
    """Hash of all arguments of the caller; compared when an id is repeated."""
    memory_id: str
    """Id of a memory with this content in the writer's own scope."""
    exact_ids: tuple[str, ...]
    """Ids of memories with this content in every visible scope, the writer's own first."""
    reasons: tuple[str, ...]
    """Reasons why hygiene rejects it; empty if it is accepted."""
    refused_claims: tuple[RefusedClaim, ...] = ()


def draft(
    memory: NewMemory, tenant_scope: TenantScope, now: datetime, rules: Sequence[hygiene.Rule]
) -> TextDraft:
    """Return the draft of a text, with its hashes, its ids and the result of hygiene."""
    occurred_at = event_time(memory.at, now)
    content_hash = identity.content_hash(memory.content)
    scopes = (tenant_scope.scope, *sorted(set(tenant_scope.scopes) - {tenant_scope.scope}))
    exact_ids = tuple(identity.memory_id(scope, memory.content) for scope in scopes)
    refused = tuple(_refused_claims(memory.claims))
    gone = {one.place for one in refused}
    kept = [triple for place, triple in enumerate(memory.claims) if place not in gone]
    return TextDraft(
        memory=memory.model_copy(update={"claims": tuple(kept)}) if refused else memory,
        event_id=memory.event_id or identity.event_id(now),
        occurred_at=occurred_at,
        content_hash=content_hash,
        request_hash=_memory_hash(memory, tenant_scope.scope, content_hash),
        memory_id=exact_ids[0],
        exact_ids=exact_ids,
        reasons=hygiene.rejection_reasons(memory.content, rules),
        refused_claims=refused,
    )


def _refused_claims(claims: Iterable[Triple]) -> Iterator[RefusedClaim]:
    for place, triple in enumerate(claims):
        words = f"{triple.subject} {triple.predicate} {triple.object}"
        if reasons := hygiene.rejection_reasons(words, hygiene.FACT_RULES):
            yield RefusedClaim(place=place, reasons=reasons)


def _memory_hash(memory: NewMemory, scope: str, content_hash: str) -> str:
    origin = memory.at, *origin_fields(memory).values()
    text_hash = request_hash(scope, content_hash, *origin, *memory.tags)
    if memory.on_update != "insert":
        text_hash = request_hash(text_hash, memory.on_update)
    if not memory.claims:
        return text_hash
    parts = (
        part
        for triple in memory.claims
        for part in (triple.subject, triple.predicate, triple.object)
    )
    return request_hash(text_hash, str(memory.confidence), memory.source_type, *parts)


def event_time(at: datetime | None, now: datetime) -> datetime:
    """Return the time of an event: `at`, or `now` if it is None."""
    if at is None:
        return now
    if at > now + MAX_CLOCK_SKEW:
        raise InvalidInputError(
            f"at: {at.isoformat()} must not be in the future.",
            hint="Events record the past. For a plan, pass the time at which it was stated.",
        )
    return at


def check_source_type(source_type: str, weights: Mapping[str, float]) -> None:
    """Check that a source type has a weight."""
    if source_type not in weights:
        raise InvalidInputError(
            f"source_type {source_type!r} has no weight.",
            hint=f"Use one of {', '.join(sorted(weights))}, or set GRAPHMEM_SOURCE_WEIGHTS.",
        )


def origin_fields(source: EventSource | NewMemory) -> dict[str, Any]:
    """Return the origin of an event as properties."""
    return {name: getattr(source, name) for name in ("source", "actor", "artifact_ref")}


def request_hash(*parts: str | datetime | None) -> str:
    """Return one hash of all arguments of a caller; None and an empty string differ."""
    return identity.digest(
        *(
            "-" if p is None else "+" + (p.isoformat() if isinstance(p, datetime) else p)
            for p in parts
        )
    )


def event(
    event_id: str,
    scope: str,
    kind: str,
    at: datetime,
    asked: Iterable[str | datetime | None],
    payload: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the properties of an event; `asked` identifies a repeated request."""
    return {
        "id": event_id,
        "scope": scope,
        "type": kind,
        "occurred_at": at,
        "request_hash": request_hash(*asked),
        "payload": None if payload is None else json.dumps(payload, ensure_ascii=False),
    }


def memory_row(
    drafted: TextDraft, tenant_scope: TenantScope, embedding: Embedding
) -> dict[str, Any]:
    """Return the row that creates a memory with its first event, for commit/write."""
    return {
        "scope_key": identity.scope_key(tenant_scope.tenant, tenant_scope.scope),
        "content": drafted.memory.content,
        "value_key": value_key(drafted, tenant_scope),
        **embedding_fields(embedding),
    }


def value_key(drafted: TextDraft, tenant_scope: TenantScope) -> str:
    """Return the key by which a text is recognised as rejected."""
    return rejections.text_key(tenant_scope.tenant, drafted.memory.content)


def event_row(
    drafted: TextDraft, tenant_scope: TenantScope, kind: str, payload: dict[str, Any]
) -> dict[str, Any]:
    """Return the row of an event about a drafted text for fragments/append_event."""
    return {
        "id": drafted.event_id,
        "scope": tenant_scope.scope,
        "type": kind,
        "occurred_at": drafted.occurred_at,
        "request_hash": drafted.request_hash,
        "content_hash": drafted.content_hash,
        **origin_fields(drafted.memory),
        "payload": json.dumps(payload, ensure_ascii=False),
    }


def facet_fields(
    drafted: TextDraft, tenant_scope: TenantScope, tags: Sequence[str]
) -> dict[str, Any]:
    """Return the fields of an event's row for its memory's tags and its own source."""
    return {
        "tags": list(tags),
        "tag_keys": identity.facet_keys(tenant_scope.tenant, tags, ()),
        "source_key": identity.facet_key(tenant_scope.tenant, "source", drafted.memory.source),
    }


def evidence_fields(memory: NewMemory) -> dict[str, Any]:
    """Return the evidence fields of an event with claims; empty without claims."""
    if not memory.claims:
        return {}
    return {"polarity": 1, "confidence": memory.confidence, "source_type": memory.source_type}


def restore_row(drafted: TextDraft, tenant_scope: TenantScope, memory_id: str) -> dict[str, Any]:
    """Return the row of the event that restores a hidden memory when its text is added again."""
    # Derived from the adding event's id, so a retry repeats it; hashed, so it is not a caller's id.
    return event_row(drafted, tenant_scope, EventType.RESTORE, {}) | {
        "id": "restore_" + identity.digest(drafted.event_id)[:32],
        "request_hash": request_hash(
            tenant_scope.scope, EventType.RESTORE, memory_id, drafted.event_id
        ),
        "about": memory_id,
        "label": "Memory",
    }


def default_read_scopes(scope: str) -> tuple[str, ...]:
    """Return the default read scopes of a handle on `scope`."""
    return tuple(dict.fromkeys((scope, GLOBAL_SCOPE)))
