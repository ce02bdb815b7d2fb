"""Clients and handles."""

from graphmem.client.graphmem import AsyncGraphMem as AsyncGraphMem
from graphmem.client.graphmem import GraphMem as GraphMem
from graphmem.client.handle import AsyncHandle as AsyncHandle
from graphmem.client.handle import AsyncSession as AsyncSession
from graphmem.client.handle import Handle as Handle
from graphmem.client.handle import Session as Session
from graphmem.conversation.prompting import PromptMessages as PromptMessages
from graphmem.conversation.streaming import ReplyStream as ReplyStream
