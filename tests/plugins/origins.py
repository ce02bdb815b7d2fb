"""Arguments of the methods that take an `Origin`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphmem.model import Origin


def with_origin(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with those that `observe` takes one by one as `origin`."""
    own = {name: fields[name] for name in Origin.model_fields if name in fields}
    others = {name: value for name, value in fields.items() if name not in own}
    return {**others, "origin": own} if own else others
