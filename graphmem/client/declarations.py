"""Namespaces `predicates` and `aliases` of a handle."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from graphmem.client.arguments import Named, event_source
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import valid
from graphmem.model import Alias, Cardinality, Combine, Instant, Part, Policy, Predicate, Record
from graphmem.operations import declarations


class _NamePair(Record):
    name: Part
    other: Part | None = None


class _Start(Record):
    valid_from: Instant | None = None


class AsyncPredicates(AsyncNamespace):
    """Methods that declare and list predicates, awaited."""

    _prefix = "predicates."

    async def declare(
        self,
        name: str,
        *,
        template: str | None = None,
        cardinality: Cardinality | Literal["ONE", "MANY"] = "MANY",
        kappa: float = 3.0,
        tau_days: float | None = None,
        decay_per_day: float = 0.0,
        margin: float = 0.1,
        combine: Combine | Literal["net", "log_odds"] = "log_odds",
        valid_from: datetime | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> Predicate:
        """Declare how the evidence of a predicate is read, for the whole tenant.

        Events do not change. The newest declaration applies to every valid time, also to evidence
        recorded before it. A read as of an earlier known time uses what was declared by then.

        Args:
            name: name of the predicate, for example works_on; compared without regard to case,
                spaces, hyphens and underscores.
            template: sentence of a new belief, for example "{subject} works on {object}".
            cardinality: ONE if the values of a slot compete, MANY if they coexist.
            kappa: ONE: how strongly a newer value suppresses the others, 0 to 1,000.
            tau_days: ONE: time constant of that suppression in days; None if it does not decay.
            decay_per_day: decay rate of evidence, 0 to 1,000; 0 switches decay off.
            margin: ONE: the two best values are ambiguous if their scores differ by less, 0 to 1.
            combine: MANY: how evidence for and against is combined.
            valid_from: valid time from which it applies, with a time zone; every one by default.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            InvalidInputError: an argument is invalid.
            EventConflictError: the id was used for another event.
        """
        named = valid(Named, name=name, template=template)
        wanted = valid(
            Policy,
            cardinality=cardinality,
            kappa=kappa,
            tau_days=tau_days,
            decay_per_day=decay_per_day,
            margin=margin,
            combine=combine,
        )
        origin = event_source(event_id, at, source, actor, artifact_ref, note)
        start = valid(_Start, valid_from=valid_from)
        return await declarations.declare(
            self._state.context,
            named.name,
            wanted,
            template=named.template,
            valid_from=start.valid_from,
            given=origin,
        )

    async def list(self) -> Sequence[Predicate]:
        """Return every predicate that has a declared policy, by name."""
        return await declarations.predicates(self._state.context)


class Predicates(Namespace):
    """Methods that declare and list predicates; blocking twin of `AsyncPredicates`."""

    declare = blocking(AsyncPredicates.declare)
    list = blocking(AsyncPredicates.list)


class AsyncAliases(AsyncNamespace):
    """Methods that add, remove and list aliases, awaited."""

    _prefix = "aliases."

    async def add(
        self,
        name: str,
        other: str,
        *,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> Alias:
        """Make a name an alias of another name, for the whole tenant and every valid time.

        A slot is then read under all names of its subject, and its values are compared by the
        names that their objects are aliases of. Extraction records facts under the other name.
        Recorded events do not change, and `remove` removes the alias. A belief that is read by its
        id uses its own evidence; `why` lists beliefs that state the same under other names.

        Args:
            name: the alias, for example "Bob Smith"; compared trimmed and without regard to case.
            other: the name that it is an alias of, for example "Bob".
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NameChainError: `other` is an alias itself, or `name` has aliases.
            InvalidInputError: an argument is invalid, or both names are the same.
            EventConflictError: the id was used for another event.
        """
        pair = valid(_NamePair, name=name, other=other)
        origin = event_source(event_id, at, source, actor, artifact_ref, note)
        return await declarations.say(self._state.context, pair.name, pair.other, origin)

    async def remove(
        self,
        name: str,
        *,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> Alias:
        """Remove an alias; see `add`.

        Args:
            name: the alias.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError: the name is not an alias.
            InvalidInputError, EventConflictError: see `add`.
        """
        pair = valid(_NamePair, name=name)
        origin = event_source(event_id, at, source, actor, artifact_ref, note)
        return await declarations.say(self._state.context, pair.name, None, origin)

    async def list(self) -> Sequence[Alias]:
        """Return every alias, by name."""
        return await declarations.aliases(self._state.context)


class Aliases(Namespace):
    """Methods that add, remove and list aliases; blocking twin of `AsyncAliases`."""

    add = blocking(AsyncAliases.add)
    remove = blocking(AsyncAliases.remove)
    list = blocking(AsyncAliases.list)
