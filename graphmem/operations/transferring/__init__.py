"""Write the whole of a tenant to a file, and take such a file into a tenant."""

from graphmem.operations.transferring.exporting import export
from graphmem.operations.transferring.importing import take

__all__ = ["export", "take"]
