"""Base types of every record, and small records: ratings and rejections."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

GLOBAL_SCOPE = "global"

Trust: TypeAlias = Literal["person", "tool", "model", "imported", "unknown"]
"""Trust class: who vouches for a text, from the most to the least trusted."""


def _utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError("is before the year 1 or after the year 9999 in UTC") from None


def _no_number(at: object) -> object:
    # A number is ambiguous: it may be in seconds or in milliseconds.
    if isinstance(at, datetime) or (isinstance(at, str) and not at.lstrip("+-").isdecimal()):
        return at
    raise ValueError("must be a timestamp: give a datetime, or a text in ISO 8601")


def _storable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"must be valid Unicode: lone surrogate at position {error.start}"
        ) from None
    return text


def repaired(text: str) -> str:
    """Return a text with U+FFFD for each half of a surrogate pair; two halves become one character.

    Programs that cut texts at a number of UTF-16 units split a pair.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _repaired(text: object) -> object:
    return repaired(text) if isinstance(text, str) else text


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


Instant: TypeAlias = Annotated[AwareDatetime, BeforeValidator(_no_number), AfterValidator(_utc)]
"""A timezone-aware timestamp, stored in UTC to the microsecond."""
Text: TypeAlias = Annotated[str, Strict(), AfterValidator(_storable)]
"""A string that UTF-8 can hold."""
RepairedText: TypeAlias = Annotated[Text, BeforeValidator(_repaired)]
"""A string from a conversation, in which half of a surrogate pair becomes U+FFFD."""
Name: TypeAlias = Annotated[Text, Field(min_length=1, max_length=200)]
"""A short label or an id given by a caller."""
RepairedName: TypeAlias = Annotated[RepairedText, Field(min_length=1, max_length=200)]
Note: TypeAlias = Annotated[Text, Field(max_length=10_000)]
Tags: TypeAlias = Annotated[tuple[Name, ...], Field(max_length=64)]


class Record(BaseModel):
    """Base class of the immutable records."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Shown(Record):
    """A record that notebooks show as a page of the explorer shows it."""

    def _repr_html_(self) -> str | None:
        """Return HTML for a notebook: static, and with stored text as text.

        None without Jinja2, which `graphmem[serve]` and `graphmem[mcp]` install: a notebook then
        shows the plain repr.
        """
        try:
            # By name: records are below the views that show them.
            views = importlib.import_module("graphmem.explorer.views")
        except ModuleNotFoundError:
            return None
        html: str = views.document(self)
        return html


class TenantScope(Record):
    """Tenant and scopes of a call; no query crosses the tenant."""

    tenant: Name
    scope: Name = GLOBAL_SCOPE
    """Write scope."""
    scopes: Annotated[
        tuple[Name, ...], Field(min_length=1, max_length=200), AfterValidator(_once)
    ] = (GLOBAL_SCOPE,)
    """Read scopes, each once."""


class Alias(Record):
    """A name, the name that it is an alias of, and the event that declared it."""

    name: str
    scope: str
    """Scope in which it is declared; `global` for the whole tenant."""
    same_as: str | None
    """None if the alias was removed."""
    event_id: str
    occurred_at: Instant


class AsOf(Record):
    """Valid and known time of a read; each defaults to now.

    A read at `known` is repeatable once `known` is older than the longest transaction allowed
    (30 s): until then an unfinished write may still be recorded before it.
    """

    valid: Instant | None = None
    """Time in the world, now by default; later events are ignored. It may be in the future."""
    known: Instant | None = None
    """Time in the store, now by default; events recorded later, by its clock, are ignored."""


class Origin(Record):
    """Where an event comes from; its id is a key: repeated, it returns the first result again."""

    event_id: Name | None = None
    """Idempotency key of the event; the same content returns the first result again."""
    source: Name = "manual"
    """Where it comes from, for example manual or hook."""
    actor: Name | None = None
    """Who recorded it."""
    artifact_ref: Annotated[Text, Field(max_length=2_000)] | None = None
    """File, address or session that it comes from."""
    note: Note | None = None
    """Comment; kept with the event."""


class EventSource(Origin):
    """Origin and time of an event, by default now; every field is optional."""

    at: Instant | None = None


class EmbeddingModel(Record):
    """An embedding model recorded in the graph, with its mean cosines of unrelated texts."""

    name: str
    dimension: int
    mu_document: float
    """Mean cosine of two documents."""
    mu_query: float
    """Mean cosine of a query and a document."""
    generation: int = 1
    """Generation of its embeddings."""
    key: Literal["current", "next", "former", "dropped"] = "current"
    """`next` is filling the graph; `former` preceded `current`, and its embeddings still exist;
    those of `dropped` are being removed."""


class TokenStates(NamedTuple):
    """The tokens of one text, without those that a model adds to every text."""

    ids: npt.NDArray[np.int32]
    """int32[n], numbers of the tokens in the model's vocabulary."""
    states: npt.NDArray[np.float32]
    """float32[n, d], projected and centred rows of length 1; d is a multiple of 8."""


class Embedding(NamedTuple):
    """Vector and token states of a text, as stored on its node."""

    vector: npt.NDArray[np.float32]
    """float32[dimension], of length 1."""
    token_states: bytes | None = None
    """Packed by `rules.late_interaction`; None if the model has none."""


def embedding_fields(embedding: Embedding | None) -> dict[str, Any]:
    """Return the properties of a node with this embedding."""
    vector, states = (None, None) if embedding is None else embedding
    return {"embedding": vector, "token_states": states}


class Encoding(NamedTuple):
    """Vectors and token states of several texts, from one pass of the model."""

    vectors: npt.NDArray[np.float32]
    """The same rows as those of `ports.Embedder.embed`."""
    tokens: list[TokenStates]


class Rejection(Record):
    """Decision of a person that a value must not be believed again; `unreject` takes it back."""

    event_id: str
    rejected_at: Instant
    reason: str | None = None
    """Reason that the person gave; None if what the value was about was erased."""
    actor: str | None = None


class RejectionReceipt(Record):
    """Receipt of `reject` or `unreject`."""

    event_id: str
    rejected: bool
    """Whether the value is rejected afterwards."""
    changed: bool
    """False if it was so before."""
    memory_ids: tuple[str, ...] = ()
    """Ids of the memories that state the value, in any spelling."""
    belief_ids: tuple[str, ...] = ()
    """Ids of the beliefs that state the value, in any spelling."""
    repeated: bool = False
    """Whether this event id had been recorded before; the ids are then empty."""


class Tier(StrEnum):
    """Usage tier by decayed rating; an unrated item has none."""

    HIGH = "HIGH"
    """1600 or more."""
    MEDIUM = "MEDIUM"
    """1200, the initial rating, to below 1600."""
    LOW = "LOW"
    """800, the floor of the decay, to below 1200."""
    VERY_LOW = "VERY_LOW"
    """Below 800."""


class Rating(Record):
    """Rating of an item at the time of a read."""

    elo: float
    """Rating, decayed towards 800 since `touched_at`."""
    tier: Tier
    games: int
    """Number of result pairs that the item was rated in, >= 1."""
    touched_at: Instant
    """Time when the item was last opened, or else last returned with a result that was."""


class QualityStats(Record):
    """Ratings of a list of results; they have no influence on its ranking."""

    results: int
    rated: int
    tiers: dict[Tier, int]
    mean_elo: float | None
    """Mean over the rated results; None if none is rated."""
    high_in_top_five: float | None
    """Share of HIGH items among the first five results; None without results."""
