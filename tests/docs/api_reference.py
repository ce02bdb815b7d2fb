"""Write the pages of the Python API from signatures and docstrings: `just api`."""

from __future__ import annotations

import ast
import copy
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import graphmem
from graphmem import (
    GraphMem,
    Handle,
    PromptMessages,
    Session,
    consolidation,
    erasure,
    extraction,
    integrity,
    items,
    jobs,
    model,
    schema,
    transfer,
    upkeep,
    usage,
)
from tests.plugins.twins import NAMESPACES, exported, methods

FEATURES = (
    consolidation,
    erasure,
    extraction,
    integrity,
    items,
    jobs,
    schema,
    transfer,
    upkeep,
    usage,
)
CLIENT = Path(graphmem.__file__).parent / "client"
NAMED = frozenset({"AsOfLike", "BeliefLike", "Rejectable", "RoleMap"})
"""Types of arguments that the page shows by name."""
FOLDER = Path(__file__).parents[2] / "docs" / "reference"
SECTION = re.compile(r"^(Args|Returns|Yields|Raises):\n((?:    .*\n?|\n)+)", re.MULTILINE)
TITLES = {"Args": "Arguments", "Returns": "Returns", "Yields": "Yields", "Raises": "Errors"}
WIDTH = 100
KEPT = "\N{NO-BREAK SPACE}"
INTRODUCTION = """
# Python API

`just api` writes this page from signatures and docstrings. `AsyncGraphMem`, `AsyncHandle` and
`AsyncSession` have the same methods, awaited. The [glossary](../glossary.md) explains the terms.

- **Import** the names marked *top level* from `graphmem`. All other [records](records.md) are in
  `graphmem.model` or the module that an entry names; errors are in `graphmem.errors`, see
  [error codes](errors.md).
- **Instants** need a time zone. `on_progress` is called after each step with its name and a count.
- **Ids**: where a belief is meant, `BeliefLike` is its id, or a record or receipt that has it.
- **Pages**: `item_address` of `graphmem.explorer` returns the address of any id in the
  [explorer](../how-to/explorer.md#links).
"""


def calls() -> str:
    """Return the text of the page of classes and methods."""
    owned = sorted(set(methods(GraphMem)) - set(methods(Handle)))
    parts = [
        INTRODUCTION.strip(),
        "## GraphMem",
        f"{about(GraphMem)} *Top level*, as `AsyncGraphMem`.",
        *(method("GraphMem.", name, getattr(GraphMem, name)) for name in owned),
        "## Handle",
        f"{about(Handle)} *Top level*, as `AsyncHandle`.",
        *(method("", name, getattr(Handle, name)) for name in methods(Handle)),
    ]
    for space, (_, owner) in NAMESPACES.items():
        parts += [f"## Namespace `{space}`", first_sentence(getattr(Handle, space))]
        parts += [method(f"{space}.", name, getattr(owner, name)) for name in methods(owner)]
    parts += ["## Session", f"{about(Session)} *Top level*, as `AsyncSession`."]
    own = sorted(set(methods(Session)) - set(methods(Handle)))
    parts += [method("session.", name, getattr(Session, name)) for name in own]
    parts += ["`session.episode_id`: str. " + first_sentence(Session.episode_id)]
    parts += ["### PromptMessages", f"{about(PromptMessages)} *Top level.*"]
    return "\n\n".join(parts) + "\n"


def records() -> str:
    """Return the text of the page of records, enumerations and types."""
    parts = ["# Records", "`just api` writes this page. Methods return frozen pydantic records."]
    for title, kind in (("Records", BaseModel), ("Enumerations", Enum)):
        parts += [f"## {title}", *(described(one) for one in classes(kind))]
    parts += ["## Types of fields", "\n".join(aliases())]
    return "\n\n".join(parts) + "\n"


PAGES = {"python": calls, "records": records}


def method(owner: str, name: str, function: Callable[..., Any]) -> str:
    """Return the entry of a method: its signature and its docstring."""
    signature = inspect.signature(function)
    given = [p for p in signature.parameters.values() if p.name != "self"]
    shown = [parameter(p) for p in given]
    kinds = [p.kind for p in given]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        shown.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    result = "GraphMem" if signature.return_annotation == "Self" else signature.return_annotation
    # A line ends only between two parameters.
    unbroken = ", ".join(one.replace(" ", KEPT) for one in shown)
    call = textwrap.fill(
        f"{owner}{name}({unbroken}){KEPT}->{KEPT}{result}",
        WIDTH,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    ).replace(KEPT, " ")
    text = SECTION.sub(_section, inspect.getdoc(function) or "").strip()
    return f"### {owner}{name}\n\n{textwrap.indent(call, '    ')}\n\n{text}"


def _section(found: re.Match[str]) -> str:
    """Return a section of a docstring as a list, or as text if it has no names."""
    title, text = found[1], textwrap.dedent(found[2]).strip()
    if title in ("Args", "Raises"):
        entries = re.findall(r"^(\S.*?): (.+(?:\n .+)*)", text, re.MULTILINE)
        text = "\n".join(f"- `{name}`: {' '.join(words.split())}" for name, words in entries)
    return f"**{TITLES[title]}**\n\n{text}\n\n"


def parameter(given: inspect.Parameter) -> str:
    """Return a parameter as it is written in a signature."""
    return f"{given.name}: {plain(given.annotation)}" + default(given.default)


def default(value: object) -> str:
    """Return the default of a parameter or field; empty if it is required."""
    if value in (inspect.Parameter.empty, PydanticUndefined):
        return ""
    if isinstance(value, tuple) and any(isinstance(one, Enum) for one in value):
        return f" = ({', '.join(map(str, map(named, value)))},)"
    return f" = {named(value)}"


def named(value: object) -> str:
    """Return a default value as source text."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    return getattr(value, "__name__", None) or repr(value).replace("'", '"')


def plain(annotation: str) -> str:
    """Return an annotation without the constraints of `Annotated`."""
    tree = ast.parse(annotation, mode="eval")
    return ast.unparse(_Plain().visit(tree)).replace("'", '"')


@cache
def arguments() -> dict[str, ast.expr]:
    """Return the types that callers pass, by the names of their constrained forms."""
    trees = (ast.parse(path.read_text("utf-8")) for path in CLIENT.glob("*.py"))
    lines = (line for tree in trees for line in tree.body if isinstance(line, ast.AnnAssign))
    return {
        ast.unparse(line.target): line.value.slice.elts[0]
        for line in lines
        if isinstance(line.value, ast.Subscript) and isinstance(line.value.slice, ast.Tuple)
        if ast.unparse(line.value.value) == "Annotated"
    }


class _Plain(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.AST:
        found = None if node.id in NAMED else arguments().get(node.id)
        return node if found is None else self.visit(copy.deepcopy(found))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
            return node.slice.elts[0]
        return node


def classes(kind: type) -> Iterator[type]:
    """Yield the public classes of a kind, in order of their names."""
    public = {name: getattr(graphmem, name) for name in graphmem.__all__}
    for home in (model, *FEATURES):
        public |= {name: getattr(home, name) for name in exported(home)}
    for _, one in sorted(public.items()):
        if inspect.isclass(one) and issubclass(one, kind):
            yield one


def described(one: type) -> str:
    """Return the entry of a record, an enumeration or an error."""
    home = next((home for home in FEATURES if one.__name__ in exported(home)), None)
    place = f" In `{home.__name__}`." if home else ""
    if one.__name__ in graphmem.__all__:
        place = " *Top level.*"
    parts = [f"### {one.__name__}", f"{first_sentence(one)}{place}"]
    if issubclass(one, Enum):
        parts += ["Values: " + ", ".join(f"`{member.value}`" for member in one) + "."]
    elif issubclass(one, BaseModel):
        parts += ["\n".join(fields(one))]
    return "\n\n".join(part for part in parts if part)


def fields(record: type[BaseModel]) -> Iterator[str]:
    """Yield the lines of a record's fields and properties."""
    written: dict[str, str] = {}
    texts: dict[str, str] = {}
    for owner in reversed(record.__mro__):
        if owner.__module__.startswith("graphmem."):
            texts |= attribute_docs(owner)
        written |= {name: str(kind) for name, kind in inspect.get_annotations(owner).items()}
    for name, field in record.model_fields.items():
        value = "…" if field.default_factory else default(field.default).removeprefix(" = ")
        meaning = texts.get(name)
        shown = f"- `{name}: {plain(written[name])}{f' = {value}' if value else ''}`"
        yield f"{shown}: {meaning}" if meaning else shown
    for name, member in inspect.getmembers_static(record, lambda m: isinstance(m, property)):
        if not name.startswith(("_", "model_")):
            result = plain(inspect.signature(member.fget).return_annotation)
            yield f"- `{name}: {result}`, a property"


def attribute_docs(owner: type) -> dict[str, str]:
    """Return the docstrings below the attributes of a class, each as one line."""
    [found] = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(found, ast.ClassDef)
    docs = {}
    for line, after in pairwise(found.body):
        match line, after:
            case (
                ast.AnnAssign(target=target) | ast.Assign(targets=[target]),
                ast.Expr(ast.Constant(str(text))),
            ):
                docs[ast.unparse(target)] = " ".join(text.split())
    return docs


def aliases() -> Iterator[str]:
    """Yield the lines of the names that are not classes."""
    for home, name in ((one, name) for one in (model, *FEATURES) for name in exported(one)):
        found = getattr(home, name)
        if isinstance(found, dict):
            yield f"- `{name}`: recall policies named {', '.join(f'`{key}`' for key in found)}"
        elif not inspect.isclass(found):
            yield f"- `{name} = {underlying(found)}`"


def underlying(found: Any) -> str:
    """Return a type without constraints, or a constant, as source text."""
    found = getattr(found, "__origin__", found) if get_origin(found) is Annotated else found
    if get_origin(found) is UnionType:
        return " | ".join(map(underlying, get_args(found)))
    if get_origin(found) is not None:
        inside = ", ".join("…" if one is ... else underlying(one) for one in get_args(found))
        return f"{get_origin(found).__name__}[{inside}]"
    return "None" if found is NoneType else named(found)


def about(owner: object) -> str:
    """Return the first paragraph of a docstring."""
    return " ".join((inspect.getdoc(owner) or "").split("\n\n")[0].split())


def first_sentence(documented: object) -> str:
    """Return the first sentence of a docstring."""
    text = about(documented)
    return text.partition(". ")[0].removesuffix(".") + "."


if __name__ == "__main__":
    for name, text in PAGES.items():
        (FOLDER / f"{name}.md").write_text(text(), "utf-8")
