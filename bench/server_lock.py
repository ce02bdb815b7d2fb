"""Regenerate the lock file of the managed server's jars: `just lock VERSION`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from graphmem.local_server import jars
from graphmem.local_server.jars import JarLock, shipped_lock
from graphmem.maven import THREADS, Jar, digest, repository
from graphmem.settings import Settings

SHIPPED = Path(jars.__file__).with_name(jars.LOCK_FILE)
ECJ = "org.eclipse.jdt:ecj"


def make_lock(neo4j: str, browser: str, compiler: str, settings: Settings) -> JarLock:
    """Resolve the server, Neo4j Browser and the compiler; fetch and hash every jar."""
    from jgo.maven import MavenContext

    wanted = (
        f"org.neo4j:neo4j:{neo4j}",
        f"org.neo4j.app:neo4j-server:{neo4j}",
        f"org.neo4j.client:neo4j-browser:{browser}",
    )
    source = {"repository": repository(settings, "Neo4j")}
    with tempfile.TemporaryDirectory(prefix="graphmem-lock-") as folder:
        maven = MavenContext(repo_cache=Path(folder), remote_repos=source, timeout=60)
        needs = [maven.create_dependency(name) for name in wanted]
        for need in needs:
            need.raw = True  # as in a plain pom.xml: no artifact manages the others' versions
        first, rest = maven.resolver.resolve(needs)
        # Without parent poms and version lists.
        artifacts = [need.artifact for need in first + rest]
        with ThreadPoolExecutor(THREADS) as pool:
            jars = list(pool.map(_locked, (a for a in artifacts if a.packaging == "jar")))
        # Resolved separately: it shares nothing with the server and has no dependencies.
        built_by = _locked(maven.create_dependency(f"{ECJ}:{compiler}").artifact)
    return JarLock(neo4j, browser, tuple(sorted(jars, key=lambda jar: jar.coordinates)), built_by)


def _locked(artifact: Any) -> Jar:
    path = artifact.resolve()
    coordinates = [artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier]
    return Jar(":".join(filter(None, coordinates)), digest(path), path.stat().st_size)


def dump(lock: JarLock) -> str:
    """Return the text of the lock file: one jar a line, sorted, so that diffs are readable."""
    versions = "".join(
        f'  "{name}": {json.dumps(value)},\n'
        for name, value in (("neo4j", lock.neo4j), ("browser", lock.browser))
    )
    lists = ",\n".join(
        f'  "{name}": {{\n{_lines(jars)}\n  }}'
        for name, jars in (("compiler", [lock.compiler]), ("jars", lock.jars))
    )
    return f"{{\n{versions}{lists}\n}}\n"


def _lines(jars: Sequence[Jar]) -> str:
    return ",\n".join(
        f"    {json.dumps(jar.coordinates)}: {json.dumps([jar.sha256, jar.size])}"
        for jar in sorted(jars, key=lambda jar: jar.coordinates)
    )


def main() -> None:
    """Write the lock file for the version of Neo4j that the command line names."""
    shipped = shipped_lock()
    made = make_lock(sys.argv[1], shipped.browser, shipped.compiler.version, Settings.load())
    SHIPPED.write_text(dump(made), encoding="utf-8")
    size = sum(jar.size for jar in made.jars)
    print(f"{len(made.jars)} files, {size / 1e6:.0f} MB, locked in {SHIPPED}.")


if __name__ == "__main__":
    main()
