"""docs/how-to/reembedding.md runs step by step, with a model that needs no service."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.conftest import FENCED, GRAPHMEM, Environ, python, run

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "reembedding.md").read_text("utf-8")
MODEL = "openai/text-embedding-3-small"


@pytest.fixture
def operator(newcomer: Environ, tmp_path: Path) -> Iterator[Environ]:
    """Return an environment with its own graph, since other pages use the first model."""
    environ = newcomer | {"GRAPHMEM_HOME": str(tmp_path / "home")}
    yield environ
    subprocess.run([GRAPHMEM, "server", "down"], env=environ, check=True, capture_output=True)


@pytest.mark.system
def test_the_way_to_another_model(operator: Environ) -> None:
    run([GRAPHMEM, "memory", "remember", "The limit is 100 requests."], operator)
    blocks = [(kind, text.replace(MODEL, "hash")) for kind, text in FENCED.findall(PAGE)]
    assert [kind for kind, _ in blocks] == ["bash", "bash", "python"]
    assert MODEL in PAGE
    printed = [run(["bash", "-ec", text], operator) for kind, text in blocks if kind == "bash"]
    assert "1 texts embedded by hash" in printed[0]
    assert "The embeddings of the former model are removed" in printed[1]
    new = operator | {"GRAPHMEM_EMBEDDER": "hash"}
    assert run(python(blocks[2][1]), new) == "False 0\n"
    asked = [GRAPHMEM, "recall", "limit", "--json"]
    assert "The limit is 100" in run(asked, new)
