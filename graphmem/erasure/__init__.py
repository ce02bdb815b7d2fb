"""Erasure of memories, beliefs, episodes, scopes and tenants, and its guard."""

from graphmem.erasure.records import ErasureReport, ErasureTarget, RemainingNode

__all__ = ["ErasureReport", "ErasureTarget", "RemainingNode"]
