"""Items of a key-value store, such as LangGraph's."""

from graphmem.items.records import FoundItem as FoundItem
from graphmem.items.records import GetItem as GetItem
from graphmem.items.records import ItemAnswer as ItemAnswer
from graphmem.items.records import ItemCall as ItemCall
from graphmem.items.records import ListNamespaces as ListNamespaces
from graphmem.items.records import NamespaceMatch as NamespaceMatch
from graphmem.items.records import PutItem as PutItem
from graphmem.items.records import SearchItems as SearchItems
from graphmem.items.records import StoredItem as StoredItem
