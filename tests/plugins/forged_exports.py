"""Forged exports: records of a real export with changed values and correct digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from graphmem.nodes.declared import NODE_CLASSES, properties

Record: TypeAlias = dict[str, Any]
MEANT = ("properties", "links", "texts", "namespace", "payload", "value", "decided")
"""Fields that contain other fields."""
KEPT = ("kind", "part", "key", "label", "type")
"""Fields that identify a node; an import rejects a file that changes many of them."""
NAMES = sorted(
    {
        *MEANT,
        *KEPT,
        *("embedding_2", "", "a.b", "\ud800", "`}) //", "__class__"),
        *(name for node in NODE_CLASSES.values() for name in properties(node)),
    }
)


def nested(levels: int) -> Any:
    """Return nested lists."""
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**31,
        2**53,
        2**63 - 1,
        2**63,
        -(2**63),
        10**30,
        0.5,
        -0.5,
        1e308,
    ),
    *("", " ", "x", "x" * 300, "x" * 9_000, "\0", "\ud800", "\u202e", "null", "{", "[]", "{}"),
    *('{"note": 5}', '{"a": NaN}', '{"note": "\\ud800"}', "[" * 900, '{"a":' * 900, "{subject}"),
    *([], ["x"], [1, "x"], [[1]], [None], {}, {"a": 1}, {"a": 1, "b": 2}, nested(80), nested(120)),
    *({"float": text} for text in ("inf", "-inf", "nan", "x", 1)),
    *({"vector": text} for text in ("", "!!!", "AAAA", "AAAAAA==", "AACAPwAAgD8=", None)),
    *({"instant": text} for text in ("", "yesterday", "2025-05-05", "2025-05-05T00:00:00", 7)),
    *({"instant": f"{year}-01-01T00:00:00+00:00"} for year in ("0001", "1969", "2025", "9999")),
    *({"instant": "0001-01-01T00:00:00+23:59"}, {"instant": "9999-12-31T23:59:59-23:59"}),
    *("current", "superseded", "deprecated", "archived", "ONE", "MANY", "net", "log_odds"),
    *("EVIDENCE", "RETRACT", "POLICY", "SESSION_END", "SEARCH", "PROPOSE", "ADD", "attention"),
)
"""Values for any field."""


class Forger:
    """Changes records of an export."""

    def __init__(self, random: Random, records: Sequence[Record], aimed: Sequence[str]) -> None:
        """Start with the records of a real export, including its header and its end.

        Args:
            random: Random generator.
            records: Records of the export.
            aimed: Names, ids and digests of another tenant.
        """
        self._random = random
        self._records = records
        self._aimed = aimed

    def forged(self, record: Record, *, keys: bool = True) -> Record:
        """Return a record with one to three changes.

        Args:
            record: Any record.
            keys: Whether fields that identify the node may be changed too.
        """
        copy = deepcopy(record)
        for _ in range(self._random.choice((1, 1, 1, 2, 3))):
            self._change(self._part_of(copy), keys=keys)
        return copy

    def _part_of(self, record: Record) -> Record:
        """Return a map somewhere in a record."""
        maps = [record, *_maps(record)]
        # The properties contain most of the relevant data.
        return self._random.choice([*maps, *maps[1:2] * 3])

    def _change(self, part: Record, *, keys: bool) -> None:
        names = [name for name in part if keys or name not in KEPT]
        step = self._random.randrange(10)
        if names and step < 6:
            name = self._random.choice(names)
            part[name] = self._value(name, part[name])
        elif names and step < 8:
            part.pop(self._random.choice(names))
        else:
            name = self._random.choice(NAMES)
            if keys or name not in KEPT:
                part[name] = self._value(name, None)

    def _value(self, name: str, old: Any) -> Any:
        step = self._random.randrange(10)
        if step < 5 and (inside := _object(old)) is not None:
            self._change(inside, keys=True)
            # Invalid Unicode stays escaped in the inner text.
            return json.dumps(inside)
        if step < 6:
            return deepcopy(self._random.choice(ODD))
        if step < 8:
            return self._random.choice(self._aimed)
        # The value of the same field in another record has the right type.
        others = [
            part[name]
            for record in self._random.sample(self._records, min(40, len(self._records)))
            for part in (record, *_maps(record))
            if name in part
        ]
        return deepcopy(self._random.choice(others)) if others else deepcopy(old)


def _object(text: Any) -> Record | None:
    """Return the JSON object in a text; None if it does not contain one."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _maps(value: Any) -> Iterable[Record]:
    """Yield the maps inside a map, except those that encode one value."""
    for inside in value.values() if isinstance(value, dict) else value:
        if isinstance(inside, dict) and not inside.keys() & {"instant", "vector", "float"}:
            yield inside
            yield from _maps(inside)
        elif isinstance(inside, list):
            yield from _maps(inside)


def records_of(file: Path) -> list[Record]:
    """Return the records of a file without their digests."""
    lines = file.read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [{name: value for name, value in r.items() if name != "check"} for r in records]


def sealed(records: Iterable[Mapping[str, Any]]) -> list[bytes]:
    """Return records as lines, each with the digest of itself and all lines before it."""
    check, lines = "", []
    for record in records:
        body = json.dumps(record, separators=(",", ":")).encode()
        check = hashlib.sha256(check.encode() + body).hexdigest()
        lines.append(body[:-1] + f',"check":"{check}"}}\n'.encode())
    return lines


def counted(records: Sequence[Record]) -> Record:
    """Return the last line for some nodes, as far as they can be counted."""
    kinds: dict[str, int] = {}
    for record in records:
        if isinstance(kind := record.get("kind"), str):
            kinds[kind] = kinds.get(kind, 0) + 1
    links = [record.get("links") for record in records]
    return {
        "end": True,
        "records": kinds,
        "links": sum(len(part) for part in links if isinstance(part, list)),
    }
