"""The wheel holds everything that the code reads: Cypher, migrations, data, the lock file."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.system


def test_it_holds_every_file_that_the_code_reads(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    for folder, packaged in (("cypher", "_cypher"), ("migrations", "_migrations")):
        for file in (ROOT / folder).rglob("*.cypher"):
            assert f"graphmem/{packaged}/{file.relative_to(ROOT / folder).as_posix()}" in held
    for folder in ("data", "prompts"):
        for file in (ROOT / "graphmem" / folder).iterdir():
            assert f"graphmem/{folder}/{file.name}" in held
    assert "graphmem/py.typed" in held
    assert any(name.endswith(".lock.json") for name in held)
    assert "graphmem/local_server/plugin/Reading.java" in held
    assert not any(name.startswith(("tests/", "bench/", "research/")) for name in held)


def test_its_catalog_works_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    python = next((tmp_path / "env").glob("bin/python")).as_posix()
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    site = next(Path(p) for p in sys.path if p.endswith("site-packages"))
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path / 'site')!r}]; sys.path.append({str(site)!r})\n"
        "import graphmem; from graphmem.graph import catalog\n"
        "assert '_cypher' in str(catalog.folder('cypher')), catalog.folder('cypher')\n"
        "print(len(catalog.names()), len(catalog.migrations()))"
    )
    done = subprocess.run(
        [python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    procedures, migrations = map(int, done.stdout.split())
    fragments = len(list((ROOT / "cypher" / "fragments").glob("*.cypher")))
    assert procedures == len(list((ROOT / "cypher").rglob("*.cypher"))) - fragments
    assert migrations == len(list((ROOT / "migrations").glob("*.cypher")))
