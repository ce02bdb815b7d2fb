"""An export and an import that are cut off, beside writers, and after each other."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphmem import Handle, Settings, Status
from graphmem.errors import ExportFileError
from graphmem.model import Origin
from graphmem.transfer import exporting, importing
from graphmem.transfer import format as file_format
from tests.client.test_transfer import rewritten, whole
from tests.plugins.children import running
from tests.plugins.clients import on_tenant
from tests.plugins.graph import NODES, Look, fresh_tenant, has_cycle
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
CHILD = """
import sys
from graphmem import GraphMem, Settings, Status
from graphmem.testing import HashEmbedder

def tell(kind, count):
    print(kind, count, flush=True)
    sys.stdin.readline()

call, file = sys.argv[1:]
memory = GraphMem.open(settings=Settings.load(), embedder=HashEmbedder())
tenant = Settings.load().tenant
getattr(memory.tenant(tenant).admin, call)(file, tell)
print("done", flush=True)
"""


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few memories are many pages."""
    monkeypatch.setattr(exporting, "PAGE", 3)
    monkeypatch.setattr(importing, "BATCH", 3)


def filled(memory: Handle) -> None:
    for n in range(8):
        memory.remember(unlike(n), at=MAY, tags=[f"tag {n}"])
        memory.observe("alice", "works_on", f"project {n}", at=MAY + timedelta(days=n))
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": unlike(n)} for n in range(5)])
        session.recall(unlike(3))
    memory.aliases.add("Al", "alice")
    memory.usage.rate()


class CutError(Exception):
    """The process ends here."""


def cut_after(parts: int) -> Callable[[str, int], None]:
    left = [parts]

    def tell(kind: str, _count: int) -> None:
        left[0] -= kind != "check"
        if left[0] == 0:
            raise CutError

    return tell


@pytest.mark.usefixtures("small_pages")
def test_a_cut_off_export_goes_on(plain: Handle, tmp_path: Path) -> None:
    filled(plain)
    plain.admin.export_to(tmp_path / "whole")
    expected = (tmp_path / "whole").read_bytes().splitlines()[1:-1]
    for parts in (1, 2, 4, 7, 11):
        file, part = tmp_path / f"cut {parts}", tmp_path / f"cut {parts}.part"
        with pytest.raises(CutError):
            plain.admin.export_to(file, cut_after(parts))
        assert not file.exists()
        part.write_bytes(part.read_bytes() + b'{"kind":"Memory","key":"torn')

        done = plain.admin.export_to(file)

        assert done.resumed > 0
        assert not part.exists()
        found = file.read_bytes().splitlines()[1:-1]
        assert [bare(line) for line in found] == [bare(line) for line in expected]
        assert file.stat().st_mode & 0o777 == 0o600
        rewritten(file, tmp_path / "checked", unchanged)


def unchanged(_records: object) -> None:
    """Leave what is read, which was checked line by line."""


def bare(line: bytes) -> bytes:
    """A line without its digest, which rests on when the export began."""
    return line[: line.rindex(b',"check"')]


@pytest.mark.usefixtures("small_pages")
def test_an_export_goes_on_with_what_was_recorded_when_it_began(
    plain: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    filled(plain)
    plain.admin.export_to(tmp_path / "before")
    with pytest.raises(CutError):
        plain.admin.export_to(tmp_path / "file", cut_after(3))
    plain.remember(unlike(20))
    plain.observe("alice", "works_on", "project 3", kind="refuting")

    plain.admin.export_to(tmp_path / "file")

    first, second = fresh_tenant(), fresh_tenant()
    on_tenant(plain, first).admin.import_from(tmp_path / "before")
    on_tenant(plain, second).admin.import_from(tmp_path / "file")
    assert whole(look, second) == whole(look, first)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize(
    "part", [1, 7, *(pytest.param(n, marks=pytest.mark.system) for n in (3, 5, 9, 11, 13, 15))]
)
def test_what_is_written_meanwhile_is_not_in_it(
    plain: Handle, look: Look, tenant: str, tmp_path: Path, part: int
) -> None:
    filled(plain)
    plain.admin.export_to(tmp_path / "before")
    left = [part]

    def write(_kind: str, _count: int) -> None:
        left[0] -= 1
        if left[0] == 0:
            plain.remember(unlike(30))
            plain.remember(unlike(2), at=MAY)
            plain.supersede(plain.memories.list(limit=100).memories[-1].id, unlike(31))
            plain.observe("alice", "works_on", "project 3", kind="refuting")
            plain.observe("bob", "works_on", "Atlas")
            plain.remember(unlike(1), claims=[("bob", "likes", "tea")])
            plain.aliases.add("Bobby", "bob")
            with plain.session("t") as session:
                session.add_messages([{"role": "user", "content": unlike(32)}])
            with plain.session("s") as session:
                session.add_messages([{"role": "user", "content": unlike(33)}])

    plain.admin.export_to(tmp_path / "beside", write)
    assert left[0] <= 0

    first, second = fresh_tenant(), fresh_tenant()
    on_tenant(plain, first).admin.import_from(tmp_path / "before")
    done = on_tenant(plain, second).admin.import_from(tmp_path / "beside")
    assert done.written
    assert whole(look, second) == whole(look, first)
    assert on_tenant(plain, second).admin.verify().wrong == ()


def test_what_was_recorded_and_not_yet_committed_is_waited_for(
    plain: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    with look._driver.session() as session, ThreadPoolExecutor(1) as pool:
        tx = session.begin_transaction()
        tx.run(
            "CREATE (:Artifact {tenant: $tenant, id: 'a', scope: 'global', kind: 'file', ref: 'a', "
            "recorded_at: datetime.truncate('microsecond', datetime.realtime('Z'))})",
            tenant=tenant,
        ).consume()
        exporting = pool.submit(plain.admin.export_to, tmp_path / "file")
        # Far longer than an export of nothing takes; it must not have gone past.
        assert not wait([exporting], timeout=3).done
        tx.commit()
        assert exporting.result(timeout=300).records == {"Artifact": 1}


@pytest.mark.usefixtures("small_pages")
def test_a_cut_off_import_goes_on(plain: Handle, look: Look, tenant: str, tmp_path: Path) -> None:
    filled(plain)
    plain.admin.export_to(tmp_path / "file")
    for parts in (1, 3, 6, 12):
        other = on_tenant(plain, name := fresh_tenant())
        with pytest.raises(CutError):
            other.admin.import_from(tmp_path / "file", cut_after(parts))
        there = look.rows(NODES + "RETURN count(n) AS n", tenant=name)[0]["n"]
        assert there > 0

        done = other.admin.import_from(tmp_path / "file")

        assert done.there > 0
        assert whole(look, name) == whole(look, tenant)
        assert other.admin.verify().wrong == ()


@pytest.mark.system
@pytest.mark.parametrize("turns", [1, 5])
def test_a_killed_export_and_a_killed_import_go_on(
    plain: Handle, migrated: Settings, look: Look, tenant: str, tmp_path: Path, turns: int
) -> None:
    filled(plain)
    other = fresh_tenant()
    file = tmp_path / "file"
    for call, name in (("export_to", tenant), ("import_from", other)):
        killed(call, file, migrated, name, turns)
        handle = on_tenant(plain, name)
        done = getattr(handle.admin, call)(file)
        assert (done.resumed if call == "export_to" else done.there) > 0
    assert whole(look, other) == whole(look, tenant)
    assert on_tenant(plain, other).admin.verify().wrong == ()


def killed(call: str, file: Path, settings: Settings, tenant: str, turns: int) -> None:
    with running(CHILD, call, str(file), settings=settings, tenant=tenant) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(turns):
            assert child.stdout.readline().strip() not in ("", "done")
            child.stdin.write("\n")
            child.stdin.flush()
        assert child.stdout.readline().strip() not in ("", "done")
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL


def test_what_another_export_left_is_not_gone_on_with(plain: Handle, tmp_path: Path) -> None:
    plain.remember(unlike(1))
    plain.admin.export_to(tmp_path / "whole")
    file, part = tmp_path / "file", tmp_path / "file.part"
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)

    part.touch(0o600)
    part.write_bytes(b"".join(lines[:-1]))
    other = on_tenant(plain, fresh_tenant())
    with pytest.raises(ExportFileError, match=r"file\.part.*belongs to tenant"):
        other.admin.export_to(file)
    part.write_bytes(lines[0] + lines[2])
    with pytest.raises(ExportFileError, match=r"file\.part.*Line 2.*Remove it"):
        plain.admin.export_to(file)
    part.write_bytes(b"".join(lines))
    assert plain.admin.export_to(file).resumed == len(lines) - 2
    assert file.read_bytes() == b"".join(lines)


def test_two_exports_into_one_file_do_not_mix(plain: Handle, tmp_path: Path) -> None:
    plain.remember_many([unlike(n) for n in range(5)])
    file = tmp_path / "file"

    def meanwhile(_kind: str, _count: int) -> None:
        if not file.exists():
            plain.admin.export_to(file)

    with pytest.raises(ExportFileError):
        plain.admin.export_to(file, meanwhile)
    rewritten(file, tmp_path / "checked", unchanged)


@pytest.mark.usefixtures("small_pages")
def test_an_import_joins_what_a_tenant_has_already(
    plain: Handle, look: Look, tmp_path: Path
) -> None:
    """Both were told of the same: what follows is what follows from all of it."""
    first, second, both = (on_tenant(plain, fresh_tenant()) for _ in range(3))

    def one(memory: Handle) -> None:
        memory.remember(unlike(1), at=MAY, tags=["a"], event_id="one", source="x")
        memory.supersede(
            memory.memories.list().memories[-1].id,
            unlike(2),
            at=MAY,
            origin=Origin(event_id="over 1"),
        )
        memory.predicates.declare(
            "works_on", cardinality="ONE", at=MAY, origin=Origin(event_id="p1"), kappa=1
        )
        for n in range(70):
            memory.observe(
                "alice", "works_on", "Atlas", at=MAY + timedelta(hours=n), event_id=f"o{n}"
            )

    def another(memory: Handle) -> None:
        at = MAY - timedelta(days=1)
        memory.remember(unlike(2), at=at, tags=["b"], event_id="two", source="y")
        older = next(m.id for m in memory.memories.list().memories if m.content == unlike(2))
        memory.supersede(
            older, unlike(1), at=at + timedelta(hours=1), origin=Origin(event_id="over 2")
        )
        memory.predicates.declare(
            "works_on", cardinality="ONE", at=MAY + timedelta(days=1), origin=Origin(event_id="p2")
        )
        for n in range(70):
            at = MAY + timedelta(minutes=30, hours=n)
            memory.observe("ALICE", "works_on", f"Zeus {n % 3}", at=at, event_id=f"q{n}")
        memory.observe("Alice", "works_on", "ATLAS", at=MAY - timedelta(days=3), event_id="early")
        memory.beliefs.retract("o3", missing_ok=True, origin=Origin(event_id="r1"))

    for memory in (first, both):
        one(memory)
    another(second)
    another(both)
    second.admin.export_to(tmp_path / "second")

    done = first.admin.import_from(tmp_path / "second")

    assert done.kept > 0
    assert first.admin.verify().wrong == ()
    name, expected = (h._state.context.tenant for h in (first, both))
    assert not has_cycle(look.edges(name))
    slot, right = (h.current("alice", "works_on") for h in (first, both))
    assert [(c.object, c.events) for c in slot.candidates] == [
        (c.object, c.events) for c in right.candidates
    ]
    assert [c.score for c in slot.candidates] == pytest.approx([c.score for c in right.candidates])
    assert statuses(first) == statuses(both)
    assert first.predicates.list() == [
        one.model_copy(update={"recorded_at": first.predicates.list()[0].recorded_at})
        for one in both.predicates.list()
    ]
    assert look.count(name) == look.count(expected)


def statuses(memory: Handle) -> set[tuple[object, ...]]:
    page = memory.memories.list(statuses=[Status.CURRENT, Status.SUPERSEDED], limit=100)
    return {(m.content, m.status, frozenset(m.tags), m.created_at) for m in page.memories}


def test_lines_are_never_taken_for_others() -> None:
    """A text may hold whatever a line is made of."""
    write, read = file_format.DigestChain(), file_format.DigestChain()
    for text in (',"check":"0"}', "\r", "\u2028", "\x85", "\\", '"', "𝄞"):
        record = {"kind": "Memory", "properties": {"content": text}}
        line = write.write(record)
        assert line.count(b"\n") == 1
        assert read.read(line) == record
