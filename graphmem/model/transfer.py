"""What an export, or an import, has done."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from graphmem.model.terms import Record


class ExportReport(Record):
    """What a file holds."""

    records: Mapping[str, int]
    """Nodes by label."""
    links: int
    """Relationships between them."""
    known: datetime
    """By the server's clock: what was recorded until then is in it, what came later is not."""
    resumed: int = 0
    """Records that an interrupted export had written already."""
    later: int = 0
    """Nodes that this call passed over since they were recorded later: by writers beside it, or by
    a server whose clock was ahead then."""


class ImportReport(Record):
    """What became of the records of a file."""

    tenant: str
    """Whose they were."""
    known: datetime
    """Until when, by the clock of the server they come from."""
    written: int
    """Nodes made."""
    links: int
    """Relationships made."""
    there: int
    """Nodes that were there already, just so."""
    kept: int
    """Nodes that were there, have gone on since, and stay as they are."""


class ForeignImportReport(Record):
    """What became of another memory's data."""

    done: Mapping[str, int]
    """Writes by what they did: episode, remember, supersede, deprecate, observe, retract. Those
    that an earlier run had done count as well."""
    refused: tuple[str, ...] = ()
    """Records that could not be taken, each with why."""
    unplaced: Mapping[str, int] = {}
    """Fields that have no place here, by record and name, and how often they were filled in."""
