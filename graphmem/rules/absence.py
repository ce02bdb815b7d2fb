"""Why a recall found nothing, in words: what is similar, hidden, filtered out or elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from typing_extensions import TypedDict

from graphmem.model import AnyBite, Recollection

MAX_COUNTED = 1_000
NOTHING = "nothing visible to this handle matches"
ITSELF = "nothing matches but the question itself"
_MAX_NAMED = 3


class StoredItems(TypedDict):
    """A row of recall/stored."""

    kind: str
    status: str
    searched: bool
    later: bool
    items: int


class Search(NamedTuple):
    """A search that found nothing."""

    kinds: Collection[str]
    filters: Sequence[str]
    """Names of the filters that were given, other than `as_of`."""
    scopes: Sequence[str]
    statuses: Collection[str]


def reason(rows: Sequence[StoredItems], search: Search, found: Recollection) -> str:
    """Return why a search found nothing, and what its reader may read instead.

    Args:
        found: its result, with the hidden memories and the similarities.
    """
    here = [row for row in rows if row["searched"]]
    asked = [row for row in here if row["kind"] in search.kinds]
    parts = _not_similar(found) or _hidden(asked, search, found.hidden)
    asked = [row for row in asked if row["status"] in search.statuses]
    excluded = [row for row in asked if not row["later"] and found.best_similarity is None]
    for label, left in (
        ("later than as_of", [row for row in asked if row["later"]]),
        (f"excluded by {', '.join(search.filters)}", excluded if search.filters else []),
        ("not searched", [row for row in here if row["kind"] not in search.kinds]),
        ("in other read scopes", [row for row in rows if not row["searched"]]),
    ):
        parts += [f"{label}: {_counted(left)}"] if left else []
    if parts or here:
        return "; ".join(parts) or NOTHING
    names = [repr(scope) for scope in search.scopes[:_MAX_NAMED]]
    if unnamed := len(search.scopes) - len(names):
        names.append(f"{unnamed} more")
    return f"nothing is stored in scope {' or '.join(names)}"


def left(found: Recollection, bites: tuple[AnyBite, ...]) -> Recollection:
    """Return a recollection with those results that are not the question itself."""
    reason = ITSELF if found.bites and not bites else found.reason
    return found.model_copy(update={"bites": bites, "reason": reason})


def _not_similar(found: Recollection) -> list[str]:
    """Return that no candidate is similar enough; nothing if one is, or none was found."""
    best, least = found.best_similarity, found.min_score
    if best is None or least is None or best >= least:
        return []
    return [
        f"nothing is similar enough to the question ({best:z.2f}, below {least:.2f}; "
        "a min_score of -1 shows the nearest)"
    ]


def _hidden(asked: Iterable[StoredItems], search: Search, memories: Mapping[str, int]) -> list[str]:
    """Return the numbers of hidden items by status.

    The memories that a search without filters hides were counted for its reader.
    """
    hidden = Counter(memories)
    for row in asked:
        if row["status"] not in search.statuses and (row["kind"] != "memory" or search.filters):
            hidden[row["status"]] += row["items"]
    counts = [f"{n:,} hidden: {status}" for status, n in sorted(hidden.items())]
    return [", ".join(counts)] if counts else []


def _counted(rows: Iterable[StoredItems]) -> str:
    """Return numbers of items in words, in order of the rows; empty without any."""
    counts = Counter[str]()
    for row in rows:
        counts[row["kind"]] += row["items"]
    return ", ".join(_number(kind, n) for kind, n in counts.items())


def _number(kind: str, n: int) -> str:
    kinds = kind if n == 1 else "memories" if kind == "memory" else f"{kind}s"
    return f"{n:,} {kinds}" if n < MAX_COUNTED else f"at least {MAX_COUNTED:,} {kinds}"
