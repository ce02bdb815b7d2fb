"""Erasing memories, beliefs, episodes, scopes and tenants, and keeping them from coming back."""

from graphmem.operations.erasing.guard import ErasureGuard
from graphmem.operations.erasing.running import ErasureRequest, forget

__all__ = ["ErasureGuard", "ErasureRequest", "forget"]
