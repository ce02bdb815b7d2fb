"""Erasure of memories, beliefs, episodes, persons, scopes and tenants, and its guard."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Literal

from pydantic import Field

from graphmem.model.terms import Instant, Record


class ErasureTarget(StrEnum):
    """Kind of data that `forget` erases."""

    MEMORY = "memory"
    BELIEF = "belief"
    EPISODE = "episode"
    TURN = "turn"
    SCOPE = "scope"


ErasedKind = ErasureTarget | Literal["person", "tenant"]
"""Kind of data that an erasure erases."""


class RemainingNode(Record):
    """A remaining node with the same text: the source of the erased data, or a similar one."""

    label: str
    id: str
    scope: str


class ErasedText(Record):
    """A text that an erasure would erase."""

    label: str
    id: str
    text: str


class ReopenReceipt(Record):
    """Receipt of `admin.reopen`."""

    event_id: str
    scope: str
    forgotten_at: Instant
    """Time at which the scope was forgotten."""


class Residue(Record):
    """A place that may still hold erased data."""

    place: str
    """Name of the place, for example `transaction log`."""
    files: tuple[str, ...] = ()
    """Patterns of its files, relative to the data folder of Neo4j; empty if it is elsewhere."""
    until: str
    """Event after which it holds none."""


class ErasureRecord(Record):
    """The record of one erasure that the graph keeps. It contains no erased data."""

    id: str
    what: ErasedKind
    digest: str
    """Digest of the tenant, the kind and the id: the key of the tombstone."""
    erased_at: Instant
    """Time of the end of the erasure, by the server's clock."""
    actor: str | None = None
    """Who asked for it; None if not given."""
    reason: str | None = None
    """Why; None if not given."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Number of erased nodes by label."""


class ErasurePage(Record):
    """One page of the erasures of a tenant, oldest first."""

    erasures: tuple[ErasureRecord, ...]
    next_cursor: str | None = None
    """Cursor of the next page; None on the last."""


class ErasureCertificate(ErasureRecord):
    """Signed statement of what was erased, when, and which files may still hold it."""

    format: Literal[1] = 1
    tenant: str
    """Digest of the tenant."""
    unmentioned: int = 0
    """Number of remaining events and replies from which its id was removed."""
    digest_lines: int = 0
    """Number of digest lines that were removed."""
    left: int
    """Number of its nodes found by a second search."""
    mentions: int | None = None
    """Number of remaining nodes with the same text, or that name the person; None if they were not
    searched for."""
    possible_mentions: int = 0
    """Number of remaining nodes that may name the person: an initial, a part of the name."""
    graphmem: str
    """Version of graphmem."""
    neo4j: str
    """Version of Neo4j."""
    compacted_at: Instant | None = None
    """Time at which the files of the database were rewritten without it; None if they were not."""
    residues: tuple[Residue, ...]
    """Places that may still hold it."""
    public_key: str = ""
    """Ed25519 public key of the signature, hex."""
    signature: str = ""
    """Ed25519 signature of `message`, hex."""

    @property
    def message(self) -> bytes:
        """The signed bytes: all other fields as JSON with sorted names and without spaces."""
        fields = self.model_dump(mode="json", exclude={"signature"})
        return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()

    def to_json(self) -> str:
        """Return the certificate as JSON, which `admin verify-certificate` reads."""
        return self.model_dump_json(indent=2) + "\n"

    def to_text(self) -> str:
        """Return the certificate as text, for people."""
        rows = {
            "Certificate": self.id,
            "Erased": self.what,
            "Digest": self.digest,
            "Tenant digest": self.tenant,
            "Time": self.erased_at.isoformat(),
            "Asked by": self.actor or "not given",
            "Reason": self.reason or "not given",
            "Nodes": ", ".join(f"{n} {label}" for label, n in self.counts.items()) or "none",
            "Mentions removed": str(self.unmentioned),
            "Digest lines": str(self.digest_lines),
            "Found afterwards": str(self.left),
            "Same words in": "not searched" if self.mentions is None else f"{self.mentions} nodes",
            "Similar words in": f"{self.possible_mentions} nodes",
            "Versions": f"graphmem {self.graphmem}, Neo4j {self.neo4j}",
            "Compacted": self.compacted_at.isoformat() if self.compacted_at else "no",
        }
        lines = [f"{name + ':':<18}{value}" for name, value in rows.items()]
        lines += ["", "May still hold it:"]
        for one in self.residues:
            lines.append(f"- {one.place}: until {one.until}.")
            lines += [f"    {pattern}" for pattern in one.files]
        lines += ["", f"Public key: {self.public_key}", f"Signature:  {self.signature}"]
        return "\n".join(lines) + "\n"


class ErasureReport(Record):
    """Result of an erasure or of its preview."""

    what: ErasedKind
    id: str
    applied: bool
    repeated: bool = False
    """Whether it was erased before and nothing was left to erase."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Number of erased nodes by label; for a preview, of nodes to erase."""
    unmentioned: int = 0
    """Number of remaining events and replies from which its id was removed."""
    digest_lines: int = 0
    """Number of digest lines that mentioned it."""
    digest_files: tuple[str, ...] = ()
    """Names of the digests that were not given and may hold lines about it."""
    left: int | None = None
    """Number of its nodes found by a second search; None if nothing was erased yet."""
    rewritten: tuple[str, ...] = ()
    """Ids of the episodes of an erased turn, which stay and are summarised again."""
    texts: tuple[ErasedText, ...] = ()
    """For a preview of an item or a person, the texts to erase; at most 50."""
    elsewhere: tuple[RemainingNode, ...] = ()
    """Remaining nodes with the same text, or that name the person; at most 20."""
    mentions: int | None = None
    """Number of remaining nodes with the same text, or that name the person; None if they were not
    searched for."""
    possible: tuple[RemainingNode, ...] = ()
    """Remaining nodes that may name the person; at most 20. They have a part of a name, initials,
    or a name with an ending."""
    possible_mentions: int = 0
    """Number of remaining nodes that may name the person."""
    names: tuple[str, ...] = ()
    """Names of the person, with all aliases, folded; empty for other targets."""
    certificate: ErasureCertificate | None = None
    """Signed certificate of the erasure; None for a preview."""

    @property
    def clean(self) -> bool:
        """Whether the second search found nothing."""
        return self.left == 0
