"""The ends of chains of supersessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any

from graphmem.errors import InvalidInputError, NameChainError
from graphmem.model import ChainLink, Memory, NewMemory, Status, TenantScope
from graphmem.rules import claims
from graphmem.rules.claims import Claim, folded
from graphmem.rules.drafts import TextDraft


def heads(links: Iterable[ChainLink]) -> dict[str, list[str]]:
    """Return by id where the chain of each replaced memory or belief ends; the ids are sorted.

    Each link is followed once, so a long chain takes time linear in its length.

    Args:
        links: all of a chain; those in force are followed.
    """
    newer: dict[str, set[str]] = {}
    for link in links:
        if link.in_force:
            newer.setdefault(link.older_id, set()).add(link.newer_id)
    order = TopologicalSorter(newer)
    # Only the cache of a damaged graph has a cycle: what leads into one has no end.
    with suppress(CycleError):
        order.prepare()
    found: dict[str, list[str]] = {}
    while ready := order.get_ready():
        for one in ready:
            ends = [found[further] for further in newer.get(one, ())]
            found[one] = sorted(set(chain.from_iterable(ends))) if ends else [one]
        order.done(*ready)
    return {one: ends for one, ends in found.items() if one in newer}


def ended(cards: Iterable[dict[str, Any]], links: Iterable[ChainLink]) -> Iterator[dict[str, Any]]:
    """Yield the cards of a chain, each superseded one with where the chain ends.

    Args:
        cards: maps with `id` and `status`.
        links: all of the chain.
    """
    found = heads(links)
    for card in cards:
        hidden = card["status"] == Status.SUPERSEDED
        yield card | {"head_ids": found.get(card["id"], []) if hidden else []}


def asserted(wish: NewMemory, scope: str) -> list[Claim]:
    """Return the claims of a text in the order of their ids, each once, as it is said first."""
    found = [
        claims.about_triple(scope, said.subject, said.predicate, said.object)
        for said in wish.claims
    ]
    unique = {claim.id: claim for claim in reversed(found)}
    return [unique[claim_id] for claim_id in sorted(unique)]


def belief_ids(wish: NewMemory, scope: str) -> tuple[str, ...]:
    """Return the ids of the beliefs that a text is evidence for."""
    return tuple(claim.id for claim in asserted(wish, scope))


def judged(memory: Memory, lost: Collection[str]) -> Memory:
    """Return a memory that says which of its claims are among those that have lost."""
    if not memory.claim_ids:
        return memory
    return memory.model_copy(
        update={"lost_ids": tuple(one for one in memory.claim_ids if one in lost)}
    )


def predicates(wishes: Sequence[NewMemory]) -> list[str]:
    """Return the keys of the predicates that texts use."""
    return sorted({claims.folded(said.predicate) for wish in wishes for said in wish.claims})


def rows(
    committed: Sequence[tuple[TextDraft, str]], wall: TenantScope, templates: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the rows for belief/claim, in the order of the beliefs.

    In one order everywhere, two batches wait for each other and never in a ring.

    Args:
        committed: texts, each with the id of its memory.
        wall: whose, and the scope of the beliefs.
        templates: by predicate, how it is read aloud.
    """
    found = [
        {
            "event": {"id": draft.event_id, "occurred_at": draft.occurred_at},
            "memory_id": memory_id,
            "claim": _worded(claim, templates).row(wall, None),
        }
        for draft, memory_id in committed
        for claim in asserted(draft.wish, wall.scope)
    ]
    return sorted(found, key=lambda row: row["claim"]["id"])


def _worded(claim: Claim, templates: Mapping[str, str]) -> Claim:
    template = templates.get(str(claim.predicate_key))
    parts = str(claim.subject), str(claim.predicate), str(claim.object)
    return replace(claim, statement=claims.spoken(template, *parts))


def check(name: tuple[str, str], other: tuple[str, str], stands: Mapping[str, str]) -> None:
    """Refuse what would make a chain of names.

    Args:
        name: what shall stand for the other, folded and as written.
        other: likewise.
        stands: what stands for what by now: canonical names as written, by folded others.

    Raises:
        InvalidInputError: the two are one name.
        NameChainError: a name would stand for one that itself stands for another.
    """
    (key, written), (other_key, other_written) = name, other
    if key == other_key:
        raise InvalidInputError(
            f"{written!r} stands for itself already.", hint="To undo a name, call `apart`."
        )
    if (further := stands.get(other_key)) is not None:
        raise NameChainError(
            f"{other_written!r} stands for {further!r} itself.", hint=f"Name {further!r} instead."
        )
    leaning = [one for one, to in stands.items() if folded(to) == key]
    if leaning:
        raise NameChainError(
            f"{len(leaning)} other names stand for {written!r}, as {leaning[0]!r} does.",
            hint=f"Let each of them stand for {other_written!r} first.",
        )
