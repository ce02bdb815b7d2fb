"""The interfaces that an acceptance test runs through."""

from __future__ import annotations

import pytest

from graphmem import Handle
from graphmem.settings import Settings
from tests.acceptance.surfaces import InPython, OnCommandLine, OverMcp, Surface
from tests.cli.conftest import run as run
from tests.plugins.children import environ_of


@pytest.fixture
def known(migrated: Settings, tenant: str) -> Settings:
    """The settings of an interface that connects on its own."""
    return Settings.load(environ_of(migrated, tenant) | {"GRAPHMEM_EMBEDDER": "hash"})


@pytest.fixture(params=["python", "mcp", "command line"])
def surface(request: pytest.FixtureRequest, plain: Handle, known: Settings, tenant: str) -> Surface:
    """A fresh tenant through each of the interfaces."""
    if request.param == "python":
        return InPython(plain)
    if request.param == "mcp":
        return OverMcp(known, tenant, plain)
    return OnCommandLine(request.getfixturevalue("run"))
