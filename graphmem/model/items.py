"""Items: JSON values that agents keep under keys in namespaces, and what may be asked of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, Strict

from graphmem.model.terms import Instant, Record, Text


def _label(label: object) -> object:
    if isinstance(label, str) and (not label or "." in label or "\0" in label):
        raise ValueError("is a label that is empty, or has a point or a NUL in it")
    return label


Label: TypeAlias = Annotated[Text, BeforeValidator(_label)]
"""One step of a namespace: not empty, without points and NULs. Nothing is folded or normalised."""
Labels: TypeAlias = Annotated[tuple[Label, ...], Field(max_length=100)]
"""A namespace; () is one too."""
Key: TypeAlias = Annotated[Text, Field(max_length=10_000)]
Count: TypeAlias = Annotated[int, Strict(), Field(ge=0, le=1_000_000_000)]
YesNo: TypeAlias = Annotated[bool, Strict()]
MOST_MINUTES = 100 * 365 * 24 * 60
"""An item may live for a century."""


class GetItem(Record):
    """Ask for an item; the answer is a `StoredItem`, or None when there is none."""

    namespace: Labels
    key: Key
    refresh: YesNo = True
    """Let it live on for as long again, if it would expire."""


class PutItem(Record):
    """Keep a value under a key, in the place of what was there; the answer is None."""

    namespace: Labels
    key: Key
    value: Any
    """A map with strings for keys, of what JSON can carry; kept exactly, tuples as lists. None
    deletes the item."""
    texts: dict[Text, Text] = Field(default_factory=dict, max_length=1_000)
    """What a search by meaning finds it by, each by a name of its own; blank ones are passed
    over."""
    ttl_minutes: (
        Annotated[float, Strict(), Field(gt=0, le=MOST_MINUTES, allow_inf_nan=False)] | None
    ) = None
    """After so many minutes without being read or written it is gone; None: it stays."""


class SearchItems(Record):
    """Ask for items under a namespace; the answer is a list of `FoundItem`."""

    prefix: Labels = ()
    filter: dict[str, Any] | None = None
    """What fields must be: a value, a map or a list of such, or a map of $eq, $ne, $gt, $gte, $lt
    and $lte to values."""
    query: Text | None = None
    """What they are to be about: those with texts first, the nearest text of each counts. Without
    it items come in the order in which their namespaces and then they themselves were begun."""
    limit: Count = 10
    offset: Count = 0
    refresh: YesNo = True
    """Let what is found live on for as long again, if it would expire."""


class NamespaceMatch(Record):
    """What labels a namespace must begin or end with."""

    end: Literal["prefix", "suffix"]
    path: Labels
    """`*` is any one label."""


class ListNamespaces(Record):
    """Ask for namespaces that hold items; the answer is a sorted list of tuples of labels.

    Sorted label by label, and these by their UTF-16 code units.
    """

    fits: Annotated[tuple[NamespaceMatch, ...], Field(max_length=100)] = ()
    """All of them must fit."""
    depth: Annotated[int, Strict(), Field(ge=0)] | None = None
    """Labels to return; those that are then the same are listed once."""
    limit: Count = 100
    offset: Count = 0


ItemCall: TypeAlias = GetItem | PutItem | SearchItems | ListNamespaces


class StoredItem(Record):
    """A value and where it is kept."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any]
    created_at: Instant
    updated_at: Instant


class FoundItem(StoredItem):
    """An item that was searched for."""

    score: float | None = None
    """Cosine of the question and the nearest of its texts, in [-1, 1]; None without a question or
    without texts."""


ItemAnswer: TypeAlias = StoredItem | list[FoundItem] | list[tuple[str, ...]] | None
