"""The node classes are the only place in Python that lists the properties of a node."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from graphmem.nodes.declared import NODE_CLASSES, properties

ROOT = Path(__file__).resolve().parents[2]
LISTED = 4
"""Names that make a list a declaration: fewer pick some properties, for example of a key."""
LABELS = {label: {*properties(node)} for label, node in NODE_CLASSES.items()}
READERS = {
    ("graphmem/transfer/lines.py", "cardinality"): "the properties that a POLICY event needs",
    ("graphmem/transfer/lines.py", "rejects"): "lists of a rejection that must be equally long",
    ("graphmem/rules/claims.py", "statement"): "parts of a claim that are checked",
    ("graphmem/operations/declarations.py", "name"): "columns of a row that a record takes",
    ("graphmem/operations/reasons.py", "type"): "columns of a row that a record takes",
}
"""Lists by file and first name of code that reads the properties that it names."""


def names_in(node: ast.AST) -> list[str]:
    """Return the texts of a literal, the keys of a table, or the fields of a typed dictionary."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return [text for part in node.elts for text in texts_in(part)]
    if isinstance(node, ast.Dict) and all(isinstance(one, ast.Constant) for one in node.values):
        return [text for key in node.keys if key is not None for text in texts_in(key)]
    if isinstance(node, ast.ClassDef) and any("TypedDict" in ast.unparse(b) for b in node.bases):
        fields = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
        return [one.id for one in fields if isinstance(one, ast.Name)]
    return []


def texts_in(part: ast.expr) -> list[str]:
    """Return a text, or those of a literal after a star."""
    if isinstance(part, ast.Starred):
        return names_in(part.value)
    return [part.value] if isinstance(part, ast.Constant) and isinstance(part.value, str) else []


def declarations(source: str) -> Iterator[tuple[str, ...]]:
    """Yield each list of names in a module that are all properties of one label."""
    for node in ast.walk(ast.parse(source)):
        names = names_in(node)
        if len(names) >= LISTED and any({*names} <= own for own in LABELS.values()):
            yield tuple(names)


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "graphmem").rglob("*.py")):
        if path.parent.name != "nodes":
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def test_no_property_is_declared_twice() -> None:
    found = {(name, names[0]): names for name, text in modules() for names in declarations(text)}
    assert {key: names for key, names in found.items() if key not in READERS} == {}
    assert found.keys() == READERS.keys()


def test_no_property_is_declared_by_two_classes_of_one_label() -> None:
    for label, node in NODE_CLASSES.items():
        names = [name for one in node.__mro__ for name in vars(one) if name in LABELS[label]]
        assert len(names) == len({*names}), label


def test_a_second_declaration_is_found() -> None:
    text = """
        class Copy(TypedDict):
            scope: str
            key: str
            value: NotRequired[str]
            created_at: datetime

        COVERED = {"Memory": ("scope", *("content", "tags"), "status")}
        OMITTED = {"tenant": "why", "content": "why", "tags": "why", "status": "why"}
    """
    source = "\n".join(line.removeprefix("        ") for line in text.splitlines())
    assert [*declarations(source)] == [
        ("scope", "key", "value", "created_at"),
        ("tenant", "content", "tags", "status"),
        ("scope", "content", "tags", "status"),
    ]
    assert [*declarations('(row["scope"], row["content"], row["tags"], row["status"])')] == []
