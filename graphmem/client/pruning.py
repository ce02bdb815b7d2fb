"""The part of a handle that puts away what nobody uses, and brings it back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid, yes_or_no
from graphmem.model import Name, PrunePolicy, PruneRecord, PruneReport, PruneRestoreReport, Record
from graphmem.operations import upkeep
from graphmem.ports import OnPart, silent

PrunedKind = Literal["Memory", "Belief", "Episode"]
PRUNED: tuple[PrunedKind, ...] = ("Memory", "Belief", "Episode")


class _By(Record):
    policy: PrunePolicy
    kinds: Annotated[tuple[PrunedKind, ...], Field(min_length=1)]


class _Manifest(Record):
    run: Name | None


class _Run(Record):
    run: Name
    ids: frozenset[Name] | None


class AsyncPrunes(Instrumented):
    """Pruning of one scope by its ratings, awaited."""

    async def prune(
        self,
        *,
        apply: bool = False,
        policy: PrunePolicy | None = None,
        kinds: Sequence[PrunedKind] = PRUNED,
        on_part: OnPart = silent,
    ) -> PruneReport:
        """Compress and archive what agents find in the handle's own scope and never open.

        Archived is what is rated VERY_LOW and was neither written nor opened for 30 days: memories
        and beliefs are hidden like superseded ones, and turns of an episode are not found. The
        full text of a LOW episode goes to an archive after 14 days, and 30 days later the episode
        is archived unless it was opened; a LOW memory or belief that was never opened is archived
        after 44 days. What is rated MEDIUM or HIGH, or not at all, stays. Nothing is deleted, and
        `restore_pruned` brings all of it back. Ratings are those of the last `rate()`.

        Safe to interrupt and to repeat: every item is pruned whole, under the id of the run.

        Args:
            apply: False, the default: tell what would be done; nothing is written.
            policy: other numbers than those.
            kinds: of Memory, Belief and Episode.
            on_part: told `rating` and how many were looked at.

        Raises:
            InvalidInputError: the policy or a kind does not fit.
        """
        wanted = PrunePolicy() if policy is None else policy
        given = valid(_By, policy=wanted, kinds=kinds)
        sure = yes_or_no("apply", apply)
        await self._state.flush()
        return await upkeep.prune(
            self._state.binding, given.policy, given.kinds, on_part, apply=sure
        )

    async def pruned(self, run: str | None = None) -> tuple[PruneRecord, ...]:
        """Return what pruning did in the handle's own scope, oldest first: its manifest.

        Args:
            run: of one run; None: of all.

        Raises:
            InvalidInputError: the id does not fit.
        """
        given = valid(_Manifest, run=run)
        return tuple(await upkeep.pruned(self._state.binding, given.run))

    async def restore_pruned(
        self, run: str, *, ids: Iterable[str] | None = None, on_part: OnPart = silent
    ) -> PruneRestoreReport:
        """Bring back what a run of `prune` put away; what is back already is passed over.

        Args:
            run: its id.
            ids: of the items; None: all of them.
            on_part: told `item` and how many were brought back.

        Raises:
            NotFoundError: the handle's own scope has no such run, or no such item in it.
            ArchiveDamagedError: an archive does not hold what was put into it.
            InvalidInputError: an argument does not fit.
        """
        given = valid(_Run, run=run, ids=ids)
        return await upkeep.restore_run(self._state.binding, given.run, given.ids, on_part)


class Prunes:
    """Pruning of one scope by its ratings, blocking: the twin of `AsyncPrunes`."""

    _state: HandleState

    prune = blocking(AsyncPrunes.prune)
    pruned = blocking(AsyncPrunes.pruned)
    restore_pruned = blocking(AsyncPrunes.restore_pruned)
