"""Options of reads: times, policies and pages."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import (
    POLICIES,
    AsOf,
    Belief,
    BeliefEvent,
    EvidenceKind,
    MemoryEvent,
    Policy,
    PolicyOrigin,
    RecallPolicy,
    Verdict,
    Vitality,
)
from graphmem.model.policies import SprtParameters
from graphmem.model.recall import TraceRank
from graphmem.rules import formulas, predicates, trust, vitality
from graphmem.rules.drafts import MAX_CLOCK_SKEW
from graphmem.settings import Settings

BEGINNING, FOREVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
"""Bounds that exclude nothing."""
MAX_OPEN_TRANSACTION = timedelta(seconds=30)
"""Time after recording an event in which its transaction may still be open. No setting of any
client allows more."""

D = TypeVar("D", bound=Mapping[str, Any])

MAX_DIGITS = 15

PROJECTED = ("positive", "negative", "supporting_episodes", "refuting_episodes", "contested")


def time_bounds(as_of: AsOf | None) -> dict[str, datetime]:
    """Return `valid` and `known` as parameters; an open bound excludes nothing."""
    times = as_of or AsOf()
    return {"valid": times.valid or FOREVER, "known": times.known or FOREVER}


def next_instant(at: datetime) -> datetime:
    """Return the next distinguishable timestamp: the resolution is one microsecond."""
    return at + min(timedelta(microseconds=1), FOREVER - at)


def check_not_future(as_of: AsOf | None, now: datetime) -> None:
    """Refuse a read of knowledge later than `now`, the server time of the read."""
    if as_of is not None and as_of.known is not None and as_of.known > now + MAX_CLOCK_SKEW:
        raise InvalidInputError(
            f"known: {as_of.known.isoformat()} must not be in the future.",
            hint="Omit `known` to read everything; use `valid` to read a future state.",
        )


def is_provisional(as_of: AsOf, now: datetime) -> bool:
    """Return whether an answer may still change, although `known` is given.

    `now` is the server time of the read.
    """
    check_not_future(as_of, now)
    return as_of.known is not None and as_of.known > now - MAX_OPEN_TRANSACTION


def memory_not_found(memory_id: str, as_of: AsOf | None) -> NotFoundError:
    """Return the error for a memory id that was not found."""
    if as_of is None:
        return NotFoundError(f"No memory {memory_id!r}.")
    return NotFoundError(
        f"No memory {memory_id!r} at that time.",
        hint="Call `history` without a time to see since when it exists.",
    )


def parse_belief(row: Mapping[str, Any]) -> Belief:
    """Return the belief in a row of belief/states; rows of other queries may lack its vitality."""
    projected, initial = row["projected"] or {}, row["initial"]
    alone = projected.get("belief", initial)
    return Belief(
        **row["card"],
        **{name: projected[name] for name in PROJECTED if name in projected},
        initial_confidence=initial,
        belief=alone if row["score"] is None else row["score"],
        verdict=Verdict(**row["verdict"]),
        trust=trust.recorded(row.get("trust")),
        vitality=Vitality(**row["vitality"]) if row.get("vitality") else None,
    )


def parse_memory_event(row: Mapping[str, Any]) -> MemoryEvent:
    """Return the history entry in a row; other columns are ignored."""
    known = {name: row[name] for name in MemoryEvent.model_fields}
    return MemoryEvent(**known | {"payload": _payload(row), "trust": trust.recorded(row["trust"])})


def parse_belief_event(row: Mapping[str, Any]) -> BeliefEvent:
    """Return the history entry in a row of fragments/belief_event."""
    known = {name: row[name] for name in BeliefEvent.model_fields if name != "kind"}
    kind, vouches = evidence_kind(row["polarity"]), trust.recorded(row["trust"])
    return BeliefEvent(**known | {"payload": _payload(row), "kind": kind, "trust": vouches})


def evidence_kind(polarity: int | None) -> EvidenceKind | None:
    """Return the kind of evidence of an event; None if the event is not evidence."""
    return None if polarity is None else EvidenceKind.of(polarity)


def _payload(row: Mapping[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(row["payload"] or "{}")
    return payload


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Times and policy of a read."""

    as_of: AsOf = field(default_factory=AsOf)
    policy: Policy | None = None
    """Policy to use; None for the declared one."""


def policy_origin(read: Mapping[str, Any], by: ReadOptions) -> PolicyOrigin:
    """Return why a policy was used; `read` is that of fragments/policy."""
    if by.policy is not None:
        return PolicyOrigin.GIVEN
    if "id" in read:
        return PolicyOrigin.DECLARED
    return PolicyOrigin.BUILT_IN if read["built_in"] else PolicyOrigin.DEFAULT


def read_params(
    names: Set[str], by: ReadOptions, settings: Settings, now: datetime
) -> dict[str, Any]:
    """Return those parameters of queries that read beliefs that are among `names`.

    `now` is the default of the valid time.
    """
    found: dict[str, Any] = {
        "valid": by.as_of.valid or now,
        "known": by.as_of.known,
        "policy": by.policy and predicates.policy_fields(by.policy),
        "default_policy": predicates.DEFAULT_POLICY,
        "weights": dict(settings.source_weights),
    }
    found = {name: value for name, value in found.items() if name in names}
    if "test" in names:
        found["test"] = sprt_params(settings.sprt)
    if "vitality_constants" in names:
        found["vitality_constants"] = vitality.vitality_params(vitality_constants(settings))
    return found


def recall_policy_of(given: object, default: RecallPolicy) -> RecallPolicy:
    """Return the recall policy for a policy or its name."""
    if isinstance(given, RecallPolicy):
        return given
    if not isinstance(given, str) or given not in POLICIES:
        raise InvalidInputError(
            "`policy` must be a RecallPolicy or the name of one.",
            hint=f"Give one of {', '.join(POLICIES)}, or a RecallPolicy.",
        )
    return default if given == "default" else POLICIES[given]


def trace_rank(settings: Settings, given: TraceRank = formulas.STANDARD_TRACE) -> TraceRank:
    """Return the constants of TraceRank: those of a policy, or the configured ones.

    A policy that does not set them has the standard ones.
    """
    return settings.trace if given == formulas.STANDARD_TRACE else given


def vitality_constants(settings: Settings) -> vitality.VitalityConstants:
    """Return the configured constants of vitality and of the gate."""
    return vitality.VitalityConstants(**settings.vitality.model_dump())


def sprt_params(bounds: SprtParameters) -> dict[str, float]:
    """Return the bounds of the test as query parameters."""
    steps = bounds.model_dump(exclude={"alpha", "beta"})
    return {"upper": bounds.upper, "lower": bounds.lower, **steps}


async def pages(
    fetch: Callable[..., Awaitable[list[D]]],
    *,
    at: str,
    size: int,
    start: datetime = BEGINNING,
) -> AsyncIterator[list[D]]:
    """Yield the pages of a query in order, until one is not full.

    Args:
        fetch: runs the query with its parameters `after_at`, `after_id` and `limit`.
        at: column that `after_at` refers to; `after_id` refers to `id`.
        size: number of rows of a full page.
        start: time after which the first page starts.
    """
    after = start, ""
    while rows := await fetch(after_at=after[0], after_id=after[1], limit=size):
        yield rows
        if len(rows) < size:
            return
        after = rows[-1][at], rows[-1]["id"]


def time_cursor(at: datetime, last_id: str) -> str:
    """Return the cursor after the last row of a page."""
    return _encode(f"{at.isoformat()} {last_id}")


def parse_time_cursor(text: str | None) -> tuple[datetime | None, str | None]:
    """Return the position of a cursor; (None, None) for the first page."""
    if text is None:
        return None, None
    try:
        at, last_id = _decode(text).split(" ", 1)
        place = datetime.fromisoformat(at).astimezone(UTC), last_id
    except (AttributeError, OverflowError, ValueError):
        place = None
    # Several strings decode to the same position; only the canonical one is accepted.
    if place is None or time_cursor(*place) != text:
        raise _invalid_cursor()
    return place


def key_cursor(*key: str) -> str:
    """Return the cursor after the last row of a page that is ordered by a key."""
    return _encode(json.dumps(key, ensure_ascii=False))


def parse_key_cursor(text: str | None, parts: int) -> tuple[str, ...]:
    """Return the key in a cursor, of `parts` parts; empty strings, which sort first, for None."""
    if text is None:
        return ("",) * parts
    try:
        key = json.loads(_decode(text))
    except (AttributeError, RecursionError, ValueError):
        key = None
    is_list = isinstance(key, list) and len(key) == parts
    if not is_list or not all(isinstance(part, str) for part in key) or key_cursor(*key) != text:
        raise _invalid_cursor()
    return tuple(key)


def position_cursor(position: int) -> str:
    """Return the cursor of a page that starts at a position."""
    return key_cursor(str(position))


def next_page(start: int, limit: int, rows: int) -> str | None:
    """Return the cursor after a page; None after a page with fewer rows than its limit."""
    return position_cursor(start + rows) if rows == limit else None


def parse_position_cursor(text: str | None) -> int:
    """Return the position in a cursor; 0 for the first page."""
    if text is None:
        return 0
    [found] = parse_key_cursor(text, 1)
    if not (found.isascii() and found.isdecimal() and len(found) <= MAX_DIGITS):
        raise _invalid_cursor()
    return int(found)


def _encode(plain: str) -> str:
    return base64.urlsafe_b64encode(plain.encode()).decode()


def _decode(text: str) -> str:
    return base64.b64decode(text.encode(), b"-_", validate=True).decode()


def _invalid_cursor() -> InvalidInputError:
    return InvalidInputError(
        "cursor is invalid.", hint="Pass `next_cursor` of the previous page unchanged."
    )
