"""Dependencies of the models report and fetch nothing; see docs/reference/connections.md."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from graphmem.models.service import import_litellm

LOADS_THE_RUNTIME = """
from contextlib import suppress
from pathlib import Path
from graphmem.models.local import Encoder
with suppress(Exception):
    Encoder(Path("missing"), 1)
import onnxruntime
import os
print(os.environ.get("ORT_DISABLE_TELEMETRY"))
"""


def test_the_runtime_of_the_encoder_keeps_no_device_id(tmp_path: Path) -> None:
    kept = {n: v for n, v in os.environ.items() if n != "ORT_DISABLE_TELEMETRY"}
    environ = kept | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    command = [sys.executable, "-c", LOADS_THE_RUNTIME]
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    # The runtime of some systems reports nothing, whatever is set.
    assert done.stdout == "1\n"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_litellm_fetches_no_tokenizer() -> None:
    assert import_litellm().disable_hf_tokenizer_download is True
