"""The list of mutants: each edit can be made, and the tests that must notice are there."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.mutate import ROOT, mutants

MUTANTS = mutants()


def test_there_are_mutants_of_one_name_each() -> None:
    assert len({one.name for one in MUTANTS}) == len(MUTANTS) >= 60


def test_each_edit_changes_one_place() -> None:
    sources = {one.name: (ROOT / one.file).read_text("utf-8") for one in MUTANTS}
    assert [one.name for one in MUTANTS if one.edited(sources[one.name]) == sources[one.name]] == []


def test_the_tests_that_must_notice_are_there() -> None:
    assert [one.name for one in MUTANTS if not one.tests] == []
    named = [(one.name, test) for one in MUTANTS for test in one.tests]
    assert [pair for pair in named if not is_there(pair[1])] == []


def is_there(test: str) -> bool:
    """Return whether there is a test, or a file of tests, of this name."""
    path, _, name = test.partition("::")
    return (ROOT / path).is_file() and (not name or name in functions(ROOT / path))


@cache
def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
