"""The Python clients: every operation once, as a coroutine, and its blocking twin."""

from graphmem.client.graphmem import AsyncGraphMem, GraphMem
from graphmem.client.handle import Narrowing
from graphmem.client.origin import Origin
from graphmem.client.session import AsyncSession, Session

__all__ = ["AsyncGraphMem", "AsyncSession", "GraphMem", "Narrowing", "Origin", "Session"]
