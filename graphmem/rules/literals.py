"""Values written into Cypher as literals: for people who paste a statement, never for graphmem."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeAlias

Value: TypeAlias = str | int | float | bool | Sequence["Value"] | None

# Neo4j Browser reads the query of a link as if it were not encoded, so these would end it there.
_IN_LINKS = str.maketrans({"&": r"\u0026", "#": r"\u0023", "?": r"\u003f"})


def literal(value: Value) -> str:
    """Return a value as Cypher reads it back, whatever a text holds.

    A text stays a text: what would end it is escaped, and so is what a link to Neo4j Browser
    cannot carry.
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).translate(_IN_LINKS)
    if isinstance(value, int | float):
        return repr(value)
    return f"[{', '.join(map(literal, value))}]"
