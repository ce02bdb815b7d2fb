"""Python processes of their own that use the same server, to be killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from graphmem.settings import Settings


def environ_of(settings: Settings, tenant: str) -> dict[str, str]:
    """Return this process's environment with these settings and no others.

    Args:
        settings: of a server with a password.
        tenant: whose graph.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return kept | variables_of(settings, tenant)


def variables_of(settings: Settings, tenant: str) -> dict[str, str]:
    """Return the settings as variables of an environment."""
    assert settings.uri is not None
    assert settings.password is not None
    return {
        "GRAPHMEM_URI": settings.uri,
        "GRAPHMEM_PASSWORD": settings.password.get_secret_value(),
        "GRAPHMEM_TENANT": tenant,
    }


@contextmanager
def running(
    code: str, *arguments: str, settings: Settings, tenant: str
) -> Iterator[subprocess.Popen[str]]:
    """Run code with the settings of a client by default; wait for its end on leaving.

    Args:
        code: a Python program; its standard input, output and error are pipes of text.
        arguments: its `sys.argv[1:]`.
        settings: of a server with a password.
        tenant: whose graph.
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
