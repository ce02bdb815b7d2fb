"""Answers every request: whose it is, in which conversation, and what it asks for.

What only an answer needs is loaded by it: the handshake waits for none of that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from graphmem.errors import GraphmemError, GraphUnavailableError, InvalidInputError
from graphmem.mcp.sessions import Caller, SessionRegistry
from graphmem.mcp.starting import MemoryConnection

if TYPE_CHECKING:
    from graphmem.client import AsyncSession
    from graphmem.mcp.tool import Tool

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
WhoCalls = Callable[[Context], Caller]

LONGEST_NAME = 100
AT_ONCE = 8
"""Calls in the database at once. One that has just started plans a query for each who asks it
together: measured, of 25 at once on two cores some took longer than a transaction may."""


class RequestHandler:
    """Where requests come in: one memory, one set of tools for each caller."""

    def __init__(self, keeper: MemoryConnection, who: WhoCalls) -> None:
        self.keeper = keeper
        self.sessions = SessionRegistry()
        self._who = who
        self._places = asyncio.Semaphore(AT_ONCE)

    async def list_tools(
        self, ctx: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Return what the caller may use; no database is needed for it."""
        from graphmem.mcp.tools import offered

        found = offered(read_only=self._who(ctx).read_only)
        return types.ListToolsResult(tools=[tool.listed for tool in found.values()])

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Run a tool; whatever fails in it is told in its result."""
        from graphmem.mcp import failures
        from graphmem.mcp.tools import offered

        tool = offered(read_only=self._who(ctx).read_only).get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, "There is no tool of this name.")
        try:
            return await self._called(ctx, tool, params.arguments or {})
        except Exception as error:  # noqa: BLE001 - told, without its text when nobody expected it
            return failures.answer(self._noted(error))

    async def list_resources(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return nothing: what there is has too many addresses to list; see the templates."""
        return types.ListResourcesResult(resources=[])

    async def list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return how addresses are made."""
        from graphmem.mcp import resources

        return types.ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return what an address names."""
        from graphmem.mcp import resources

        async def read() -> types.TextResourceContents:
            session = await self._unnamed(ctx)
            async with self._places:
                return await resources.read(session, str(params.uri))

        return types.ReadResourceResult(contents=[await self._or_refused(read)])

    async def list_prompts(
        self, ctx: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """Return what a person may pick."""
        from graphmem.mcp import prompts

        found = prompts.offered(read_only=self._who(ctx).read_only)
        return types.ListPromptsResult(prompts=found)

    async def get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Return a prompt, filled in."""
        from graphmem.mcp import prompts

        given = params.arguments or {}

        async def filled() -> types.GetPromptResult:
            known = {one.name: one for one in prompts.offered(read_only=self._who(ctx).read_only)}
            if params.name not in known:
                raise InvalidInputError("There is no prompt of this name.")
            if given.keys() - {one.name for one in known[params.name].arguments or ()}:
                raise InvalidInputError("The prompt has no such argument.")
            if params.name == prompts.KEEP.name:
                return await prompts.keep(given)
            session = await self._unnamed(ctx)
            async with self._places:
                return await prompts.ask(session, given)

        return await self._or_refused(filled)

    async def _called(
        self, ctx: Context, tool: Tool[Any], arguments: dict[str, Any]
    ) -> types.CallToolResult:
        await self.keeper.memory()
        from graphmem.client.state import valid
        from graphmem.mcp.showing import shown
        from graphmem.mcp.tool import ToolCall

        asked = valid(tool.asked, **arguments)
        named = getattr(asked, "session", None)
        session = await self._session(ctx, named) if named else await self._unnamed(ctx)
        async with self._places:
            return shown(tool, await tool.run(ToolCall(session, asked, agent_of(ctx))))

    async def _unnamed(self, ctx: Context) -> AsyncSession:
        """Return the session of a request that names none."""
        name = self.sessions.unnamed(self._who(ctx), connection_of(ctx))
        return await self._session(ctx, name)

    async def _session(self, ctx: Context, name: str) -> AsyncSession:
        memory = await self.keeper.memory()
        return self.sessions.on(memory, self._who(ctx), name, agent_of(ctx))

    async def _or_refused(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do what is no tool; what fails is an error of the protocol."""
        from graphmem.mcp import failures

        try:
            return await work()
        except Exception as error:  # noqa: BLE001 - told, without its text when nobody expected it
            told = failures.told(self._noted(error))
            ours = isinstance(error, GraphmemError)
            code = types.INVALID_PARAMS if ours else types.INTERNAL_ERROR
            raise MCPError(code, f"{told['message']} {told['hint']}".strip(), told) from None

    def _noted(self, error: Exception) -> Exception:
        if isinstance(error, GraphUnavailableError):
            self.keeper.lost()
        return error


def agent_of(ctx: Context) -> str | None:
    """Return how the client calls itself."""
    known = ctx.session.client_params
    name = "" if known is None else known.client_info.name
    return name.encode("utf-8", "replace").decode()[:LONGEST_NAME].strip() or None


def connection_of(ctx: Context) -> str | None:
    """Return the id of an HTTP client's connection; None: it has none, as over stdin."""
    headers = getattr(ctx.request, "headers", None)
    found = None if headers is None else headers.get("mcp-session-id")
    return found if isinstance(found, str) else None
