"""Arguments as clients and models write them, read by the schema of a tool.

Only what has one meaning is read; anything else is left for validation to refuse.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from graphmem.english import quantities, spans
from graphmem.model import zones

Schema = Mapping[str, Any]

_SIMILAR = 0.85
"""Similarity from which an unknown name is a misspelling, such as `tag` for `tags`: what it is for
would be lost if it were ignored."""
_SET_BY_SERVER = frozenset(
    {"tenant", "scope", "scopes", "read_scopes", "actor", "source", "trust", "event_source"}
)
"""Names that are refused: ignored, they would be taken for granted, as another memory or writer."""
_TIMES: Schema = {
    "properties": {name: {"type": "string", "format": "end"} for name in ("valid", "known")}
}
_MAX_NUMBER = 40
"""Maximum length of a number, in characters."""
_NUMBERS = quantities.ONES | quantities.TENS


class ArgumentReader:
    """Reads the arguments of one call; times without a zone are in the given one."""

    def __init__(self, zone: str | None) -> None:
        self.now = zones.local(datetime.now(UTC), zone)
        self.ignored: list[str] = []
        """Names that are not arguments."""

    def fields(self, given: Mapping[str, Any], place: Schema, path: str = "") -> dict[str, Any]:
        """Return the arguments by name, without omitted ones: an optional `null` or blank text."""
        known: Mapping[str, Schema] = place["properties"]
        names = {
            _bare(name): field
            for field, part in known.items()
            for name in (field, *part.get("also", ()))
        }
        found: dict[str, Any] = {}
        for name, value in given.items():
            field = names.get(_bare(name))
            if field is None:
                self._unknown(name, value, found, path, set(names) - set(map(_bare, given)))
                continue
            read = self.value(value, known[field], f"{path}{field}.")
            if field not in found or _is_blank(found[field]):
                found[field] = read
            elif not _is_blank(read) and read != found[field]:
                found[name] = read  # A second name with another value, which is refused.
        required = place.get("required", ())
        return {k: v for k, v in found.items() if k in required or not _is_blank(v)}

    def _unknown(
        self, name: str, value: object, found: dict[str, Any], path: str, others: set[str]
    ) -> None:
        if name in _SET_BY_SERVER or difflib.get_close_matches(_bare(name), others, 1, _SIMILAR):
            found[name] = value
        else:
            self.ignored.append(path + name)

    def value(self, given: Any, place: Schema, path: str) -> Any:
        """Return a value as its schema wants it, if what it means is clear."""
        kind, form = place.get("type"), place.get("format")
        is_text = kind == "string" and form is None and "enum" not in place
        if is_text:
            with suppress(ValueError):  # a number of thousands of digits
                return json.dumps(given) if isinstance(given, bool | int | float) else given
        if isinstance(given, str):
            given = _parsed(given, place)
        if kind == "array" and not _is_blank(given):
            return self._items(_listed(given, place["items"]), place["items"], path)
        if form == "as-of":
            given = {"valid": given} if isinstance(given, str) else given
            return (
                (self.fields(given, _TIMES, path) or None) if isinstance(given, Mapping) else given
            )
        if form is not None and isinstance(given, str):
            return self._time(given, end=form == "end")
        if kind == "object" and isinstance(given, Mapping):
            return self.fields(given, place, path)
        return given

    def _items(self, given: Any, place: Schema, path: str) -> Any:
        if not isinstance(given, list | tuple):
            return given
        read = (self.value(one, place, f"{path}{number}.") for number, one in enumerate(given))
        return [one for one in read if not _is_blank(one)]

    def _time(self, given: str, *, end: bool) -> object:
        """Return the start or the end of the time that a text names; a text that names none.

        The end of a time that has not ended is now, which is the default.
        """
        if given.strip().lower() == "now":
            return None
        with suppress(ValueError, OverflowError):
            return spans.last_moment(given, self.now) if end else spans.span(given, self.now)[0]
        with suppress(ValueError):
            at = datetime.fromisoformat(given.strip())
            return at.replace(tzinfo=self.now.tzinfo) if at.tzinfo is None else at
        return given


def _bare(name: str) -> str:
    """Return a name without case and hyphens: clients write `sessionId` for `session_id`."""
    return re.sub(r"[-_]", "", name).casefold()


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _parsed(given: str, place: Schema) -> Any:
    """Return the value that a text of JSON, a number in words or a choice means."""
    text, kind = given.strip(), place.get("type")
    if text == "null":
        return None
    if "enum" in place:
        return next((one for one in place["enum"] if one.casefold() == text.casefold()), given)
    if kind in ("integer", "number"):
        return _number(text)
    return _json(text, "{") if kind == "object" or place.get("format") == "as-of" else given


def _listed(given: object, items: Schema) -> object:
    """Return a list as JSON text, or a single value, as a list.

    A text with brackets or commas may be a list, or one item; it is returned as it is.
    """
    if items.get("type") == "object":
        found = _json(given, "[{") if isinstance(given, str) else given
        return found if isinstance(found, list | tuple | None) else [found]
    if not isinstance(given, str):
        return given
    found = _json(given, "[")
    return found if isinstance(found, list) or given.startswith("[") or "," in given else [given]


def _json(text: str, starts: str) -> Any:
    """Return the value of a text of JSON that begins with one of `starts`, else the text."""
    if text.lstrip()[:1] in tuple(starts):
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    return text


def _number(text: str) -> object:
    """Return the number that a text states: 5, five, twenty-five, 80%, 1,000; else the text."""
    if len(text) > _MAX_NUMBER:
        return text
    words = re.split("[- ]", text.lower())
    if all(word in _NUMBERS for word in words):
        tens, *rest = (_NUMBERS[word] for word in words)
        if not rest:
            return tens
        if len(rest) == 1 and tens >= 20 and 0 < rest[0] < 10:
            return tens + rest[0]
    if re.fullmatch(r"\d+(\.\d+)?\s?%", text):
        return round(float(text[:-1]) / 100, 6)
    if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", text):
        return int(text.replace(",", ""))
    return text
