"""Methods of a handle that pack the most used items."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from graphmem.adapters.models.service import token_counter
from graphmem.client.observing import Instrumented
from graphmem.client.ratings import RATED, RatedKind
from graphmem.client.state import HandleState, blocking, bounded, valid
from graphmem.model import Name, Pack, Record
from graphmem.operations import usage
from graphmem.rules import context
from graphmem.rules.packs import PackBudget

MOST_TOKENS = 10_000_000
MOST_ITEMS = 10_000
ESTIMATE = "graphmem's estimate"


class _Packed(Record):
    model: Name | None
    kinds: Annotated[tuple[RatedKind, ...], Field(min_length=1)]
    blocked_paths: Annotated[tuple[Name, ...], Field(max_length=1_000)]


class AsyncPacks(Instrumented):
    """Methods that pack items, awaited."""

    async def pack(
        self,
        tokens: int = 4_000,
        *,
        model: str | None = None,
        kinds: Sequence[RatedKind] = RATED,
        blocked_paths: Sequence[str] = (),
        root: str | os.PathLike[str] | None = None,
        limit: int = 500,
    ) -> Pack:
        """Return the most used items as one Markdown text within a token budget.

        HIGH items are included whole, regardless of the budget. MEDIUM ones are summarised
        (signatures of code, headings of Markdown, else the first sentences), LOW ones are one
        line, VERY_LOW ones are left out. Unrated memories follow MEDIUM ones, shortened the same
        way. The manifest lists the treatment of each item and its reason.

        Args:
            tokens: maximum number of tokens, 1 to 10,000,000.
            model: model whose tokens litellm counts; None for an estimate, which is rather high.
            kinds: any of Memory, Belief, Episode and Artifact.
            blocked_paths: at most 1,000 globs; an artifact whose name matches one is left out.
            root: folder whose files and documents are packed with their text; None to pack
                artifacts by name only.
            limit: maximum number of rated items, and of unrated memories in each scope, 1 to
                10,000.

        Raises:
            InvalidInputError: an argument is invalid.
        """
        given = valid(_Packed, model=model, kinds=kinds, blocked_paths=blocked_paths)
        budget = PackBudget(
            tokens=bounded("tokens", tokens, MOST_TOKENS),
            count=context.count if given.model is None else token_counter(given.model),
            counted_by=ESTIMATE if given.model is None else f"{given.model}, counted by litellm",
            blocked_paths=given.blocked_paths,
        )
        max_items = bounded("limit", limit, MOST_ITEMS)
        folder = None if root is None else Path(root)
        return await usage.pack(self._state.binding, budget, given.kinds, max_items, folder)


class Packs:
    """Methods that pack items; blocking twin of `AsyncPacks`."""

    _state: HandleState

    pack = blocking(AsyncPacks.pack)
