"""Protocols of embedding and language models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, Protocol, runtime_checkable

from graphmem.errors import ConfigurationError
from graphmem.rules.prompts import M
from graphmem.rules.prompts import Prompt as Prompt  # argument of `Llm`, created by rules

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from graphmem.model.terms import Encoding

    Matrix = npt.NDArray[np.float32]


class Role(StrEnum):
    """Role of a text in a search; many models embed the two differently."""

    DOCUMENT = "document"
    QUERY = "query"


class Embedder(Protocol):
    """Convert texts to unit vectors."""

    @property
    def name(self) -> str:
        """Stable name of the model, recorded in the graph, for example `openai/model`."""
        ...

    async def dimension(self) -> int:
        """Return the length of its vectors; ask the model if it is not known yet."""
        ...

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return float32[len(texts), dimension], rows of length 1, in the order of `texts`.

        Raises:
            InvalidInputError: a text is blank or invalid Unicode; the message names its index.
            ModelUnavailableError: the model cannot be reached or refuses the key.
            ModelReplyError: wrong count, wrong dimension, or a value that is not finite.
        """
        ...


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that can also return token states."""

    @property
    def has_tokens(self) -> bool:
        """Whether the model in use has token states; if not, `encode` must not be called."""
        ...

    async def encode(self, texts: Sequence[str], role: Role) -> Encoding:
        """Return vectors and token states in the order of `texts`; see `embed` for errors."""
        ...


def token_embedder(embedder: Embedder) -> TokenEmbedder | None:
    """Return the embedder if its model has token states, else None."""
    return embedder if isinstance(embedder, TokenEmbedder) and embedder.has_tokens else None


@runtime_checkable
class LocalModelEmbedder(Embedder, Protocol):
    """An embedder that knows whether its model runs in this process."""

    @property
    def runs_here(self) -> bool:
        """Whether embedding a text takes no request, so about as long as a read of the graph."""
        ...


def runs_here(embedder: Embedder) -> bool:
    """Return whether the model of an embedder runs in this process."""
    return isinstance(embedder, LocalModelEmbedder) and embedder.runs_here


@runtime_checkable
class SelectableEmbedder(Embedder, Protocol):
    """A choice between several models, until a graph is opened."""

    async def select(self, recorded: Sequence[str]) -> None:
        """Use the first of these models that it has; for a new graph, the best available one.

        Later calls have no effect.

        Args:
            recorded: names of the models that filled the graph; empty for a new one.

        Raises:
            ModelFetchError: the graph is new, and no model is available.
        """
        ...


class WrappedEmbedder:
    """An embedder that passes every call to another one, so that subclasses override only some.

    It is selectable, runs here and has token states as far as the other one is, does and has.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._inner.name

    async def dimension(self) -> int:
        """Return the length of the vectors."""
        return await self._inner.dimension()

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return the vectors of texts; see `Embedder.embed`."""
        return await self._inner.embed(texts, role)

    async def select(self, recorded: Sequence[str]) -> None:
        """Select a model; see `SelectableEmbedder.select`."""
        if isinstance(self._inner, SelectableEmbedder):
            await self._inner.select(recorded)

    @property
    def runs_here(self) -> bool:
        """Whether the model runs in this process."""
        return runs_here(self._inner)

    @property
    def has_tokens(self) -> bool:
        """Whether `encode` may be called."""
        return token_embedder(self._inner) is not None

    async def encode(self, texts: Sequence[str], role: Role) -> Encoding:
        """Return vectors and token states; see `TokenEmbedder.encode`.

        Raises:
            ConfigurationError: the model has no token states.
        """
        inner = token_embedder(self._inner)
        if inner is None:
            raise ConfigurationError(f"The model {self.name} has no token states.")
        return await inner.encode(texts, role)


@dataclass(frozen=True, slots=True)
class Answer(Generic[M]):
    """Reply of a language model, and its cost."""

    value: M
    raw: str = field(repr=False)
    """The unchanged reply, to be stored."""
    model: str
    requests: int
    """Number of requests, including failed ones."""
    tokens_in: int
    tokens_out: int
    """Tokens of all answered requests; 0 if the service does not count them."""
    cost_usd: float | None
    """Cost of the same requests in USD; None if the model's price is unknown."""


@dataclass(slots=True)
class TokenUsage:
    """Total cost of several answers."""

    calls: int = 0
    """Number of requests, including failed ones."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """Cost in USD, as far as prices are known."""

    def add(self, answer: Answer[Any]) -> None:
        """Add the cost of one answer."""
        self.join(TokenUsage(answer.requests, answer.tokens_in, answer.tokens_out, answer.cost_usd))

    def join(self, other: TokenUsage) -> None:
        """Add the totals of another count."""
        self.calls += other.calls
        self.tokens_in += other.tokens_in
        self.tokens_out += other.tokens_out
        if other.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + other.cost_usd


class Reranker(Protocol):
    """Score texts by their relevance to a question. Used by recall, after its own ranking."""

    @property
    def name(self) -> str:
        """Stable name of the model, without secrets, for example `cohere/rerank-v3.5`."""
        ...

    async def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one finite score per text, in the order of `texts`; a greater one is better.

        It keeps to a time limit of its own. If it raises, a recall keeps the local order.

        Raises:
            ModelUnavailableError: the model cannot be reached in time, or refuses the key.
            ModelReplyError: the scores do not fit the texts, or are not finite.
        """
        ...


class Llm(Protocol):
    """Answer prompts with validated records. Used by writes, never by reads."""

    @property
    def name(self) -> str:
        """Stable name of the model, recorded with its output, for example `openai/gpt-5`."""
        ...

    async def answer(self, prompt: Prompt[M]) -> Answer[M]:
        """Return the model's reply to a prompt as the record that the prompt requires.

        Raises:
            ConfigurationError: the provider of the model is unknown.
            ModelUnavailableError: the model cannot be reached or refuses the key.
            ModelReplyError: the reply does not fit the record, after one attempt at repair; `raw`
                contains it.
        """
        ...
