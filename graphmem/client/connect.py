"""Connect to the server of the settings, and check its schema and embedding model."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from graphmem.erasure.guard import ErasureGuard
from graphmem.errors import ConfigurationError, GraphUnavailableError
from graphmem.model import TenantScope
from graphmem.ports import RequestContext, ServerAddress, Services
from graphmem.rules import drafts
from graphmem.schema import Health, migration
from graphmem.validation import valid

if TYPE_CHECKING:
    from graphmem.graph.driver import Find, Planning
    from graphmem.model import EmbeddingModel
    from graphmem.ports import Embedder, Llm, Reranker
    from graphmem.settings import Settings

SCHEMES = frozenset(f"{name}{tls}" for name in ("bolt", "neo4j") for tls in ("", "+s", "+ssc"))


def silent(_: str) -> None:
    """Ignore progress."""


def settings(given: Settings | None = None, **overrides: str | None) -> Settings:
    """Return the given settings, else those of the environment, with overrides.

    Args:
        overrides: fields that take precedence; None is ignored.
    """
    from graphmem.settings import Settings

    fields: dict[str, object] = {k: v for k, v in overrides.items() if v is not None}
    if given is None:
        return Settings.load(None, **fields)
    if not fields:
        return given
    known = {name: getattr(given, name) for name in given.model_fields_set}
    return Settings.load({}, **known | fields)


def address(known: Settings, report: Callable[[str], None]) -> ServerAddress:
    """Return the address of the server; without a URI, start the managed server if necessary."""
    if known.uri is None:
        from graphmem import local_server

        endpoint = local_server.ensure(known, report=lambda progress: report(str(progress)))
        return ServerAddress(endpoint.uri, endpoint.user, endpoint.password.get_secret_value())
    if known.password is None:
        raise ConfigurationError(
            "The address of a server is set, but no password for it.",
            hint="Give `password`, or set GRAPHMEM_PASSWORD.",
        )
    if not _is_address(known.uri):
        # The message omits the URI, since it may contain a password.
        raise ConfigurationError(
            "GRAPHMEM_URI must be the address of a Neo4j server.",
            hint="Use a form like bolt://127.0.0.1:7687 or neo4j+s://host, without credentials.",
        )
    return ServerAddress(known.uri, known.user, known.password.get_secret_value())


def _is_address(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
        return (
            parts.scheme in SCHEMES
            and bool(parts.hostname)
            and parts.port != 0
            and ("@" not in parts.netloc)
            # A query is a routing context; without routing, the driver quotes it in its error.
            and not (parts.query and parts.scheme.startswith("bolt"))
        )
    except ValueError:
        return False


def open_services(
    known: Settings,
    at: ServerAddress,
    report: Callable[[str], None],
    embedder: Embedder | None = None,
    llm: Llm | None = None,
    reranker: Reranker | None = None,
    *,
    awaited: bool = False,
) -> Services:
    """Return services for blocking calls, whose coroutines never suspend, or for the event loop."""
    from graphmem.file_access import ExportFiles, TextFiles
    from graphmem.graph.driver import AwaitedGraph, BlockingGraph
    from graphmem.io_modes import AWAITED, BLOCKING, SystemClock, run_concurrently
    from graphmem.models import check_embedder, open_embedder, open_llm, open_reranker

    mode = AWAITED if awaited else BLOCKING
    # Opened before the graph: invalid model settings must not leave connections open.
    if embedder is None:
        model = open_embedder(known, awaited=awaited, report=report)
    else:
        model = check_embedder(embedder)
    writer = llm or open_llm(known, awaited=awaited)
    ranker = reranker or open_reranker(known, awaited=awaited)
    kind = AwaitedGraph if awaited else BlockingGraph
    managed = () if known.uri is not None else (_planning(known), _finding(known, report))
    graph = kind(at, known, *managed)
    files, exports, clock = TextFiles(mode), ExportFiles(mode), SystemClock(mode)
    services = Services(graph, model, clock, known, report, files, exports, writer, ranker)
    return replace(services, gather=run_concurrently) if awaited else services


def _planning(known: Settings) -> Planning:
    from graphmem.local_server import DataFolder, plan_in_progress

    return partial(plan_in_progress, DataFolder.of(known))


def _finding(known: Settings, report: Callable[[str], None]) -> Find:
    """Return what finds the managed server, which may have stopped or moved to another port."""
    from graphmem import local_server

    def find(starts: bool) -> tuple[str, int]:  # noqa: FBT001 - see `Find`
        running = local_server.running_uri(known)
        if running is None and not starts:
            raise GraphUnavailableError("The managed Neo4j has stopped.")
        parts = urlsplit(running or address(known, report).uri)
        return str(parts.hostname), int(parts.port or 0)

    return find


async def bound(services: Services, known: Settings) -> RequestContext:
    """Return a request context for the tenant and scope of the settings; check the schema.

    On the managed server, which has no operator, the schema is migrated here if necessary.
    Connections are closed on failure.
    """
    try:
        own = valid(TenantScope, tenant=known.tenant, scope=known.scope)
        tenant_scope = own.model_copy(update={"scopes": drafts.default_read_scopes(own.scope)})
        model = await _ready(services, known)
    except BaseException:
        await services.graph.close()
        raise
    return RequestContext(
        replace(services, graph=ErasureGuard(services.graph, time.monotonic)), tenant_scope, model
    )


async def health(services: Services) -> Health:
    """Check the server and its schema, and return what was found; see `bound` for errors."""
    start = time.monotonic()
    await services.graph.verify()
    model = await migration.checked(services)
    return Health(
        embedding_model=model.name,
        dimension=model.dimension,
        language=services.settings.language,
        seconds=time.monotonic() - start,
    )


async def _ready(services: Services, known: Settings) -> EmbeddingModel:
    await services.graph.verify()
    found = await migration.migrate_if_due(services) if known.uri is None else None
    model = await migration.checked(services, found)
    services.graph.use(model.generation)
    return model
