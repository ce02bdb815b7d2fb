"""Namespaces `predicates` and `aliases` of a handle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from graphmem.client.arguments import event_source
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.model import (
    Alias,
    Cardinality,
    Combine,
    Instant,
    Name,
    Origin,
    Part,
    Policy,
    Predicate,
)
from graphmem.operations import declarations
from graphmem.validation import valid_part


class AsyncPredicates(AsyncNamespace):
    """Methods that declare and list predicates, awaited."""

    _prefix = "predicates."

    async def declare(
        self,
        name: Part,
        *,
        template: Name | None = None,
        cardinality: Cardinality | Literal["ONE", "MANY"] = "MANY",
        kappa: float = 3.0,
        tau_days: float | None = None,
        decay_per_day: float = 0.0,
        margin: float = 0.1,
        combine: Combine | Literal["net", "log_odds"] = "log_odds",
        valid_from: Instant | None = None,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> Predicate:
        """Declare how the evidence of a predicate is read.

        In the scope `global` it applies to the whole tenant. A read uses the nearest declaration:
        of the reader's own scope, then of the scope of the facts, then of `global`. In one scope
        the newest applies, to every valid time, also to evidence recorded before it. A read as of
        an earlier known time uses what was declared by then. Events do not change.

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
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.
        """
        wanted = valid_part(Policy, locals())
        return await declarations.declare(
            self._state.context,
            name,
            wanted,
            template=template,
            valid_from=valid_from,
            given=event_source(origin, at),
        )

    async def list(self) -> Sequence[Predicate]:
        """Return the predicates declared in the read scopes, by name."""
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
        name: Part,
        other: Part,
        *,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> Alias:
        """Make a name an alias of another, for every valid time.

        In the scope `global` it is an alias for the whole tenant; see `predicates.declare`.

        A slot is then read under all names of its subject, and its values are compared by the
        names that their objects are aliases of. Extraction records facts under the other name.
        Recorded events do not change, and `remove` removes the alias. A belief that is read by its
        id uses its own evidence; `why` lists beliefs that state the same under other names.

        Args:
            name: the alias, for example "Bob Smith"; compared trimmed and without regard to case.
            other: the name that it is an alias of, for example "Bob".
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            NameChainError: `other` is an alias itself, or `name` has aliases.
            InvalidInputError: an argument is invalid, or both names are the same.
        """
        by = event_source(origin, at)
        return await declarations.say(self._state.context, name, other, by)

    async def remove(
        self,
        name: Part,
        *,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> Alias:
        """Remove an alias; see `add`.

        Args:
            name: the alias.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            NotFoundError: the name is not an alias in this scope.
        """
        by = event_source(origin, at)
        return await declarations.say(self._state.context, name, None, by)

    async def list(self) -> Sequence[Alias]:
        """Return the aliases in the read scopes, by name."""
        return await declarations.aliases(self._state.context)


class Aliases(Namespace):
    """Methods that add, remove and list aliases; blocking twin of `AsyncAliases`."""

    add = blocking(AsyncAliases.add)
    remove = blocking(AsyncAliases.remove)
    list = blocking(AsyncAliases.list)
