"""What a roll-up of the search log has done, or would do."""

from __future__ import annotations

from graphmem.model.terms import Record


class RollUpReport(Record):
    """Searches that gave way to their counts."""

    applied: bool
    """False: nothing was written."""
    sessions: int
    """In which something was searched for."""
    searches: int
    """In these sessions, and outside any."""
    results: int
    """That these searches returned."""
