"""Explain the TraceRank of a memory, event by event."""

from __future__ import annotations

from graphmem import catalog
from graphmem.model import AsOf, Trace, TraceContribution
from graphmem.ports import RequestContext
from graphmem.rules import moments, tracerank
from graphmem.rules.conflicts import consistent

TRACE = catalog.query("recall/trace", dict)


@consistent
async def explain(to: RequestContext, memory_id: str, as_of: AsOf | None, *, limit: int) -> Trace:
    """Return the trace of a memory from its events, the newest of them shown."""
    asked, by = as_of or AsOf(), tracerank.STANDARD_TRACE
    valid = asked.valid or to.world.clock.now()
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            TRACE,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            id=memory_id,
            valid=valid,
            known=asked.known,
            trace=tracerank.trace_params(by),
            limit=limit,
        )
    )
    if not rows:
        raise moments.missing(memory_id, as_of)
    [row] = rows
    return Trace(
        at=valid,
        by=by,
        trace=row["trace"],
        factor=tracerank.final(1.0, row["trace"], by),
        sayings=tuple(TraceContribution(**one) for one in row["sayings"]),
        total=row["total"],
    )
