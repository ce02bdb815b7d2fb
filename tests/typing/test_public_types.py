"""The checked types are complete: every public method is called in `public_types.py`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphmem import GraphMem, Session
from tests.plugins.twins import methods, public

CHECKED = ast.parse(Path(__file__).with_name("public_types.py").read_text("utf-8"))


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


@pytest.mark.parametrize("kind", ["blocking", "awaited"])
def test_every_public_method_is_checked(kind: str) -> None:
    assert called(kind) == {*public(), *methods(Session), *methods(GraphMem)}
