"""Chains of supersessions, claims of memories, and checks of aliases."""

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
    """Return the end of the chain for each replaced memory or belief, as sorted ids by id.

    Each link is followed once, so the time is linear in the length of the chain.

    Args:
        links: all links of a chain; only those in force are followed.
    """
    newer: dict[str, set[str]] = {}
    for link in links:
        if link.in_force:
            newer.setdefault(link.older_id, set()).add(link.newer_id)
    order = TopologicalSorter(newer)
    # Only the cache of a damaged graph has a cycle; nodes that lead into one have no end.
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
    """Yield the cards of a chain; each superseded one gets the ids of the chain's end.

    Args:
        cards: maps with `id` and `status`.
        links: all links of the chain.
    """
    found = heads(links)
    for card in cards:
        hidden = card["status"] == Status.SUPERSEDED
        yield card | {"head_ids": found.get(card["id"], []) if hidden else []}


def asserted(memory: NewMemory, scope: str) -> list[Claim]:
    """Return the distinct claims of a memory, ordered by id; the first wording of each is kept."""
    found = [
        claims.about_triple(scope, triple.subject, triple.predicate, triple.object)
        for triple in memory.claims
    ]
    unique = {claim.id: claim for claim in reversed(found)}
    return [unique[claim_id] for claim_id in sorted(unique)]


def belief_ids(memory: NewMemory, scope: str) -> tuple[str, ...]:
    """Return the ids of the beliefs that a memory is evidence for."""
    return tuple(claim.id for claim in asserted(memory, scope))


def judged(memory: Memory, lost: Collection[str]) -> Memory:
    """Return a memory with `lost_ids` set to those of its claims that are in `lost`."""
    if not memory.claim_ids:
        return memory
    return memory.model_copy(
        update={"lost_ids": tuple(one for one in memory.claim_ids if one in lost)}
    )


def predicates(memories: Sequence[NewMemory]) -> list[str]:
    """Return the keys of the predicates in the claims of memories, sorted."""
    return sorted({claims.folded(triple.predicate) for one in memories for triple in one.claims})


def rows(
    committed: Sequence[tuple[TextDraft, str]], wall: TenantScope, templates: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the rows for belief/link_claims, ordered by belief.

    All batches lock beliefs in this order, so that they wait for each other without deadlock.

    Args:
        committed: drafts, each with the id of its memory.
        wall: tenant, and the scope of the beliefs.
        templates: wording templates by predicate.
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


def check(name: tuple[str, str], other: tuple[str, str], canonical: Mapping[str, str]) -> None:
    """Refuse an alias that would form a chain of aliases.

    Args:
        name: the alias, folded and as written.
        other: the canonical name, likewise.
        canonical: existing aliases: canonical names as written, by folded alias.

    Raises:
        InvalidInputError: both are the same name.
        NameChainError: the canonical name is itself an alias, or the alias has aliases.
    """
    (key, written), (other_key, other_written) = name, other
    if key == other_key:
        raise InvalidInputError(
            f"An alias must differ from its canonical name {written!r}.",
            hint="To remove an alias, call `apart`.",
        )
    if (further := canonical.get(other_key)) is not None:
        raise NameChainError(
            f"{other_written!r} is itself an alias of {further!r}.",
            hint=f"Use {further!r} as the canonical name.",
        )
    aliases = [one for one, to in canonical.items() if folded(to) == key]
    if aliases:
        raise NameChainError(
            f"{written!r} has {len(aliases)} aliases of its own, for example {aliases[0]!r}.",
            hint=f"Make each of them an alias of {other_written!r} first.",
        )
