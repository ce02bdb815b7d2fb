"""What a release writes for the tests of later ones: `just fixture`, with GRAPHMEM_URI set.

`exports/<version>.jsonl` is the export of a tenant with one item of each kind, and
`exports/<version>.json` holds what is read from it, and the digests of the migrations. Both may be
written again until the version is released, and never afterwards.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from graphmem import AsOf, GraphMem, Handle, Status, __version__
from graphmem.graph import catalog
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.client.test_transfer import everything

FOLDER = Path(__file__).with_name("exports")
SCOPES = ("global", "user:alice")


def migrations() -> dict[str, str]:
    """Return the digest of each migration by its name."""
    return {one.name: one.sha256 for one in catalog.migrations()}


def read(memory: Handle, as_of: AsOf) -> dict[str, Any]:
    """Return what all scopes of the tenant hold at a time, without ids."""
    return {scope: _read_scope(memory.scope(scope), as_of) for scope in SCOPES}


def _read_scope(memory: Handle, as_of: AsOf) -> dict[str, Any]:
    memories = memory.memories.list(statuses=tuple(Status), limit=1_000, as_of=as_of).memories
    beliefs = memory.beliefs.list(
        include_superseded=True,
        include_archived=True,
        include_rejected=True,
        limit=1_000,
        as_of=as_of,
    ).beliefs
    episodes = memory.episodes.list(include_archived=True, limit=1_000, as_of=as_of).episodes
    leader = memory.current("alice", "works_on", as_of=as_of).leader
    return {
        "memories": sorted([one.content, one.status] for one in memories),
        "beliefs": sorted(
            [one.statement, round(one.belief, 9), one.verdict.status, one.trust] for one in beliefs
        ),
        "turns": sorted(
            [turn.text, turn.role]
            for one in episodes
            for turn in memory.episodes.turns(one.id).turns
        ),
        "leader": leader and leader.object,
    }


def known_of(file: Path) -> AsOf:
    """Return the time of an export, for reads."""
    with file.open(encoding="utf-8") as lines:
        at = json.loads(next(lines))["known"]
    return AsOf(valid=at, known=at)


def write(client: GraphMem, folder: Path, version: str) -> None:
    """Write the files of a version to a folder."""
    memory = client.tenant(f"fixture-{uuid.uuid4()}")
    everything(memory)
    file = folder / f"{version}.jsonl"
    file.unlink(missing_ok=True)
    memory.admin.export_to(file)
    file.chmod(0o644)
    held = {"migrations": migrations(), "read": read(memory, known_of(file))}
    text = json.dumps(held, indent=1, ensure_ascii=False) + "\n"
    file.with_suffix(".json").write_text(text, "utf-8")


if __name__ == "__main__":
    with GraphMem.open(settings=Settings.load(), embedder=HashEmbedder()) as opened:
        FOLDER.mkdir(exist_ok=True)
        write(opened, FOLDER, __version__)
