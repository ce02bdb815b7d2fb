"""Methods of a handle by which a person rejects values."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, Field, Tag

from graphmem.client.arguments import AskedId, event_source
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import HandleState, valid
from graphmem.model import (
    Belief,
    EventSource,
    EventType,
    EvidenceReceipt,
    Memory,
    Record,
    RejectionReceipt,
    Text,
    Triple,
)
from graphmem.operations import evidence

Rejectable = str | Memory | Belief | EvidenceReceipt | Triple | tuple[str, str, str]
"""Id of a memory or a belief, a record of it, a receipt of evidence; or a value of a slot: a
triple, or its subject, predicate and object."""
_PARTS = ("subject", "predicate", "object")


def _target(given: object) -> object:
    if isinstance(given, Memory | Belief):
        return given.id
    if isinstance(given, EvidenceReceipt):
        return given.belief_id
    if isinstance(given, list | tuple) and len(given) == len(_PARTS):
        return dict(zip(_PARTS, given, strict=True))
    return given


def _form(target: object) -> str:
    """Return the form of a target, which errors name instead of the types of the union."""
    return "value" if isinstance(target, dict | Triple) else "id"


class _Ruling(Record):
    """A target of a ruling, and its reason."""

    target: Annotated[
        Annotated[AskedId, Tag("id")] | Annotated[Triple, Tag("value")],
        Discriminator(_form),
        BeforeValidator(_target),
    ]
    reason: Annotated[Text, Field(min_length=1, max_length=10_000, pattern=r"\S")]


class AsyncRejectionVerbs(AsyncNamespace):
    """Methods by which a person rejects values, awaited."""

    async def reject(
        self,
        target: Rejectable,
        *,
        reason: str,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
    ) -> RejectionReceipt:
        """Record a person's decision that a value must not be believed again.

        The value is hidden in the handle's write scope, in every spelling, and stays so whatever is
        written or imported later; only `unreject` takes the decision back. Other values of its slot
        stay, and evidence for the rejected one does not count against them.

        Args:
            target: a memory or a belief, or a value of a slot: (subject, predicate, object).
            reason: why; kept with the event.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: the person who decided.
            artifact_ref: file name, address or session that it comes from.

        Raises:
            NotFoundError: no visible memory or belief has this id.
            ForeignScopeError: it belongs to another scope.
            ErasedError: the value of a slot was erased.
            EventConflictError: the id was used for another event.
            InvalidInputError: an argument is invalid.
        """
        origin = event_source(event_id, at, source, actor, artifact_ref)
        return await _rule(self._state, EventType.REJECT, target, reason, origin)

    async def unreject(
        self,
        target: Rejectable,
        *,
        reason: str,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
    ) -> RejectionReceipt:
        """Take the rejection of a value back; all evidence for it counts again.

        Args:
            target: what to give: see `reject`.
            reason: why; kept with the event.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: the person who decided.
            artifact_ref: file name, address or session that it comes from.

        Raises:
            NotFoundError, ForeignScopeError, ErasedError, EventConflictError, InvalidInputError:
                see `reject`.
        """
        origin = event_source(event_id, at, source, actor, artifact_ref)
        return await _rule(self._state, EventType.UNREJECT, target, reason, origin)


class RejectionVerbs(Namespace):
    """Methods by which a person rejects values; blocking twin of `AsyncRejectionVerbs`."""

    reject = blocking(AsyncRejectionVerbs.reject)
    unreject = blocking(AsyncRejectionVerbs.unreject)


async def _rule(
    state: HandleState, kind: EventType, target: Any, reason: str, origin: EventSource
) -> RejectionReceipt:
    given = valid(_Ruling, target=target, reason=reason)
    by = origin.model_copy(update={"note": given.reason})
    return await evidence.rule(state.context, kind, given.target, by)
