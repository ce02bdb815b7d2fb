"""Trust from events, as docs/explanation/trust.md defines it: oracle of the fragments *_trust."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

ORDER = ("unknown", "imported", "model", "tool", "person")


def least(trusts: Iterable[str]) -> str:
    """Return the class of a chain of derivation; "unknown" of nothing."""
    return min(trusts, key=ORDER.index, default="unknown")


@dataclass(frozen=True, slots=True)
class Statement:
    """An event that states an item, restores it, lets it replace another, or hides it."""

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
    """Return the class of a memory: of its very text, since a person last vouched for it."""
    stated = [one for one in seen if one.type not in ("HIDE", "REINFORCE_NEAR")]
    restored = [one.at for one in stated if one.type == "RESTORE" or one.trust == "person"]
    since = max(
        [*restored, *_ended([one.at for one in seen if one.type == "HIDE"], stated)], default=None
    )
    return least(one.trust for one in stated if since is None or one.at >= since)


def belief(
    supporting: Sequence[Statement],
    assumed: Sequence[Statement],
    *,
    one: bool,
    hidden: Sequence[datetime] = (),
) -> str:
    """Return the class of a belief: in a ONE slot, of the statement that sets its score.

    Who brought it back, by a hypothesis or a restoration, bounds it.
    """
    since = max(_ended(hidden, assumed), default=None)
    stating = least(each.trust for each in assumed if since is None or each.at >= since)
    if not supporting:
        return stating
    last = max(supporting, key=_when).trust
    own = last if one else least(each.trust for each in supporting)
    return own if since is None else least([own, stating])


def _ended(hidden: Sequence[datetime], stated: Sequence[Statement]) -> list[datetime]:
    """Return the times at which an item was hidden that a later statement ended."""
    return [at for at in hidden if any(one.at >= at for one in stated)]


def episode(turns: Iterable[str], given: str | None = None) -> str:
    """Return the class of an episode: of its turns, and of the text that a caller gave."""
    return least([*turns, *([] if given is None else [given])])


def _when(one: Statement) -> tuple[datetime, str]:
    return one.at, one.event_id
