"""Gather what is used most and pack it within a number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graphmem import catalog
from graphmem.model import Pack
from graphmem.ports import RequestContext
from graphmem.rules import packs, rating
from graphmem.rules.conflicts import consistent
from graphmem.rules.packs import PackBudget, PackEntry
from graphmem.rules.rating import STANDARD

PACKABLE = catalog.query("attention/packable", dict)


@consistent
async def pack(to: RequestContext, by: PackBudget, kinds: Sequence[str], most: int, root: Path | None) -> Pack:
    """Return what is rated highest as a pack.

    Args:
        to: where.
        by: the budget.
        kinds: of Memory, Belief, Episode and Artifact.
        most: rated items, and as many memories of each scope that nothing has rated.
        root: files and documents below this folder are packed with their text; None: by name.
    """
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            PACKABLE,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            kinds=list(kinds),
            valid=to.world.clock.now(),
            known=None,
            fade=rating.fade(STANDARD),
            limit=most,
        )
    )
    entries = []
    for row in rows:
        tier = None if row["elo"] is None else rating.tier(row["elo"])
        text = row.pop("text") or await _text(to, row, root) or row["ref"]
        entries.append(PackEntry(**row, text=text, tier=tier))
    return packs.packed(entries, by)


async def _text(to: RequestContext, row: dict[str, str], root: Path | None) -> str | None:
    """Return the text of a file below the root; None for anything else."""
    if root is None or row["kind"] not in ("file", "document"):
        return None
    return await to.world.files.below(root, row["ref"])
