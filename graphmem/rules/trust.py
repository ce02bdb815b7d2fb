"""Trust classes: who vouches for an event, a turn or a result.

The graph stores a class as a number, its rank, so that Cypher takes minima and maxima.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal, TypeAlias, get_args

from graphmem.errors import PersonOnlyError
from graphmem.model import EvidenceKind, Reason, Trust
from graphmem.model.roles import is_human

CLASSES: tuple[Trust, ...] = get_args(Trust)[::-1]
"""Classes in order of their rank, from 0."""
STATED = "none"
"""Key of events without a source type: sentences, hypotheses and corrections."""
_BY_SOURCE_TYPE: Mapping[str, Trust] = {
    STATED: "person",
    "EXPLICIT": "person",
    "TOOL": "tool",
    "RULE": "tool",
    "CLASSIFIER": "model",
    "EXTRACTOR": "model",
}
_BY_ROLE: Mapping[str, Trust] = {
    **dict.fromkeys(("tool", "function"), "tool"),
    **dict.fromkeys(("assistant", "ai", "model"), "model"),
}

Verb: TypeAlias = Literal["predicates.declare", "aliases", "reject", "beliefs.retract", "import"]
"""A verb that not every class of writer may use."""
LEAST: Mapping[Verb, tuple[Trust, str]] = {
    "predicates.declare": ("person", "`predicates.declare`: a policy or a template"),
    "aliases": ("person", "`aliases.add`, `aliases.remove`"),
    "reject": ("person", "`reject`, `unreject`"),
    "beliefs.retract": ("person", "`beliefs.retract` of what a person stated or took back"),
    "import": ("person", "`admin.import_from`"),
}
"""Lowest class whose handle may use a verb, and the verb in words; other verbs are free."""


def rank(trust: Trust) -> int:
    """Return the rank of a class, 0 for unknown to 4 for a person."""
    return CLASSES.index(trust)


def may(verb: Verb, writer: Trust) -> bool:
    """Return whether a writer of this class may use a verb."""
    return rank(writer) >= rank(LEAST[verb][0])


def check_right(verb: Verb, writer: Trust) -> None:
    """Refuse a verb to a writer whose class is too low for it."""
    if not may(verb, writer):
        words = LEAST[verb][1].replace("`", "")
        raise PersonOnlyError(f"{words}: the handle must be a person's; its trust is {writer!r}.")


def of_highest_class(reasons: Iterable[Reason]) -> list[Reason]:
    """Return the reasons of the highest class, in their order, without those that refute."""
    known = [one for one in reasons if one.kind is not EvidenceKind.REFUTING]
    highest = max((rank(one.trust) for one in known), default=0)
    return [one for one in known if rank(one.trust) == highest]


def parse(stored: int | None) -> Trust:
    """Return the class of a stored rank; "unknown" if none is stored."""
    return CLASSES[stored or 0]


def recorded(stored: int | None) -> Trust | None:
    """Return the class of an event's rank; None if the event has none."""
    return None if stored is None else parse(stored)


@cache
def event_ranks(writer: Trust) -> dict[str, int]:
    """Return the rank of an event by its source type, given the class of its writer.

    Other source types, which a deployment may add, are unknown.
    """
    return {kind: min(rank(writer), rank(trust)) for kind, trust in _BY_SOURCE_TYPE.items()}


def turn_rank(role: str, writer: Trust = "person") -> int:
    """Return the rank of a message by its role and the class of its writer.

    A role that is neither of a person, a tool nor a model is unknown.
    """
    speaker: Trust = "person" if is_human(role) else _BY_ROLE.get(role.lower(), "unknown")
    return min(rank(writer), rank(speaker))
