"""Rejections by the book: whether a value is rejected for a reader, from every ruling about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ruling:
    """A decision about some sentences, in the scope of who made it."""

    scope: str
    sentences: frozenset[str]
    rejects: bool
    path: str = ""
    """Tenants through which it was imported, the last one first."""


def standing(
    rulings: Iterable[Ruling], sentences: Collection[str], scopes: Collection[str]
) -> list[Ruling]:
    """Return the rejections in force of what these sentences state, for a reader of scopes.

    Rulings are in the order of time. One takes back those about the same sentence that were made
    where it was, or that were imported there.
    """
    left: list[tuple[Ruling, str]] = []
    for ruling in rulings:
        if ruling.scope not in {*scopes, "global"}:
            continue
        for sentence in ruling.sentences & {*sentences}:
            if ruling.rejects:
                left.append((ruling, sentence))
            else:
                left = [
                    (other, about)
                    for other, about in left
                    if about != sentence or not other.path.startswith(ruling.path)
                ]
    return [ruling for ruling, _ in left]
