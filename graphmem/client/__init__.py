"""Python clients: every operation as a coroutine, and its blocking twin."""

from graphmem.client.graphmem import AsyncGraphMem, GraphMem
from graphmem.client.session import AsyncSession, Session

__all__ = ["AsyncGraphMem", "AsyncSession", "GraphMem", "Session"]
