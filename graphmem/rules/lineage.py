"""The ends of chains of supersessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any

from graphmem.model import ChainLink, Status


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
