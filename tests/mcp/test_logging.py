"""Log of the MCP server: one line a record, without control characters."""

from __future__ import annotations

import subprocess
import sys

CODE = r"""
import logging
from graphmem.mcp.connection import log_to_stderr
log_to_stderr("graphmem.mcp")
logging.getLogger("graphmem.mcp").info("value %s", "x\n2026-01-01 graphmem.mcp: forged\x1b[2J")
"""


def test_a_logged_value_is_escaped() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, timeout=300
    )
    [line] = done.stderr.splitlines()
    assert line.endswith(r"graphmem.mcp: value x\n2026-01-01 graphmem.mcp: forged\x1b[2J")
