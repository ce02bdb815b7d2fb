"""Methods of a handle that record evidence and hypotheses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeVar

from graphmem.client.given import (
    Because,
    BeliefLike,
    Target,
    belief_id_of,
    records,
    several,
)
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid
from graphmem.errors import InvalidInputError
from graphmem.model import (
    BeliefEvidence,
    EventSource,
    EventType,
    EvidenceKind,
    EvidenceReceipt,
    EvidenceSource,
    Hypothesis,
    Observation,
    ReplacementReceipt,
    RetractionReceipt,
)
from graphmem.operations import evidence
from graphmem.rules import claims

_E = TypeVar("_E", bound=EvidenceSource)
_PAIR = 2


class AsyncEvidence(Instrumented):
    """Methods that record evidence, awaited."""

    async def observe(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002
        *,
        confidence: float = 0.8,
        kind: EvidenceKind | Literal["supporting", "refuting"] = "supporting",
        source_type: str = "EXPLICIT",
        episode: str | None = None,
        turn: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> EvidenceReceipt:
        """Record one piece of evidence about a triple; the first one creates its belief.

        Args:
            subject: subject of the triple; compared trimmed and without regard to case.
            predicate: predicate of the triple, for example works_on.
            object: object of the triple.
            confidence: how sure the source is, 0 to 1.
            kind: whether the evidence supports or refutes the triple.
            source_type: TOOL, EXPLICIT, RULE, CLASSIFIER, EXTRACTOR, or another type that has a
                weight.
            episode: id of the episode that the evidence comes from; the session's by default.
            turn: id of the turn that it quotes.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            InvalidInputError: an argument is invalid, or the source type has no weight.
            EventConflictError: the id was used for another event.
            NotFoundError: the episode or turn does not exist.
        """
        given = valid(
            Observation,
            subject=subject,
            predicate=predicate,
            object=object,
            confidence=confidence,
            kind=kind,
            source_type=source_type,
            episode=episode,
            turn=turn,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await evidence.observe(self._state.binding, await self._placed(given))

    async def observe_many(
        self,
        observations: Iterable[Observation | Mapping[str, Any]],
        on_batch: Callable[[Sequence[EvidenceReceipt]], None] | None = None,
    ) -> Sequence[EvidenceReceipt]:
        """Record observations in their order, 500 in each transaction.

        New beliefs get their embeddings at the end; until then only BM25 finds them.

        Args:
            observations: records, or mappings of their fields.
            on_batch: called after each acknowledged batch with its receipts.

        Raises:
            InvalidInputError: an observation is invalid; the message gives its index. Nothing is
                recorded.
            EventConflictError, NotFoundError: see `observe`; earlier batches are kept.
        """
        given = records("observations", Observation, observations)
        placed = [await self._placed(one) for one in given]
        return await evidence.observe_many(self._state.binding, placed, on_batch)

    async def believe(
        self,
        statement: str | None = None,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        confidence: float = 0.5,
        episode: str | None = None,
        turn: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> EvidenceReceipt:
        """Record a hypothesis to be tested, and return the id of its belief.

        Args:
            statement: the hypothesis in words; may be omitted if a triple is given.
            subject: subject of the triple; give all three parts or none.
            predicate: predicate of the triple.
            object: object of the triple.
            confidence: confidence before any evidence, 0 to 1.
            episode: id of the episode that the evidence comes from; the session's by default.
            turn: id of the turn that it quotes.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            InvalidInputError, EventConflictError, NotFoundError: see `observe`.
        """
        given = valid(
            Hypothesis,
            statement=statement,
            subject=subject,
            predicate=predicate,
            object=object,
            confidence=confidence,
            episode=episode,
            turn=turn,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await evidence.believe(self._state.binding, await self._placed(given))

    async def evidence(
        self,
        belief: BeliefLike,
        kind: EvidenceKind | Literal["supporting", "refuting"],
        strength: float,
        *,
        episode: str | None = None,
        turn: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> EvidenceReceipt:
        """Record evidence for or against a belief, for the sequential test.

        Args:
            belief: id of the belief, or a receipt or record of it.
            kind: whether the evidence supports or refutes the belief.
            strength: likelihood that such evidence is right, counted within [0.1, 0.9]. Below 0.5
                it counts in the opposite direction, and the receipt reports that.
            episode: id of the episode that the evidence comes from; the session's by default.
            turn: id of the turn that it quotes.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError: no visible belief has this id.
            ForeignScopeError: the belief belongs to another scope.
            InvalidInputError, EventConflictError: see `observe`.
        """
        given = valid(
            BeliefEvidence,
            kind=kind,
            strength=strength,
            episode=episode,
            turn=turn,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await evidence.testify(
            self._state.binding, belief_id_of(belief), await self._placed(given)
        )

    async def retract(
        self,
        event_id: str,
        *,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> RetractionReceipt:
        """Retract a piece of evidence for every valid time, from now on.

        The event may not exist yet: it is retracted when it arrives. A retraction can be retracted
        too; of all retractions of an event the newest decides.

        Args:
            event_id: id of the evidence, or of a retraction.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            RefusedError: the event is neither evidence nor a retraction, or is this retraction.
            ForeignScopeError: the event belongs to another scope.
            EventConflictError, InvalidInputError: see `observe`.
        """
        target = valid(Target, event_id=event_id).event_id
        origin = valid(
            EventSource,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await evidence.retract(self._state.binding, target, origin)

    async def revise(
        self,
        belief: BeliefLike,
        statement: str | None = None,
        *,
        reason: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        confidence: float = 0.5,
        episode: str | None = None,
        turn: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReplacementReceipt:
        """Replace a belief by another wording or another triple.

        The older belief stays readable with its evidence; the newer one starts without evidence.

        Args:
            belief: id of the belief, or a receipt or record of it.
            statement: the new belief in words; may be omitted if a triple is given.
            reason: why; kept with the event.
            subject: subject of the new triple; give all three parts or none.
            predicate: predicate of the new triple.
            object: object of the new triple.
            confidence: confidence before any evidence, 0 to 1.
            episode: id of the episode that the evidence comes from; the session's by default.
            turn: id of the turn that it quotes.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError: no visible belief has this id.
            ForeignScopeError: the belief belongs to another scope.
            SupersededBeliefError: the belief was superseded already.
            SelfSupersessionError: the new wording is that of the belief itself.
            InvalidInputError, EventConflictError: see `observe`.
        """
        new = valid(
            Hypothesis,
            statement=statement,
            subject=subject,
            predicate=predicate,
            object=object,
            confidence=confidence,
            episode=episode,
            turn=turn,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await self._replace(EventType.REVISE, [belief], [new], reason)

    async def split(
        self,
        belief: BeliefLike,
        statements: Sequence[str],
        *,
        reason: str | None = None,
        episode: str | None = None,
        turn: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReplacementReceipt:
        """Replace a belief that states several things by several beliefs.

        Args:
            belief: id of the belief, or a receipt or record of it.
            statements: two or more statements in words.
            reason: why; kept with the event.
            episode: id of the episode that the evidence comes from; the session's by default.
            turn: id of the turn that it quotes.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError, ForeignScopeError, SupersededBeliefError, SelfSupersessionError,
            InvalidInputError, EventConflictError: see `revise`.
        """
        origin = valid(
            EvidenceSource,
            episode=episode,
            turn=turn,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        given = origin.model_dump()
        new = [valid(Hypothesis, statement=s, **given) for s in several("statements", statements)]
        if len({claims.statement_claim("", str(one.statement)).id for one in new}) < _PAIR:
            raise InvalidInputError("A belief is split into two statements at least.")
        return await self._replace(EventType.SPLIT, [belief], new, reason)

    async def merge(
        self,
        beliefs: Sequence[BeliefLike],
        statement: str,
        *,
        reason: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        confidence: float = 0.5,
        episode: str | None = None,
        turn: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReplacementReceipt:
        """Replace several beliefs that state the same by one belief.

        Args:
            beliefs: two or more ids of beliefs, receipts or records.
            statement: the new belief in words.
            reason: why; kept with the event.
            subject: subject of the new triple; give all three parts or none.
            predicate: predicate of the new triple.
            object: object of the new triple.
            confidence: confidence before any evidence, 0 to 1.
            episode: id of the episode that the evidence comes from; the session's by default.
            turn: id of the turn that it quotes.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError, ForeignScopeError, SupersededBeliefError, SelfSupersessionError,
            InvalidInputError, EventConflictError: see `revise`.
        """
        older = several("beliefs", beliefs)
        if len({belief_id_of(one) for one in older}) < _PAIR:
            raise InvalidInputError("Two beliefs at least are merged.")
        new = valid(
            Hypothesis,
            statement=statement,
            subject=subject,
            predicate=predicate,
            object=object,
            confidence=confidence,
            episode=episode,
            turn=turn,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await self._replace(EventType.MERGE, older, [new], reason)

    async def _replace(
        self,
        kind: EventType,
        older: Sequence[BeliefLike],
        newer: Sequence[Hypothesis],
        reason: str | None,
    ) -> ReplacementReceipt:
        ids = [belief_id_of(one) for one in older]
        why = valid(Because, reason=reason).reason or newer[0].note
        source = newer[0].model_dump(include=set(EventSource.model_fields)) | {"note": why}
        placed = [await self._placed(one) for one in newer]
        return await evidence.replace(self._state.binding, kind, ids, placed, EventSource(**source))

    async def _placed(self, given: _E) -> _E:
        """Return the evidence with the session's episode, unless it names one or none is open."""
        if given.episode is not None:
            return given
        return given.model_copy(update={"episode": await self._state.opened_episode()})


class Evidence:
    """Methods that record evidence; blocking twin of `AsyncEvidence`."""

    _state: HandleState

    _placed = AsyncEvidence._placed
    _replace = AsyncEvidence._replace

    observe = blocking(AsyncEvidence.observe)
    observe_many = blocking(AsyncEvidence.observe_many)
    believe = blocking(AsyncEvidence.believe)
    evidence = blocking(AsyncEvidence.evidence)
    retract = blocking(AsyncEvidence.retract)
    revise = blocking(AsyncEvidence.revise)
    split = blocking(AsyncEvidence.split)
    merge = blocking(AsyncEvidence.merge)
