"""A release of this tree, built once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.release.building import ROOT, build, run

NOT_COMMITTED = (".*cache", ".git", ".venv", ".hypothesis", "node_modules", "dist", "__pycache__")


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose only commit is this tree."""
    root = tmp_path_factory.mktemp("repository") / "graphmem"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*NOT_COMMITTED))
    run("git init --quiet", root=root)
    run("git add --all", root=root)
    run("git -c user.name=t -c user.email=t commit --quiet --message=Release", root=root)
    return root


@pytest.fixture(scope="session")
def dist(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a release."""
    folder = tmp_path_factory.mktemp("release") / "dist"
    build(repository, folder)
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    """The wheel of the release."""
    [built] = dist.glob("*.whl")
    return built
