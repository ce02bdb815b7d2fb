"""Read beliefs, slots, sequential tests and flip sets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.graph import catalog
from graphmem.model import (
    AsOf,
    Belief,
    BeliefPage,
    Candidate,
    EvidenceKind,
    FlipSet,
    HypotheticalEvidence,
    Slot,
    SlotPage,
    Trail,
    TrailStep,
    Verdict,
)
from graphmem.ports import RequestContext
from graphmem.rules import claims, formulas, predicates, read_options, trust
from graphmem.rules.read_options import ReadOptions

CURRENT = catalog.query("belief/current", dict)
SUBJECTS_OF = catalog.query("belief/subjects_of", lambda row: str(row["name"]))
PREDICATES_OF = catalog.query("belief/predicates_of", lambda row: str(row["name"]))

TEST = catalog.query("belief/test", dict)

MAX_PREDICATES = 1_000
"""Maximum number of predicates of a subject that are compared with one that it lacks."""

CLOCK = catalog.query("schema/clock", lambda row: row["now"])

SLOTS = catalog.query("belief/slots", dict)

MAX_EVENTS = 1_000
"""Maximum number of pieces of evidence; the cost grows with their square."""

FLIP_SET = catalog.query("belief/flip_set", dict)


def _belief(row: Mapping[str, Any]) -> tuple[Belief, datetime]:
    """Return a belief and the server's time of the read."""
    return read_options.parse_belief(row), row["now"]


STATES = catalog.query("belief/states", _belief)


@dataclass(frozen=True, slots=True)
class TrailRequest:
    """Options for reading a sequential test."""

    pooled: bool = False
    extra: tuple[HypotheticalEvidence, ...] = ()
    without: tuple[str, ...] = ()
    skip: int = 0
    limit: int = 100


async def current(
    context: RequestContext,
    subject: str,
    predicate: str,
    by: ReadOptions,
    *,
    limit: int,
    from_zero: bool = False,
) -> Slot:
    """Return a slot of the handle's own scope, or of another read scope if it has no candidates.

    Args:
        from_zero: read every event instead of starting from a checkpoint.
    """
    params = context.read_params(CURRENT, by) | {"scopes": context.own_scope_first}
    [row] = await context.fetch(
        CURRENT,
        **params,
        subject=claims.name_key(subject),
        predicate=claims.predicate_key(predicate),
        weights_key=None if from_zero else claims.weights_key(params["weights"]),
        limit=limit,
    )
    asked = {"subject_key": subject.strip(), "predicate": None, "predicate_key": predicate.strip()}
    slot = _slot({**row, **asked, "scope": row["scope"] or context.scope}, by, params["valid"])
    if slot.total:
        return slot
    known = await context.fetch(
        PREDICATES_OF,
        valid=params["valid"],
        known=params["known"],
        names=row["names"],
        limit=MAX_PREDICATES,
    )
    if known:
        return slot.model_copy(update={"nearest": predicates.nearest(predicate, known)})
    others = await context.fetch(
        SUBJECTS_OF,
        **context.read_params(SUBJECTS_OF, by),
        predicate=claims.predicate_key(predicate),
        limit=MAX_PREDICATES,
    )
    found = predicates.nearest_subjects(subject, others)
    return slot.model_copy(update={"nearest_subjects": found})


async def belief(context: RequestContext, belief_id: str, by: ReadOptions) -> Belief:
    """Return a belief, whatever its status."""
    found = await _states(context, by, ids=[belief_id], limit=1)
    if not found:
        raise NotFoundError(f"No belief {belief_id!r}.")
    return found[0]


async def belief_page(
    context: RequestContext,
    by: ReadOptions,
    statuses: Sequence[str],
    *,
    cursor: str | None,
    limit: int,
) -> BeliefPage:
    """Return one page of beliefs, newest first, and the cursor of the next."""
    before_at, before_id = read_options.parse_time_cursor(cursor)
    found = await _states(
        context, by, statuses=list(statuses), before_at=before_at, before_id=before_id, limit=limit
    )
    last = found[-1] if len(found) == limit else None
    return BeliefPage(
        beliefs=tuple(found),
        next_cursor=read_options.time_cursor(last.created_at, last.id) if last else None,
    )


async def test(
    context: RequestContext, belief_id: str, by: ReadOptions, suppose: TrailRequest
) -> Trail:
    """Return the sequential test of a belief with a page of its trail."""
    params = context.read_params(TEST, by)
    extra = [
        {
            "id": f"supposed {place}",
            "at": one.at or params["valid"],
            "polarity": one.kind.polarity,
            "episode": one.episode_id,
            "strength": formulas.clamp_strength(one.strength),
        }
        for place, one in enumerate(suppose.extra)
    ]
    rows = await context.fetch(
        TEST,
        **params,
        id=belief_id,
        pooled=suppose.pooled,
        extra=extra,
        without=list(suppose.without),
        skip=suppose.skip,
        limit=suppose.limit,
    )
    if not rows:
        raise NotFoundError(f"No belief {belief_id!r}.")
    [row] = rows
    read_options.check_not_future(by.as_of, row["now"])
    if row["stray"]:
        raise NotFoundError(
            f"without: {row['stray'][0]!r} must be the id of evidence of the belief {belief_id!r}.",
            hint="`evidence_for` lists its evidence with event ids.",
        )
    verdict = Verdict(**row["verdict"])
    bounds = context.services.settings.sprt
    return Trail(
        belief_id=belief_id,
        initial_confidence=row["initial"],
        verdict=verdict,
        needed=formulas.evidence_needed(verdict, bounds),
        lines=tuple(_line(line) for line in row["lines"]),
        next_cursor=read_options.next_page(suppose.skip, suppose.limit, len(row["lines"])),
    )


def _line(line: Mapping[str, Any]) -> TrailStep:
    event = line["event"] or {}
    after = line["after"]
    status, log_ratio, confidence = after["status"], after["log_ratio"], after["confidence"]
    return TrailStep(
        event_id=line["id"],
        kind=EvidenceKind.of(line["polarity"]),
        occurred_at=line["at"],
        strength=line["strength"],
        llr=line["llr"],
        log_ratio=log_ratio,
        status=status,
        confidence=confidence,
        supposed=not event,
        recorded_at=event.get("recorded_at"),
        type=event.get("type"),
        weight=line["weight"],
        evidence_confidence=event.get("confidence"),
        source_type=event.get("source_type"),
        source=event.get("source"),
        actor=event.get("actor"),
        trust=trust.parse(event.get("trust")) if event else None,
        episode_id=line["episode"],
        turn_id=line["turn_id"],
        note=json.loads(event.get("payload") or "{}").get("note"),
    )


async def _states(
    context: RequestContext, by: ReadOptions, *, limit: int, **which: Any
) -> list[Belief]:
    asked = {"ids": None, "statuses": [], "before_at": None, "before_id": None} | which
    params = context.read_params(STATES, by)
    rows = await context.fetch(STATES, **params, **asked, limit=limit)
    await _check_known(context, by.as_of, *(now for _, now in rows[:1]))
    return [found for found, _ in rows]


async def _check_known(context: RequestContext, as_of: AsOf, *read_at: datetime) -> None:
    """Refuse a read of knowledge from the future.

    Args:
        read_at: server clock of the read; none if it returned no rows. Then the server is asked.
    """
    if as_of.known is not None:
        [now] = read_at or await context.fetch(CLOCK)
        read_options.check_not_future(as_of, now)


class SlotLimits(NamedTuple):
    """Limits of a page of slots."""

    slots: int
    values: int
    """Maximum number of values of a slot."""
    ranked: int | None = None
    """Number of beliefs above which a slot has no candidates, and its number of beliefs as `total`:
    ranking reads them all. None ranks all slots."""


async def slot_page(
    context: RequestContext,
    by: ReadOptions,
    subject: str | None,
    limits: SlotLimits,
    *,
    cursor: str | None,
) -> SlotPage:
    """Return one page of slots with evidence, and the cursor of the next."""
    after = read_options.parse_key_cursor(cursor, 3)
    params = context.read_params(SLOTS, by)
    rows = await context.fetch(
        SLOTS,
        **params,
        subject=None if subject is None else claims.name_key(subject),
        after_scope=after[0],
        after_subject=after[1],
        after_predicate=after[2],
        slots=limits.slots,
        limit=limits.values,
        ranked=limits.ranked,
    )
    await _check_known(context, by.as_of, *(row["now"] for row in rows[:1]))
    last = rows[-1] if len(rows) == limits.slots else None
    keys = ("scope", "subject_key", "predicate_key")
    return SlotPage(
        slots=tuple(_slot(row, by, params["valid"]) for row in rows),
        next_cursor=read_options.key_cursor(*(last[key] for key in keys)) if last else None,
    )


def _slot(row: Mapping[str, Any], by: ReadOptions, valid: datetime) -> Slot:
    found = row["candidates"]
    # If all evidence was retracted, the names as written are gone and the folded keys remain.
    return Slot(
        scope=row["scope"],
        subject=found[0]["subject"] if found else row.get("subject") or row["subject_key"],
        predicate=row["predicate"] or row["predicate_key"],
        policy=predicates.parse_policy(row["policy"]),
        policy_origin=read_options.policy_origin(row["policy"], by),
        policy_scope=row["policy"].get("scope"),
        candidates=tuple(map(_candidate, found)),
        total=row["total"],
        valid=valid,
        provisional=read_options.is_provisional(by.as_of, row["now"]),
        names=tuple(row["names"][1:]),
    )


def _candidate(found: Mapping[str, Any]) -> Candidate:
    known = {name: value for name, value in found.items() if name != "subject"}
    return Candidate(**known | {"trust": trust.recorded(found.get("trust"))})


async def flip_set(context: RequestContext, belief_id: str, by: ReadOptions) -> FlipSet:
    """Return a smallest set of evidence without which a belief's test has another status."""
    params = context.read_params(FLIP_SET, by)
    rows = await context.fetch(FLIP_SET, **params, id=belief_id, max_events=MAX_EVENTS)
    if not rows:
        raise NotFoundError(f"No belief {belief_id!r}.")
    [row] = rows
    read_options.check_not_future(by.as_of, row["now"])
    if row["status"] is None:
        raise InvalidInputError(
            f"{row['evidence']:,} pieces of evidence count; a flip set is computed for at most "
            f"{MAX_EVENTS:,}.",
            hint="Read as of an earlier time, or try `what_if` without some of them.",
        )
    return FlipSet(
        belief_id=belief_id,
        status=row["status"],
        evidence=row["evidence"],
        event_ids=row["removed"],
        becomes=row["becomes"],
    )
