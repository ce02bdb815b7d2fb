"""Namespace `admin` of a handle."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Annotated, TypeAlias

from pydantic import Field

from graphmem.client import foreign_import
from graphmem.client.arguments import Limit, file_of
from graphmem.client.erasures import AsyncErasing, Erasing
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.consolidation import writes
from graphmem.conversation import summaries
from graphmem.errors import InvalidInputError
from graphmem.integrity import (
    BackfillReport,
    Mismatch,
    RebuildReport,
    SealReport,
    backfill,
    caches,
    rulings,
    sealing,
)
from graphmem.model import Name, Slot
from graphmem.operations import belief
from graphmem.operations.evidence import writing
from graphmem.ports import OnProgress, RequestContext, silent
from graphmem.rules import trust
from graphmem.rules.read_options import ReadOptions
from graphmem.transfer import (
    ExportReport,
    ForeignImportReport,
    ImportReport,
    MoveReport,
    checking,
    exporting,
    foreign,
    graphiti,
    importing,
    moving,
)
from graphmem.usage import ScopePage, TenantStats, statistics

PLANS = {"mem0": foreign.plan_mem0, "graphiti": graphiti.plan_graphiti}
TOLERANCE = 1e-9
CANDIDATES = 1_000


Head: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""Digest of a seal, in hexadecimal."""


class AsyncAdmin(AsyncErasing):
    """Methods for the operator of a tenant, awaited."""

    _prefix = "admin."

    async def export_to(
        self, path: str | os.PathLike[str], on_progress: OnProgress = silent
    ) -> ExportReport:
        """Write all data of the tenant, in all its scopes, to a file.

        The file is JSON Lines for `import_from`, without loss; the digest of each line covers all
        lines before it. It contains complete events recorded until the start of the export. Tags
        of memories, items and ratings have no history and are as they were when their page was
        read. The graph is read in pages, so its size is not limited.

        The file is called `path` with the suffix `.part`, readable only by its owner, and renamed
        at the end. Call again after an interruption to resume; the start of the export stays that
        of the first call.

        Args:
            path: path of the new file.
            on_progress: progress callback; receives a label and a number of nodes after each page.

        Raises:
            ExportFileError: the file exists or cannot be written, or the partial file of an
                interrupted export is damaged or belongs to another tenant.
        """
        await self._state.flush()
        return await exporting.export(self._state.context, file_of("path", path), on_progress)

    async def import_from(
        self, path: str | os.PathLike[str], on_progress: OnProgress = silent
    ) -> ImportReport:
        """Import a file that `export_to` wrote, from any tenant, into this tenant.

        The whole file is checked before the first write. Then its records are written in batches
        under the tenant's write lock, and the caches are rebuilt. Existing data stays unchanged;
        events keep their recording times. Call again after an interruption: imported records are
        skipped. Records of data that was erased from the tenant, or as derived from it, are left
        out and counted.

        Args:
            path: path of the file.
            on_progress: progress callback; receives `check` and a number of lines, then labels and
                numbers of nodes, then the progress of `rebuild`.

        Raises:
            ExportFileError: the file is not an export, is incomplete, was changed, or was written
                by a newer graphmem.
            ModelMismatchError: its embeddings are from another model; the error names both.
            ImportConflictError: a record contradicts existing data; the error names its line.
                Nothing of its batch of 500 is written, and earlier batches stay.
            ErasedError: a record may be derived from erased data; the error names its line. Nothing
                is imported.
        """
        trust.check_right("import", self._state.context.trust)  # A file has its own trust.
        report = await importing.take(self._state.context, file_of("path", path), on_progress)
        await rebuilt(self._state.context, on_progress)
        return report

    async def move_to(
        self,
        target: AsyncNamespace | Namespace,
        *,
        dry_run: bool = True,
        give_up: bool = False,
        on_progress: OnProgress = silent,
    ) -> MoveReport:
        """Move the tenant to another graph while it is written.

        Copies all records, compares both graphs and copies what differs, until little does. Then
        the source refuses writes (`tenant_moved`), the rest is copied, and both sides are compared
        once more. Until then the target refuses writes (`tenant_arriving`). The source stays
        readable; erase the tenant there afterwards. Erasures are copied too.

        Call again after an interruption: it continues.

        Args:
            target: open client of the other graph, of the same class as this one.
            dry_run: report what would be moved without writing; pass False to move.
            give_up: end a move that was interrupted: remove the copy, and accept writes here.
            on_progress: progress callback; receives labels and numbers of nodes that are written,
                the progress of `rebuild`, and `pass` after each comparison.

        Raises:
            NotFoundError: the tenant has no data.
            RefusedError: the tenant exists in the other graph, or no move is in progress.
            TenantMovedError: the tenant moved to another graph than this one.
            ModelMismatchError: the embeddings are from another model; the error names both.
        """
        if not isinstance(target, (AsyncNamespace, Namespace)):
            raise InvalidInputError("target: must be an open client of the other graph.")
        await self._state.try_flush()
        here = self._state.context
        there = replace(target._state.context, tenant_scope=here.tenant_scope)
        mover = moving.Mover(here, there, lambda to: rebuilt(to, on_progress), on_progress)
        if give_up:
            return await mover.give_up(apply=not dry_run)
        return await (mover.plan() if dry_run else mover.move())

    async def import_foreign(
        self, data: object, source: Name | None = None, on_progress: OnProgress = silent
    ) -> ForeignImportReport:
        """Import the data of another memory system with its original times.

        From mem0: each text becomes a memory in scope `user:<user_id>` (else `agent:`, `run:`, or
        the handle's own scope); its categories become tags. By the history, a new text supersedes
        the one it replaced, and a deleted text is deprecated. From Graphiti, in scope
        `group:<group_id>`: episodes, and facts. Each episode that mentions a fact gives evidence
        for its triple at `valid_at`, and certain evidence against it at `invalid_at`, so that it
        leads its slot until then; the evidence of a fact that only expired is retracted.
        A predicate of which a subject has several values at once becomes MANY in that scope.
        Entities of one name stay apart: the oldest keeps the name, others get their id.
        Embeddings are recomputed.

        Everything has the source `mem0` or `graphiti` and the original id in `artifact_ref`. Ids
        derive from the original id, so a second call writes nothing twice. The report counts
        values without an equivalent by field, and lists refused records with the reason.

        Args:
            data: for mem0 the list that `get_all` returns, or {"results": [...], "history":
                [...]}; for Graphiti {"nodes": [...], "episodes": [...], "edges": [...]} as
                `model_dump(mode="json")` returns them.
            source: mem0 or graphiti; by default it is detected from the structure of the data.
            on_progress: progress callback; receives the kind of step and the number done.

        Raises:
            InvalidInputError: the source is unknown, or the data does not have its format.
        """
        named = source or foreign.detect_source(data)
        if named not in PLANS:
            raise InvalidInputError(
                "`source` must be the name of a known format.", hint=f"Use {' or '.join(PLANS)}."
            )
        plan = PLANS[named](data, self._state.context.services.settings.time_zone)
        return await foreign_import.run(self._state, plan, on_progress)

    async def rebuild(self, on_progress: OnProgress = silent) -> RebuildReport:
        """Rebuild every cache of the tenant. Safe to interrupt and to repeat.

        Missing beliefs that consolidation derived are restored too. That needs no model, because
        the decision about each cluster is stored.

        Args:
            on_progress: progress callback; receives a kind and the number of nodes or slots.
        """
        return await rebuilt(self._state.context, on_progress)

    async def seal(self, *, late: bool = False, on_progress: OnProgress = silent) -> SealReport:
        """Seal the events of the tenant against changes.

        `verify` finds later changes of sealed events. The digest of a seal covers all seals before
        it. With a copy of the newest one, `head`, outside the graph, it also finds forged seals.
        The search log is not sealed. The worker does this every hour.

        Safe to interrupt, to repeat and to run concurrently: each seal of 500 events is one
        transaction under the tenant's write lock. Waits for open transactions, at most 30 seconds.

        Args:
            late: also seal events recorded before the end of the newest seal; `verify` reports
                them as added, for example after the server's clock was set back.
            on_progress: progress callback; receives `event` and the number sealed.
        """
        return await sealing.seal(self._state.context, on_progress, late=late)

    async def verify_export(
        self,
        path: str | os.PathLike[str],
        *,
        head: Head | None = None,
        on_progress: OnProgress = silent,
    ) -> RebuildReport:
        """Check a file of `export_to` against its seals.

        The graph is neither read nor written. Holds about 0.2 kB per event in memory.

        Args:
            path: path of the file.
            head: digest of a seal, kept elsewhere; the file must have a seal with it.
            on_progress: progress callback; receives `check` and a number of lines.

        Raises:
            ExportFileError: the file is not an export, is incomplete, or its digests do not match.
        """
        file = file_of("path", path)
        return await checking.check(self._state.context.services.exports, file, head, on_progress)

    async def verify(
        self, on_progress: OnProgress = silent, *, head: Head | None = None
    ) -> RebuildReport:
        """Compare caches and seals of a tenant with its events.

        Nothing is written. Compares the edges from consolidation's events to their beliefs, the
        rejections of values, the status of memories and beliefs, their SUPERSEDES edges, the
        summaries of conversations, and long slots read with and without checkpoints. Finds events
        that were changed, added or deleted since they were sealed, except by an erasure.

        Args:
            on_progress: progress callback; receives a kind and the number of nodes or slots.
            head: digest of a seal, kept elsewhere; the tenant must have a seal with it.
        """
        to = self._state.context
        mismatches = await _compared(to, repair=False, on_page=on_progress)
        for slot in await writing.long_slots(to):
            mismatches += await _slot_mismatches(to, slot)
            on_progress("slot", 1)
        state, changed = await sealing.check(to, head, on_progress)
        return RebuildReport(wrong=(*mismatches, *changed), seals=state)

    async def backfill(self, on_progress: OnProgress = silent) -> BackfillReport:
        """Create missing events for memories of another tool.

        Every read depends on events: a Memory node without events appears in no history and at no
        past time. A memory without an event of its own scope gets an ADD at its `created_at`, with
        the source `backfill` and a payload that marks it as synthetic. A `reinforce_count` is a
        prior: a burst of as many REINFORCE_EXACT events at the same time, at most 100.

        Nodes must have `tenant`, `scope`, `content` and `created_at`. The keys, the content hash,
        the embedding and a missing `id` are computed. Nodes with other problems, or with a state
        that no event explains, are skipped and reported with a remedy. Nodes without a `tenant`
        are not found.

        Safe to interrupt, to repeat and to run concurrently: a memory that has an event stays as it
        is. Run it before any other write: a memory that was written again already has an event.

        Args:
            on_progress: progress callback; receives `memory` and the number examined.
        """
        return await backfill.add_events(self._state.context, on_progress)

    async def scopes(self, *, cursor: str | None = None, limit: Limit = 50) -> ScopePage:
        """Return one page of the scopes with data, and their sizes.

        Args:
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of scopes, 1 to 1,000.
        """
        return await statistics.scopes(self._state.context, cursor=cursor, limit=limit)

    async def is_empty(self) -> bool:
        """Return whether the tenant has no data: nothing was written to it, or all is erased.

        The log of searches does not count.
        """
        return not await statistics.is_known(self._state.context)

    async def stats(self) -> TenantStats:
        """Return the numbers of nodes, waiting work and costs.

        All scopes of the tenant are counted, in one transaction. The duration is proportional to
        the number of nodes. Log entries that are not written yet are not counted.
        """
        return await statistics.read(self._state.context.services, self._state.context.tenant)


class Admin(Erasing):
    """Methods for the operator of a tenant; blocking twin of `AsyncAdmin`."""

    export_to = blocking(AsyncAdmin.export_to)
    import_from = blocking(AsyncAdmin.import_from)
    move_to = blocking(AsyncAdmin.move_to)
    import_foreign = blocking(AsyncAdmin.import_foreign)
    rebuild = blocking(AsyncAdmin.rebuild)
    seal = blocking(AsyncAdmin.seal)
    verify = blocking(AsyncAdmin.verify)
    verify_export = blocking(AsyncAdmin.verify_export)
    backfill = blocking(AsyncAdmin.backfill)
    scopes = blocking(AsyncAdmin.scopes)
    is_empty = blocking(AsyncAdmin.is_empty)
    stats = blocking(AsyncAdmin.stats)


async def rebuilt(context: RequestContext, on_progress: OnProgress) -> RebuildReport:
    """Rebuild every cache of a tenant; see `AsyncAdmin.rebuild`."""
    mismatches = await _compared(context, repair=True, on_page=on_progress)
    checkpointed = 0
    for slot in await writing.long_slots(context):
        await writing.forget(context, slot)
        checkpointed += await writing.keep(context, slot)
        on_progress("slot", 1)
    await writing.embed_statements(context)
    return RebuildReport(wrong=tuple(mismatches), checkpointed=checkpointed)


async def _compared(
    context: RequestContext, *, repair: bool, on_page: OnProgress
) -> list[Mismatch]:
    """Return what differs from what the events determine; a repair needs this order."""
    checks = (
        *(writes.replay, rulings.check, caches.keys, caches.wiring, caches.chains),
        *(caches.lineage, summaries.check),
    )
    return [one for check in checks for one in await check(context, repair=repair, on_page=on_page)]


async def _slot_mismatches(context: RequestContext, slot: writing.SlotKey) -> list[Mismatch]:
    in_scope = replace(
        context,
        tenant_scope=context.tenant_scope.model_copy(
            update={"scope": slot.scope, "scopes": (slot.scope,)}
        ),
    )
    readings = [
        await belief.current(
            in_scope,
            slot.subject_key,
            slot.predicate_key,
            ReadOptions(),
            limit=CANDIDATES,
            from_zero=from_zero,
        )
        for from_zero in (False, True)
    ]
    if _agree(*readings):
        return []
    cached, found = (
        "; ".join(f"{c.object} {c.belief:.12g}" for c in reading.candidates[:5])
        for reading in readings
    )
    return [Mismatch(kind="slot", id=slot.slot_id, cached=cached, found=found)]


def _agree(cached: Slot, found: Slot) -> bool:
    if len(cached.candidates) != len(found.candidates):
        return False
    pairs = zip(cached.candidates, found.candidates, strict=True)
    return all(
        here.belief_id == there.belief_id
        and here.events == there.events
        and math.isclose(here.score, there.score, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        for here, there in pairs
    )
