"""Items of a key-value store, such as LangGraph's."""

from graphmem.items.records import (
    FoundItem,
    GetItem,
    ItemAnswer,
    ItemCall,
    ListNamespaces,
    NamespaceMatch,
    PutItem,
    SearchItems,
    StoredItem,
)

__all__ = [
    "FoundItem",
    "GetItem",
    "ItemAnswer",
    "ItemCall",
    "ListNamespaces",
    "NamespaceMatch",
    "PutItem",
    "SearchItems",
    "StoredItem",
]
