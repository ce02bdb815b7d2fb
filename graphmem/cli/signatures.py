"""Signatures and docstrings of the client's methods, read from its source.

Importing the client takes a second, which the help of a command and the completion of its options
must not take. So the source is parsed, and annotations are resolved without evaluating them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

ROOT = ("graphmem.client.graphmem", "AsyncGraphMem")
"""Module and class of the methods; namespaces are properties of the class."""
_TYPES = {
    "str": "text",
    "int": "whole",
    "float": "number",
    "bool": "flag",
    "datetime": "time",
    "AwareDatetime": "time",
    "Path": "path",
    "PathLike": "path",
}
RECORDS = {"AsOf", "Origin"}
"""Records whose fields are options of their own."""
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_LISTS = {"Sequence", "Iterable", "tuple", "list", "frozenset"}


class Kind(NamedTuple):
    """Values that a parameter takes, as far as a command line can give them."""

    name: str
    """choice, time, path, flag, whole, number, text, or record."""
    choices: tuple[str, ...] = ()
    """Values of a choice; module and class of a record."""
    many: bool = False
    """Whether it takes several values."""


class Parameter(NamedTuple):
    """A parameter of a method, or a field of a record."""

    name: str
    kind: Kind | None
    """None if a command line cannot give such a value."""
    text: str
    """Text of the docstring, on one line."""
    default: Any = None
    required: bool = False
    positional: bool = False


class Method(NamedTuple):
    """A method of the client."""

    summary: str
    """First paragraph of its docstring, on one line."""
    parameters: tuple[Parameter, ...]


@cache
def method(path: str) -> Method:
    """Return the method at a path, for example beliefs.get.

    Raises:
        LookupError: the client has no such method.
    """
    owner, _, name = path.rpartition(".")
    module, kind = ROOT
    if owner:
        module, space = _member(module, kind, owner)
        kind = ast.unparse(space.returns) if space.returns else ""
    module, node = _member(module, kind, name)
    text = ast.get_docstring(node) or ""
    return Method(_line(text.partition("\n\n")[0]), tuple(_parameters(module, node, text)))


def _parameters(module: str, node: _Function, docstring: str) -> Iterator[Parameter]:
    given, texts = node.args, _texts(docstring)
    positional = given.args[1:]
    lacking = [None] * (len(positional) - len(given.defaults))
    defaults = [*lacking, *given.defaults, *given.kw_defaults]
    for one, default in zip([*positional, *given.kwonlyargs], defaults, strict=True):
        yield Parameter(
            one.arg,
            None if one.annotation is None else kind_of(module, one.annotation),
            texts.get(one.arg, ""),
            None if default is None else _value(module, default),
            required=default is None,
            positional=one in positional,
        )


def fields(module: str, name: str) -> Iterator[Parameter]:
    """Yield the fields of a record, which are described by the docstrings after them."""
    place, node = _definition(module, name)
    body = node.body if isinstance(node, ast.ClassDef) else []
    for field, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            text = ""
            match after:
                case ast.Expr(value=ast.Constant(value=str() as written)):
                    text = _line(written)
            default = None if field.value is None else _value(place, field.value)
            yield Parameter(field.target.id, kind_of(place, field.annotation), text, default)


def kind_of(module: str, annotation: ast.expr) -> Kind | None:
    """Return what an annotation accepts; the most specific kind of a union is chosen."""
    found = set(_kinds(module, annotation))
    order = ("record", "choice", "time", "path", "flag", "whole", "number", "text")
    ranked = sorted(found, key=lambda kind: (kind.many, order.index(kind.name), kind.choices))
    return next(iter(ranked), None)


def _kinds(module: str, node: ast.expr) -> Iterator[Kind]:
    match node:
        case ast.BinOp():
            yield from _kinds(module, node.left)
            yield from _kinds(module, node.right)
        case ast.Call(func=ast.Name(id="As")):
            yield from _kinds(module, node.args[0])
        case ast.Subscript(value=ast.Name(id=name), slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            yield from _subscripted(module, name, parts)
        case ast.Subscript(value=ast.Attribute(attr="PathLike")):
            yield Kind("path")
        case ast.Name(id=name) if name in _TYPES:
            yield Kind(_TYPES[name])
        case ast.Name(id=name):
            yield from _named(module, name)


def _subscripted(module: str, name: str, parts: Sequence[ast.expr]) -> Iterator[Kind]:
    if name == "Annotated":
        yield from (kind for part in parts for kind in _kinds(module, part))
    elif name == "Literal":
        yield Kind("choice", tuple(_literals(module, parts)))
    elif name in _LISTS:
        kind = kind_of(module, parts[0])
        if kind is not None and not kind.many:
            yield kind._replace(many=True)


def _named(module: str, name: str) -> Iterator[Kind]:
    found = _definition(module, name)
    match found:
        case (place, ast.ClassDef() as node):
            values = tuple(_members(node))
            if values:
                yield Kind("choice", values)
            elif name in RECORDS:
                yield Kind("record", (place, name))
        case (place, ast.expr() as value):
            yield from _kinds(place, value)


def _literals(module: str, parts: Sequence[ast.expr]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, ast.Constant):
            yield str(part.value)
        else:
            yield from (text for kind in _kinds(module, part) for text in kind.choices)


def _members(node: ast.ClassDef) -> Iterator[str]:
    """Yield the values of an enumeration."""
    for line in node.body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            yield str(line.value.value)


def _value(module: str, node: ast.expr) -> Any:
    """Return a default value; None if a command line need not show it, such as a function."""
    match node:
        case ast.Tuple():
            return tuple(_value(module, part) for part in node.elts)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            _, found = _definition(module, owner)
            for line in getattr(found, "body", ()):
                if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == name:
                    return ast.literal_eval(line.value)
            return None
        case ast.Name(id=name):
            place, found = _definition(module, name)
            return _value(place, found) if isinstance(found, ast.expr) else None
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _member(module: str, name: str, member: str) -> tuple[str, _Function]:
    """Return the definition of a member of a class or of one of its bases, and its module."""
    place, node = _definition(module, name)
    if isinstance(node, ast.ClassDef):
        for line in node.body:
            if isinstance(line, ast.FunctionDef | ast.AsyncFunctionDef) and line.name == member:
                return place, line
        for base in node.bases:
            if isinstance(base, ast.Name):
                try:
                    return _member(place, base.id, member)
                except LookupError:
                    continue
    raise LookupError(f"{name} has no member {member}.")


def _definition(module: str, name: str) -> tuple[str, ast.AST | None]:
    """Return the class or value of a name in a module, and the module that defines it."""
    found = _names(module).get(name) if module.startswith("graphmem") else None
    if isinstance(found, tuple):
        return _definition(*found)
    return module, found


@cache
def _names(module: str) -> dict[str, ast.AST | tuple[str, str]]:
    """Return the definitions of a module by their names; of an import its module and name there."""
    names: dict[str, ast.AST | tuple[str, str]] = {}
    lines = list(ast.parse(_source(module)).body)
    while lines:
        match lines.pop():
            case ast.ClassDef(name=name) as node:
                names[name] = node
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                names[name] = value
            case ast.ImportFrom(module=str() as origin, names=imported):
                names |= {one.asname or one.name: (origin, one.name) for one in imported}
            case ast.If(body=body):  # if TYPE_CHECKING
                lines += body
    return names


def _source(module: str) -> str:
    """Return the source of a module of this package; its name begins with graphmem."""
    place = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return file.read_text("utf-8")


def _texts(docstring: str) -> dict[str, str]:
    """Return the texts of the parameters in the section `Args:` of a docstring."""
    section = re.search(r"^Args:\n((?: .*\n?|\n)+)", docstring, re.MULTILINE)
    parts = re.findall(r"^    (\w+): ((?:.|\n {8})*)", section[1] if section else "", re.MULTILINE)
    return {name: _line(text) for name, text in parts}


def _line(text: str) -> str:
    return " ".join(text.split())
