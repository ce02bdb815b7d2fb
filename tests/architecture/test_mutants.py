"""The list of mutants: each edit can be made, and the tests that must notice are there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutate import ROOT, Mutant, mutants

MUTANTS = mutants()


def named(mutant: Mutant) -> str:
    return mutant.name


def test_there_are_mutants_of_one_name_each() -> None:
    assert len({one.name for one in MUTANTS}) == len(MUTANTS) >= 60


@pytest.mark.parametrize("mutant", MUTANTS, ids=named)
def test_an_edit_changes_one_place(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text("utf-8")
    assert mutant.edited(source) != source


@pytest.mark.parametrize("mutant", MUTANTS, ids=named)
def test_the_tests_that_must_notice_are_there(mutant: Mutant) -> None:
    assert mutant.tests
    for test in mutant.tests:
        path, _, name = test.partition("::")
        assert not name or name in functions(ROOT / path), test
        assert (ROOT / path).is_file(), test


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
