"""Record erasures and certify them: what was erased, and which files may still hold it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Json, TypeAdapter

from graphmem.erasure import (
    ErasureCertificate,
    ErasurePage,
    ErasureRecord,
    ErasureReport,
    Residue,
    rules,
)
from graphmem.graph import catalog
from graphmem.ports import RequestContext
from graphmem.rules import identity
from graphmem.version import __version__

RECORD = catalog.query("erase/record", lambda row: row["erased_at"])
COUNTS = TypeAdapter(Json[dict[str, int]])
VERSION = catalog.query("schema/server_version", lambda row: str(row["version"]))
LOG_SETTINGS = catalog.query("schema/log_settings", lambda row: (row["name"], row["value"]))

UNKNOWN = "unknown"
DATABASE = "data/databases/*"
"""Folder of a database, below the home of Neo4j."""

OUTSIDE = (
    Residue(place="backups, dumps and exported files", until="you remove those made before"),
    Residue(place="members of a cluster", until="each is treated like this one"),
    Residue(
        place="embedding cache of graphmem (vectors of a service, by digest of the text)",
        until="you remove embeddings.sqlite from the cache folder",
    ),
    Residue(place="free space of the disk", until="the file system overwrites it"),
)
"""Places that a compaction does not reach."""


def _record(row: Mapping[str, Any]) -> ErasureRecord:
    return ErasureRecord(**{**row, "counts": COUNTS.validate_python(row["counts"])})


RECORDS = catalog.query("erase/records", _record)


def residues(log: Mapping[str, str]) -> tuple[Residue, ...]:
    """Return the places that may hold erased data.

    Args:
        log: Neo4j's settings of transaction logs, by name; a missing one is unknown.
    """
    size, policy, interval = (
        log.get(name, UNKNOWN)
        for name in (
            "db.tx_log.rotation.size",
            "db.tx_log.rotation.retention_policy",
            "db.checkpoint.interval.time",
        )
    )
    return (
        Residue(
            place="transaction log",
            files=("data/transactions/*/neostore.transaction.db.*",),
            until=f"its file is full ({size}), a checkpoint follows (every {interval}), and the "
            f"retention policy ({policy}) ends, or the database is compacted",
        ),
        Residue(
            place="store",
            files=(
                f"{DATABASE}/neostore.propertystore.db",
                f"{DATABASE}/neostore.propertystore.db.arrays",
                f"{DATABASE}/neostore.propertystore.db.strings",
            ),
            until="later writes overwrite the freed blocks, or the database is compacted",
        ),
        Residue(
            place="indexes",
            files=tuple(
                f"{DATABASE}/schema/index/{kind}-*/**" for kind in ("range", "fulltext", "vector")
            ),
            until="later writes replace their pages and segments, or the database is compacted",
        ),
        *OUTSIDE,
    )


async def certify(
    context: RequestContext,
    report: ErasureReport,
    key: str,
    *,
    actor: str | None,
    reason: str | None,
) -> ErasureCertificate:
    """Record an erasure in the graph and return its certificate, not signed yet."""
    tenant = identity.tenant_key(context.tenant)
    record_id = f"erasure_{identity.event_id(context.services.clock.now())}"
    stated = {"actor": actor, "reason": reason, "digest": key, "what": report.what}
    [erased_at] = await context.fetch(
        RECORD, tenant=tenant, id=record_id, counts=json.dumps(report.counts), **stated
    )
    log = dict(await context.fetch(LOG_SETTINGS))
    found = await context.fetch(VERSION)
    return ErasureCertificate(
        id=record_id,
        erased_at=erased_at,
        counts=report.counts,
        tenant=rules.tenant_key(context.tenant),
        unmentioned=report.unmentioned,
        digest_lines=report.digest_lines,
        left=report.left or 0,
        mentions=report.mentions,
        possible_mentions=report.possible_mentions,
        graphmem=__version__,
        neo4j=found[0] if found else UNKNOWN,
        residues=(*residues(log), *map(_digest, report.digest_files)),
        **stated,
    )


def _digest(name: str) -> Residue:
    return Residue(
        place=f"each digest {name} of its scopes", until="you remove its lines, or the file"
    )


def compacted(certificate: ErasureCertificate, at: datetime) -> ErasureCertificate:
    """Return the certificate after the database was compacted, not signed yet."""
    # Files of the database are rewritten; others have no patterns.
    outside = tuple(one for one in certificate.residues if not one.files)
    return certificate.model_copy(update={"compacted_at": at, "residues": outside})


async def page(context: RequestContext, cursor: str | None, limit: int) -> ErasurePage:
    """Return one page of the records of erasures of the tenant, oldest first."""
    tenant, after = identity.tenant_key(context.tenant), cursor or "erasure_"
    rows = await context.fetch(RECORDS, tenant=tenant, after=after, limit=limit + 1)
    shown = tuple(rows[:limit])
    return ErasurePage(erasures=shown, next_cursor=shown[-1].id if len(rows) > limit else None)
