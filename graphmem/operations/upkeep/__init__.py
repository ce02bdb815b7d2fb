"""Compression, graduation and pruning of unused data, and its restoration."""

from graphmem.operations.upkeep.compressing import compress, restore
from graphmem.operations.upkeep.pruning import prune, pruned, restore_run

__all__ = ["compress", "prune", "pruned", "restore", "restore_run"]
