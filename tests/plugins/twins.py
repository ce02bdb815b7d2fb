"""The classes of a user's interface, each with its blocking twin, and their public methods."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any, get_type_hints

from graphmem import AsyncGraphMem, AsyncHandle, AsyncSession, GraphMem, Handle, Session
from graphmem.client.namespace import AsyncNamespace, Namespace


def namespaces(owner: type) -> dict[str, type]:
    """Return the namespaces of a handle by name."""
    found = {}
    for name, member in vars(owner).items():
        if isinstance(member, property):
            kind = get_type_hints(member.fget)["return"]
            if issubclass(kind, AsyncNamespace | Namespace):
                found[name] = kind
    return found


NAMESPACES = {
    name: (kind, namespaces(Handle)[name]) for name, kind in namespaces(AsyncHandle).items()
}
TWINS = [
    (AsyncHandle, Handle),
    (AsyncGraphMem, GraphMem),
    (AsyncSession, Session),
    *NAMESPACES.values(),
]
NO_DATA = {*("open", "close", "health", "tenant", "scope", "session"), *("tenants", "run_jobs")}
"""Methods that read no data, and those that only the client has since they are of all tenants."""


def exported(module: ModuleType) -> list[str]:
    """Return the public names of a package, in order: `__all__`, else what it defines or passes."""
    found = set[str]()
    for line in ast.parse(inspect.getsource(module)).body:
        match line:
            case ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                found.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.ImportFrom(names=names):
                found |= {one.name for one in names if one.asname == one.name}
    return sorted(getattr(module, "__all__", (name for name in found if name[0] != "_")))


def methods(owner: type) -> list[str]:
    """Return the names of the public methods of a class."""
    return [
        name
        for name, member in inspect.getmembers_static(owner)
        if not name.startswith("_") and not isinstance(member, property)
    ]


def public() -> dict[str, Any]:
    """Return the blocking methods by the name that a user writes after the handle."""
    daily = {name: getattr(Handle, name) for name in methods(Handle)}
    return daily | {
        f"{space}.{name}": getattr(blocking, name)
        for space, (_, blocking) in NAMESPACES.items()
        for name in methods(blocking)
    }


def with_data() -> set[str]:
    """Return the names of the methods that read or write the data of one tenant."""
    return {*public(), *methods(Session), *methods(GraphMem)} - NO_DATA
