"""Canary: which files hold erased text and vectors, and that compaction leaves none."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import neo4j
import numpy as np
import pytest

from graphmem import GraphMem, Handle, local_server
from graphmem.errors import LocalServerError
from graphmem.local_server import backup, compaction, process
from graphmem.local_server.files import DataFolder
from graphmem.models.embedding import unit_rows
from graphmem.ports import Role
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from graphmem.models.ports import Matrix

WORD = "Zanzibarqux"
NUMBER = 0.123456789
"""Confidence of the canary's evidence, which is stored inside a property record."""
OTHERS = [f"The gardener of house {n} waters bed {n * 7} at dawn" for n in range(30)]


class DenseEmbedder(HashEmbedder):
    """Hashed vectors without zeros, so that any few of their numbers occur in one text only."""

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        rows = await super().embed(texts, role)
        for row, text in zip(rows, texts, strict=True):
            row += np.random.default_rng([*text.encode()]).normal(0, 0.01, row.shape)
        return unit_rows(rows, count=len(rows), dimension=self.DIMENSION)


def canaries(handle: Handle) -> tuple[list[str], set[bytes]]:
    """Write the canary among other data in single transactions.

    Returns:
        Ids of the canary's memories, and the byte patterns of its text, vectors and number.
    """
    # Long, because the records of the erasure overwrite some of the freed blocks.
    texts = [f"The keeper {WORD} counts {n} boats in the bay. " * 60 for n in (3, 8)]
    done = handle.remember_many([*OTHERS, *texts])
    facts = [{"subject": f"person {n}", "predicate": "owns", "object": f"boat {n}"} for n in (1, 2)]
    own = {"subject": f"{WORD} the keeper", "predicate": "owns", "confidence": NUMBER}
    handle.observe_many([*facts, *(own | {"object": f"light {n}"} for n in range(60))])
    words = [WORD, WORD.lower()]
    patterns = {word.encode(code) for word in words for code in ("utf-8", "utf-16-le", "utf-16-be")}
    patterns |= {struct.pack("<d", NUMBER), struct.pack(">d", NUMBER)}
    for row in query(
        handle,
        "MATCH (n:Memory) WHERE n.content CONTAINS $word RETURN n.embedding AS vector",
    ):
        for at in range(0, len(row["vector"]), 4):
            part = [float(one) for one in row["vector"][at : at + 4]]
            patterns |= {struct.pack(order + "4f", *part) for order in "<>"}
    return [str(one.memory_id) for one in done[len(OTHERS) :]], patterns


def query(handle: Handle, text: str) -> list[neo4j.Record]:
    """Run a query past graphmem."""
    settings = handle._state.context.services.settings
    found = local_server.ensure(settings)
    auth = (found.user, found.password.get_secret_value())
    with neo4j.GraphDatabase.driver(found.uri, auth=auth) as driver:
        return driver.execute_query(neo4j.Query(text), word=WORD).records


def holding(root: Path, patterns: set[bytes]) -> set[str]:
    """Return the files below a folder that contain a pattern, by their relative paths."""
    files = [path for path in root.rglob("*") if path.is_file()]
    held = {path: path.read_bytes() for path in files}
    return {
        path.relative_to(root).as_posix()
        for path, data in held.items()
        if any(pattern in data for pattern in patterns)
    }


@pytest.mark.system
def test_no_file_holds_what_was_erased_after_compaction(own_server: Settings) -> None:
    root = DataFolder.of(own_server).root
    with GraphMem.open(settings=own_server, embedder=DenseEmbedder(), tenant="acme") as client:
        ids, patterns = canaries(client)
        for memory_id in ids:
            client.forget("memory", memory_id, dry_run=False)
        done = client.admin.erase_person(f"{WORD} the keeper", dry_run=False)
        kept = [one.id for one in client.recall("gardener", limit=50).bites]
        counts = client.admin.stats().memories
    assert done.clean
    assert done.certificate is not None
    local_server.stop(own_server)

    found = holding(root, patterns)
    listed = [pattern for one in done.certificate.residues for pattern in one.files]
    assert {name for name in found if not any(fnmatch(name, one) for one in listed)} == set()
    assert {one for one in listed if not any(fnmatch(name, one) for name in found)} == set()

    made = local_server.compact(own_server)

    assert made.after_bytes > 0
    assert not local_server.status(own_server).running
    assert holding(root, patterns) == set()
    with GraphMem.open(settings=own_server, embedder=DenseEmbedder(), tenant="acme") as client:
        assert client.admin.stats().memories == counts
        assert [one.id for one in client.recall("gardener", limit=50).bites] == kept
        assert client.admin.verify().wrong == ()
        client.remember("A new memory, after the compaction of the files")
    local_server.stop(own_server)
    assert holding(root, patterns) == set()


class KilledError(BaseException):
    """The process was killed here: nothing of it runs any more."""


def killed(*_: object, **__: object) -> None:
    raise KilledError


@pytest.mark.system
def test_a_compaction_that_is_killed_or_fails_loses_nothing(
    own_server: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "The shed behind the house has a blue door"
    folder = DataFolder.of(own_server)

    with GraphMem.open(settings=own_server, embedder=HashEmbedder()) as client:
        known = client.remember(text).memory_id

    def remembered() -> bool:
        with GraphMem.open(settings=own_server, embedder=HashEmbedder()) as client:
            return [one.id for one in client.recall("blue shed").bites] == [known]

    # Killed between the renames: a half replaced database is put back by the next start.
    moves = iter([None, KilledError()])
    replace = Path.replace

    def one_move(self: Path, target: Path) -> Path:
        if folder.rewritten in self.parents and (error := next(moves)) is not None:
            raise error
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", one_move)
        patch.setattr(DataFolder, "undo_set_aside", lambda *_: None)
        patch.setattr(compaction, "ensure", lambda *_, **__: None)
        with pytest.raises(KilledError):
            local_server.compact(own_server)
    assert (folder.root / "aside").exists()
    assert remembered()
    assert not folder.rewritten.exists()

    # Killed after the replacement, before the first start: the new files are complete.
    with monkeypatch.context() as patch:
        patch.setattr(compaction, "start_replaced", killed)
        with pytest.raises(KilledError):
            local_server.compact(own_server)
    assert folder.replaced.exists()
    assert remembered()
    assert not folder.replaced.exists()

    # A server that does not start with the new files gets the old ones.
    def refused(*_: object, **__: object) -> None:
        raise LocalServerError("It does not start.")

    with monkeypatch.context() as patch:
        patch.setattr(backup, "ensure", refused)
        with pytest.raises(LocalServerError, match="does not start"):
            local_server.compact(own_server)
    assert remembered()

    # A copy that fails leaves the server running.
    with monkeypatch.context() as patch:
        patch.setattr(process.Launcher, "run_tool", refused)
        with pytest.raises(LocalServerError, match="does not start"):
            local_server.compact(own_server)
    assert local_server.status(own_server).running
    assert remembered()


def test_a_folder_without_data_is_not_compacted(server_settings: Settings, tmp_path: Path) -> None:
    bare = server_settings.model_copy(update={"home": tmp_path / "none"})
    with pytest.raises(LocalServerError, match="contains no data"):
        local_server.compact(bare)
    assert [*tmp_path.iterdir()] == []
