"""Options of reads: times, policies and pages."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import (
    AsOf,
    Belief,
    BeliefEvent,
    EvidenceKind,
    MemoryEvent,
    Policy,
    TenantScope,
    Verdict,
    Vitality,
)
from graphmem.rules import claims, formulas
from graphmem.rules.drafts import SKEW
from graphmem.settings import Settings

BEGINNING, FOREVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
"""Bounds that shut nothing out."""
LONGEST = timedelta(seconds=30)
"""How long after an event is recorded its transaction may still be under way; no setting allows
more, whichever client wrote it."""


def time_bounds(as_of: AsOf | None) -> dict[str, datetime]:
    """Return `valid` and `known` as parameters; what is left open shuts nothing out."""
    asked = as_of or AsOf()
    return {"valid": asked.valid or FOREVER, "known": asked.known or FOREVER}


def after(at: datetime) -> datetime:
    """Return the next instant that can be told from `at`: they are kept to the microsecond."""
    return at + min(timedelta(microseconds=1), FOREVER - at)


def refuse_future(as_of: AsOf | None, now: datetime) -> None:
    """Refuse to say what will be known.

    Args:
        as_of: the pair of times of a read.
        now: the server's clock at that read.

    Raises:
        InvalidInputError: `known` lies in the future.
    """
    if as_of is not None and as_of.known is not None and as_of.known > now + SKEW:
        raise InvalidInputError(
            f"known: {as_of.known.isoformat()} lies in the future; nobody knows yet what will be.",
            hint="Leave `known` out to see everything; what is to come is asked for by `valid`.",
        )


def is_provisional(as_of: AsOf, now: datetime) -> bool:
    """Return whether an answer may still change although `known` is given.

    Args:
        as_of: the pair of times of a read.
        now: the server's clock at that read.

    Raises:
        InvalidInputError: `known` lies in the future.
    """
    refuse_future(as_of, now)
    return as_of.known is not None and as_of.known > now - LONGEST


def missing(memory_id: str, as_of: AsOf | None) -> NotFoundError:
    """Return the error of a read that found no such memory."""
    if as_of is None:
        return NotFoundError(f"No memory {memory_id!r}.")
    return NotFoundError(
        f"No memory {memory_id!r} at that time.",
        hint="Nothing visible had this id then; `history` without a time shows since when.",
    )


PROJECTED = ("positive", "negative", "supporting_episodes", "refuting_episodes", "contested")


def belief(row: Mapping[str, Any]) -> Belief:
    """Return the belief of a row of belief/states; a row of another query may lack its vitality."""
    projected, initial = row["projected"] or {}, row["initial"]
    alone = projected.get("belief", initial)
    return Belief(
        **row["card"],
        **{name: projected[name] for name in PROJECTED if name in projected},
        initial_confidence=initial,
        belief=alone if row["score"] is None else row["score"],
        verdict=Verdict(**row["verdict"]),
        vitality=Vitality(**row["vitality"]) if row.get("vitality") else None,
    )


def memory_event(row: Mapping[str, Any]) -> MemoryEvent:
    """Return the line of a memory's history that a row tells of; what else it tells is left out."""
    known = {name: row[name] for name in MemoryEvent.model_fields}
    return MemoryEvent(**known | {"payload": _payload(row)})


def belief_event(row: Mapping[str, Any]) -> BeliefEvent:
    """Return the line of a belief's history that a row of fragments/belief_event tells of."""
    known = {name: row[name] for name in BeliefEvent.model_fields if name != "kind"}
    return BeliefEvent(**known | {"payload": _payload(row), "kind": kind(row["polarity"])})


def kind(polarity: int | None) -> EvidenceKind | None:
    """Return which way an event points; None for one that is no evidence."""
    return None if polarity is None else EvidenceKind.of(polarity)


def _payload(row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row["payload"] or "{}")
    return found


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """By which times and which policy evidence is read."""

    as_of: AsOf = field(default_factory=AsOf)
    policy: Policy | None = None
    """None: as declared."""
    present_policy: bool = False
    """Read by the policy declared by now, and not by that of the time asked about."""


def params(by: ReadOptions, wall: TenantScope, settings: Settings, now: datetime) -> dict[str, Any]:
    """Return what every query that reads beliefs is given.

    Args:
        by: times and policy.
        wall: whose beliefs, and which a reader may see.
        settings: the weights of source types.
        now: the valid time, unless one is asked for.
    """
    return {
        "tenant": wall.tenant,
        "scopes": list(wall.scopes),
        "valid": by.as_of.valid or now,
        "known": by.as_of.known,
        "policy": None if by.policy is None else claims.policy_fields(by.policy),
        "present_policy": by.present_policy,
        "default_policy": claims.policy_fields(Policy()),
        "weights": dict(settings.source_weights),
    }


def bounds(settings: Settings) -> formulas.SprtParameters:
    """Return the bounds of the sequential test that a deployment has chosen."""
    return formulas.SprtParameters(
        alpha=settings.alpha,
        beta=settings.beta,
        promote_step=settings.promote_step,
        demote_step=settings.demote_step,
        most=settings.most_confidence,
        least=settings.least_confidence,
    )


def sent(bounds: formulas.SprtParameters) -> dict[str, float]:
    """Return the bounds of the test as a query is given them."""
    names = ("upper", "lower", "promote_step", "demote_step", "most", "least")
    return {name: getattr(bounds, name) for name in names}


def cursor(at: datetime, last_id: str) -> str:
    """Return the cursor of the row that a page ended with."""
    return _word(f"{at.isoformat()} {last_id}")


def position(text: str | None) -> tuple[datetime | None, str | None]:
    """Return where a cursor points; the beginning for None.

    Raises:
        InvalidInputError: `cursor` did not make it.
    """
    if text is None:
        return None, None
    try:
        at, last_id = _plain(text).split(" ", 1)
        place = datetime.fromisoformat(at).astimezone(UTC), last_id
    except (AttributeError, OverflowError, ValueError):
        place = None
    # Many words can be decoded to the same place; only the one that `cursor` makes is taken.
    if place is None or cursor(*place) != text:
        raise _none()
    return place


def keyed(*key: str) -> str:
    """Return the cursor of the row that a page ended with, where rows stand in order of a key."""
    return _word(json.dumps(key, ensure_ascii=False))


def key(text: str | None, parts: int) -> tuple[str, ...]:
    """Return the key that a cursor points to; empty texts, which come first, for None.

    Args:
        text: the cursor.
        parts: of the key.

    Raises:
        InvalidInputError: `keyed` did not make it.
    """
    if text is None:
        return ("",) * parts
    try:
        found = json.loads(_plain(text))
    except (AttributeError, RecursionError, ValueError):
        found = None
    whole = isinstance(found, list) and len(found) == parts
    if not whole or not all(isinstance(part, str) for part in found) or keyed(*found) != text:
        raise _none()
    return tuple(found)


def _word(plain: str) -> str:
    return base64.urlsafe_b64encode(plain.encode()).decode()


def _plain(text: str) -> str:
    return base64.b64decode(text.encode(), b"-_", validate=True).decode()


def _none() -> InvalidInputError:
    return InvalidInputError(
        "This is no cursor.", hint="Pass the `next_cursor` of the page before, unchanged."
    )
