"""Move a tenant to another graph while it is written.

A pass reads both graphs in the order of an export and makes the target equal to the source. Passes
that copy less and less run while others write; then the source refuses writes, and the last pass
copies the rest and compares what it changed once more. Nothing else is stored about a move than the
marks of `erasure.fence`: a move that was interrupted begins with another pass.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem import stored
from graphmem.erasure import fence, guard, removal, rules, targets
from graphmem.erasure.fence import Fence
from graphmem.errors import (
    ErasedError,
    ImportConflictError,
    ModelMismatchError,
    NotFoundError,
    RefusedError,
)
from graphmem.graph import catalog
from graphmem.integrity import sealing
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import drafts, identity
from graphmem.rules.read_options import FOREVER
from graphmem.transfer import MoveReport, exporting, importing
from graphmem.transfer.format import DigestChain
from graphmem.transfer.kinds import KINDS, NodeKind
from graphmem.transfer.lines import Node, node_of

LITTLE = 500
"""Number of changes in a pass that the last round may have to copy: a batch."""
LAST_ROUNDS = 5
"""Maximum number of rounds after the last pass; the first usually finds no difference."""
TOMBSTONES = 5_000
"""Tombstones read at a time."""

READ_TOMBSTONES = catalog.query("transfer/tombstones", lambda row: (row["key"], row["has"]))
WRITE_TOMBSTONES = catalog.query("transfer/write_tombstones", catalog.ignored)

Record = Mapping[str, Any]
"""Record of a line of an export."""


@dataclass(slots=True)
class _Pass:
    """Result of a pass."""

    changed: int = 0
    """Number of records that differed."""
    records: Counter[str] = field(default_factory=Counter)
    """Number of records of the source, by label."""
    chain: DigestChain = field(default_factory=DigestChain)
    """Digests of the records of the source, as an export has them."""
    first: str = ""
    """First record that differed."""
    problem: ImportConflictError | None = None
    """Last record that could not be written yet, because another changed meanwhile."""

    dirty: list[tuple[NodeKind, str]] = field(default_factory=list)
    """Kinds of the pages with a difference, and the keys before them."""

    def note(self, kind: NodeKind, keys: Sequence[str], after: str | None = None) -> None:
        """Count records that differ.

        Args:
            after: key before their page; None if they are gone.
        """
        if keys and not self.changed:
            self.first = f"{kind.label} {keys[0]!r}"
        if keys and after is not None:
            self.dirty.append((kind, after))
        self.changed += len(keys)


class Mover:
    """Moves one tenant from a graph to another."""

    def __init__(
        self,
        source: RequestContext,
        target: RequestContext,
        rebuild: Callable[[RequestContext], Awaitable[object]],
        on_progress: OnProgress,
    ) -> None:
        """Prepare a move.

        Args:
            rebuild: rebuilds the caches of a tenant.
        """
        self._source = source
        self._target = guard.unguarded(target)
        self._rebuild = rebuild
        self._on_progress = on_progress
        self._passes = self._copied = 0

    async def plan(self) -> MoveReport:
        """Return what would be moved, or that it was moved already.

        Raises:
            NotFoundError: the source has no data.
            RefusedError: the target has data of its own, or another move is in progress.
            ModelMismatchError: the graphs have embeddings of different models.
            TenantMovedError: the tenant moved elsewhere.
        """
        here, there = await fence.find(self._source), await self._find_arrival()
        counts = await _census(self._source)
        if not counts:
            raise NotFoundError(f"Tenant {self._source.tenant!r} has no data to move.")
        moved = there is None and here is not None
        if here is not None and (
            here.what == "arriving" or here.address != address(self._target) or moved
        ):
            if moved and here.address == address(self._target):
                return self._report(counts, repeated=True)
            raise guard.refusal(self._source.tenant, here.what, here.address)
        own, other = self._source.model, self._target.model
        if (own.name, own.dimension) != (other.name, other.dimension):
            raise ModelMismatchError(
                f"The tenant has embeddings of {own.name} ({own.dimension} dimensions), but the "
                f"other graph has those of {other.name} ({other.dimension}).",
                hint="Move it to a graph that uses the same model.",
            )
        return self._report(counts, resumed=there is not None)

    async def move(self) -> MoveReport:
        """Copy the tenant, let the source refuse writes, copy the rest, and open the target."""
        planned = await self.plan()
        if planned.repeated:
            return planned
        await fence.put(self._target, Fence(what="arriving", address=address(self._source)))
        await self._pass(await sealing.settled(self._source))
        await self._rebuild(self._target)
        await self._catch_up()
        clock = self._source.services.clock
        began = clock.now()
        await fence.put(self._source, Fence(what="moved", address=address(self._target)))
        last = await self._finish()
        await fence.lift(self._target)
        return self._report(
            last.records,
            applied=True,
            resumed=planned.resumed,
            digest=last.chain.check,
            refused_s=(clock.now() - began).total_seconds(),
        )

    async def give_up(self, *, apply: bool) -> MoveReport:
        """Let the source accept writes again and remove what was copied, or count that."""
        there = await self._find_arrival()
        if there is None or there.what != "arriving":
            raise RefusedError(
                f"No move of tenant {self._source.tenant!r} is in progress.",
                hint="A tenant that was moved can be moved back: exchange the two servers.",
            )
        if not apply:
            return self._report(await _census(self._target), gave_up=True)
        await fence.lift(self._source)
        counts = await _census(self._target)
        await removal.events_of_scope(self._target, None, self._on_progress)
        await removal.sweep(self._target, None, self._on_progress)
        await self._lift([key for key, _ in await _tombstones(self._target)])
        await fence.lift(self._target)
        return self._report(counts, applied=True, gave_up=True)

    def _report(self, records: Counter[str], **fields: Any) -> MoveReport:
        return MoveReport(
            tenant=self._source.tenant,
            address=address(self._target),
            records=dict(records),
            passes=self._passes,
            copied=self._copied,
            **fields,
        )

    async def _find_arrival(self) -> Fence | None:
        """Return the mark of the target, if it is of this move; None if the target is empty.

        Raises:
            RefusedError: the target must not be written.
        """
        target = self._target
        tenant, key = target.tenant, rules.tenant_key(target.tenant)
        owner = identity.tenant_key(tenant)
        [row] = await target.fetch(guard.REFUSED, tenant=owner, keys=[key])
        if row["keys"]:
            raise ErasedError(f"Tenant {tenant!r} was erased there.", hint="Choose another server.")
        found = None if row["move"] is None else Fence(**row["move"])
        if found is not None and found.address != address(self._source):
            raise guard.refusal(tenant, found.what, found.address)
        is_new = found is None and await fence.find(self._source) is None
        if is_new and (counts := await _census(target)):
            raise RefusedError(
                f"Tenant {tenant!r} exists there, with {counts.total():,} nodes.",
                hint="Nothing was written. `admin export` and `admin import` join two tenants.",
            )
        return found

    async def _catch_up(self) -> None:
        """Run passes until one copies little, or no less than the one before it."""
        before: float = math.inf
        while True:
            done = await self._pass(await sealing.settled(self._source))
            if done.changed <= LITTLE or done.changed >= before:
                return
            before = done.changed

    async def _finish(self) -> _Pass:
        """Run a pass, and its pages with a difference again until none has one; return the pass.

        A node that is removed takes relationships with it: those of later pages, which the pass
        compares afterwards, and those of its own.
        """
        done = left = await self._pass(FOREVER)
        for _ in range(LAST_ROUNDS):
            if not left.changed:
                return done
            left = await self._again(left.dirty)
        raise left.problem or RefusedError(
            f"The copy still differs from the source, which accepts no writes: {left.first}.",
            hint="Run the command again, or with --give-up to let the source accept writes.",
        )

    async def _pass(self, known: datetime) -> _Pass:
        """Make the target equal to what the source had recorded by a time."""
        done = _Pass()
        for kind in KINDS:
            here, there = (_Pages(one, kind, known) for one in (self._source, self._target))
            while records := await here.next():
                await self._equalise(kind, records, there, done)
                for one in records:
                    done.chain.write(one)
                done.records[kind.label] += len(records)
            gone = list(await there.until(None))
            await self._remove(kind, gone)
            done.note(kind, gone)
        done.changed += await self._copy_tombstones()
        self._passes += 1
        self._copied += done.changed
        self._on_progress("pass", 1)
        return done

    async def _again(self, pages: Sequence[tuple[NodeKind, str]]) -> _Pass:
        """Compare some pages of a pass again, by kind and the key before them."""
        done = _Pass()
        for kind, after in pages:
            here, there = (
                _Pages(one, kind, FOREVER, after) for one in (self._source, self._target)
            )
            if records := await here.next():
                await self._equalise(kind, records, there, done)
        done.changed += await self._copy_tombstones()
        self._copied += done.changed
        return done

    async def _equalise(
        self, kind: NodeKind, records: Sequence[Record], pages: _Pages, done: _Pass
    ) -> None:
        """Write the records of a page that the target lacks, or has with other contents."""
        after, there = pages.after, await pages.until(records[-1]["key"])
        keys = {one["key"] for one in records}
        gone = [key for key in there if key not in keys]
        await self._remove(kind, gone)
        wanted = [one for one in records if there.get(one["key"]) != one]
        done.note(kind, [*gone, *(one["key"] for one in wanted)], after)
        other = {
            one["key"] for one in wanted if one["key"] in there and _differs(there[one["key"]], one)
        }
        batch: list[Node] = []
        for one in wanted:
            node = node_of(one, self._source.model.dimension)
            if batch and not importing.fits(batch, node):
                await self._write(batch, other, done)
                batch = []
            batch.append(node)
        if batch:
            await self._write(batch, other, done)

    async def _write(self, batch: Sequence[Node], other: set[str], done: _Pass) -> None:
        replaced = [node.key for node in batch if node.key in other]
        try:
            await importing.copy(self._target, batch, replaced, self._on_progress)
        except ImportConflictError as error:
            # An erasure may have removed a node between the pages of a pass: the next one finds it.
            done.problem = error

    async def _remove(self, kind: NodeKind, keys: Sequence[str]) -> None:
        async def work(tx: Tx) -> None:
            await stored.lock(tx)
            await importing.remove(tx, kind, keys)

        if keys:
            await self._target.write(work)

    async def _copy_tombstones(self) -> int:
        """Copy what was erased, and what was reopened; return the number of changes."""
        here, there = dict(await _tombstones(self._source)), dict(await _tombstones(self._target))
        gone = [key for key, has in there.items() if here.get(key) != has]
        await self._lift(gone)
        lacking = [{"key": key, "has": has} for key, has in here.items() if there.get(key) != has]
        owner = identity.tenant_key(self._target.tenant)
        for some in drafts.batches(lacking, TOMBSTONES):
            await self._target.fetch(WRITE_TOMBSTONES, tenant=owner, rows=list(some))
        return len(lacking) + len(gone)

    async def _lift(self, keys: Sequence[str]) -> None:
        owner = identity.tenant_key(self._target.tenant)
        for key in keys:
            await self._target.fetch(fence.LIFT, tenant=owner, key=key)


class _Pages:
    """Records of one kind of a graph, by key."""

    def __init__(
        self, context: RequestContext, kind: NodeKind, known: datetime, after: str = ""
    ) -> None:
        self._context = context
        self._kind = kind
        self._known = known
        self._read = after
        """Key of the last node that was read."""
        self.after = after
        """Key up to which the records were taken."""
        self._rest: list[dict[str, Any]] = []
        self._ended = False

    async def next(self) -> list[dict[str, Any]]:
        """Return the next page of records; none at the end."""
        # The pass writes nodes after the end of an empty graph, which it must not read.
        while not self._ended:
            page = await exporting.read_page(self._context, self._kind, self._read, self._known)
            self._read, self._ended = page.after, not page.looked
            if page.records:
                return page.records
        return []

    async def until(self, last: str | None) -> dict[str, Record]:
        """Return the next records by key, up to a key; all that are left if it is None."""
        found: dict[str, Record] = {}
        while True:
            for place, one in enumerate(self._rest):
                if last is not None and one["key"] > last:
                    self._rest = self._rest[place:]
                    self.after = last
                    return found
                found[one["key"]] = one
            self._rest = await self.next()
            if not self._rest:
                self.after = last or self.after
                return found


async def _census(context: RequestContext) -> Counter[str]:
    """Return the number of nodes of each label that move."""
    counts, labels = await targets.census(context, None), {kind.label for kind in KINDS}
    return Counter({label: n for label, n in counts.items() if label in labels})


def address(context: RequestContext) -> str:
    """Return the server and the database of a context, for people."""
    settings = context.services.settings
    server = settings.uri or "the managed server"
    return f"{server}, database {settings.database}" if settings.database else server


def _differs(there: Record, here: Record) -> bool:
    """Return whether a node must be replaced: more differs than missing relationships."""
    same = all(there[name] == here[name] for name in here if name != "links")
    return not same or any(link not in here["links"] for link in there["links"])


async def _tombstones(context: RequestContext) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    owner, after = identity.tenant_key(context.tenant), ""
    while page := await context.fetch(READ_TOMBSTONES, tenant=owner, after=after, limit=TOMBSTONES):
        found += page
        after = page[-1][0]
    return found
