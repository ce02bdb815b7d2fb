"""Erasing memories, beliefs, episodes, scopes and tenants, and keeping them from coming back."""

from graphmem.operations.erasing.guard import Guarded
from graphmem.operations.erasing.running import Wish, forget

__all__ = ["Guarded", "Wish", "forget"]
