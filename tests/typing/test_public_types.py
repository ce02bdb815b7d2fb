"""The checked types are complete: every public method is called in `public_types.py`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphmem import GraphMem, Session
from tests.plugins.twins import TWINS, methods, public

CHECKED = ast.parse(Path(__file__).with_name("public_types.py").read_text("utf-8"))
OWN = {"open", "tenant", "scope", "session"}
"""Methods that each class declares for itself; all others are made by `blocking`."""


def called(kind: str) -> set[str]:
    """Return what the functions whose names begin with `kind` call, without the handle's name."""
    return {
        ast.unparse(node.func).partition(".")[2]
        for function in CHECKED.body
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        if function.name.startswith(kind)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


def test_every_public_method_is_checked() -> None:
    assert called("blocking") == {*public(), *methods(Session), *methods(GraphMem)}
    assert called("awaited") >= OWN


@pytest.mark.parametrize(("awaited", "blocking"), TWINS, ids=lambda owner: owner.__name__)
def test_a_blocking_method_has_the_types_of_the_coroutine(awaited: type, blocking: type) -> None:
    """`blocking` keeps parameters and result, so checking one of two twins checks both."""
    for name in set(methods(blocking)) - OWN:
        assert getattr(blocking, name).__wrapped__ is getattr(awaited, name), name
