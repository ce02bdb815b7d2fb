"""Clients and handles."""

from graphmem.client.arguments import PromptMessages
from graphmem.client.graphmem import AsyncGraphMem, GraphMem
from graphmem.client.handle import AsyncHandle, AsyncSession, Handle, Session
from graphmem.client.streaming import ReplyStream

__all__ = [
    "AsyncGraphMem",
    "AsyncHandle",
    "AsyncSession",
    "GraphMem",
    "Handle",
    "PromptMessages",
    "ReplyStream",
    "Session",
]
