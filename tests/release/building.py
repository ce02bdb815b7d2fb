"""Build a release into dist/: `python -m tests.release.building`, or `just release`.

Wheel and sdist are built twice and must have the same bytes. With them come the dependencies of
every extra with their hashes, a bill of materials, the provenance and the SHA-256 of each file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/graphmem/graphmem"
PINNED = (
    "uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate "
    "--no-emit-index-url --extra all"
)
BILL = (
    "cyclonedx-py requirements --output-reproducible --output-format JSON --mc-type library "
    "--pyproject pyproject.toml"
)


class ReleaseError(Exception):
    """A release that must not be published."""


def run(command: str, *more: str | Path, root: Path, **environ: str) -> str:
    """Run a tool of this environment in the root and return its output."""
    name, *words = command.split()
    tools = Path(sys.executable).parent
    path = os.pathsep.join((str(tools), os.environ["PATH"]))
    done = subprocess.run(
        [name, *words, *more],
        cwd=root,
        env=os.environ | {"PATH": path} | environ,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise ReleaseError(f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a folder by its name."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def provenance(built: dict[str, str], commit: str, epoch: str) -> dict[str, object]:
    """Return an in-toto statement of how files were made, in the terms of SLSA, unsigned."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": sum_}} for name, sum_ in built.items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{REPOSITORY}/blob/{commit}/tests/release/building.py",
                "externalParameters": {"repository": REPOSITORY},
                "internalParameters": {"SOURCE_DATE_EPOCH": epoch},
                "resolvedDependencies": [
                    {"uri": f"git+{REPOSITORY}@{commit}", "digest": {"gitCommit": commit}}
                ],
            },
            "runDetails": {"builder": {"id": f"{REPOSITORY}/blob/{commit}/justfile"}},
        },
    }


def build(root: Path, into: Path) -> None:
    """Build the committed tree of a repository into a folder, which is emptied first.

    Raises:
        ReleaseError: files are not committed, a tool fails, or two builds differ.
    """
    if changed := run("git status --porcelain", root=root):
        raise ReleaseError(f"Commit these changes first:\n{changed}")
    commit = run("git rev-parse HEAD", root=root)
    epoch = run("git log -1 --format=%ct", root=root)
    shutil.rmtree(into, ignore_errors=True)
    with tempfile.TemporaryDirectory() as second:
        for folder in (into, Path(second)):
            run("pyproject-build --outdir", folder, root=root, SOURCE_DATE_EPOCH=epoch)
        built = digests(into)
        if built != digests(Path(second)):
            raise ReleaseError(f"Two builds differ: {built} and {digests(Path(second))}.")
    run("twine check --strict", *(into / name for name in built), root=root)
    requirements = into / "requirements.txt"
    run(PINNED, "--output-file", requirements, "pyproject.toml", root=root)
    bill = json.loads(run(BILL, requirements, root=root))
    # The tool reads pyproject.toml, which does not contain the version.
    version = next(name.split("-")[1] for name in built if name.endswith(".whl"))
    bill["metadata"]["component"] |= {
        "version": version,
        "purl": f"pkg:pypi/graphmem@{version}",
        "hashes": [{"alg": "SHA-256", "content": sum_} for sum_ in built.values()],
    }
    for name, content in (
        ("sbom.json", bill),
        ("provenance.json", provenance(built, commit, epoch)),
    ):
        (into / name).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    sums = "".join(f"{sum_}  {name}\n" for name, sum_ in digests(into).items())
    (into / "SHA256SUMS").write_text(sums, "utf-8")


if __name__ == "__main__":
    build(ROOT, ROOT / "dist")
