"""Namespaces `predicates`, `aliases`, `proposals` and `items` of a handle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Literal, TypeAlias, cast

from graphmem.client.arguments import ItemId, Limit, event_source, several
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.errors import InvalidInputError
from graphmem.extraction import ProposalPage, ProposalStatus, ReviewReport, review
from graphmem.items import (
    GetItem,
    ItemAnswer,
    ItemCall,
    ListNamespaces,
    PutItem,
    SearchItems,
    operations,
)
from graphmem.model import (
    Alias,
    Cardinality,
    Combine,
    EventSource,
    EventType,
    Instant,
    Name,
    Origin,
    Part,
    Policy,
    Predicate,
)
from graphmem.operations import declarations, lineage
from graphmem.operations.evidence import recording, writing
from graphmem.validation import As, valid_part

ProposalIds: TypeAlias = Annotated[Iterable[str], As(tuple[ItemId, ...])]


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


class AsyncProposals(AsyncNamespace):
    """Methods that review proposals, awaited."""

    _prefix = "proposals."

    async def list(
        self,
        *,
        status: Annotated[str, As(ProposalStatus)] | None = "open",
        cursor: str | None = None,
        limit: Limit = 50,
    ) -> ProposalPage:
        """Return a page of the proposals under review, oldest first.

        Args:
            status: open, accepted or dismissed; None for all.
            cursor: `next_cursor` of the previous page; `status` must be the same.
            limit: maximum number of proposals, 1 to 1,000.
        """
        wanted = cast("ProposalStatus | None", status)
        return await review.page(self._state.context, wanted, cursor=cursor, limit=limit)

    async def accept(
        self,
        proposal_ids: ProposalIds,
        *,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> ReviewReport:
        """Turn proposals into evidence and changes: all or none.

        Evidence declares the cardinality that its proposal suggests, if its predicate is undeclared
        and not on the built-in list. A dismissed proposal can be accepted later. `retract` takes
        the evidence of an accepted proposal back, `memories.restore` reverts an update.

        Args:
            proposal_ids: ids of proposals.
            at: when it was decided, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            NotFoundError: no visible proposal has one of the ids.
            ForeignScopeError: a proposal belongs to another scope.
            PersonOnlyError: a proposal takes back what a person stated, and the handle was made for
                another writer than a person.
        """
        to = self._state.context
        by = _decision(origin, at)
        apply = {
            EventType.PROPOSE_UPDATE: lineage.replace_with,
            EventType.PROPOSE_RETRACT: recording.retract_with,
        }
        done = await review.accept(to, tuple(proposal_ids), by, apply)
        if done.belief_ids:
            await writing.embed_statements(to, done.belief_ids)
        return done

    async def dismiss(
        self,
        proposal_ids: ProposalIds,
        *,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> ReviewReport:
        """Dismiss proposals for good: all of them or none.

        Args:
            proposal_ids: ids of proposals.
            at: when it was decided, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            RefusedError: a proposal is already accepted.
        """
        by = _decision(origin, at)
        return await review.dismiss(self._state.context, tuple(proposal_ids), by)


class Proposals(Namespace):
    """Methods that review proposals; blocking twin of `AsyncProposals`."""

    list = blocking(AsyncProposals.list)
    accept = blocking(AsyncProposals.accept)
    dismiss = blocking(AsyncProposals.dismiss)


def _decision(origin: Origin | None, at: datetime | None) -> EventSource:
    if origin is not None and origin.event_id is not None:
        raise InvalidInputError(
            "origin.event_id: must be left out.", hint="The id of a proposal identifies its event."
        )
    return event_source(origin, at)


class AsyncItems(AsyncNamespace):
    """Methods of a store of JSON items, awaited."""

    _prefix = "items."

    async def batch(self, calls: Iterable[ItemCall]) -> list[ItemAnswer]:
        """Get, put, delete and search items, and list namespaces; return the answers in order.

        Items are separate from memories: hygiene and deduplication do not apply, and a put
        replaces the earlier value. Only handles of the same scope read them. All reads of a batch
        see the state before its writes. The writes are atomic, and the last of several writes to
        one key wins. A repeated batch changes only timestamps.

        Expiry follows this machine's clock.

        Args:
            calls: `GetItem`, `PutItem`, `SearchItems` and `ListNamespaces`; each class documents
                its answer.

        Raises:
            InvalidInputError: a call is none of these, a value is not JSON, or a filter is
                invalid; nothing is done.
        """
        given = several("calls", calls)
        for place, call in enumerate(given):
            if not isinstance(call, GetItem | PutItem | SearchItems | ListNamespaces):
                raise InvalidInputError(
                    f"calls[{place}] must be an item call, not {type(call).__name__}.",
                    hint="Use GetItem, PutItem, SearchItems or ListNamespaces.",
                )
        return await operations.batch(self._state.context, given)

    async def sweep(self) -> int:
        """Delete the expired items of the handle's own scope and return their number.

        Reads never return expired items, even before they are deleted.
        """
        return await operations.sweep(self._state.context)


class Items(Namespace):
    """Methods of a store of JSON items; blocking twin of `AsyncItems`."""

    batch = blocking(AsyncItems.batch)
    sweep = blocking(AsyncItems.sweep)
