"""Parts of two pages that follow from the node classes.

After a change of a class, `just nodes` writes them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from neomodel import StructuredNode, StructuredRel

from graphmem import objects
from graphmem.integrity.contents import covered
from graphmem.nodes.declared import NODE_CLASSES, properties
from tests.docs.api_reference import about

DOCS = Path(__file__).resolve().parents[2] / "docs"
PARTS = {
    "reference/objects": re.compile(r"(?<=\n## Classes\n\n).*", re.DOTALL),
    "explanation/sealing": re.compile(
        r"(?<=\n\| --- \| --- \| --- \| --- \|\n).*?(?=\n\n)", re.DOTALL
    ),
}
EVENT = "| Event | all others |  | `imported_path` |"


def page(name: str) -> str:
    """Return a page with the part that follows from the classes."""
    part = "\n".join({"reference/objects": classes, "explanation/sealing": sealed}[name]())
    return PARTS[name].sub(lambda _: part, (DOCS / f"{name}.md").read_text("utf-8"), count=1)


def classes() -> Iterator[str]:
    """Yield the lines of a section for each class, and of one for the classes of relationships."""
    for label, node in NODE_CLASSES.items():
        yield from (f"### {label}", "", about(node), "")
        yield listed("Properties", [f"`{name}`" for name in properties(node)])
        if relations := sorted(relations_of(node)):
            yield listed("Relationships", relations)
        yield ""
    yield from ("### Relationships with properties", "")
    for name, one in vars(objects).items():
        if isinstance(one, type) and issubclass(one, StructuredRel):
            yield listed(f"`{name}`", [f"`{prop}`" for prop in properties(one)])
    yield ""


def relations_of(node: type[StructuredNode]) -> Iterator[str]:
    """Yield each attribute of a class for a relationship, with the type and the other end."""
    for name, relation in node.__all_relationships__:
        relation.lookup_node_class()
        has = relation.definition
        way = "to" if has["direction"] > 0 else "from"
        yield f"`{name}` ({has['relation_type']} {way} {has['node_class'].__label__})"


def listed(title: str, items: list[str]) -> str:
    """Return an entry of a list."""
    return textwrap.fill(f"- {title}: {', '.join(items)}", 120, subsequent_indent="  ")


def sealed() -> Iterator[str]:
    """Yield a row for each label that seals cover."""
    yield EVENT
    for label, names in covered().items():
        own = {
            name: getattr(prop, "cached", False)
            for name, prop in properties(NODE_CLASSES[label]).items()
            if name != "tenant"
        }
        cells = (
            [name for name in own if name in ("id", *names)],
            [name for name, cached in own.items() if cached],
            [name for name, cached in own.items() if not cached and name not in ("id", *names)],
        )
        row = " | ".join(", ".join(f"`{name}`" for name in cell) for cell in cells)
        yield f"| {label} | {row} |"


if __name__ == "__main__":
    for name in PARTS:
        (DOCS / f"{name}.md").write_text(page(name), "utf-8")
