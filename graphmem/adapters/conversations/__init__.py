"""Readers of conversation files in several layouts."""

from graphmem.adapters.conversations.intake import Conversation, ConversationFile, FileProblem
from graphmem.adapters.conversations.reader import read_conversations

__all__ = ["Conversation", "ConversationFile", "FileProblem", "read_conversations"]
