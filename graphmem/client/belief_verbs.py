"""Methods of a handle that record evidence, reject values, and read the beliefs that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import BeforeValidator, Discriminator, Field, Tag

from graphmem.client.arguments import (
    AskedId,
    AsOfLike,
    BeliefLike,
    Limit,
    belief_id_of,
    event_source,
    reading_of,
    records,
)
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.model import (
    Belief,
    BeliefEvidence,
    Cardinality,
    EventType,
    EvidenceKind,
    EvidenceReceipt,
    Hypothesis,
    Instant,
    Memory,
    Note,
    Observation,
    Origin,
    Part,
    Policy,
    RejectionReceipt,
    Slot,
    Statement,
    Text,
    Trail,
    Triple,
)
from graphmem.operations import belief
from graphmem.operations.evidence import recording, rejecting
from graphmem.rules import read_options
from graphmem.validation import As, valid_part

_PARTS = ("subject", "predicate", "object")

Reason: TypeAlias = Annotated[Text, Field(min_length=1, max_length=10_000, pattern=r"\S")]
"""A reason that is required; it must have a character other than spaces."""


class AsyncBeliefVerbs(AsyncNamespace):
    """Methods that record evidence and read beliefs, awaited."""

    async def observe(
        self,
        subject: Part,
        predicate: Part,
        object: Part,  # noqa: A002
        *,
        confidence: float = 0.8,
        kind: EvidenceKind | Literal["supporting", "refuting"] = "supporting",
        source_type: str = "EXPLICIT",
        cardinality: Cardinality | Literal["ONE", "MANY"] | None = None,
        episode_id: AskedId | None = None,
        turn_id: AskedId | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: Note | None = None,
    ) -> EvidenceReceipt:
        """Record evidence about a triple. The first piece creates its belief.

        Args:
            subject: subject of the triple; compared trimmed and without regard to case.
            predicate: predicate of the triple, for example works_on; compared without regard to
                case, spaces, hyphens and underscores.
            object: object of the triple.
            confidence: how sure the source is, 0 to 1.
            kind: whether the evidence supports or refutes the triple.
            source_type: TOOL, EXPLICIT, RULE, CLASSIFIER, EXTRACTOR, or another type that has a
                weight.
            cardinality: whether the values of the predicate compete (ONE) or coexist (MANY), for
                the whole tenant. Declares an undeclared predicate; None leaves it as it is.
            episode_id: id of the episode that the evidence comes from; the session's by default.
            turn_id: id of the turn that it quotes.
            event_id: idempotency key of the event; the same content returns the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual or hook.
            actor: who recorded it.
            artifact_ref: file, address or session that it comes from.
            note: comment; kept with the event.

        Raises:
            InvalidInputError: an argument is invalid, or the source type has no weight.
            NotFoundError: the episode or turn does not exist.
            CardinalityConflictError: the predicate was declared with the other cardinality.
        """
        given = valid_part(Observation, locals())
        return await recording.observe(self._state.context, await self._state.placed(given))

    async def observe_many(
        self,
        observations: Iterable[Observation | Mapping[str, Any]],
        on_progress: Callable[[Sequence[EvidenceReceipt]], None] | None = None,
    ) -> Sequence[EvidenceReceipt]:
        """Record observations in their order, 500 in each transaction.

        If the embedding model is unavailable, all are recorded, but only BM25 finds new beliefs
        until the same observations are sent again.

        Args:
            observations: records, or mappings of their fields.
            on_progress: called after each acknowledged batch with its receipts.

        Raises:
            ModelUnavailableError: the embedding model is unavailable.
            InvalidInputError: an observation is invalid; the message gives its index. Nothing is
                recorded.
            CardinalityConflictError: two observations give a predicate different cardinalities;
                nothing is recorded. Or see `observe`; earlier batches are kept.
        """
        given = await self._state.with_whole_ids(records("observations", Observation, observations))
        placed = [await self._state.placed(one) for one in given]
        return await recording.observe_many(self._state.context, placed, on_progress)

    async def believe(
        self,
        statement: Statement | None = None,
        *,
        subject: Part | None = None,
        predicate: Part | None = None,
        object: Part | None = None,  # noqa: A002
        confidence: float = 0.5,
        episode_id: AskedId | None = None,
        turn_id: AskedId | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: Note | None = None,
    ) -> EvidenceReceipt:
        """Record a hypothesis; return the id of its belief.

        Args:
            statement: the hypothesis in words; may be omitted if a triple is given.
            subject: subject of the triple; give all three parts or none.
            predicate: predicate of the triple.
            object: object of the triple.
            confidence: confidence before any evidence, 0 to 1.
            episode_id: id of the episode that the evidence comes from; the session's by default.
            turn_id: id of the turn that it quotes.
            event_id: idempotency key of the event; the same content returns the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual or hook.
            actor: who recorded it.
            artifact_ref: file, address or session that it comes from.
            note: comment; kept with the event.
        """
        given = valid_part(Hypothesis, locals())
        return await recording.believe(self._state.context, await self._state.placed(given))

    async def add_evidence(
        self,
        belief_id: BeliefLike,
        kind: EvidenceKind | Literal["supporting", "refuting"],
        strength: float,
        *,
        episode_id: AskedId | None = None,
        turn_id: AskedId | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: Note | None = None,
    ) -> EvidenceReceipt:
        """Record evidence for or against a belief, for the sequential test.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            kind: whether the evidence supports or refutes the belief.
            strength: likelihood that such evidence is right, counted within [0.1, 0.9]. Below 0.5
                it counts in the opposite direction, and the receipt reports that.
            episode_id: id of the episode that the evidence comes from; the session's by default.
            turn_id: id of the turn that it quotes.
            event_id: idempotency key of the event; the same content returns the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual or hook.
            actor: who recorded it.
            artifact_ref: file, address or session that it comes from.
            note: comment; kept with the event.
        """
        given = valid_part(BeliefEvidence, locals())
        return await recording.testify(
            self._state.context, belief_id_of(belief_id), await self._state.placed(given)
        )

    async def current(
        self,
        subject: Part,
        predicate: Part,
        *,
        limit: Limit = 100,
        as_of: AsOfLike | None = None,
        policy: Policy | None = None,
    ) -> Slot:
        """Return the values of a slot, best first, read by the policy of its predicate.

        The write scope is read first. If it has no evidence for the slot, the other read scopes
        are read in their order. An undeclared predicate is read as ONE if it is on the built-in
        list of single-valued ones, else as MANY; `policy_origin` of the result reports why.

        Args:
            subject: subject of the slot; compared trimmed and without regard to case.
            predicate: predicate of the slot, for example works_on; compared without regard to
                case, spaces, hyphens and underscores.
            limit: maximum number of candidates, 1 to 1,000.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
        """
        read = reading_of(as_of, policy)
        return await belief.current(self._state.context, subject, predicate, read, limit=limit)

    async def evidence_for(
        self,
        belief_id: BeliefLike,
        *,
        cursor: str | None = None,
        limit: Limit = 100,
        pooled: bool = False,
        as_of: AsOfLike | None = None,
    ) -> Trail:
        """Return the sequential test of a belief, oldest piece first.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of pieces, 1 to 1,000.
            pooled: count only the strongest piece of each episode and polarity.
            as_of: valid and known time of the read; now by default.
        """
        suppose = belief.TrailRequest(
            pooled=pooled, skip=read_options.parse_position_cursor(cursor), limit=limit
        )
        by = reading_of(as_of)
        return await belief.test(self._state.context, belief_id_of(belief_id), by, suppose)


class BeliefVerbs(Namespace):
    """Methods that record evidence and read beliefs; blocking twin of `AsyncBeliefVerbs`."""

    observe = blocking(AsyncBeliefVerbs.observe)
    observe_many = blocking(AsyncBeliefVerbs.observe_many)
    believe = blocking(AsyncBeliefVerbs.believe)
    add_evidence = blocking(AsyncBeliefVerbs.add_evidence)
    current = blocking(AsyncBeliefVerbs.current)
    evidence_for = blocking(AsyncBeliefVerbs.evidence_for)


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


_Target = Annotated[
    Annotated[AskedId, Tag("id")] | Annotated[Triple, Tag("value")],
    Discriminator(_form),
    BeforeValidator(_target),
]
Rejectable: TypeAlias = Annotated[
    str | Memory | Belief | EvidenceReceipt | Triple | tuple[str, str, str], As(_Target)
]
"""Id of a memory or a belief, a record of it, a receipt of evidence; or a value of a slot: a
triple, or its subject, predicate and object."""


class AsyncRejectionVerbs(AsyncNamespace):
    """Methods by which a person rejects values, awaited."""

    async def reject(
        self,
        target: Rejectable,
        *,
        reason: Reason,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> RejectionReceipt:
        """Record that a person rejects a value.

        The value is hidden from every reader of the handle's write scope, in all scopes that the
        reader sees and in every spelling and form. It stays so whatever is written or imported
        later; only `unreject` takes the decision back. Other values of its slot stay, and evidence
        for the rejected one does not count against them.

        Args:
            target: a memory or a belief, or a value of a slot: (subject, predicate, object).
            reason: the reason; kept with the event.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            ErasedError: the value of a slot was erased.
        """
        by = event_source(origin, at, reason)
        value = cast("str | Triple", target)
        return await rejecting.rule(self._state.context, EventType.REJECT, value, by)

    async def unreject(
        self,
        target: Rejectable,
        *,
        reason: Reason,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> RejectionReceipt:
        """Take a rejection back. All evidence for the value counts again.

        Args:
            target: what to give: see `reject`.
            reason: the reason; kept with the event.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            ErasedError: see `reject`.
        """
        by = event_source(origin, at, reason)
        value = cast("str | Triple", target)
        return await rejecting.rule(self._state.context, EventType.UNREJECT, value, by)


class RejectionVerbs(Namespace):
    """Methods by which a person rejects values; blocking twin of `AsyncRejectionVerbs`."""

    reject = blocking(AsyncRejectionVerbs.reject)
    unreject = blocking(AsyncRejectionVerbs.unreject)
