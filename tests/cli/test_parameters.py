"""Commands have the parameters of the client's methods, which they do not declare again."""

from __future__ import annotations

import ast
import inspect
import math
import typing
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from graphmem import signatures
from graphmem.cli import parameters
from graphmem.cli.derived import DerivedCommand
from graphmem.cli.views import VIEWS
from graphmem.client.graphmem import AsyncGraphMem, GraphMem
from graphmem.client.handle import AsyncHandle
from tests.architecture.test_house import ROOT
from tests.cli.test_help import COMMANDS
from tests.plugins.twins import NAMESPACES

DERIVED = {words: one for words, one in COMMANDS.items() if isinstance(one, DerivedCommand)}
WITHOUT_COMMAND = {
    "admin.is_empty": "other commands report it",
    "close": "a command ends its connection",
    "health": "`server doctor`",
    "ingest": "`ingest` reads a file",
    "observe_many": "`belief import` reads a file",
    "remember_many": "programs store texts in bulk",
    "usage.flush": "a command ends with it",
    "admin.import_foreign": "`admin import`",
    "consolidation_status": "`consolidate --status`",
}
NAMESAKES = {
    "ingest": {"file", "review", "extractor"},
    "belief import": {"file"},
    "browse": {"item_id"},
    "serve keys create": {"name", "days", "scopes"},
    "serve keys rotate": {"until"},
    "server backup": {"file"},
    "server browse": {"kind", "limit"},
    "server restore": {"file"},
    "admin cypher show": {"name"},
    "admin reembed": {"model", "give_up"},
    "admin verify-certificate": {"file"},
}
"""Parameters of commands that call no method with them, named like one of a method; two of `ingest`
are derived from `extract`."""
SAMPLES: dict[str, list[Any]] = {
    "text": ["some text", "0" * 64],
    "whole": [5, 500],
    "number": [0.5],
    "flag": [True],
    "time": [datetime(2026, 5, 1, tzinfo=UTC)],
    "path": [Path("a file")],
}


def method_at(path: str) -> Callable[..., object]:
    """Return the awaited method at a path, for example beliefs.get."""
    space, _, name = path.rpartition(".")
    owner = typing.get_type_hints(getattr(AsyncHandle, space).fget)["return"] if space else None
    method: Callable[..., object] = getattr(owner or AsyncGraphMem, name)
    return method


def paths() -> list[str]:
    """Return the paths of the client's methods."""
    found = []
    for name, member in inspect.getmembers_static(GraphMem):
        if not name.startswith("_") and inspect.isfunction(member):
            found.append(name)
    for space, (_, owner) in NAMESPACES.items():
        names = (name for name in dir(owner) if not name.startswith("_"))
        found += [f"{space}.{name}" for name in names if space != "items"]
    return [path for path in found if inspect.iscoroutinefunction(method_at(path))]


@pytest.mark.parametrize("path", paths())
def test_the_source_is_read_as_python_reads_it(path: str) -> None:
    method = method_at(path)
    read = signatures.method(path)
    documented = inspect.getdoc(method) or ""
    assert read.summary == " ".join(documented.partition("\n\n")[0].split())
    given = [*inspect.signature(method).parameters.values()][1:]
    assert [one.name for one in read.parameters] == [one.name for one in given]
    for one, own in zip(read.parameters, given, strict=True):
        assert one.required == (own.default is own.empty)
        assert one.positional == (own.kind is own.POSITIONAL_OR_KEYWORD)
        assert one.text, one.name
        if isinstance(own.default, str | int | float):
            assert one.default == own.default


@pytest.mark.parametrize("path", paths())
def test_the_client_accepts_what_a_command_line_gives(path: str) -> None:
    types = typing.get_type_hints(method_at(path), include_extras=True)
    for one in signatures.method(path).parameters:
        if one.kind is None or one.kind.name == "record":
            continue
        check = TypeAdapter(types[one.name]).validate_python
        samples: list[Any] = [*one.kind.choices] or SAMPLES[one.kind.name]
        accepted = 0
        for sample in samples:
            try:
                check((sample,) if one.kind.many else sample)
                accepted += 1
            except ValidationError:
                assert not one.kind.choices, (one.name, sample)
        assert accepted, one.name


@pytest.mark.parametrize("path", paths())
def test_the_client_refuses_what_is_beyond_a_limit(path: str) -> None:
    types = typing.get_type_hints(method_at(path), include_extras=True)
    for one in signatures.method(path).parameters:
        kind = one.kind or signatures.Kind("other")
        for limit, value in kind.limits.items():
            wrong = beyond(limit, value)
            with pytest.raises(ValidationError):
                TypeAdapter(types[one.name]).validate_python((wrong,) if kind.many else wrong)


def beyond(limit: str, value: Any) -> Any:
    """Return a value that a limit excludes."""
    match limit:
        case "ge" | "le":
            return value - 1 if limit == "ge" else value + 1
        case "min_length" | "max_length":
            return "x" * beyond("ge" if limit == "min_length" else "le", value)
    return {"gt": value, "allow_inf_nan": math.inf, "pattern": " "}[limit]


def test_every_method_has_a_command() -> None:
    assert set(paths()) - {one.source.path for one in DERIVED.values()} == WITHOUT_COMMAND.keys()


@pytest.mark.parametrize("words", DERIVED)
def test_a_command_declares_no_parameter_of_its_method(words: str) -> None:
    """The table may leave out, rename and reword; options of its own have other names."""
    source = DERIVED[words].source

    def function() -> None: ...

    for option in source.own:
        option(function)
    own = {param.name for param in getattr(function, "__click_params__", [])}
    declared = {one.name for one in signatures.method(source.path).parameters}
    assert own & (declared | {name.rpartition("__")[2] for name in fields(source.path)}) == set()


def fields(path: str) -> set[str]:
    """Return the names of all parameters that a command line can give."""

    def function() -> None: ...

    parameters.of_method(path)(function)
    return {str(param.name) for param in getattr(function, "__click_params__", [])}


def test_other_commands_have_parameters_of_no_method() -> None:
    names = {name for path in paths() for name in fields(path)}
    found = {
        words: {str(param.name) for param in one.params} & names
        for words, one in COMMANDS.items()
        if not isinstance(one, DerivedCommand)
    }
    assert {words: shared for words, shared in found.items() if shared} == NAMESAKES


def sources() -> Iterator[Path]:
    """Yield the modules of the surfaces."""
    for surface in ("cli", "mcp", "serve"):
        yield from (ROOT / "graphmem" / surface).rglob("*.py")


def test_no_surface_has_the_text_of_a_parameter() -> None:
    texts = {one.clause for path in paths() for one in signatures.method(path).parameters}
    long = {folded(text) for text in texts if len(text.split()) >= 5}
    for file in sources():
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not [text for text in long if text in folded(node.value)], file


def folded(text: str) -> str:
    return " ".join(text.replace("`", "").lower().split())


LIMITS = {"ge", "le", "gt", "lt", "min_length", "max_length", "pattern", "min", "max"}
LIMITED = {
    "graphmem/cli/browse.py": "sizes of a drawing",
    "graphmem/cli/options.py": "the port of a server",
    "graphmem/cli/metrics.py": "an interval",
    "graphmem/cli/serve.py": "a number of processes, and of days",
    "graphmem/serve/key_routes.py": "the parameters of a key",
    "graphmem/serve/keys.py": "the lists of a grant",
}
"""Modules with limits, of what no method takes."""


def test_no_surface_limits_a_parameter() -> None:
    found = {
        str(file.relative_to(ROOT))
        for file in sources()
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Field", "Range"))
        if "Range" in ast.unparse(node.func) or LIMITS & {one.arg for one in node.keywords}
    }
    assert found == LIMITED.keys()


@pytest.mark.parametrize("path", VIEWS)
def test_a_view_belongs_to_a_method(path: str) -> None:
    assert path in paths()
