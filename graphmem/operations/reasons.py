"""Read why something is believed: lineage, provenance, reasons and timelines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.errors import NotFoundError
from graphmem.graph import catalog
from graphmem.model import (
    AliasBelief,
    AsOf,
    Belief,
    BeliefCard,
    BeliefChain,
    BeliefEvent,
    BeliefReasons,
    ChainLink,
    ClaimingMemory,
    CompetingValue,
    Competition,
    EpisodeRef,
    EvidenceDetail,
    EvidenceKind,
    GeneralisedBelief,
    Memory,
    Point,
    PolicyRead,
    Provenance,
    Replacement,
    RetractedEvidence,
    Series,
    Timeline,
    Turn,
    Verdict,
)
from graphmem.ports import RequestContext
from graphmem.rules import claims, predicates, read_options, trust
from graphmem.rules.read_options import ReadOptions

CHAIN = catalog.query("belief/chain", dict)
HISTORY = catalog.query("belief/history", dict)
PROVENANCE = catalog.query("belief/provenance", dict)

MAX_RIVALS = 10
MAX_VALUES = 1_000

EXPLAIN = catalog.query("belief/explain", dict)
TIMELINE = catalog.query("belief/timeline", dict)
TIMELINE_SLOT = catalog.query("belief/timeline_slot", dict)


async def chain(context: RequestContext, belief_id: str, as_of: AsOf) -> BeliefChain:
    """Return every belief that superseded this one or was superseded by it, at any distance."""
    [found] = await context.fetch(CHAIN, id=belief_id, **read_options.time_bounds(as_of))
    provisional = read_options.is_provisional(as_of, found["now"])
    rows = found["beliefs"]
    if belief_id not in {row["card"]["id"] for row in rows}:
        raise _missing(belief_id)
    links = _links({**link, "older_id": row["card"]["id"]} for row in rows for link in row["links"])
    cards = [
        BeliefCard(**card) for card in claims.add_chain_ends((row["card"] for row in rows), links)
    ]
    replaced = {link.older_id for link in links if link.in_force}
    return BeliefChain(
        beliefs=tuple(cards),
        links=links,
        head_ids=tuple(card.id for card in cards if card.id not in replaced),
        provisional=provisional,
    )


async def history(
    context: RequestContext, belief_id: str, as_of: AsOf, *, limit: int
) -> list[BeliefEvent]:
    """Return the newest events about a belief, in chronological order."""
    times = read_options.time_bounds(as_of)
    [found] = await context.fetch(HISTORY, id=belief_id, **times, limit=limit)
    read_options.check_not_future(as_of, found["now"])
    if not found["events"]:
        raise _missing(belief_id)
    return [read_options.parse_belief_event(event) for event in found["events"]]


async def provenance(
    context: RequestContext, belief_id: str, as_of: AsOf, *, limit: int
) -> Provenance:
    """Return the evidence of a belief, and the beliefs that it superseded or that superseded it."""
    times = read_options.time_bounds(as_of)
    [found] = await context.fetch(PROVENANCE, id=belief_id, **times, limit=limit)
    provisional = read_options.is_provisional(as_of, found["now"])
    if found["card"] is None:
        raise _missing(belief_id)
    links = _links(found["links"])
    return Provenance(
        belief=BeliefCard(**found["card"]),
        events=tuple(read_options.parse_belief_event(event) for event in found["events"]),
        total=found["total"],
        turns=tuple(Turn(**turn) for turn in found["turns"]),
        episodes=tuple(EpisodeRef(**episode) for episode in found["episodes"]),
        memories=tuple(Memory(**card, provisional=provisional) for card in found["memories"]),
        derived_from=tuple(GeneralisedBelief(**one) for one in found["derived_from"]),
        supersedes=tuple(link for link in links if link.newer_id == belief_id),
        superseded_by=tuple(link for link in links if link.older_id == belief_id),
        provisional=provisional,
    )


def _missing(belief_id: str) -> NotFoundError:
    return NotFoundError(f"No belief {belief_id!r}.")


def _links(found: Iterable[Mapping[str, Any]]) -> tuple[ChainLink, ...]:
    links = (ChainLink(**link) for link in found)
    return tuple(sorted(links, key=lambda link: (link.occurred_at, link.event_id, link.newer_id)))


@dataclass(frozen=True, slots=True)
class TimelineInstants:
    """Times at which a timeline is read."""

    given: Sequence[datetime] | None = None
    """Given times; None for the times of all events, and now."""
    points: int = 60
    """Maximum number of times, unless they are given."""


async def belief(
    context: RequestContext, belief_id: str, by: ReadOptions, *, skip: int, limit: int
) -> BeliefReasons | None:
    """Return the reasons for a belief; None if no visible belief has this id."""
    params = context.read_params(EXPLAIN, by)
    rows = await context.fetch(EXPLAIN, **params, id=belief_id, skip=skip, limit=limit)
    if not rows:
        return None
    [row] = rows
    return BeliefReasons(
        belief=_belief(row),
        trust=trust.parse(row["trust"]),
        policy=_policy(row["policy"], by),
        pieces=tuple(_piece(line) for line in row["lines"]),
        start=skip,
        total=row["total"],
        next_cursor=read_options.next_page(skip, limit, len(row["lines"])),
        log_positive=(row["projected"] or {}).get("log_positive", 0.0),
        log_negative=(row["projected"] or {}).get("log_negative", 0.0),
        competition=_competition(row),
        alias_beliefs=tuple(AliasBelief(**one) for one in row["alias_beliefs"]),
        retracted=tuple(_retracted(one) for one in row["retracted"]),
        replaces=tuple(_replacement(one) for one in row["links"] if one["newer"]),
        replaced_by=tuple(_replacement(one) for one in row["links"] if not one["newer"]),
        memories=tuple(ClaimingMemory(**one) for one in row["memories"]),
        derived_from=tuple(GeneralisedBelief(**one) for one in row["derived_from"]),
        valid=params["valid"],
        provisional=read_options.is_provisional(by.as_of, row["now"]),
    )


async def timeline(
    context: RequestContext, belief_id: str, by: ReadOptions, when: TimelineInstants
) -> Timeline:
    """Return the course of one belief and of its sequential test over time."""
    params = context.read_params(TIMELINE, by)
    rows = await context.fetch(TIMELINE, **params, **_when(when), id=belief_id)
    if not rows:
        raise NotFoundError(f"No belief {belief_id!r}.")
    card = rows[0]["card"]
    points = tuple(
        Point(
            at=row["at"],
            belief=row["belief"],
            confidence=row["verdict"]["confidence"],
            status=row["verdict"]["status"],
        )
        for row in rows
    )
    return Timeline(
        subject=card["subject"],
        predicate=card["predicate"],
        series=(
            Series(
                belief_id=card["id"],
                statement=card["statement"],
                object=card["object"],
                points=points,
            ),
        ),
        instants=tuple(point.at for point in points),
        provisional=read_options.is_provisional(by.as_of, rows[0]["now"]),
    )


async def timeline_slot(
    context: RequestContext,
    slot: tuple[str, str],
    by: ReadOptions,
    when: TimelineInstants,
    *,
    best: int,
) -> Timeline:
    """Return the course of the best values of a slot over time.

    Args:
        best: number of best values at each time; every value among them at any time is included.
    """
    subject, predicate = slot
    params = context.read_params(TIMELINE_SLOT, by) | {"scopes": context.own_scope_first}
    rows = await context.fetch(
        TIMELINE_SLOT,
        **params,
        **_when(when),
        subject=claims.name_key(subject),
        predicate=claims.predicate_key(predicate),
        limit=MAX_VALUES,
    )
    for row in rows[:1]:
        read_options.check_not_future(by.as_of, row["now"])
    names = rows[0]["names"] if rows else {"subject": subject.strip(), "predicate": predicate}
    return Timeline(
        subject=names["subject"],
        predicate=names["predicate"],
        series=_series(rows, best),
        instants=tuple(row["at"] for row in rows),
        provisional=bool(rows) and read_options.is_provisional(by.as_of, rows[0]["now"]),
    )


def _series(rows: Sequence[Mapping[str, Any]], best: int) -> tuple[Series, ...]:
    """Return the series of all values that were ever among the best, ordered by final rank."""
    shown = {value["belief_id"]: value for row in rows for value in row["values"][:best]}
    points: dict[str, list[Point]] = {belief_id: [] for belief_id in shown}
    for row in rows:
        for value in row["values"]:
            if value["belief_id"] in shown:
                points[value["belief_id"]].append(Point(at=row["at"], belief=value["belief"]))
    last = [value["belief_id"] for value in rows[-1]["values"]] if rows else []
    order = {belief_id: place for place, belief_id in enumerate(last)}
    return tuple(
        Series(
            belief_id=belief_id,
            statement=shown[belief_id]["statement"],
            object=shown[belief_id]["object"],
            points=tuple(points[belief_id]),
        )
        for belief_id in sorted(shown, key=lambda one: order.get(one, len(order)))
    )


def _when(when: TimelineInstants) -> dict[str, Any]:
    given = None if when.given is None else sorted(set(when.given))
    return {"instants": given, "points": when.points}


def _belief(row: Mapping[str, Any]) -> Belief:
    many, one, initial = row["projected"] or {}, row["one"], row["initial"]
    names = ("positive", "negative", "supporting_episodes", "refuting_episodes", "contested")
    return Belief(
        **row["card"],
        **{name: many[name] for name in names if name in many},
        initial_confidence=initial,
        belief=many.get("belief", initial) if one is None else one["belief"],
        verdict=Verdict(**row["verdict"]),
    )


def _policy(read: Mapping[str, Any], by: ReadOptions) -> PolicyRead:
    return PolicyRead(
        policy=predicates.parse_policy(read),
        origin=read_options.policy_origin(read, by),
        event_id=read.get("id"),
        declared_at=read.get("occurred_at"),
        declared_in=read.get("scope"),
    )


def _piece(line: Mapping[str, Any]) -> EvidenceDetail:
    event = line["event"]
    after = line["after"]
    status, log_ratio, confidence = after["status"], after["log_ratio"], after["confidence"]
    names = ("type", "recorded_at", "confidence", "source_type", "source", "actor")
    return EvidenceDetail(
        **{name: event[name] for name in names},
        **{name: line[name] for name in ("weight", "echo_of", "strength", "llr", "turn_id")},
        event_id=line["id"],
        kind=EvidenceKind.of(line["polarity"]),
        trust=trust.parse(event["trust"]),
        occurred_at=line["at"],
        faded=line["c"],
        log_weight=0.0 - line["l"],
        score=line["s"],
        log_ratio=log_ratio,
        status=status,
        verdict_confidence=confidence,
        episode_id=line["episode"],
        memory_id=line["memory_id"],
        quote=_payload(event).get("quote") or line["words"],
        note=_note(event),
    )


def _competition(row: Mapping[str, Any]) -> Competition | None:
    one, rivals = row["one"], [CompetingValue(**rival) for rival in row["other_candidates"]]
    if one is None:
        return None
    return Competition(
        **{name: one[name] for name in ("place", "of", "ambiguous", "leader_id")},
        **{name: one[name] for name in ("score", "belief")},
        affirmed=one["affirmed"] or 0.0,
        affirmed_id=one["last_id"],
        affirmed_at=one["last_at"],
        refuted=one["left"],
        refutations=one["refutations"],
        pressure=one["pressure"] or 0.0,
        other_candidates=tuple(rivals[:MAX_RIVALS]),
        affirmations_of_others=sum(rival.events for rival in rivals),
        kappa=row["policy"]["kappa"],
    )


def _retracted(one: Mapping[str, Any]) -> RetractedEvidence:
    return RetractedEvidence(
        **{name: one[name] for name in ("confidence", "source_type")},
        **{name: one[name] for name in ("retraction_id", "retracted_at")},
        event_id=one["id"],
        kind=EvidenceKind.of(one["polarity"]),
        occurred_at=one["at"],
        note=_note(one),
    )


def _replacement(one: Mapping[str, Any]) -> Replacement:
    names = ("belief_id", "statement", "event_id", "occurred_at", "recorded_at")
    return Replacement(**{name: one[name] for name in names}, note=_note(one))


def _note(event: Mapping[str, Any]) -> str | None:
    return _payload(event).get("note")


def _payload(event: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(event["payload"] or "{}")
    return found
