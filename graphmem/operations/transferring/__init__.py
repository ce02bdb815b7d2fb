"""Export of a tenant to a file, and import of such a file into a tenant."""

from graphmem.operations.transferring.exporting import export
from graphmem.operations.transferring.importing import take

__all__ = ["export", "take"]
