"""The application: routes of all operations, health, version and the OpenAPI document."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, nullcontext
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, FastAPI, Header, Path, Query
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import StringConstraints
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graphmem import signatures
from graphmem.client import AsyncGraphMem
from graphmem.client.handle import AsyncHandle
from graphmem.errors import ConfigurationError, GraphmemError, InvalidInputError
from graphmem.jobs.operations import OperationPage, OperationStatus
from graphmem.mcp.connection import MemoryConnection
from graphmem.mcp.tool import Profile
from graphmem.model import Origin, Record
from graphmem.rules import links
from graphmem.rules.plain import plain
from graphmem.serve import long_calls, problems
from graphmem.serve.agents import PATH, AgentServer
from graphmem.serve.connections import HttpLimits
from graphmem.serve.document import openapi, result_of
from graphmem.serve.guard import GRANT
from graphmem.serve.key_routes import TAG, PageQuery, add_key_routes, maker
from graphmem.serve.keys import Grant, KeyFile
from graphmem.serve.long_calls import EventStream, Runner
from graphmem.serve.operations import BY_NAME, OPERATIONS, Operation, arguments_of
from graphmem.serve.problems import Problem, ProblemDetails, log
from graphmem.serve.scopes import SCOPE, asked_scope, scopes_of, utf8
from graphmem.telemetry import receivers
from graphmem.validation import valid
from graphmem.version import __version__

if TYPE_CHECKING:
    from graphmem.settings import Settings

V1 = "/v1"
IDEMPOTENCY = "Idempotency-Key"
READY_S = 2.0
"""Seconds in which the database must answer for the server to be ready."""
CLOSE_S = 5.0
"""Seconds for which the end of the server waits until its operations are free for others."""
READY_AGAIN_S = 1.0
"""Seconds for which an answer about readiness is repeated."""
PROBLEM: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem.",
        "model": ProblemDetails,
    }
}
ScopeHeader = Annotated[
    str | None,
    Header(
        alias=SCOPE,
        description="Scope to write to, one that the key grants; reads then see it and `global`. "
        "By default reads see all scopes that the key names, and writes go to the first.",
    ),
]
IdempotencyHeader = Annotated[
    str | None,
    Header(
        alias=IDEMPOTENCY,
        description="Id of the event: a repeated request with the same content returns the first "
        "result again.",
    ),
]

OperationId = Annotated[str, Path(max_length=200, description="Id of the operation.")]
HiddenHeader = Annotated[str | None, Header(alias=IDEMPOTENCY, include_in_schema=False)]


class CheckedRoute(APIRoute):
    """A route that checks the grant of a request before its parameters.

    A refused request learns nothing from an invalid parameter.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that answers a request."""
        answered = super().get_route_handler()
        operation = BY_NAME.get(self.operation_id or "")

        async def checked(request: Request) -> Response:
            if operation is not None:
                grant: Grant = request.scope[GRANT]
                check_right(operation, grant)
                asked_scope(grant, request.headers)
            elif TAG in self.tags:
                maker(request)
            return await answered(request)

        return checked


class Service:
    """Calls of the client for requests."""

    def __init__(
        self, settings: Settings, tenants: Callable[[], Collection[str]] = frozenset
    ) -> None:
        # The packages of this extra can always export metrics.
        settings = settings.model_copy(update={"metrics": True})
        self.settings = settings
        self.connection = MemoryConnection(settings)
        self.runner = Runner(self.connection, tenants)
        self.traced = receivers.continued if settings.traces else nullcontext
        self._deadline_s = settings.serve_deadline_s
        self._ready_at = -READY_AGAIN_S
        self._unready: Problem | None = None

    async def call(
        self,
        operation: Operation,
        grant: Grant,
        arguments: dict[str, Any],
        scope: str | None,
        key: str | None,
    ) -> Any:
        """Return the result of an operation.

        Args:
            operation: operation of the table.
            grant: grant of the caller.
            arguments: arguments of the method.
            scope: scope that the request names.
            key: idempotency key of the request.

        Raises:
            Problem: it takes too long.
            GraphmemError: see the method.
        """
        if key is not None:
            arguments = identified(operation, arguments, key)
        try:
            async with asyncio.timeout(self._deadline_s):
                handle = handle_of(await self.connection.memory(), grant, scope)
                found = await _called(handle, operation, arguments)
        except (GraphmemError, Problem):
            raise
        except TimeoutError:
            text = f"The call took longer than {self._deadline_s:g} s."
            hint = "A write may have been stored: repeat it with the same Idempotency-Key."
            raise Problem(504, "deadline_exceeded", text, hint=hint) from None
        except Exception as error:  # noqa: BLE001 - answered here: others would log its content
            raise problems.of_fault(error, operation.path) from None
        # A full server would answer the question for its state too late.
        self._ready_at, self._unready = time.monotonic(), None
        return found

    async def handle(self, grant: Grant, scope: str | None) -> AsyncHandle:
        """Return a handle for a page; see `handle_of`."""
        return handle_of(await self.connection.memory(), grant, scope)

    async def metrics(self, request: Request) -> Response:
        """Answer with the metrics, which are of all tenants.

        Raises:
            Problem: the key is not an operator's.
        """
        grant: Grant = request.scope[GRANT]
        own = grant.covers_tenant and grant.tenant == self.settings.tenant
        if "admin" not in grant.rights or not own:
            text = "The metrics need the right admin in all scopes of the server's own tenant."
            raise Problem(403, "not_granted", text)
        return Response(receivers.exposition(), media_type="text/plain; version=0.0.4")

    async def check_ready(self) -> None:
        """Check that the database answers.

        Raises:
            Problem: it does not.
        """
        if time.monotonic() - self._ready_at >= READY_AGAIN_S:
            self._unready = await self._checked()
            self._ready_at = time.monotonic()
        if self._unready is not None:
            raise self._unready

    async def _checked(self) -> Problem | None:
        try:
            async with asyncio.timeout(READY_S):
                memory = await self.connection.memory()
                await memory.health()
        except (GraphmemError, TimeoutError) as error:
            code = error.code if isinstance(error, GraphmemError) else "unavailable"
            wait = {"retry-after": str(problems.RETRY_S)}
            return Problem(503, code, "The memory is not ready.", headers=wait)
        return None


async def _called(handle: AsyncHandle, operation: Operation, arguments: dict[str, Any]) -> Any:
    """Return the result of a method.

    Raises:
        Problem: the server's settings lack what it needs, such as a language model.
        GraphmemError: see the method.
    """
    try:
        if not operation.in_session:
            return await attrgetter(operation.method)(handle)(**arguments)
        name = arguments.pop("session_id")
        async with handle.session(name, agent="http", shared=True) as session:
            return await getattr(session, operation.method)(**arguments)
    except ConfigurationError as error:
        log.error("%s: %s", error.code, error.message)
        text = "The server is not set up for this call; its log has the reason."
        raise Problem(409, error.code, text) from None


def check_right(operation: Operation, grant: Grant) -> None:
    """Check that a grant allows an operation.

    Raises:
        Problem: it does not.
    """
    if operation.right not in grant.rights:
        raise Problem(403, "not_granted", f"The key does not grant the right {operation.right}.")
    if operation.of_tenant and not grant.covers_tenant:
        text = "This concerns all scopes of the tenant, which the key does not grant."
        raise Problem(403, "not_granted", text)


def handle_of(memory: AsyncGraphMem, grant: Grant, asked: str | None) -> AsyncHandle:
    """Return a handle on the scopes of a call.

    Args:
        memory: the open client.
        grant: grant of the caller.
        asked: scope that the request names, which the grant contains; None: all that it names.

    Raises:
        InvalidInputError: the request must name a scope.
    """
    scope, read_scopes = scopes_of(grant, asked)
    return memory.tenant(grant.tenant, trust=grant.trust).scope(scope, read_scopes=read_scopes)


def identified(operation: Operation, arguments: dict[str, Any], key: str) -> dict[str, Any]:
    """Return arguments with the idempotency key as the id of the event; a read needs none.

    Raises:
        InvalidInputError: the operation takes no event id, or the arguments have another one.
    """
    name = operation.event_id
    if name is None and operation.right == "read":
        return arguments
    if name is None:
        raise InvalidInputError(f"{IDEMPOTENCY}: this operation takes none.", hint="Omit it.")
    origin = arguments.get("origin") or Origin()
    given = origin.event_id if name == "origin" else arguments.get(name)
    if given not in (None, key):
        raise InvalidInputError(f"{IDEMPOTENCY}: the body has another event_id.")
    value = valid(Origin, **dict(origin) | {"event_id": key}) if name == "origin" else key
    return arguments | {name: value}


def create_app(service: Service, *, profile: Profile = "core", stateless: bool = False) -> FastAPI:
    """Return the application, which opens the memory in the background when it starts.

    Args:
        service: calls of the client.
        profile: tools to offer over MCP.
        stateless: see `AgentServer`.
    """
    limits = HttpLimits.of(service.settings)
    agents = AgentServer(service.connection, limits, profile, stateless=stateless)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.connection.begin()
        running = asyncio.create_task(service.runner.run())
        async with agents.running():
            yield
        running.cancel()
        await asyncio.wait({running}, timeout=CLOSE_S)
        await service.connection.close()

    app = FastAPI(
        title="graphmem",
        version=__version__,
        summary="Memory for agents, in Neo4j.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.router.route_class = CheckedRoute
    app.add_exception_handler(Problem, problems.answer_problem)
    app.add_exception_handler(GraphmemError, problems.answer_error)
    app.add_exception_handler(RequestValidationError, problems.answer_invalid)
    app.add_exception_handler(HTTPException, problems.answer_http)
    for operation in OPERATIONS:
        app.add_api_route(
            V1 + operation.path,
            _endpoint(service, operation),
            methods=[operation.verb],
            operation_id=operation.name,
            summary=operation.summary,
            description=f"Needs the right `{operation.right}`.",
            tags=[operation.path.split("/")[1]],
            **_results(operation),
        )
    _add_operations(app, service)
    app.router.routes.append(Route(PATH, agents))
    add_key_routes(app, KeyFile.of(service.settings), PROBLEM)
    _add_own(app, service)
    return app


def _results(operation: Operation) -> dict[str, Any]:
    """Return the results of a route, as FastAPI describes them."""
    if not operation.is_long:
        return {"response_model": result_of(operation), "responses": PROBLEM}
    if operation.plans is None:
        return {"response_model": OperationStatus, "status_code": 202, "responses": PROBLEM}
    started = {"model": OperationStatus, "description": "The operation, unless it is a dry run."}
    return {"response_model": result_of(operation), "responses": PROBLEM | {202: started}}


def _add_operations(app: FastAPI, service: Service) -> None:
    runner = service.runner

    async def asker(request: Request) -> tuple[AsyncHandle, Grant]:
        grant: Grant = request.scope[GRANT]
        return (await service.connection.memory()).tenant(grant.tenant), grant

    async def page(request: Request, given: Annotated[PageQuery, Query()]) -> OperationPage:
        return await runner.page(*await asker(request), cursor=given.cursor, limit=given.limit)

    async def find(request: Request, operation_id: OperationId) -> OperationStatus:
        return await runner.find(*await asker(request), operation_id)

    async def cancel(request: Request, operation_id: OperationId) -> OperationStatus:
        return await runner.cancel(*await asker(request), operation_id)

    async def events(request: Request, operation_id: OperationId) -> Response:
        await find(request, operation_id)
        states = long_calls.states(lambda: find(request, operation_id))
        return EventStream(runner, states)

    one = f"{V1}/operations/{{operation_id}}"
    for verb, path, endpoint, kind, summary in (
        ("GET", f"{V1}/operations", page, OperationPage, "List the operations that the key shows."),
        ("GET", one, find, OperationStatus, "Return the state of an operation."),
        ("DELETE", one, cancel, OperationStatus, "End an operation; what it has done stays."),
        ("GET", f"{one}/events", events, str, "Stream the states of an operation as events."),
    ):
        app.add_api_route(
            path,
            endpoint,
            methods=[verb],
            operation_id=f"operations_{endpoint.__name__}",
            summary=summary,
            tags=["operations"],
            responses=PROBLEM,
            response_model=kind,
            status_code=200,
            response_class=EventStream if endpoint is events else JSONResponse,
        )


def _add_own(app: FastAPI, service: Service) -> None:
    async def live() -> Response:
        return answer({"status": "live"})

    async def ready() -> Response:
        await service.check_ready()
        return answer({"status": "ready"})

    async def own_version() -> Response:
        return answer({"version": __version__})

    @cache
    def written() -> Response:
        return answer(openapi(app))

    async def document() -> Response:
        return written()

    for path, endpoint in (
        ("/health/live", live),
        ("/health/ready", ready),
        ("/metrics", service.metrics),
        ("/version", own_version),
        ("/openapi.json", document),
    ):
        app.add_api_route(path, endpoint, include_in_schema=False)


def answer(data: object) -> Response:
    """Return an answer in JSON."""
    return Response(to_json(plain(data)), media_type="application/json")


def _endpoint(
    service: Service, operation: Operation
) -> Callable[..., Coroutine[Any, Any, Response]]:
    """Return a function with the parameters of an operation, which FastAPI reads."""
    kind = operation.record()
    is_body = operation.verb == "POST"

    async def endpoint(
        request: Request,
        scope_header: str | None,
        idempotency_key: str | None,
        given: Record | None = None,
        **in_path: str,
    ) -> Response:
        arguments = arguments_of(given)
        grant: Grant = request.scope[GRANT]
        scope = None if scope_header is None else utf8(scope_header)
        key = None if idempotency_key is None else utf8(idempotency_key)
        if operation.is_long and not arguments.get("dry_run", operation.plans):
            handle = handle_of(await service.connection.memory(), grant, scope)
            stored = {} if given is None else given.model_dump(mode="json", exclude_unset=True)
            asked = {"given": stored, "path": in_path}
            started = await service.runner.ask(handle, operation, asked, grant=grant, key=key)
            place = {"location": f"{V1}/operations/{started.id}"}
            return Response(to_json(plain(started)), 202, place, "application/json")
        with service.traced(request.headers):
            found = answer(await service.call(operation, grant, arguments | in_path, scope, key))
            found.headers["link-template"] = links.TEMPLATE
            return found

    parameters = {
        "request": Request,
        "scope_header": ScopeHeader,
        "idempotency_key": IdempotencyHeader
        if operation.event_id or operation.is_long
        else HiddenHeader,
    }
    for name in operation.in_path:
        limits = StringConstraints(min_length=1, max_length=200)
        parameters[name] = Annotated[str, limits, Path(description=_text(operation, name))]
    defaults: dict[str, Any] = {"scope_header": None, "idempotency_key": None}
    if kind.model_fields:
        parameters["given"] = Annotated[kind, Body() if is_body else Query()]
        if is_body and not any(field.is_required() for field in kind.model_fields.values()):
            defaults["given"] = None
            parameters["given"] = Annotated[kind | None, Body()]
    keyword = inspect.Parameter.KEYWORD_ONLY
    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name, keyword, annotation=kind, default=defaults.get(name, inspect.Parameter.empty)
            )
            for name, kind in parameters.items()
        ]
    )
    return endpoint


def _text(operation: Operation, name: str) -> str:
    method = "session" if operation.in_session else operation.method
    return next(one.text for one in signatures.method(method).parameters if one.name == name)
