"""Making the lock file for a version of Neo4j: jgo resolves, sums are computed."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from graphmem.adapters.local_server.fetch import THREADS, repository
from graphmem.adapters.local_server.jars import LOCK_FILE, Jar, JarLock, digest
from graphmem.errors import ServerFetchError
from graphmem.settings import Settings

SHIPPED = Path(__file__).with_name(LOCK_FILE)
ECJ = "org.eclipse.jdt:ecj"


def make_lock(neo4j: str, browser: str, compiler: str, settings: Settings) -> JarLock:
    """Resolve the server, Neo4j Browser and the compiler, fetch every jar and compute its sum.

    Raises:
        ServerFetchError: a version does not exist or a file cannot be fetched.
    """
    from jgo.maven import MavenContext

    wanted = (
        f"org.neo4j:neo4j:{neo4j}",
        f"org.neo4j.app:neo4j-server:{neo4j}",
        f"org.neo4j.client:neo4j-browser:{browser}",
    )
    with tempfile.TemporaryDirectory(prefix="graphmem-lock-") as folder:
        maven = MavenContext(
            repo_cache=Path(folder), remote_repos={"repository": repository(settings)}, timeout=60
        )
        needs = [maven.create_dependency(name) for name in wanted]
        for need in needs:
            need.raw = True  # as in a plain pom.xml: none of them manages the others' versions
        try:
            first, rest = maven.resolver.resolve(needs)
            with ThreadPoolExecutor(THREADS) as pool:
                jars = list(pool.map(_locked, _jars_of(first + rest)))
            # By itself: it shares nothing with the server, and depends on nothing.
            built_by = _locked(maven.create_dependency(f"{ECJ}:{compiler}").artifact)
        except (RuntimeError, OSError, ValueError) as error:
            raise ServerFetchError(
                f"Neo4j {neo4j} with Browser {browser} and the Eclipse compiler {compiler} "
                f"could not be resolved: {error}",
                hint="Check the versions, the network and GRAPHMEM_MAVEN_MIRROR.",
            ) from error
    return JarLock(neo4j, browser, tuple(sorted(jars, key=lambda jar: jar.coordinates)), built_by)


def _jars_of(needs: list[Any]) -> list[Any]:
    """Return the artifacts that are class files: a parent or a list of versions is none."""
    return [need.artifact for need in needs if need.artifact.packaging == "jar"]


def _locked(artifact: Any) -> Jar:
    path = artifact.resolve()
    coordinates = [artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier]
    return Jar(":".join(filter(None, coordinates)), digest(path), path.stat().st_size)
