"""Results of the tools: short records for agents, derived from those of the client."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import Enum
from types import GenericAlias, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    create_model,
    field_validator,
)

from graphmem import model
from graphmem.model import Record

MAX_TEXT = 8_000
"""Maximum length of one text in characters; longer ones end with an ellipsis, and `graphmem expand`
shows them in full."""
DIGITS = 4
"""Number of decimal places of the numbers in results."""

_OMITTED = {"status": "current", "reason": ""}
"""Values of texts that results leave out."""

ItemKind = Literal["memory", "belief", "turn", "episode"]

_VALUE = "belief_id object belief "
_EVENT_FIELDS = (
    "event_id=id type occurred_at kind confidence strength source_type source actor turn_id "
    "retracted "
)

_TEST = (
    "belief_id status=verdict.status confidence=verdict.confidence log_ratio=verdict.log_ratio "
    "evidence=verdict.evidence revise_due=verdict.revise_due "
    "promote_pieces=needed.promote_pieces demote_pieces=needed.demote_pieces "
)
_PIECE = "event_id kind occurred_at strength source_type log_ratio status note turn_id "


class Result(Record):
    """Base of the results: reads the attributes of a record, rounds numbers and cuts long texts."""

    model_config = ConfigDict(from_attributes=True, defer_build=True)

    @field_validator("*")
    @classmethod
    def _shortened(cls, value: Any) -> Any:
        if isinstance(value, float):
            return round(value, DIGITS)
        if isinstance(value, str) and len(value) > MAX_TEXT:
            return f"{value[: MAX_TEXT - 1]}…"
        return value


def subset(record: Any, fields: str = "", /, **nested: type[Result]) -> type[Result]:
    """Return a result type with some attributes of a record.

    Args:
        record: a record, or a union of records.
        fields: names of attributes, or `name=path` for nested ones, separated by spaces. Of several
            paths, separated by `|`, the first that exists is read.
        nested: result types of attributes that are records, or tuples of records.
    """
    found: dict[str, Any] = {}
    for field in [*fields.split(), *nested]:
        name, _, source = field.partition("=")
        paths = [path.split(".") for path in (source or name).split("|")]
        types = list(_types(record, paths))
        annotation, default = _annotation_and_default(name, types, nested.get(name))
        choices = AliasChoices(*(AliasPath(path[0], *path[1:]) for path in paths))
        found[name] = (annotation, Field(default, validation_alias=choices))
    return create_model(f"{_alternatives(record)[0].__name__}Result", __base__=Result, **found)


def rows(**row: type[Result]) -> type[Result]:
    """Return the type of a result that is a list, with the name and the type of its rows."""
    fields: dict[str, Any] = {
        name: (GenericAlias(tuple, (of, ...)), ...) for name, of in row.items()
    }
    return create_model("RowsResult", __base__=Result, **fields)


def _annotation_and_default(
    name: str, types: Collection[Any], nested: type[Result] | None
) -> tuple[Any, Any]:
    """Return the annotation of a field and the default that is left out, `...` for none."""
    known = [kind for kind in types if kind is not NoneType]
    annotation = known[0]
    is_tuple = get_origin(annotation) is tuple
    if nested is not None:
        annotation = GenericAlias(tuple, (nested, ...)) if is_tuple else nested
    elif get_origin(annotation) is Literal:
        annotation = Literal[tuple(value for kind in known for value in get_args(kind))]
    default = _OMITTED.get(name, False if annotation is bool else ...)
    if NoneType in types:
        return annotation | None, () if is_tuple else None if default is ... else default
    return annotation, default


def _types(record: Any, paths: list[list[str]]) -> Iterator[Any]:
    """Yield the types of an attribute; `NoneType` for an alternative that lacks it.

    Raises:
        AttributeError: no alternative has it.
    """
    found = [[list(_types_at(kind, path)) for path in paths] for kind in _alternatives(record)]
    if all(kinds == [NoneType] for by_path in found for kinds in by_path):
        raise AttributeError(f"{record} has no attribute {paths}")
    for by_path in found:
        yield from next((kinds for kinds in by_path if kinds != [NoneType]), by_path[0])


def _types_at(kind: Any, path: list[str]) -> Iterator[Any]:
    for alternative in _alternatives(kind):
        if path:
            yield from _types_at(_attribute(alternative, path[0]), path[1:])
        else:
            is_enum = isinstance(alternative, type) and issubclass(alternative, Enum)
            yield str if is_enum else alternative


def _attribute(kind: Any, name: str) -> Any:
    """Return the type of a field or property; `NoneType` if there is none."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if (field := kind.model_fields.get(name)) is not None:
            annotation: Any = field.annotation
            is_optional = get_origin(annotation) is tuple and not field.is_required()
            return annotation | None if is_optional else annotation
        if isinstance(member := getattr(kind, name, None), property):
            return get_type_hints(member.fget)["return"]
    return NoneType


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


class ExpandedItem(model.Card):
    """A card with the kind and the text of its item."""

    kind: ItemKind
    text: str


class SlotRead(model.Slot):
    """A slot, and whether its leader is demoted: a slot itself has no verdicts."""

    revise_due: bool


class RecordedEvidence(model.Trail):
    """A test after the event that was just recorded."""

    event_id: str


class Replaced(Result):
    """Replacement of a memory or of a belief."""

    memory_id: str | None = None
    """Id of the new memory; None for a belief."""
    belief_id: str | None = None
    """Id of the new belief; None for a memory."""
    replaced_id: str
    requested_id: str | None = None
    """Id that was given, if a newer version was replaced; else None."""
    event_id: str
    reason: str | None = None


class Remembered(model.CommitOutcome):
    """Outcome of a sentence, and why claims of it were not stored."""

    problems: tuple[str, ...]


class DeprecateResult(Record):
    """Result of `memory_deprecate`."""

    memory_id: str
    event_id: str


class LoggedSearch(Record):
    """Result of `usage_log_search`."""

    results: int


class LoggedAccess(Record):
    """Result of `usage_log_access`."""

    kind: str
    ref: str


class Erasure(Result):
    """Plan of an erasure, or its result."""

    item_id: str
    kind: str
    """memory, belief or episode."""
    applied: bool
    """Whether it is erased."""
    texts: tuple[str, ...] = ()
    """Texts to erase, each with its label; empty after the erasure."""
    counts: dict[str, int]
    """Number of nodes by label."""
    left: int | None = None
    """Number of its nodes found by a second search; None if nothing is erased yet."""
    copies: tuple[str, ...] = ()
    """Labels and ids of items with the same text, which stay."""
    confirm: str | None = None
    """Text that confirms this plan; None if nothing is left to confirm."""
    next: str | None = None
    """Next step."""


_EVENT = subset(model.MemoryEvent | model.BeliefEvent, _EVENT_FIELDS)
_NEIGHBOR = subset(model.ChainNeighbor, "item_id=id text")
_REPLACEMENT = subset(model.Replacement, "belief_id statement")

RecallResult = subset(
    model.Recollection,
    "reason",
    bites=subset(
        model.AnyBite,
        "item_id=id kind text score last_at=memory.last_seen_at|last_at "
        "occurred_at=turn.occurred_at|episode.occurred_at role=turn.role name=turn.name "
        "status=memory.status|belief.status head_ids=memory.head_ids|head_ids "
        "lost_ids=memory.lost_ids lost belief=belief.belief revise_due "
        "contested=belief.contested ambiguous outdated_by covers trust",
        others=subset(model.OtherValue, _VALUE + "last_at"),
    ),
)
ExpandResult = subset(
    ExpandedItem,
    "item_id=item.id kind text trust status=item.status created_at=item.created_at "
    "occurred_at=item.occurred_at tags=item.tags belief=item.belief "
    "revise_due=item.verdict.revise_due",
    events=_EVENT,
    turns=subset(model.Turn, "turn_id=id role name text occurred_at"),
    supersedes=_NEIGHBOR,
    superseded_by=_NEIGHBOR,
    claims=subset(model.Belief, "belief_id=id statement"),
)
RememberResult = subset(
    Remembered,
    "outcome memory_id event_id possible_update_of superseded_ids proposal_id hygiene_reasons "
    "belief_ids rejection=rejection.reason rejected_ids refused_claims=problems",
)
EvidenceResult = subset(
    model.EvidenceReceipt,
    "event_id belief_id strength clamped counts_against repeated rejection=rejection.reason",
)
HistoryResult = rows(events=subset(model.MemoryEvent | model.BeliefEvent, _EVENT_FIELDS + "trust"))
CurrentResult = subset(
    SlotRead,
    "leader=leader.object belief_id=leader.belief_id revise_due ambiguous total "
    "cardinality=policy.cardinality cardinality_origin=policy_origin declared_in=policy_scope "
    "nearest nearest_subjects",
    candidates=subset(
        model.Candidate, _VALUE + "status last_at ambiguous contested event_id=last_id trust"
    ),
)
SlotsResult = subset(
    model.SlotPage,
    "next_cursor",
    slots=subset(
        model.Slot,
        "subject predicate total cardinality=policy.cardinality",
        candidates=subset(model.Candidate, _VALUE + "last_at"),
    ),
)
PredicatesResult = rows(
    predicates=subset(model.Predicate, "name scope cardinality=policy.cardinality")
)
RetractResult = subset(
    model.RetractionReceipt, "event_id retracted_id=target_id found proposed repeated"
)
AddEvidenceResult = subset(RecordedEvidence, _TEST + "event_id")
EvidenceForResult = subset(
    model.Trail,
    _TEST + " next_cursor",
    lines=subset(model.TrailStep, _PIECE + "evidence_confidence"),
)
WhyResult = subset(
    model.BeliefReasons | model.MemoryReasons,
    "belief_id=belief.id memory_id=memory.id text=belief.statement|memory.content trust "
    "status=belief.status|memory.status belief=belief.belief positive=belief.positive "
    "negative=belief.negative contested=belief.contested cardinality=policy.policy.cardinality "
    "verdict=belief.verdict.status confidence=belief.verdict.confidence "
    "revise_due=belief.verdict.revise_due total=total|trace.total trace=trace.trace "
    "head_ids=memory.head_ids rejection=rejection.reason",
    competition=subset(
        model.Competition, "place of leader_id affirmed refuted kappa pressure score"
    ),
    pieces=subset(model.EvidenceDetail, _PIECE + "confidence log_weight echo_of quote"),
    retracted=subset(model.RetractedEvidence, "event_id note"),
    replaces=_REPLACEMENT,
    replaced_by=_REPLACEMENT,
    memories=subset(model.ClaimingMemory, "memory_id content"),
    history=_EVENT,
)
