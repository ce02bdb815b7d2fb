"""Export of a tenant to a file, import of such files and of other products' exports, and moves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from graphmem.model.terms import Record


class ExportReport(Record):
    """Contents of an export file."""

    records: Mapping[str, int]
    """Number of nodes by label."""
    links: int
    """Number of relationships between them."""
    known: datetime
    """Time by the server's clock; the file contains everything recorded until then."""
    resumed: int = 0
    """Number of records that an interrupted export had already written."""
    later: int = 0
    """Number of nodes skipped by this call because they were recorded later: by concurrent writers,
    or by a server whose clock was ahead."""


class KeptRejection(Record):
    """Rejection that a newer ruling of an imported file would have taken back, and did not."""

    scope: str
    event_id: str
    """Event that rejected the value."""
    rejected_at: datetime
    item_id: str | None = None
    """Memory or belief of the scope that states the value; None if none does."""


class ImportReport(Record):
    """Outcome of the records of an imported file."""

    tenant: str
    """Tenant that the records come from."""
    known: datetime
    """Time of the export, by the clock of the exporting server."""
    written: int
    """Number of nodes created."""
    links: int
    """Number of relationships created."""
    there: int
    """Number of identical nodes that already existed."""
    kept: int
    """Number of existing nodes that have changed since and stay unchanged."""
    erased: Mapping[str, int] = {}
    """Number of records left out by label, because they were erased from the tenant."""
    not_lifted: tuple[KeptRejection, ...] = ()
    """Rejections of this tenant that newer rulings of the file take back; they stay in force."""
    seals_left: int = 0
    """Number of seals left out, because the tenant has other ones; its own now cover the events."""


class MoveReport(Record):
    """Plan or result of a move."""

    tenant: str
    address: str
    """Server and database that it moves to."""
    applied: bool = False
    """Whether this call moved it, or gave up; otherwise nothing was written."""
    resumed: bool = False
    """Whether a move was in progress."""
    repeated: bool = False
    """Whether it had been moved before."""
    gave_up: bool = False
    """Whether the move is given up: the source accepts writes, and the copy is removed."""
    records: Mapping[str, int]
    """Number of nodes by label: to move, moved, or removed."""
    passes: int
    """Number of comparisons of both graphs."""
    copied: int
    """Number of records and tombstones written or removed by all passes."""
    digest: str | None = None
    """Digest of all records, equal on both sides; None if it was not moved by this call."""
    refused_s: float | None = None
    """Seconds in which neither server accepted writes; None if it was not moved by this call."""


class ForeignImportReport(Record):
    """Outcome of an import of another memory's data."""

    done: Mapping[str, int]
    """Number of writes by kind: episode, remember, supersede, deprecate, observe, retract. Writes
    of an earlier run are included."""
    refused: tuple[str, ...] = ()
    """Records that were not imported, each with the reason."""
    unplaced: Mapping[str, int] = {}
    """Fields without an equivalent, by record and name, and how often they had a value."""
    renamed: Mapping[str, str] = {}
    """Entities with the name of an older one, by foreign id, and the names that they got."""
    coexisting: tuple[str, ...] = ()
    """Predicates of which a subject has several values at once by the data, as "scope predicate":
    MANY in that scope, whatever was declared."""
