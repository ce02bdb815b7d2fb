"""Which procedures the plugin offers, and what a CALL of each takes: read from the headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphmem import catalog
from graphmem.catalog import HeaderEntry, Procedure
from graphmem.model import Policy, RecallPolicy, Status, TraceRank
from graphmem.ports import Mode
from graphmem.rules import asking, blending, claims, gathering, rating, tracerank, vitality
from graphmem.settings import Settings

TENANT = "tenant"
"""The argument that comes first, has no default, and is never null or empty."""
TEXTS = frozenset(
    {"scopes", "ids", "event_ids", "memory_ids", "belief_ids", "kinds", "statuses", "kept", "tags"}
    | {"machines", "asked", "without", "predicates"}
)
"""Lists of strings."""
NUMBERS = frozenset({"embedding"})
"""Lists of floats."""


@dataclass(frozen=True, slots=True)
class ArgumentDefault:
    """What an argument is when it is left out or null.

    Attributes:
        value: as Python has it; an instant is one of the names that Reading.java gives it.
        text: the same in words.
    """

    value: Any
    text: str


NOW, BEGINNING, FOREVER = "now()", "BEGINNING", "FOREVER"


@dataclass(frozen=True, slots=True)
class ProcedureArgument:
    """One argument of a CALL.

    Attributes:
        name, kind: as the header declares them; of a list also `texts` or `numbers`.
        text: what it means, and what null stands for.
        required: null is refused.
        assumed: taken in place of null; None when the query itself knows what null means.
        keys: what a map must hold; empty: whatever it likes.
        sized: whether the query reads it from the map of `catalog.in_one_map`.
    """

    name: str
    kind: str
    text: str
    required: bool
    assumed: ArgumentDefault | None
    keys: tuple[str, ...]
    sized: bool


@dataclass(frozen=True, slots=True)
class ProcedureSpec:
    """A procedure of the catalog that can be called, and its arguments in the order of a CALL."""

    procedure: Procedure
    arguments: tuple[ProcedureArgument, ...]

    @property
    def then(self) -> Procedure | None:
        """The procedure that makes the answer of what this one finds; None when there is none."""
        return catalog.procedure(self.procedure.then) if self.procedure.then else None

    @property
    def columns(self) -> tuple[HeaderEntry, ...]:
        """The columns of the answer."""
        return (self.then or self.procedure).columns

    @property
    def name(self) -> str:
        """As it is called."""
        return "graphmem." + self.procedure.name.replace("/", ".")

    @property
    def signature(self) -> str:
        """How it is called; what may be left out stands in brackets."""
        needed = [one.name for one in self.arguments if one.required]
        rest = ", ".join(one.name for one in self.arguments if not one.required)
        return f"{self.name}({', '.join(needed)}{f' [, {rest}]' if rest else ''})"


def offered(settings: Settings) -> tuple[ProcedureSpec, ...]:
    """Return every procedure that reads one tenant's graph, by name.

    Args:
        settings: weights of source types and bounds of the sequential test to assume.
    """
    known = _assumed(settings)
    return tuple(_offer(one, known) for one in _readings())


@cache
def _readings() -> tuple[Procedure, ...]:
    found = (catalog.procedure(name) for name in catalog.names())
    return tuple(p for p in found if p.mode is Mode.READ and _names(p)[:1] == [TENANT])


def _names(procedure: Procedure) -> list[str]:
    return [entry.name for entry in procedure.params]


def _offer(procedure: Procedure, known: Mapping[str, ArgumentDefault]) -> ProcedureSpec:
    params = {entry.name: entry for entry in procedure.params}
    if procedure.then:
        further = catalog.procedure(procedure.then).params
        params |= {e.name: e for e in further if e.name not in {*params, catalog.FOUND}}
    found = [_described_argument(entry, known) for entry in params.values()]
    # A default can only be followed by others.
    return ProcedureSpec(procedure, tuple(sorted(found, key=lambda one: not one.required)))


def _described_argument(entry: HeaderEntry, known: Mapping[str, ArgumentDefault]) -> ProcedureArgument:
    declared = entry.is_nullable
    assumed = None if declared else known.get(entry.name)
    text = entry.text if assumed is None else f"{entry.text}; null: {assumed.text}"
    if entry.kind == "string":
        # A procedure's string has no null as its default.
        text = text.replace("; null: ", "; null or '': ")
    return ProcedureArgument(
        name=entry.name,
        kind=_kind(entry),
        text=text,
        required=not declared and assumed is None,
        assumed=assumed,
        keys=_KEYS.get(entry.name, ()),
        sized=entry.is_sized,
    )


def _kind(entry: HeaderEntry) -> str:
    if entry.kind != "list":
        return entry.kind
    if entry.name in TEXTS:
        return "texts"
    return "numbers" if entry.name in NUMBERS else "list"


_KEYS: Mapping[str, tuple[str, ...]] = {
    "policy": tuple(claims.policy_fields(Policy())),
    "words": ("memory", "belief", "turn"),
    "window": ("known", "since", "until"),
}
"""What a map must hold that nothing completes."""
_FIRST_PAGE = (
    *("after", "after_id", "after_scope", "after_subject", "after_predicate"),
    *("after_kind", "before_id"),
)


def _assumed(settings: Settings) -> dict[str, ArgumentDefault]:
    """Return what arguments are when they are left out, by name.

    A map that is given in part is completed by the one here; it can hold no other keys, unless it
    is one of weights.
    """
    own = "as graphmem has it"
    return {
        "valid": ArgumentDefault(NOW, "now"),
        "known": ArgumentDefault(FOREVER, "everything"),
        "after_at": ArgumentDefault(BEGINNING, "the first page"),
        **{name: ArgumentDefault("", "the first page") for name in _FIRST_PAGE},
        "from": ArgumentDefault(0, "0"),
        "skip": ArgumentDefault(0, "0"),
        "limit": ArgumentDefault(100, "100"),
        "pool": ArgumentDefault(RecallPolicy().pool, str(RecallPolicy().pool)),
        "statuses": ArgumentDefault([str(Status.CURRENT)], "current alone"),
        "machines": ArgumentDefault(sorted(gathering.NOT_PEOPLE), ", ".join(sorted(gathering.NOT_PEOPLE))),
        "tags": ArgumentDefault([], "any"),
        "extra": ArgumentDefault([], "none"),
        "without": ArgumentDefault([], "none"),
        "pooled": ArgumentDefault(value=False, text="false"),
        "present_policy": ArgumentDefault(value=False, text="false"),
        "default_policy": ArgumentDefault(claims.policy_fields(Policy()), own),
        "weights": ArgumentDefault(dict(settings.source_weights), own),
        "test": ArgumentDefault(asking.sent(asking.bounds(settings)), own),
        "vital": ArgumentDefault(vitality.vitality_params(), own),
        "fade": ArgumentDefault(rating.fade(), own),
        "trace": ArgumentDefault(tracerank.trace_params(TraceRank()), own),
        "by": ArgumentDefault(blending.sent(RecallPolicy()), own),
    }
