"""Find a smallest set of evidence that decides a sequential test."""

from __future__ import annotations

from graphmem import catalog
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import FlipSet
from graphmem.ports import RequestContext
from graphmem.rules import asking, moments
from graphmem.rules.asking import ReadOptions
from graphmem.rules.conflicts import consistent

MOST = 1_000
"""Pieces of evidence that are looked at: the work grows with their square."""

FLIP_SET = catalog.query("belief/flip_set", dict)


@consistent
async def flip_set(to: RequestContext, belief_id: str, by: ReadOptions) -> FlipSet:
    """Return a smallest set of evidence without which the test of a belief has another status.

    Raises:
        NotFoundError: nothing visible has this id, or nothing was known of it then.
        InvalidInputError: more than 1,000 pieces count, or `known` lies in the future.
    """
    params = asking.params(by, to.wall, to.world.settings, to.world.clock.now())
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            FLIP_SET,
            **{k: params[k] for k in ("tenant", "scopes", "valid", "known", "weights")},
            id=belief_id,
            test=asking.sent(asking.bounds(to.world.settings)),
            most=MOST,
        )
    )
    if not rows:
        raise NotFoundError(f"No belief {belief_id!r}.")
    [row] = rows
    moments.refuse_future(by.as_of, row["now"])
    if row["status"] is None:
        raise InvalidInputError(
            f"{row['evidence']:,} pieces of evidence count, and a flip set is found among at most "
            f"{MOST:,}.",
            hint="Ask as of an earlier time, or try `what_if` without some of them.",
        )
    return FlipSet(
        belief_id=belief_id,
        status=row["status"],
        evidence=row["evidence"],
        event_ids=row["removed"],
        becomes=row["becomes"],
    )
