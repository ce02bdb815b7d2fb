"""Break one line of the product at a time; a test must fail for each: `just mutants [NAME ...]`.

`mutants.toml` lists the edits with the tests that must notice. Each is made in a copy of the tree,
never here. Without GRAPHMEM_TEST_URI one managed server is started for all tests that need one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from threading import Lock
from xml.etree import ElementTree

import click

from graphmem import local_server
from graphmem.settings import Settings
from tests.plugins.server import keeping_plans

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_name("mutants.toml")
TREE = ("bench", "cypher", "docs", "graphmem", "migrations", "tests")
FILES = ("CHANGELOG.md", "README.md", "docker-compose.yml", "justfile", "pyproject.toml")
LIMIT_S, FIRST_S = 600.0, 3_600.0
"""Of the tests of one mutant, and of all of them without one."""
TEST_S = 180
"""Of one test, on a busy machine. A mutant that never ends is killed by it."""
UNBORN = ("ImportError", "ModuleNotFoundError", "NameError", "SetupError", "SyntaxError")
"""What a test fails with when an edit is no program or no test was run: that proves nothing."""


@dataclass(frozen=True)
class Mutant:
    """One edit of one file."""

    name: str
    breaks: str
    """What no longer holds with it."""
    file: str
    """From the root of the tree."""
    old: str
    """Text that is in the file once."""
    new: str
    tests: tuple[str, ...]
    """What must fail, as pytest is given it."""

    def edited(self, source: str) -> str:
        """Return the file with the edit.

        Raises:
            ValueError: the old text is not in it exactly once.
        """
        if (found := source.count(self.old)) != 1:
            raise ValueError(f"{self.name}: the old text is {found} times in {self.file}")
        return source.replace(self.old, self.new)


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    name: str
    result: str
    """killed; survived; broken: the edit is no program; unsound: the test fails without it."""
    by: str
    """The test that failed first."""
    said: str
    """The first line of what it failed with."""
    seconds: float


def mutants() -> tuple[Mutant, ...]:
    """Return the list in its order."""
    table = tomllib.loads(LIST.read_text("utf-8"))["mutant"]
    return tuple(Mutant(**one | {"tests": tuple(one["tests"])}) for one in table)


class Tree:
    """A copy of the tree in which tests are run."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self._folder = folder
        # Before what is installed: commands that a test starts are of this tree, too.
        self._environ = environ | {"PYTHONPATH": str(folder)}
        self._times = count(1)
        for name in TREE:
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        for name in FILES:
            shutil.copy(ROOT / name, folder)

    def outcome(self, mutant: Mutant) -> Outcome:
        """Make an edit, run the tests that must notice, and take the edit back."""
        path = self._folder / mutant.file
        source = path.read_text("utf-8")
        began = time.monotonic()
        self._write(path, mutant.edited(source))
        try:
            failed = self.failed("-x", *mutant.tests)
        finally:
            self._write(path, source)
        seconds = round(time.monotonic() - began, 1)
        if not failed:
            return Outcome(mutant.name, "survived", "", "", seconds)
        name, said = next(iter(failed.items()))
        how = "broken" if said.startswith(UNBORN) else "killed"
        return Outcome(mutant.name, how, name, said, seconds)

    def failed(self, *words: str, limit_s: float = LIMIT_S) -> dict[str, str]:
        """Run tests; return those that fail, and the first line of what each fails with.

        Args:
            words: what pytest is given.
            limit_s: of the run; that it takes longer counts as a failure.
        """
        report = self._folder / "report.xml"
        report.unlink(missing_ok=True)
        how = ["-q", f"--timeout={TEST_S}", "-n", "0", "-m", ""]
        try:
            subprocess.run(
                [sys.executable, "-m", "pytest", *how, f"--junitxml={report}", *words],
                cwd=self._folder,
                env=self._environ,
                capture_output=True,
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"pytest": f"TimeoutExpired: {limit_s:.0f} s"}
        return _failed(report)

    def _write(self, path: Path, source: str) -> None:
        path.write_text(source, "utf-8")
        # Python takes a compiled file for fresh when size and second of its source are the same.
        seconds = next(self._times)
        os.utime(path, (seconds, seconds))


def _failed(report: Path) -> dict[str, str]:
    """Return the tests that failed by a report of pytest, and what each failed with."""
    if not report.exists():
        return {"pytest": "ImportError: it did not run"}
    return {
        f"{case.get('classname')}.{case.get('name')}": _first_line(wrong)
        for case in ElementTree.parse(report).iter("testcase")  # noqa: S314 - our own
        # What failed in the test itself counts before what failed around it.
        for wrong in (*case.iter("error"), *case.iter("failure"))
    }


def _first_line(wrong: ElementTree.Element) -> str:
    said = wrong.get("message", "").partition("\n")[0][:200]
    return f"SetupError: {said}" if wrong.tag == "error" else said


@contextmanager
def trees(number: int) -> Iterator[list[Tree]]:
    """Yield copies of the tree, and end the server that was started for them."""
    with tempfile.TemporaryDirectory(prefix="graphmem-mutants-") as name:
        folder = Path(name)
        environ = dict(os.environ) | {"CI": "1"}
        own = None
        if "GRAPHMEM_TEST_URI" not in environ:
            own = Settings.load(os.environ, home=folder / "server", bolt_port=0, http_port=0)
            with keeping_plans():
                found = local_server.ensure(own)
            environ["GRAPHMEM_TEST_URI"] = found.uri
            environ["GRAPHMEM_TEST_PASSWORD"] = found.password.get_secret_value()
        try:
            yield [Tree(_made(folder / str(n)), environ) for n in range(number)]
        finally:
            if own is not None:
                local_server.stop(own)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def run(chosen: Sequence[Mutant], jobs: int) -> Iterator[Outcome]:
    """Yield what becomes of each mutant.

    A test that fails without any mutant kills none.
    """
    with trees(jobs) as copies, ThreadPoolExecutor(jobs) as pool:
        tests = {test for one in chosen for test in one.tests}
        unsound = copies[0].failed(*sorted(tests), limit_s=FIRST_S)
        for name, said in unsound.items():
            click.echo(f"fails without a mutant: {name} {said}", err=True)
        lock = Lock()

        def outcome(mutant: Mutant) -> Outcome:
            with lock:
                tree = copies.pop()
            try:
                found = tree.outcome(mutant)
            finally:
                copies.append(tree)
            return replace(found, result="unsound") if found.by in unsound else found

        yield from pool.map(outcome, chosen)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--jobs", default=1, show_default=True, help="Mutants tried at once.")
@click.option("--json", "is_json", is_flag=True, help="Print the outcomes as JSON.")
def main(names: tuple[str, ...], *, jobs: int, is_json: bool) -> None:
    """Try every mutant, or those with NAMES. Exit code 1 when one is not killed."""
    known = mutants()
    if unknown := set(names) - {one.name for one in known}:
        raise click.UsageError(f"No mutant {min(unknown)!r}.")
    chosen = [one for one in known if not names or one.name in names]
    found = []
    began = time.monotonic()
    for number, one in enumerate(run(chosen, jobs), 1):
        found.append(one)
        line = f"{number:>3}/{len(chosen)}  {one.result:<9} {one.seconds:>6.1f} s  {one.name}"
        click.echo(f"{line}  {one.by}".rstrip(), err=is_json)
    left = [one for one in found if one.result != "killed"]
    told = f"{len(found) - len(left)} of {len(found)} killed in {time.monotonic() - began:.0f} s."
    click.echo(told, err=is_json)
    for one in left:
        click.echo(f"{one.name}: {one.result} {one.said}".rstrip(), err=True)
    if is_json:
        click.echo(json.dumps([asdict(one) for one in found], indent=2))
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
