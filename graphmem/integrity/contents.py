"""The content of nodes that are not events, as seals cover it; derived from the node classes.

What these nodes hold besides follows from events, and is compared with them. An embedding is of a
sealed text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, get_args

from graphmem.integrity.seals import OWN_LINKS, event_digest, json_value


@cache
def contents() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the names of the covered properties by label, and by how a seal covers them."""
    from graphmem.nodes.declarations import Sealed
    from graphmem.nodes.declared import NODE_CLASSES, properties, relationships

    return {
        one.end: {
            way: [
                name
                for name, prop in properties(NODE_CLASSES[one.end]).items()
                if getattr(prop, "sealed", None) == way
            ]
            for way in get_args(Sealed)
        }
        for one in relationships()
        if one.kind == "SEALS" and one.end != "Event"
    }


@cache
def covered() -> Mapping[str, Sequence[str]]:
    """Return the names of the covered properties by label."""
    return {label: [*chain(*ways.values())] for label, ways in contents().items()}


def content_digests(node: Mapping[str, Any]) -> tuple[str, str]:
    """Return the digests of the content of a node as the graph or an export has it.

    Args:
        node: its label, key, links, and properties: a map, or pairs of name and value.
    """
    label, has = node["label"], dict(node["properties"])
    ways = contents()[label]
    # The others are derived from the turns, and change with them.
    stated = [has[names] for names in ways["names of given"] if has.get(names) is not None]
    given = [name for name in ways["given"] if all(name in names for names in stated)]
    fixed, changing = (
        {name: json_value(has[name]) for name in names if has.get(name) is not None}
        for names in (ways["fixed"], [*ways["changing"], *given])
    )
    key = f"{label} {node['key']}"
    links = [link for link in node["links"] if link["type"] in OWN_LINKS]
    held, gained = (links, ()) if label == "Turn" else ((), links)
    return event_digest(key, fixed, held), event_digest(key, changing, gained)
