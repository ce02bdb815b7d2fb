"""Files to read, written for one test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

WriteFile = Callable[..., Path]


@pytest.fixture
def write_file(tmp_path: Path) -> WriteFile:
    """Write bytes, text or values (one JSON value per line) and return the path."""

    def write(*content: object, name: str = "talk.jsonl") -> Path:
        path = tmp_path / name
        if len(content) == 1 and isinstance(content[0], bytes):
            path.write_bytes(content[0])
        else:
            lines = [line if isinstance(line, str) else json.dumps(line) for line in content]
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    return write
