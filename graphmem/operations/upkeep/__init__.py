"""What nobody needs: texts go to archives, items are hidden, and all of it can be brought back."""

from graphmem.operations.upkeep.compressing import compress, restore
from graphmem.operations.upkeep.pruning import prune, pruned, restore_run

__all__ = ["compress", "prune", "pruned", "restore", "restore_run"]
