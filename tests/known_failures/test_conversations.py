"""Messages and their words: reports of users of other memories, each as a test of graphmem."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem import Handle

MARCH = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Server web-01 runs Debian 12.", "Server web-02 runs Debian 12."),
        ("Ticket OPS-101 is about the login page.", "Ticket OPS-102 is about the login page."),
        ("Room B12 has a whiteboard.", "Room B14 has a whiteboard."),
    ],
)
def test_a_prompt_calls_no_other_thing_outdated(plain: Handle, first: str, second: str) -> None:
    """getzep/graphiti#1241, Graphify#878: facts about two numbered things were merged.

    Names that differ by a number were taken for one thing, and the older fact for outdated.
    """
    plain.remember(first, at=MARCH.replace(month=1))
    plain.remember(second, at=MARCH)
    shown = plain.context(first, min_score=-1).text
    assert first in shown
    assert second in shown
    assert "outdated" not in shown


def test_the_runtime_of_a_model_is_told_not_to_report(tmp_path: Path) -> None:
    """OHF-Voice/wyoming-piper#64, home-assistant/addons#4791, microsoft/onnxruntime#27379: it did.

    Importing the runtime made a device id and reported to its maker.
    """
    code = (
        "import os; from contextlib import suppress; from pathlib import Path\n"
        "from graphmem.models.local import Encoder\n"
        "assert 'ORT_DISABLE_TELEMETRY' not in os.environ\n"
        "with suppress(Exception): Encoder(Path('missing'), 1)\n"
        "print(os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    kept = {n: v for n, v in os.environ.items() if n != "ORT_DISABLE_TELEMETRY"}
    environ = kept | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, check=True, capture_output=True, text=True
    )
    assert done.stdout == "1\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
