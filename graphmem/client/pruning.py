"""Methods of a handle that prune unused items and restore them."""

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
    """Methods that prune one scope by its ratings, awaited."""

    async def prune(
        self,
        *,
        apply: bool = False,
        policy: PrunePolicy | None = None,
        kinds: Sequence[PrunedKind] = PRUNED,
        on_part: OnPart = silent,
    ) -> PruneReport:
        """Compress and archive items of the write scope that agents find but do not open.

        A VERY_LOW item is archived after 30 days without a write or an access. Archived memories
        and beliefs are hidden like superseded ones; turns of an archived episode are not found.
        The full text of a LOW episode moves to an archive after 14 days, and 30 days later the
        episode is archived unless it was opened since. A LOW memory or belief that was never
        opened is archived after 44 days. MEDIUM, HIGH and unrated items are kept. Nothing is
        deleted, and `restore_pruned` restores all items. Ratings are those of the last `rate()`.

        Safe to interrupt and to repeat: each item is pruned completely, under the id of the run.

        Args:
            apply: whether to write; False for a preview.
            policy: days before each action; None for the days above.
            kinds: any of Memory, Belief and Episode.
            on_part: progress callback; receives `rating` and the number examined.

        Raises:
            InvalidInputError: the policy or a kind is invalid.
        """
        wanted = PrunePolicy() if policy is None else policy
        given = valid(_By, policy=wanted, kinds=kinds)
        apply = yes_or_no("apply", apply)
        await self._state.flush()
        return await upkeep.prune(
            self._state.binding, given.policy, given.kinds, on_part, apply=apply
        )

    async def pruned(self, run: str | None = None) -> tuple[PruneRecord, ...]:
        """Return the manifest of pruning in the write scope, oldest entries first.

        Args:
            run: id of a run; None for all runs.

        Raises:
            InvalidInputError: the id is invalid.
        """
        given = valid(_Manifest, run=run)
        return tuple(await upkeep.pruned(self._state.binding, given.run))

    async def restore_pruned(
        self, run: str, *, ids: Iterable[str] | None = None, on_part: OnPart = silent
    ) -> PruneRestoreReport:
        """Restore the items of a run of `prune`; items restored already are skipped.

        Args:
            run: id of the run.
            ids: ids of the items to restore; None for all items of the run.
            on_part: progress callback; receives `item` and the number restored.

        Raises:
            NotFoundError: the write scope has no such run, or the run has no such item.
            ArchiveDamagedError: an archive does not match its checksum.
            InvalidInputError: an argument is invalid.
        """
        given = valid(_Run, run=run, ids=ids)
        return await upkeep.restore_run(self._state.binding, given.run, given.ids, on_part)


class Prunes:
    """Methods that prune one scope by its ratings; blocking twin of `AsyncPrunes`."""

    _state: HandleState

    prune = blocking(AsyncPrunes.prune)
    pruned = blocking(AsyncPrunes.pruned)
    restore_pruned = blocking(AsyncPrunes.restore_pruned)
