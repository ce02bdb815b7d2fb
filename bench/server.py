"""The server that a benchmark runs on: a managed one in a folder of its own, gone afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphmem.adapters import local_server
from graphmem.settings import Settings


@contextmanager
def fresh_server(report: Callable[[str], None]) -> Iterator[Settings]:
    """Yield the settings of an empty server; it is stopped and its data deleted afterwards.

    GRAPHMEM_TEST_URI with GRAPHMEM_TEST_PASSWORD names another server to use, as it is.
    """
    if os.environ.get("GRAPHMEM_TEST_URI"):
        yield Settings.load(
            {},
            uri=os.environ["GRAPHMEM_TEST_URI"],
            password=os.environ.get("GRAPHMEM_TEST_PASSWORD"),
        )
        return
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
        settings = Settings.load({}, home=Path(folder), bolt_port=0, http_port=0)
        local_server.ensure(settings, report=lambda progress: report(str(progress)))
        try:
            yield settings
        finally:
            local_server.stop(settings)
