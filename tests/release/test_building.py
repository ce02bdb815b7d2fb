"""A release is built twice with the same bytes, and its wheel works without the repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import graphmem
from graphmem.settings import Settings
from tests.plugins.children import own_server
from tests.release import building
from tests.release.building import ReleaseError, build, run

pytestmark = pytest.mark.system


def test_a_release_describes_its_files(repository: Path, dist: Path) -> None:
    version = graphmem.__version__
    built = {f"graphmem-{version}-py3-none-any.whl", f"graphmem-{version}.tar.gz"}
    described = {"requirements.txt", "sbom.json", "provenance.json"}
    sums = building.digests(dist)
    assert sums.keys() == {*built, *described, "SHA256SUMS"}
    lines = (dist / "SHA256SUMS").read_text("utf-8").splitlines()
    assert lines == [f"{sums[name]}  {name}" for name in sorted(built | described)]

    provenance = json.loads((dist / "provenance.json").read_text("utf-8"))
    subjects = [{"name": name, "digest": {"sha256": sums[name]}} for name in sorted(built)]
    assert provenance["subject"] == subjects
    assert run("git rev-parse HEAD", root=repository) in json.dumps(provenance["predicate"])

    requirements = (dist / "requirements.txt").read_text("utf-8")
    assert "https://" not in requirements
    bill = json.loads((dist / "sbom.json").read_text("utf-8"))
    assert bill["metadata"]["component"]["version"] == version
    named = {component["name"] for component in bill["components"]}
    assert {"neo4j", "mcp", "langgraph", "onnxruntime", "matplotlib"} <= named
    assert named == {*re.findall(r"^([\w.-]+)==", requirements, re.MULTILINE)}


def test_the_sdist_builds_the_same_wheel_and_holds_the_tests(
    dist: Path, wheel: Path, tmp_path: Path
) -> None:
    [sdist] = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    [root] = tmp_path.iterdir()
    for name in ("tests/release/building.py", "examples/README.md", ".github/workflows/ci.yml"):
        assert (root / name).exists()
    predicate = json.loads((dist / "provenance.json").read_text("utf-8"))["predicate"]
    parameters = predicate["buildDefinition"]["internalParameters"]
    run("pyproject-build --wheel --outdir", tmp_path / "again", root=root, **parameters)
    [again] = (tmp_path / "again").glob("*.whl")
    assert again.read_bytes() == wheel.read_bytes()


def test_uncommitted_changes_and_different_builds_are_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "new.txt").write_text("new")
    with pytest.raises(ReleaseError, match="Commit these changes first"):
        build(repository, tmp_path / "dist")
    (repository / "new.txt").unlink()

    def differing(command: str, *more: str | Path, root: Path, **environ: str) -> str:
        if command.startswith("pyproject-build"):
            Path(more[0]).mkdir(exist_ok=True)
            (Path(more[0]) / "graphmem-1.whl").write_text(str(more[0]))
        return ""

    monkeypatch.setattr(building, "run", differing)
    with pytest.raises(ReleaseError, match="Two builds differ"):
        build(repository, tmp_path / "dist")


def test_the_wheel_alone_does_the_main_job(
    wheel: Path, tmp_path: Path, server_settings: Settings
) -> None:
    """Install it into an empty environment; start a server, write and read outside of this tree."""
    place = tmp_path / "env"
    run("uv venv --quiet --python", sys.executable, place, root=tmp_path)
    run("uv pip install --quiet --python", place / "bin/python", f"{wheel}[local]", root=tmp_path)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GRAPHMEM_", "PYTHON"))}
    environ = kept | own_server(tmp_path / "home", server_settings)

    def follow(*words: str) -> str:
        done = subprocess.run(
            [place / "bin" / "graphmem", *words],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert follow("--version") == f"graphmem, version {graphmem.__version__}\n"
    try:
        follow("memory", "remember", "I moved to Porto.")
        assert "I moved to Porto." in follow("recall", "where did I move to?")
        follow("belief", "observe", "ana", "lives in", "Porto")
        assert "Porto" in follow("belief", "current", "ana", "lives in")
    finally:
        follow("server", "down")
