"""The part of a handle that records evidence, hypotheses and policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, Unpack

from graphmem.client.given import (
    Because,
    BeliefLike,
    Declaration,
    From,
    Named,
    Seen,
    Target,
    Thought,
    Where,
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
    EvidenceReceipt,
    EvidenceSource,
    Hypothesis,
    Observation,
    Policy,
    Predicate,
    ReplacementReceipt,
    RetractionReceipt,
)
from graphmem.operations import declarations, evidence
from graphmem.rules import claims

_E = TypeVar("_E", bound=EvidenceSource)
_PAIR = 2


class AsyncEvidence(Instrumented):
    """Evidence as one writer records it, awaited."""

    async def predicate(
        self, name: str, *, template: str | None = None, **declared: Unpack[Declaration]
    ) -> Predicate:
        """Declare how the evidence of a predicate is read, for the whole tenant.

        Events stay as they are; reads of an earlier instant use the policy in force then.

        Args:
            name: of the predicate, for example works_on.
            template: how a new belief reads aloud, for example "{subject} works on {object}".
            declared: the fields of `Policy`, and where the declaration comes from.

        Raises:
            InvalidInputError: an argument does not fit.
            EventConflictError: the id was used for something else.
        """
        named = valid(Named, name=name, template=template)
        fields: dict[str, Any] = dict(declared)
        reading = {k: fields.pop(k) for k in Policy.model_fields.keys() & fields.keys()}
        wanted, source = valid(Policy, **reading), valid(EventSource, **fields)
        return await declarations.declare(
            self._state.binding, named.name, wanted, named.template, source
        )

    async def observe(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002
        **seen: Unpack[Seen],
    ) -> EvidenceReceipt:
        """Record one piece of evidence about a triple; the first makes its belief.

        Raises:
            InvalidInputError: an argument does not fit, or the source type has no weight.
            EventConflictError: the id was used for something else.
            NotFoundError: the episode or turn does not exist.
        """
        given = valid(Observation, subject=subject, predicate=predicate, object=object, **seen)
        return await evidence.observe(self._state.binding, await self._placed(given))

    async def observe_many(
        self,
        observations: Iterable[Observation | Mapping[str, Any]],
        on_batch: Callable[[Sequence[EvidenceReceipt]], None] | None = None,
    ) -> Sequence[EvidenceReceipt]:
        """Record evidence in its order, every 500 pieces in one transaction.

        Beliefs that are new get their embeddings at the end; until then words find them.

        Args:
            observations: records, or maps of their fields.
            on_batch: told after each acknowledged batch what became of it.

        Raises:
            InvalidInputError: one of them does not fit, named by its place; nothing is recorded.
            EventConflictError, NotFoundError: see `observe`; batches before it are kept.
        """
        given = records("observations", Observation, observations)
        placed = [await self._placed(one) for one in given]
        return await evidence.observe_many(self._state.binding, placed, on_batch)

    async def believe(
        self, statement: str | None = None, **thought: Unpack[Thought]
    ) -> EvidenceReceipt:
        """Record a hypothesis to be tested, and return the id of its belief.

        Args:
            statement: in words; may be left out when a triple is given.
            thought: subject, predicate and object together, confidence, and where it comes from.

        Raises:
            InvalidInputError, EventConflictError, NotFoundError: see `observe`.
        """
        given = valid(Hypothesis, statement=statement, **thought)
        return await evidence.believe(self._state.binding, await self._placed(given))

    async def evidence(
        self, belief: BeliefLike, kind: str, strength: float, **source: Unpack[Where]
    ) -> EvidenceReceipt:
        """Record evidence for or against a belief, for the sequential test.

        Args:
            belief: its id, or what made it.
            kind: supporting or refuting.
            strength: the likelihood that such evidence is right; counted within [0.1, 0.9]. Below
                0.5 it speaks the other way, and the result says so.
            source: where it comes from.

        Raises:
            NotFoundError: nothing visible has this id.
            ForeignScopeError: the belief belongs to another scope.
            InvalidInputError, EventConflictError: see `observe`.
        """
        said = valid(BeliefEvidence, kind=kind, strength=strength, **source)
        return await evidence.testify(
            self._state.binding, belief_id_of(belief), await self._placed(said)
        )

    async def retract(self, event_id: str, **source: Unpack[From]) -> RetractionReceipt:
        """Cancel a piece of evidence for every valid time, from now on.

        The event may not be there yet: it is cancelled when it comes. A retraction can be
        retracted too; of all that concern an event the newest holds.

        Raises:
            RefusedError: the event is neither evidence nor a retraction, or the retraction itself.
            ForeignScopeError: it belongs to another scope.
            EventConflictError, InvalidInputError: see `observe`.
        """
        target = valid(Target, event_id=event_id).event_id
        return await evidence.retract(self._state.binding, target, valid(EventSource, **source))

    async def revise(
        self,
        belief: BeliefLike,
        statement: str | None = None,
        *,
        reason: str | None = None,
        **thought: Unpack[Thought],
    ) -> ReplacementReceipt:
        """Put another wording, or another triple, in the place of a belief.

        The older stays readable with its evidence; the newer starts with none.

        Raises:
            NotFoundError: nothing visible has this id.
            ForeignScopeError: the belief belongs to another scope.
            SupersededBeliefError: it was superseded already.
            SelfSupersessionError: the wording is that of the belief itself.
            InvalidInputError, EventConflictError: see `observe`.
        """
        new = valid(Hypothesis, statement=statement, **thought)
        return await self._replace(EventType.REVISE, [belief], [new], reason)

    async def split(
        self,
        belief: BeliefLike,
        statements: Sequence[str],
        *,
        reason: str | None = None,
        **source: Unpack[Where],
    ) -> ReplacementReceipt:
        """Put several beliefs in the place of one that said too much.

        Raises:
            NotFoundError, ForeignScopeError, SupersededBeliefError, SelfSupersessionError,
            InvalidInputError, EventConflictError: see `revise`.
        """
        given = valid(EvidenceSource, **source).model_dump()
        new = [valid(Hypothesis, statement=s, **given) for s in several("statements", statements)]
        if len({claims.about_statement("", str(one.statement)).id for one in new}) < _PAIR:
            raise InvalidInputError("A belief is split into two statements at least.")
        return await self._replace(EventType.SPLIT, [belief], new, reason)

    async def merge(
        self,
        beliefs: Sequence[BeliefLike],
        statement: str,
        *,
        reason: str | None = None,
        **thought: Unpack[Thought],
    ) -> ReplacementReceipt:
        """Put one belief in the place of several that say the same.

        Raises:
            NotFoundError, ForeignScopeError, SupersededBeliefError, SelfSupersessionError,
            InvalidInputError, EventConflictError: see `revise`.
        """
        older = several("beliefs", beliefs)
        if len({belief_id_of(one) for one in older}) < _PAIR:
            raise InvalidInputError("Two beliefs at least are merged.")
        new = valid(Hypothesis, statement=statement, **thought)
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
        """Return what was experienced within the session, if there is one and no other is named."""
        if given.episode is not None:
            return given
        return given.model_copy(update={"episode": await self._state.opened_episode()})


class Evidence:
    """Evidence as one writer records it, blocking: the twin of `AsyncEvidence`."""

    _state: HandleState

    _placed = AsyncEvidence._placed
    _replace = AsyncEvidence._replace

    predicate = blocking(AsyncEvidence.predicate)
    observe = blocking(AsyncEvidence.observe)
    observe_many = blocking(AsyncEvidence.observe_many)
    believe = blocking(AsyncEvidence.believe)
    evidence = blocking(AsyncEvidence.evidence)
    retract = blocking(AsyncEvidence.retract)
    revise = blocking(AsyncEvidence.revise)
    split = blocking(AsyncEvidence.split)
    merge = blocking(AsyncEvidence.merge)
