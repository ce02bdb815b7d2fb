"""Predicates whose cardinality memory does not know, which an agent must give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphmem.errors import InvalidInputError
from graphmem.rules import claims
from graphmem.rules.predicates import SINGLE_VALUED

if TYPE_CHECKING:
    from graphmem.client import AsyncSession

EXAMPLE = (
    'Example: {"subject": "alice", "predicate": "likes", "object": "chess", "cardinality": "MANY"}'
)


async def check_known(session: AsyncSession, predicates: Iterable[str]) -> None:
    """Check that each predicate is declared or on the built-in list.

    An agent rarely declares a predicate, and its values would coexist by default, so that a new
    value would not replace an old one. It therefore states the cardinality once.

    Raises:
        InvalidInputError: memory does not know the cardinality of a predicate.
    """
    unlisted = {claims.predicate_key(name) for name in predicates} - SINGLE_VALUED
    if not unlisted:
        return
    declared = {claims.predicate_key(one.name) for one in await session.predicates.list()}
    if unlisted - declared:
        raise InvalidInputError(
            "cardinality: is missing, and memory does not know this predicate. It must be "
            '"ONE" if there is one value at a time, so that a new value replaces the old one '
            '(lives_in), or "MANY" if there are several at once, so that a new value is added '
            "(likes).",
            hint=f"Call observe with cardinality once for the predicate. {EXAMPLE}",
        )
