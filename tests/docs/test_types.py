"""Every Python block of the pages, and every public method, passes mypy and pyright."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.conftest import FENCED

ROOT = Path(__file__).parents[2]
WRONG = "wrong.py"
"""A block with an error, which each checker must report."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write each block to a module of its own, as blocks run one by one, and the public types."""
    folder = tmp_path_factory.mktemp("blocks")
    for page in PAGES:
        blocks = FENCED.findall(page.read_text("utf-8"))
        for number, (kind, text) in enumerate(blocks):
            if kind == "python":
                (folder / f"{page.stem}_{number}.py").write_text(text, "utf-8")
    types = ROOT / "tests" / "typing" / "public_types.py"
    (folder / types.name).write_text(types.read_text("utf-8"), "utf-8")
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    (folder / "mypy.ini").write_text("[mypy]\nstrict = True\n", "utf-8")
    (folder / WRONG).write_text(
        "from graphmem import GraphMem\n\nGraphMem.open(tenant=1)\n", "utf-8"
    )
    assert len(list(folder.glob("*.py"))) >= 15
    return folder


def errors(project: Path, *command: str) -> list[str]:
    """Run a type checker on the blocks; return its errors, after finding the one of `WRONG`."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=project,
        env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line.strip() for line in done.stdout.splitlines() if " error: " in line]
    assert [line for line in found if WRONG in line], done.stdout + done.stderr
    return [line for line in found if WRONG not in line]


@pytest.mark.system
def test_mypy_accepts_every_block(project: Path) -> None:
    cache = f"--cache-dir={ROOT / '.mypy_cache' / 'pages'}"
    assert errors(project, "mypy", cache, "--follow-imports=silent", ".") == []


@pytest.mark.system
def test_pyright_accepts_every_block(project: Path) -> None:
    assert errors(project, "basedpyright", "--pythonpath", sys.executable) == []
