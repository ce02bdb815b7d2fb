"""Store the digests by which erased data is refused, and left out of imports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphmem.erasure import rules
from graphmem.graph import catalog
from graphmem.ports import RequestContext, Tx
from graphmem.rules import identity

TOMBSTONE = catalog.query("erase/tombstone", catalog.ignored)


async def refuse(tx: Tx, context: RequestContext, keys: Sequence[str]) -> None:
    """Store tombstones under the given keys."""
    await tx.fetch(TOMBSTONE, tenant=identity.tenant_key(context.tenant), keys=sorted(keys))


async def refuse_copies(
    tx: Tx, context: RequestContext, copies: Iterable[tuple[str, str, str | None]]
) -> None:
    """Store the tombstones by which an import leaves out copies of erased nodes.

    Args:
        copies: labels, ids and scopes of the nodes; None if the id includes the scope.
    """
    await refuse(tx, context, [rules.copy_key(context.tenant, *one) for one in copies])
