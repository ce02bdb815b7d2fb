"""Steps that foreign data comes to, and a reader of its fields that counts what has no place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from graphmem.errors import InvalidInputError


class ImportAction(StrEnum):
    """What a step does."""

    EPISODE = "episode"
    REMEMBER = "remember"
    SUPERSEDE = "supersede"
    DEPRECATE = "deprecate"
    OBSERVE = "observe"
    RETRACT = "retract"


@dataclass(frozen=True, slots=True)
class ImportStep:
    """One write, under an id that derives from the foreign one."""

    verb: ImportAction
    scope: str | None
    """None: the handle's own."""
    origin: str
    """Names the foreign record, for example `mem0:5f3c`."""
    id: str
    at: datetime
    given: Mapping[str, Any]
    """What else the verb takes."""


@dataclass(slots=True)
class ImportPlan:
    """What is to be done with foreign data, and what cannot."""

    steps: list[ImportStep] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Records that cannot be read, each with why."""
    unplaced: Counter[str] = field(default_factory=Counter)
    """Fields that have no place here, and how often they were filled in."""

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Note what is wrong with a record, and go on with the next."""
        try:
            yield
        except InvalidInputError as error:
            self.refused.append(f"{name}: {error.message}")


class ForeignRecord:
    """A foreign record, field by field; what is never asked for has no place."""

    def __init__(self, kind: str, record: object, *, derived: Sequence[str] = ()) -> None:
        if not isinstance(record, Mapping):
            raise InvalidInputError("it is no map of fields.")
        self._kind = kind
        self._record = {str(key): value for key, value in record.items()}
        self._asked = set(derived)

    def text(self, name: str) -> str:
        """Return a text that must be there."""
        found = self.maybe(name)
        if found is None:
            raise InvalidInputError(f"it has no {name}.")
        return found

    def maybe(self, name: str) -> str | None:
        """Return a text; None when it is not there, or blank."""
        self._asked.add(name)
        found = self._record.get(name)
        if found is not None and not isinstance(found, str):
            raise InvalidInputError(f"its {name} is no text.")
        return found if found and found.strip() else None

    def instant(self, name: str) -> datetime | None:
        """Return an ISO 8601 instant; without a time zone it is taken for UTC."""
        found = self.maybe(name)
        if found is None:
            return None
        try:
            at = datetime.fromisoformat(found)
        except ValueError:
            raise InvalidInputError(f"its {name} is no instant in ISO 8601.") from None
        return at if at.tzinfo else at.replace(tzinfo=UTC)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; none when it is not there."""
        self._asked.add(name)
        found = self._record.get(name) or []
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise InvalidInputError(f"its {name} is no list of texts.")
        return tuple(found)

    def left(self) -> list[str]:
        """Return the names of what is filled in and was not asked for."""
        return [
            f"{self._kind}.{name}"
            for name, value in self._record.items()
            if name not in self._asked and value not in (None, "", [], {})
        ]


def listed(document: Mapping[str, Any], *names: str) -> list[Any]:
    """Return the first list of these names that a document has; none when it has no such.

    Raises:
        InvalidInputError: what is there is no list.
    """
    for name in names:
        if name in document:
            if not isinstance(document[name], list):
                raise InvalidInputError(f"data: its {name} is no list.")
            found: list[Any] = document[name]
            return found
    return []
