"""`graphmem admin export` and `admin import`, files of others included."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphmem import Handle
from tests.plugins.clients import on_tenant
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike

Run = Callable[..., Any]


def test_a_tenant_goes_out_and_comes_in(run: Run, plain: Handle, tmp_path: Path) -> None:
    plain.remember_many([unlike(n) for n in range(3)])
    plain.scope("user:alice").remember(unlike(4))
    file, other = tmp_path / "all [1].jsonl", fresh_tenant()

    out = run("admin", "export", str(file))
    assert out.code == 0
    assert "Memory         4" in out.out
    assert "all [1].jsonl contains all records up to 2026-" in out.out.replace("\n", "")
    into = run("admin", "import", str(file), "--tenant", other)
    assert into.code == 0
    assert f"are now in {other}" in into.out
    assert "8 records" in into.out
    again = run("admin", "import", str(file), "--tenant", other, "--json").data
    assert (again["written"], again["there"], again["links"]) == (0, 8, 0)
    copy = on_tenant(plain, other).scope("user:alice")
    assert len(copy.memories.list().memories) == 4


def test_refusals_have_codes(run: Run, plain: Handle, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    plain.remember(unlike(1))
    assert run("admin", "export", str(file), "--json").data["records"] == {"Memory": 1, "Event": 1}
    there = run("admin", "export", str(file), "--json")
    assert there.code == 2
    assert json.loads(there.err)["error"]["code"] == "export_file"
    file.write_bytes(file.read_bytes()[:-40])
    cut = run("admin", "import", str(file))
    assert cut.code == 2
    assert "incomplete" in cut.err
    assert run("admin", "import", str(tmp_path / "none")).code == 2


def test_a_dump_of_mem0_comes_in(run: Run, plain: Handle, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    one = {
        "id": "m1",
        "memory": unlike(1),
        "created_at": "2025-05-05T00:00:00Z",
        "metadata": {"a": 1},
    }
    file.write_text(json.dumps([one]), "utf-8")
    came = run("admin", "import", str(file), "--source", "mem0")
    assert came.code == 0
    assert "no counterpart for memory.metadata" in came.out
    assert [memory.content for memory in plain.memories.list().memories] == [unlike(1)]
    again = run("admin", "import", str(file), "--json")
    assert (again.code, again.data["done"]) == (0, {"remember": 1})
    file.write_text(json.dumps([one, {"id": "[red]m2"}]), "utf-8")
    some = run("admin", "import", str(file), "--source", "mem0")
    assert some.code == 1
    assert "Refused: memory 1: memory is missing." in some.out
    file.write_text("{}", "utf-8")
    assert run("admin", "import", str(file)).code == 2
    assert run("admin", "import", str(file), "--source", "graphiti").code == 2
    assert run("admin", "import", str(file), "--source", "zep").code == 2
