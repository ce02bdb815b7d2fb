"""Trust from events, by the definition in docs/trust.md: the oracle of the fragments *_trust."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

ORDER = ("unknown", "imported", "model", "tool", "person")


def least(trusts: Iterable[str]) -> str:
    """Return the class of a chain of derivation; "unknown" of nothing."""
    return min(trusts, key=ORDER.index, default="unknown")


def best(trusts: Iterable[str]) -> str:
    """Return the class of independent statements of one text; "unknown" of nothing."""
    return max(trusts, key=ORDER.index, default="unknown")


@dataclass(frozen=True, slots=True)
class Statement:
    """An event that states an item, or restores it."""

    trust: str
    at: datetime
    event_id: str = ""
    type: str = "ADD"


def event(writer: str, source_type: str | None, *drawn_from: str) -> str:
    """Return the class of an event by its writer, its source type and what it is drawn from."""
    of = {None: "person", "EXPLICIT": "person", "TOOL": "tool", "RULE": "tool"}
    of |= {"CLASSIFIER": "model", "EXTRACTOR": "model"}
    own = of.get(source_type, "unknown")
    return least([writer, own, *drawn_from])


def memory(seen: Sequence[Statement]) -> str:
    """Return the class of a memory: of its very text, since it was last restored."""
    since = max((one.at for one in seen if one.type == "RESTORE"), default=None)
    return best(
        one.trust
        for one in seen
        if one.type != "REINFORCE_NEAR" and (since is None or one.at >= since)
    )


def belief(supporting: Sequence[Statement], assumed: Sequence[Statement], *, one: bool) -> str:
    """Return the class of a belief: in a ONE slot, of the statement that sets its score."""
    if not supporting:
        first = min(assumed, key=_when, default=None)
        return first.trust if first else "unknown"
    if one:
        return max(supporting, key=_when).trust
    return best(each.trust for each in supporting)


def episode(turns: Iterable[str], given: str | None = None) -> str:
    """Return the class of an episode: of its turns, and of the text that a caller gave."""
    return least([*turns, *([] if given is None else [given])])


def _when(one: Statement) -> tuple[datetime, str]:
    return one.at, one.event_id
