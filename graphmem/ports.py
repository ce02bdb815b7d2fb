"""Protocols for everything that operations use outside graphmem.

Operations are written once, as coroutines that await nothing but these ports. The blocking
implementations never suspend, so `run_now` finishes such a coroutine with a single send; the
awaited ones suspend on real I/O. No thread and no generated twin is involved.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
    Set,
)
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
)

from graphmem.errors import ReadConflictError, SuspendedInSyncError
from graphmem.model import EventSource, NewMemory
from graphmem.model.terms import Embedding, TokenStates, Trust
from graphmem.models.ports import Answer as Answer
from graphmem.models.ports import Embedder as Embedder
from graphmem.models.ports import Llm as Llm
from graphmem.models.ports import Prompt as Prompt
from graphmem.models.ports import Reranker as Reranker
from graphmem.models.ports import Role as Role
from graphmem.models.ports import SelectableEmbedder as SelectableEmbedder
from graphmem.models.ports import TokenEmbedder as TokenEmbedder
from graphmem.models.ports import TokenUsage as TokenUsage
from graphmem.models.ports import WrappedEmbedder as WrappedEmbedder
from graphmem.models.ports import runs_here as runs_here
from graphmem.models.ports import token_embedder as token_embedder
from graphmem.rules import identity, late_interaction, read_options, trust

if TYPE_CHECKING:
    from graphmem.file_access import ExportFiles, TextFiles
    from graphmem.model import EmbeddingModel, TenantScope
    from graphmem.models.ports import Matrix as Matrix
    from graphmem.rules.read_options import ReadOptions
    from graphmem.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")
Named = TypeVar("Named", bound=EventSource | NewMemory)

Row = Mapping[str, Any]

OnProgress = Callable[[str, int], None]
"""Progress callback; receives a kind of item and how many more of it are done."""

MANDATORY = frozenset(
    {
        *("at", "created_at", "erased_at", "occurred_at", "recorded_at"),
        *("decided", "ref", "scope", "statement", "type"),
    }
)
"""Properties that each node of their labels has, by their names in rows. They are null only if the
node was deleted after it was matched."""
_OF_MEMORY = MANDATORY - {"statement"}

# Quoted: jedi shows the parameters of the coroutine only if it cannot resolve these types.
Awaited: TypeAlias = "Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]"
Blocking: TypeAlias = "Callable[Concatenate[Any, P], T]"


def silent(_kind: str, _count: int) -> None:
    """Ignore progress."""


class Mode(StrEnum):
    """Effect of a query on the graph; the server's EXPLAIN must agree."""

    READ = "read"
    WRITE = "write"
    SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class Query(Generic[R]):
    """One named Cypher text of the catalog and the conversion of a row into a record."""

    name: str
    text: str
    mode: Mode
    params: frozenset[str]
    row: Callable[[Row], R]
    """Conversion of a row; call `decode`."""
    null: frozenset[str] = frozenset()
    """Columns that may be null."""
    sized: frozenset[str] = frozenset()
    """Parameters that are strings or lists, or may be null."""
    ids: tuple[IdLocation, ...] = ()
    """Parameters with ids of memories, beliefs, episodes, turns and events that it writes."""

    def decode(self, row: Row) -> R:
        """Return the record of a row.

        Raises:
            ReadConflictError: a node of the row was deleted after it was matched.
        """
        if _lacks_properties(row, MANDATORY - self.null):
            raise ReadConflictError
        return self.row(row)


def _has_deleted_node(value: object) -> bool:
    """Return whether a value of a row has a map of a node without its properties."""
    if isinstance(value, dict):
        # A map of either has the statement of a belief or the content of a memory.
        return _lacks_properties(value, _OF_MEMORY if "content" in value else MANDATORY)
    # Lists are alike throughout: long ones of numbers or of lists have no maps.
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return any(map(_has_deleted_node, value))
    return False


def _lacks_properties(found: Row, mandatory: Set[str]) -> bool:
    for name, value in found.items():
        if value is None:
            if name in mandatory:
                return True
        elif isinstance(value, (dict, list)) and _has_deleted_node(value):
            return True
    return False


class Tx(Protocol):
    """One transaction."""

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        ...

    async def fetch_each(
        self, query: Query[R], varying: Iterable[Mapping[str, object]], /, **params: object
    ) -> AsyncIterator[list[R]]:
        """Run a catalog query once for each of some further parameters, and yield the rows of each.

        The server runs the next one while the caller uses the rows.
        """
        for further in varying:
            yield await self.fetch(query, **params, **further)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """URI and credentials of a server."""

    uri: str
    user: str
    password: str = field(repr=False)


class Graph(Protocol):
    """The database. `work` may run more than once, so it must contain only queries and rules."""

    async def verify(self) -> None:
        """Check at once, without retries, that the server can be used.

        Raises:
            GraphUnavailableError: the server does not answer.
            GraphAccessError: the server refuses the credentials.
        """
        ...

    def use(self, generation: int) -> None:
        """Use this embedding generation for all following queries; see rules/scoring."""
        ...

    def stay_down(self) -> None:
        """Start no stopped server any more, because the client is closing."""
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
        """Close the connections."""
        ...


class Clock(Protocol):
    """The caller's clock."""

    def now(self) -> datetime:
        """Return the current UTC time, in microseconds."""
        ...

    def ticks(self) -> float:
        """Return the seconds of a clock that never goes back, for durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait this many seconds."""
        ...


class Telemetry(Protocol):
    """Telemetry of operations: their names, durations, outcomes and sizes.

    It receives no content. A block that an error leaves counts as failed with that error.
    """

    def operation(self, name: str, tenant: str) -> AbstractContextManager[object]:
        """Return the block of one public operation; `tenant` is empty while a client opens."""
        ...

    def embedding(self, model: str, role: Role, texts: int) -> AbstractContextManager[object]:
        """Return the block in which `texts` texts are embedded."""
        ...

    def answering(self, model: str) -> AbstractContextManager[Callable[[Answer[Any]], None]]:
        """Return the block of a language model call; it yields a callback for the answer."""
        ...

    def reranking(self, model: str, texts: int) -> AbstractContextManager[object]:
        """Return the block in which `texts` results are reranked."""
        ...

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Count entries of the search log.

        Args:
            waiting: change of the number of entries that wait to be written; may be negative.
            written: number of entries known to be in the graph since the last call.
            lost: number of entries given up since the last call.
        """
        ...


class Gather(Protocol):
    """Run tasks that wait for external services, concurrently where possible.

    Returns:
        Their results in order. If one raises, the unfinished ones are cancelled.
    """

    async def __call__(
        self, works: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int
    ) -> list[T]:
        """Run `works`, at most `limit` at once."""
        ...


async def in_turn(works: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int) -> list[T]:  # noqa: ARG001
    """Run `works` one after the other: a `Gather` that never suspends by itself."""
    return [await work() for work in works]


@dataclass(frozen=True, slots=True)
class Services:
    """External services of a use case."""

    graph: Graph
    embedder: Embedder
    clock: Clock
    settings: Settings
    report: Callable[[str], None]
    """Progress callback for slow steps; receives one line of text."""
    files: TextFiles
    exports: ExportFiles
    llm: Llm | None = None
    """None if no language model is set."""
    reranker: Reranker | None = None
    """None if results keep the local order."""
    telemetry: Telemetry | None = None
    gather: Gather = in_turn

    def fetch(self, query: Query[R], /, **params: object) -> Coroutine[Any, Any, list[R]]:
        """Run one query in a transaction of its own, to read or to write as the query declares."""
        run = self.graph.read if query.mode is Mode.READ else self.graph.write
        return run(lambda tx: tx.fetch(query, **params))

    def embeds_first(self, count: int) -> bool:
        """Return whether texts are embedded before it is known whether the graph has them.

        A read before the write costs a transaction: as much as a local model takes for one text,
        and far less than a request to a service.
        """
        return count == 1 and runs_here(self.embedder)

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Return what to store for texts: vectors, and token states if the model has them."""
        model = token_embedder(self.embedder)
        if model is None:
            return [Embedding(row) for row in await self.embedder.embed(texts, Role.DOCUMENT)]
        made = await model.encode(texts, Role.DOCUMENT)
        return list(map(Embedding, made.vectors, map(late_interaction.pack, made.tokens)))

    async def embed_question(self, text: str, *, tokens: bool) -> tuple[Matrix, TokenStates | None]:
        """Return the vector of a question, and its token states if asked and available."""
        model = token_embedder(self.embedder) if tokens else None
        if model is None:
            [vector] = await self.embedder.embed([text], Role.QUERY)
            return vector, None
        made = await model.encode([text], Role.QUERY)
        return made.vectors[0], made.tokens[0]


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Context of a use case: services, tenant scope, and the graph's embedding model."""

    services: Services
    tenant_scope: TenantScope
    model: EmbeddingModel
    trust: Trust = "person"
    """Class of the writer: no event of this context has a higher one."""

    @property
    def tenant(self) -> str:
        """Tenant of the call."""
        return self.tenant_scope.tenant

    @property
    def scope(self) -> str:
        """Write scope."""
        return self.tenant_scope.scope

    @property
    def read_scopes(self) -> tuple[str, ...]:
        """Scopes that the call may read."""
        return self.tenant_scope.scopes

    def named(self, given: Named) -> Named:
        """Return what a caller gave, with the id under which its event is stored."""
        if given.event_id is None:
            return given
        own = identity.given_event_id(self.scope, self.trust, given.event_id)
        return cast("Named", given.model_copy(update={"event_id": own}))

    @property
    def own_scope_first(self) -> list[str]:
        """Read scopes, the write scope first."""
        to = self.tenant_scope
        return [to.scope, *(one for one in to.scopes if one != to.scope)]

    # These return the graph's coroutines instead of awaiting them: each call has fewer frames.

    def read(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> Coroutine[Any, Any, T]:
        """Run `work` in one managed read transaction; see `_TenantTx`."""
        to, trusted = self.tenant_scope, self.trust
        return self.services.graph.read(lambda tx: work(_TenantTx(tx, to, trusted)))

    def write(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> Coroutine[Any, Any, T]:
        """Run `work` in one managed write transaction; see `_TenantTx`."""
        to, trusted = self.tenant_scope, self.trust
        return self.services.graph.write(lambda tx: work(_TenantTx(tx, to, trusted)))

    def fetch(self, query: Query[R], /, **params: object) -> Coroutine[Any, Any, list[R]]:
        """Run one query in a transaction of its own, to read or to write as the query declares."""
        to, trusted, graph = self.tenant_scope, self.trust, self.services.graph
        run = graph.read if query.mode is Mode.READ else graph.write
        return run(lambda tx: _TenantTx(tx, to, trusted).fetch(query, **params))

    def read_params(
        self, query: Query[Any], by: ReadOptions, now: datetime | None = None
    ) -> dict[str, Any]:
        """Return the parameters of reads of beliefs that a query declares.

        `now` is the default of the valid time; the current time if it is None.
        """
        now = now or self.services.clock.now()
        return read_options.read_params(query.params, by, self.services.settings, now)


@dataclass(frozen=True, slots=True)
class _TenantTx:
    """A transaction that adds the tenant, the scopes and the writer's trust to the parameters.

    It adds those that the query declares and the call does not pass.
    """

    inner: Tx
    tenant_scope: TenantScope
    trust: Trust

    def fetch(self, query: Query[R], /, **params: object) -> Coroutine[Any, Any, list[R]]:
        """Run a catalog query and return its rows as records."""
        return self.inner.fetch(query, **self._added(query, params), **params)

    def fetch_each(
        self, query: Query[R], varying: Iterable[Mapping[str, object]], /, **params: object
    ) -> AsyncIterator[list[R]]:
        """Run a catalog query once for each of some further parameters; see `Tx`."""
        return self.inner.fetch_each(query, varying, **self._added(query, params), **params)

    def _added(self, query: Query[Any], params: Mapping[str, object]) -> dict[str, object]:
        to = self.tenant_scope
        own = {
            "tenant": to.tenant,
            "tenant_key": identity.tenant_key(to.tenant),
            "scope": to.scope,
            "scopes": list(to.scopes),
            "trust": trust.event_ranks(self.trust),
        }
        return {name: own[name] for name in own.keys() & query.params - params.keys()}


def run_now(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that awaits blocking ports only, and return its result; see `blocking`."""
    return blocking(lambda _: work)(None)


def blocking(
    function: Awaited[P, T], within: Callable[..., AbstractContextManager[object]] = nullcontext
) -> Blocking[P, T]:
    """Return the blocking twin of a coroutine function that awaits blocking ports only.

    The twin raises SuspendedInSyncError if the coroutine reaches an await that really suspends.

    Args:
        function: coroutine function; of a decorated one, the function that was decorated.
        within: returns a context manager for each call, from its positional arguments.
    """
    wrapped = vars(function).get("__wrapped__")

    # Without annotations, for the same reason.
    def twin(first, /, *args, **kwargs) -> T:  # type: ignore[no-untyped-def]
        with within(first):
            work = (wrapped or function)(first, *args, **kwargs)
            try:
                work.send(None)
            except StopIteration as done:
                value: T = done.value
                return value
            finally:
                work.close()
            raise SuspendedInSyncError

    return twin


@dataclass(frozen=True, slots=True)
class IdLocation:
    """Location of an id in a query's parameters, and the label of its node."""

    path: tuple[str, ...]
    """Names from a parameter inwards; lists and JSON strings on the way are entered."""
    kind: str
    """A label; or, in lower case, the name of a sibling field or parameter that holds the label."""
    own: bool
    """Whether the query writes this node rather than referring to it."""
