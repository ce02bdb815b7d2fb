"""Routes and parameters follow from the methods of the client."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

from graphmem import signatures
from graphmem.client import AsyncGraphMem, AsyncSession
from graphmem.serve.operations import KNOWN, OPERATIONS
from tests.docs.openapi_document import PAGE, document

LEFT_OUT = {
    "open close health tenant scope session": "the connection is the server's",
    "tenants": "for operators of all tenants",
    "respond": "calls a function of the caller",
    "items.batch items.sweep": "for the store of LangGraph",
    "usage.flush": "the server writes its log by itself",
    "usage.pack episodes.graduate admin.export_to admin.import_from admin.verify_export": "files",
    "admin.move_to": "a second client",
}
"""Methods without a route, with the reason."""
NOT_GIVEN = {"count_tokens", "on_progress", "on_job", "policy", "digests", "tenants"}
"""Parameters that a request cannot give: functions, records of constants, files of the server."""


def methods() -> Iterator[str]:
    """Yield the paths of all public methods of the client."""
    for owner in (AsyncGraphMem, AsyncSession):
        for name, member in inspect.getmembers_static(owner):
            if name.startswith("_"):
                continue
            if not isinstance(member, property):
                yield name
            elif inspect.isclass(kind := get_type_hints(member.fget).get("return")):
                own = [one for one in dir(kind) if not one.startswith("_")]
                yield from (f"{name}.{one}" for one in own if name != "episode_id")


def test_every_method_has_a_route_or_a_reason() -> None:
    routed = [one.method for one in OPERATIONS]
    left_out = [name for names in LEFT_OUT for name in names.split()]
    assert len({*routed, *left_out}) == len(routed) + len(left_out)
    assert {*routed, *left_out} == set(methods())


def test_parameters_are_those_of_the_method() -> None:
    for one in OPERATIONS:
        method = signatures.method(one.method)
        declared = {parameter.name: parameter for parameter in method.parameters}
        fields = one.record().model_fields
        in_path = set(one.in_path) - ({"session_id"} if one.in_session else set())
        left_out = declared.keys() - fields.keys() - in_path
        assert left_out <= NOT_GIVEN, one
        assert fields.keys() - {KNOWN} | in_path <= declared.keys(), one
        for name, field in fields.items():
            if name != KNOWN:
                assert field.is_required() is declared[name].required, (one, name)
                assert field.description, (one, name)
        assert one.summary


def test_each_path_reaches_its_own_operation() -> None:
    patterns = [re.sub(r"{\w+}", "[^/]+", one.path) + "$" for one in OPERATIONS]
    for place, one in enumerate(OPERATIONS):
        first = next(
            n
            for n, pattern in enumerate(patterns)
            if OPERATIONS[n].verb == one.verb and re.match(pattern, one.path)
        )
        assert first == place, one


def test_the_document_is_committed() -> None:
    """If this fails, run `just api`."""
    assert json.loads(PAGE.read_text("utf-8")) == json.loads(json.dumps(document()))


def test_the_document_describes_keys_and_problems() -> None:
    found = document()
    assert found["openapi"].startswith("3.1")
    assert found["security"] == [{"key": []}]
    operations = [one for path in found["paths"].values() for one in path.values()]
    own = {f"keys_{name}" for name in ("list", "create", "rotate", "revoke")}
    own |= {f"operations_{name}" for name in ("page", "find", "cancel", "events")}
    assert {one["operationId"] for one in operations} == own | {one.name for one in OPERATIONS}
    assert all("application/problem+json" in str(one["responses"]) for one in operations)
    assert not any("422" in one["responses"] for one in operations)


WITHOUT = """
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("fastapi", "uvicorn", "starlette"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import graphmem
from graphmem.cli import main
for command in (["serve", "keys", "create", "laptop"], ["serve", "keys", "list"], ["serve"]):
    try:
        main(command)
    except SystemExit as ended:
        print(ended.code, file=sys.stderr)
"""


def test_the_package_works_without_the_extra(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        env={"GRAPHMEM_HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.startswith("gm_"), done.stderr
    assert "pip install 'graphmem[serve]'" in done.stderr
    assert [line for line in done.stderr.splitlines() if line.isdigit()] == ["0", "0", "2"]
