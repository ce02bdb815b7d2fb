"""Files of observations: JSON Lines, each line with an id of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphmem.client.state import valid
from graphmem.errors import InvalidInputError, SourceFileError
from graphmem.model import Observation
from graphmem.rules import identity


def read_observations(path: Path, scope: str) -> list[Observation]:
    """Return the observations of a file, in its order; blank lines are passed over.

    Args:
        path: of a file in UTF-8, one JSON object a line.
        scope: that they are for: an event's id is unique in a tenant, so it is part of what the
            id of a line without one is made from.

    Raises:
        SourceFileError: it cannot be read, or a line is no observation; names the line.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SourceFileError(f"{path.name} cannot be read: {reason}.") from None
    # Not by splitlines: that would also part at separators that may stand inside JSON strings.
    lines = enumerate(text.split("\n"), start=1)
    return [_observation(path, n, line, scope) for n, line in lines if line.strip()]


def _observation(path: Path, number: int, line: str, scope: str) -> Observation:
    try:
        fields: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise SourceFileError(f"{path.name}, line {number}: it is no JSON.") from None
    if not isinstance(fields, dict):
        raise SourceFileError(f"{path.name}, line {number}: it is no JSON object.")
    if fields.get("id") is None:
        content = json.dumps(fields, sort_keys=True, ensure_ascii=False)
        fields["id"] = "line_" + identity.digest(scope, content)[:32]
    try:
        return valid(Observation, **fields)
    except InvalidInputError as error:
        raise SourceFileError(
            f"{path.name}, line {number}: {error.message}", hint=error.hint
        ) from None
