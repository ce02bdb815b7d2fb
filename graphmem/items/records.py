"""Items: JSON values stored under keys in namespaces, and the calls on them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, Strict

from graphmem.model.terms import Instant, Record, Text

Key: TypeAlias = Annotated[Text, Field(max_length=10_000)]
Count: TypeAlias = Annotated[int, Strict(), Field(ge=0, le=1_000_000_000)]
YesNo: TypeAlias = Annotated[bool, Strict()]
MAX_MINUTES = 100 * 365 * 24 * 60
"""Maximum lifetime of an item: 100 years."""


def _label(label: object) -> object:
    if isinstance(label, str) and (not label or "." in label or "\0" in label):
        raise ValueError("must be a label that is not empty and has no point or NUL")
    return label


Label: TypeAlias = Annotated[Text, BeforeValidator(_label)]
"""One label of a namespace: not empty, without points and NULs; not folded or normalised."""
Labels: TypeAlias = Annotated[tuple[Label, ...], Field(max_length=100)]
"""A namespace; may be empty."""


class GetItem(Record):
    """Read an item; the answer is a `StoredItem`, or None if there is none."""

    namespace: Labels
    key: Key
    refresh: YesNo = True
    """Restart the lifetime of an item that expires."""


class PutItem(Record):
    """Store a value under a key, replacing any earlier one; the answer is None."""

    namespace: Labels
    key: Key
    value: Any
    """A map with string keys and JSON values, stored exactly, tuples as lists. None deletes the
    item."""
    texts: dict[Text, Text] = Field(default_factory=dict, max_length=1_000)
    """Texts by which vector search finds the item, each under its own name; blank ones are
    skipped."""
    ttl_minutes: (
        Annotated[float, Strict(), Field(gt=0, le=MAX_MINUTES, allow_inf_nan=False)] | None
    ) = None
    """Minutes without a read or write after which the item expires; None for no expiry."""


class SearchItems(Record):
    """Search items under a namespace; the answer is a list of `FoundItem`."""

    prefix: Labels = ()
    filter: dict[str, Any] | None = None
    """Required field values: a value, a map or list of values, or a map of $eq, $ne, $gt, $gte, $lt
    and $lte to values."""
    query: Text | None = None
    """Query text: items with texts come first, ranked by their nearest text. Without it, items are
    in order of creation, first of their namespaces, then their own."""
    limit: Count = 10
    offset: Count = 0
    refresh: YesNo = True
    """Restart the lifetime of the results that expire."""


class NamespaceMatch(Record):
    """Labels that a namespace must begin or end with."""

    end: Literal["prefix", "suffix"]
    path: Labels
    """Path of labels; `*` matches any one label."""


class ListNamespaces(Record):
    """List namespaces that contain items; the answer is a sorted list of tuples of labels.

    They are sorted label by label, each by its UTF-16 code units.
    """

    fits: Annotated[tuple[NamespaceMatch, ...], Field(max_length=100)] = ()
    """All of them must match."""
    depth: Annotated[int, Strict(), Field(ge=0)] | None = None
    """Maximum number of labels per namespace; equal results are merged. None returns all labels."""
    limit: Count = 100
    offset: Count = 0


ItemCall: TypeAlias = GetItem | PutItem | SearchItems | ListNamespaces


class StoredItem(Record):
    """A value with its place and times."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any]
    created_at: Instant
    updated_at: Instant


class FoundItem(StoredItem):
    """A search result."""

    score: float | None = None
    """Cosine of the query and the nearest of its texts, in [-1, 1]; None without a query or without
    texts."""


ItemAnswer: TypeAlias = StoredItem | list[FoundItem] | list[tuple[str, ...]] | None
