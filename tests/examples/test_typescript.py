"""The TypeScript example runs against `graphmem serve`."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from graphmem.settings import Settings
from tests.mcp.conftest import over_http, served_from
from tests.plugins.loops import run_apart
from tests.serve.test_typescript import client, npm

__all__ = ["client"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "typescript" / "ask.ts"
pytestmark = pytest.mark.system


def test_it_asks_for_a_fact_of_march(
    client: Path, migrated: Settings, tenant: str, tmp_path: Path
) -> None:
    npm(client, "run", "build")
    shutil.copy(EXAMPLE, client / "test" / "ask.ts")
    npm(client, "exec", "tsc", "--", "-p", "test")

    async def session() -> str:
        async with over_http(served_from(migrated, tenant), errors=tmp_path / "log") as server:
            where = {"GM_URL": server.url.removesuffix("/mcp"), "GM_KEY": server.key}
            return await asyncio.to_thread(npm, client, "exec", "node", "test/ask.ts", **where)

    assert "In March: Frankfurt" in run_apart(session())
