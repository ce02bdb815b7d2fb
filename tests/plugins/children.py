"""Separate Python processes that use the same server and may be killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphmem.folders import cache_folder
from graphmem.settings import Settings


def environ_of(settings: Settings, tenant: str) -> dict[str, str]:
    """Return this process's environment with these settings and no others.

    Args:
        settings: Settings of a server with a password.
        tenant: The tenant to use.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return kept | variables_of(settings, tenant)


def variables_of(settings: Settings, tenant: str) -> dict[str, str]:
    """Return the settings as environment variables."""
    assert settings.uri is not None
    assert settings.password is not None
    return {
        "GRAPHMEM_URI": settings.uri,
        "GRAPHMEM_PASSWORD": settings.password.get_secret_value(),
        "GRAPHMEM_TENANT": tenant,
    }


def own_server(home: Path, settings: Settings) -> dict[str, str]:
    """Return the environment variables of a small managed server of its own.

    Args:
        home: Folder of its data.
        settings: Settings with the cache of downloaded files.
    """
    return {
        "GRAPHMEM_HOME": str(home),
        "GRAPHMEM_CACHE": str(cache_folder(settings.cache)),
        "GRAPHMEM_BOLT_PORT": "0",
        "GRAPHMEM_HTTP_PORT": "0",
        "GRAPHMEM_HEAP": "512m",
        "GRAPHMEM_PAGE_CACHE": "128m",
    }


@contextmanager
def running(
    code: str, *arguments: str, settings: Settings, tenant: str
) -> Iterator[subprocess.Popen[str]]:
    """Run code with the client's default settings; wait for its end on leaving.

    Args:
        code: A Python program; its standard input, output and error are text pipes.
        arguments: The program's `sys.argv[1:]`.
        settings: Settings of a server with a password.
        tenant: The tenant to use.
    """
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environ_of(settings, tenant),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        yield child
