"""The part of a handle that evidence and beliefs are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, TypeVar, Unpack

from graphmem.client.state import State, blocking, valid
from graphmem.errors import InvalidInputError
from graphmem.model import (
    Belief,
    EventType,
    Hypothesis,
    Name,
    Observation,
    Part,
    Policy,
    Predicate,
    Record,
    Recorded,
    Replaced,
    Retraction,
    Source,
    Testimony,
    Text,
)
from graphmem.operations import evidence, policy
from graphmem.rules import claims

_S = TypeVar("_S", bound=Source)
_T = TypeVar("_T")
_PAIR = 2


class From(TypedDict, total=False):
    """Where evidence comes from; every part is optional."""

    id: str
    """Makes the write idempotent."""
    at: datetime
    """When it happened, with a time zone; now by default."""
    source: str
    actor: str
    artifact_ref: str
    episode: str
    """Id of the stretch of experience it comes from; the session's by default."""
    turn: str
    """Id of the turn whose words it rests on."""
    note: str


class Seen(From, total=False):
    """How much an observation is worth."""

    confidence: float
    """In [0, 1]; 0.8 by default."""
    kind: str
    """supporting (by default) or refuting."""
    source_type: str
    """TOOL, EXPLICIT (by default), RULE, CLASSIFIER, EXTRACTOR, or another that has a weight."""


class Declaration(From, total=False):
    """How the evidence of a predicate is read; what is left out has its default."""

    cardinality: str
    """ONE or MANY (by default)."""
    kappa: float
    tau_days: float | None
    decay_per_day: float
    margin: float
    combine: str
    """net (by default) or log_odds."""


class Thought(From, total=False):
    """What else is said of a hypothesis."""

    subject: str
    predicate: str
    object: str
    confidence: float
    """Before any evidence, in [0, 1]; 0.5 by default."""


class _Id(Record):
    id: Text


class _Named(Record):
    name: Part
    template: Name | None = None


BeliefLike = str | Recorded | Belief
"""A belief's id, or what a call about it gave back."""


class AsyncBeliefs:
    """Evidence and beliefs as one writer sees them, awaited."""

    _state: State

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
        named = valid(_Named, name=name, template=template)
        fields: dict[str, Any] = dict(declared)
        reading = {k: fields.pop(k) for k in Policy.model_fields.keys() & fields.keys()}
        wanted, source = valid(Policy, **reading), valid(Source, **fields)
        return await policy.declare(self._state.binding, named.name, wanted, named.template, source)

    async def predicates(self) -> Sequence[Predicate]:
        """Return every predicate that a policy was declared for, by name."""
        return await policy.listed(self._state.binding)

    async def observe(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002
        **seen: Unpack[Seen],
    ) -> Recorded:
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
        on_batch: Callable[[Sequence[Recorded]], None] | None = None,
    ) -> Sequence[Recorded]:
        """Record evidence in its order, every 500 pieces in one transaction.

        Beliefs that are new get their embeddings at the end; until then words find them.

        Args:
            observations: records, or maps of their fields.
            on_batch: told after each acknowledged batch what became of it.

        Raises:
            InvalidInputError: one of them does not fit, named by its place; nothing is recorded.
            EventConflictError, NotFoundError: see `observe`; batches before it are kept.
        """
        given = [_observation(place, one) for place, one in enumerate(_several(observations))]
        placed = [await self._placed(one) for one in given]
        return await evidence.observe_many(self._state.binding, placed, on_batch)

    async def believe(self, statement: str | None = None, **thought: Unpack[Thought]) -> Recorded:
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
        self, belief: BeliefLike, kind: str, strength: float, **source: Unpack[From]
    ) -> Recorded:
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
        said = valid(Testimony, kind=kind, strength=strength, **source)
        return await evidence.testify(
            self._state.binding, _belief(belief), await self._placed(said)
        )

    async def retract(self, event_id: str, **source: Unpack[From]) -> Retraction:
        """Cancel a piece of evidence for every valid time, from now on.

        The event may not be there yet: it is cancelled when it comes. A retraction can be
        retracted too; of all that concern an event the newest holds.

        Raises:
            RefusedError: the event is neither evidence nor a retraction.
            ForeignScopeError: it belongs to another scope.
            EventConflictError, InvalidInputError: see `observe`.
        """
        target = valid(_Named, name=event_id).name
        return await evidence.retract(self._state.binding, target, valid(Source, **source))

    async def revise(
        self,
        belief: BeliefLike,
        statement: str | None = None,
        *,
        reason: str | None = None,
        **thought: Unpack[Thought],
    ) -> Replaced:
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
        return await self._replace(EventType.REVISE, [belief], [new], reason, new)

    async def split(
        self,
        belief: BeliefLike,
        statements: Sequence[str],
        *,
        reason: str | None = None,
        **source: Unpack[From],
    ) -> Replaced:
        """Put several beliefs in the place of one that said too much.

        Raises:
            NotFoundError, ForeignScopeError, SupersededBeliefError, SelfSupersessionError,
            InvalidInputError, EventConflictError: see `revise`.
        """
        new = [valid(Hypothesis, statement=one) for one in _several(statements)]
        if len({claims.about_statement("", str(one.statement)).id for one in new}) < _PAIR:
            raise InvalidInputError("A belief is split into two statements at least.")
        given = valid(Source, **source)
        return await self._replace(EventType.SPLIT, [belief], new, reason, given)

    async def merge(
        self,
        beliefs: Sequence[BeliefLike],
        statement: str,
        *,
        reason: str | None = None,
        **thought: Unpack[Thought],
    ) -> Replaced:
        """Put one belief in the place of several that say the same.

        Raises:
            NotFoundError, ForeignScopeError, SupersededBeliefError, SelfSupersessionError,
            InvalidInputError, EventConflictError: see `revise`.
        """
        older = list(_several(beliefs))
        if len({_belief(one) for one in older}) < _PAIR:
            raise InvalidInputError("Two beliefs at least are merged.")
        new = valid(Hypothesis, statement=statement, **thought)
        return await self._replace(EventType.MERGE, older, [new], reason, new)

    async def _replace(
        self,
        kind: EventType,
        older: Sequence[BeliefLike],
        newer: Sequence[Hypothesis],
        reason: str | None,
        source: Source,
    ) -> Replaced:
        names = Source.model_fields.keys() - {"note"}
        given = valid(Source, note=reason or source.note, **source.model_dump(include=set(names)))
        ids = [_belief(one) for one in older]
        return await evidence.replace(self._state.binding, kind, ids, newer, given)

    async def _placed(self, given: _S) -> _S:
        """Return a source within the session, when there is one and no other was named."""
        if given.episode is not None:
            return given
        return given.model_copy(update={"episode": await self._state.opened_episode()})


def _belief(given: BeliefLike) -> str:
    if isinstance(given, Recorded):
        return given.belief_id
    return given.id if isinstance(given, Belief) else valid(_Id, id=given).id


def _several(given: Iterable[_T]) -> Iterable[_T]:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InvalidInputError("This takes a list.")
    return given


def _observation(place: int, given: Observation | Mapping[str, Any]) -> Observation:
    if isinstance(given, Observation):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"Observation {place}: it is no map.")
    try:
        return valid(Observation, **{str(key): value for key, value in given.items()})
    except InvalidInputError as error:
        raise InvalidInputError(f"Observation {place}: {error.message}", hint=error.hint) from None


class Beliefs:
    """Evidence and beliefs as one writer sees them, blocking: the twin of `AsyncBeliefs`."""

    _state: State

    _placed = AsyncBeliefs._placed
    _replace = AsyncBeliefs._replace

    predicate = blocking(AsyncBeliefs.predicate)
    predicates = blocking(AsyncBeliefs.predicates)
    observe = blocking(AsyncBeliefs.observe)
    observe_many = blocking(AsyncBeliefs.observe_many)
    believe = blocking(AsyncBeliefs.believe)
    evidence = blocking(AsyncBeliefs.evidence)
    retract = blocking(AsyncBeliefs.retract)
    revise = blocking(AsyncBeliefs.revise)
    split = blocking(AsyncBeliefs.split)
    merge = blocking(AsyncBeliefs.merge)
