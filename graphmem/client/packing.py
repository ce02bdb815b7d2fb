"""The part of a handle that packs what is used most."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from graphmem.adapters.models.service import counter
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
    """Packs, awaited."""

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
        """Return what is used most as one markdown text, within a number of tokens.

        HIGH items are in it whole, whatever the budget; MEDIUM ones as a summary (signatures of
        code, headings of markdown, else the first sentences), LOW ones as a line; VERY_LOW ones
        are left out. Memories that nothing has rated come after MEDIUM ones, shortened like them.
        The manifest says of each item what became of it and why.

        Args:
            tokens: 1 to 10,000,000.
            model: whose tokens, as litellm counts them; None: an estimate, rather too many.
            kinds: of Memory, Belief, Episode and Artifact.
            blocked_paths: globs; an artifact whose name one of them matches is left out.
            root: files and documents that lie below this folder are packed with their text;
                None: artifacts are named only.
            limit: rated items, and as many others of each scope, 1 to 10,000.

        Raises:
            InvalidInputError: an argument does not fit.
        """
        given = valid(_Packed, model=model, kinds=kinds, blocked_paths=blocked_paths)
        budget = PackBudget(
            tokens=bounded("tokens", tokens, MOST_TOKENS),
            count=context.count if given.model is None else counter(given.model),
            counted_by=ESTIMATE if given.model is None else f"{given.model}, counted by litellm",
            blocked_paths=given.blocked_paths,
        )
        most = bounded("limit", limit, MOST_ITEMS)
        to = self._state.binding
        return await usage.pack(to, budget, given.kinds, most, None if root is None else Path(root))


class Packs:
    """Packs, blocking: the twin of `AsyncPacks`."""

    _state: HandleState

    pack = blocking(AsyncPacks.pack)
