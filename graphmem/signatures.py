"""Signatures and docstrings of the client's methods: what each surface derives its arguments from.

Importing the client takes a second, which the help of a command and the first answer of a server
must not take. So the source is parsed, and annotations are resolved without evaluating them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

OWNERS = (
    ("graphmem.client.graphmem", "AsyncGraphMem"),
    ("graphmem.client.handle", "AsyncSession"),
)
"""Modules and classes of the methods; namespaces are properties of the classes."""
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
_NONE: Mapping[str, Any] = MappingProxyType({})
DEFAULT = re.compile(r"[;,] (?!the session's)([^;,.]+) by default")
"""Words for a default in a text."""


class Kind(NamedTuple):
    """Values that a parameter takes, as far as text or JSON can give them."""

    name: str
    """choice, time, path, flag, whole, number, text, or record."""
    choices: tuple[str, ...] = ()
    """Values of a choice; module and class of a record."""
    many: bool = False
    """Whether it takes several values."""
    limits: Mapping[str, Any] = _NONE
    """Limits of a value, named as in `Field`, such as ge, le, min_length and max_length."""
    size: Mapping[str, Any] = _NONE
    """Limits of the number of values: min_length, max_length."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method, or a field of a record."""

    name: str
    text: str
    """Text of the docstring, on one line."""
    module: str
    annotation: ast.expr | None
    value: ast.expr | None
    """Default in the source."""
    required: bool = False
    positional: bool = False

    @cached_property
    def kind(self) -> Kind | None:
        """Values that it takes; None if neither text nor JSON can give such a value."""
        return None if self.annotation is None else kind_of(self.module, self.annotation)

    @cached_property
    def default(self) -> Any:
        """Default value; None if there is none, or a surface need not show it."""
        return None if self.value is None else _value(self.module, self.value)

    @property
    def clause(self) -> str:
        """First clause of the text, without the default and without a full stop."""
        text = re.split(r"(?:;|\.) ", DEFAULT.sub("", self.text))[0]
        text = text.replace(", with a time zone", "")
        return text[:1].upper() + text[1:].removesuffix(".")


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
    module, node = _member(OWNERS, owner or name)
    if owner:
        kind = ast.unparse(node.returns) if node.returns else ""
        module, node = _member([(module, kind)], name)
    text = ast.get_docstring(node) or ""
    return Method(_line(text.partition("\n\n")[0]), tuple(_parameters(module, node, text)))


def _parameters(module: str, node: _Function, docstring: str) -> Iterator[Parameter]:
    given, texts = node.args, _texts(docstring)
    positional = given.args[1:]
    lacking = [None] * (len(positional) - len(given.defaults))
    defaults = [*lacking, *given.defaults, *given.kw_defaults]
    for one, default in zip([*positional, *given.kwonlyargs], defaults, strict=True):
        text, is_positional = texts.get(one.arg, ""), one in positional
        yield Parameter(
            one.arg, text, module, one.annotation, default, default is None, is_positional
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
            yield Parameter(field.target.id, text, place, field.annotation, field.value)


def kind_of(module: str, annotation: ast.expr) -> Kind | None:
    """Return what an annotation accepts; the most specific kind of a union is chosen."""
    order = ("record", "choice", "time", "path", "flag", "whole", "number", "text")
    found = _kinds(module, annotation)
    return min(found, key=lambda kind: (kind.many, order.index(kind.name)), default=None)


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
        yield from _annotated(module, *parts)
    elif name == "Literal":
        yield Kind("choice", tuple(_literals(module, parts)))
    elif name in _LISTS:
        kind = kind_of(module, parts[0])
        if kind is not None and not kind.many:
            yield kind._replace(many=True)


def _annotated(module: str, base: ast.expr, *more: ast.expr) -> Iterator[Kind]:
    """Yield the kinds of an annotated type: of what it is converted to, if that is known."""
    calls = [call for call in more if isinstance(call, ast.Call)]
    converted = [kind for call in calls for kind in _kinds(module, call)]
    limits = {name: value for call in calls for name, value in _limits(module, call)}
    for kind in converted or _kinds(module, base):
        if kind.many:
            yield kind._replace(size={**kind.size, **limits})
        else:
            yield kind._replace(limits={**kind.limits, **limits})


def _limits(module: str, call: ast.Call) -> Iterator[tuple[str, Any]]:
    match call.func:
        case ast.Name(id="Whole"):
            yield from zip(("ge", "le"), (_value(module, one) for one in call.args), strict=True)
        case ast.Name(id="Field"):
            yield from ((one.arg, _value(module, one.value)) for one in call.keywords if one.arg)


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
            place, found = _definition(module, owner)
            if found is None:  # a module
                return _value(f"{place}.{owner}", ast.Name(name))
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


def _member(owners: Sequence[tuple[str, str]], member: str) -> tuple[str, _Function]:
    """Return the definition of a member of one of these classes or their bases, and its module."""
    classes = list(owners)
    for module, name in classes:
        place, node = _definition(module, name)
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, _Function) and line.name == member:
                    return place, line
            classes += [(place, base.id) for base in node.bases if isinstance(base, ast.Name)]
    raise LookupError(f"The client has no member {member}.")


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
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                names |= {ast.unparse(one): of for one, of in zip(targets, values, strict=True)}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                names[name] = value
            case ast.ImportFrom(module=str() as origin, names=imported):
                names |= {one.asname or one.name: (origin, one.name) for one in imported}
            case ast.If(body=body):  # if TYPE_CHECKING
                lines += body
    return names


def _source(module: str) -> str:
    """Return the source of a module of this package; its name begins with graphmem."""
    place = Path(__file__).parent.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return file.read_text("utf-8")


def _texts(docstring: str) -> dict[str, str]:
    """Return the texts of the parameters in the section `Args:` of a docstring."""
    section = re.search(r"^Args:\n((?: .*\n?|\n)+)", docstring, re.MULTILINE)
    parts = re.findall(r"^    (\w+): ((?:.|\n {8})*)", section[1] if section else "", re.MULTILINE)
    return {name: _line(text) for name, text in parts}


def _line(text: str) -> str:
    return " ".join(text.split())
