"""Words of the lines of a block: state of an item, when and by whom it was stated, doubts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from graphmem import folding
from graphmem.english import quantities
from graphmem.english.mentions import words_of
from graphmem.model import (
    AnyBite,
    BeliefBite,
    EpisodeBite,
    EventType,
    EvidenceKind,
    Instant,
    MemoryBite,
    OtherValue,
    Reason,
    Recollection,
    Status,
    Trust,
    Turn,
    VerdictStatus,
    roles,
)
from graphmem.rules import quoting, vitality
from graphmem.rules import trust as ranks

MIN_CERTAIN = 0.5
"""Least P+ of a belief that is not called uncertain."""
AGENT_SOURCE = "mcp"
"""Source of events that an agent wrote with a tool."""

_TOOLS = frozenset({"tool", "function"})
_ROLES = {
    **dict.fromkeys(("assistant", "ai", "model"), "AI"),
    **dict.fromkeys(_TOOLS, "tool"),
}
_INFERRED = "inferred"
_BY_TYPE = {"TOOL": "tool", "RULE": "rule", "CLASSIFIER": "model", "EXTRACTOR": "model"}
_CONSOLIDATION = vitality.STANDARD_VITALITY.consolidation

_ALONE: Mapping[Trust, str] = {
    "tool": "tool",
    "model": "model",
    "imported": "imported",
    "unknown": "unknown origin",
}
_AFTER_NAME: Mapping[Trust, str] = {
    "tool": "via tool",
    "model": "via model",
    "imported": "via import",
    "unknown": "of unknown origin",
}
_STATED_BY: Mapping[Trust, frozenset[str]] = {
    "tool": frozenset({"tool", "rule"}),
    "model": frozenset({_INFERRED, "model", "AI"}),
    "imported": frozenset({"imported"}),
}
"""Words for who stated it that state a class already."""
_OWN_WORDS = frozenset(
    {
        *words_of("user human person system ai assistant function memory episode uncertain"),
        *words_of("assumed supported confirmed contradicted disputed deprecated outdated"),
        *words_of("superseded archived rejected current unknown once twice"),
        *_ALONE.values(),
        *frozenset[str]().union(*_STATED_BY.values()),
    }
)
_MAX_OTHERS = 2
_MAX_NAME_CHARS = 40
_PLAIN_NAME = re.compile(r"[^\W\d_]+(?:[-'’.][^\W\d_]+)?")


class _Rank(IntEnum):
    """Order in which one origin is preferred to others."""

    PERSON = 0
    TOOL = 1
    AGENT = 2
    RULE = 3
    MODEL = 4
    OTHER = 5


def day(at: Instant, this_year: int | None = None) -> str:
    """Return a date in words, such as 12 June 2025; it does not depend on the locale.

    A date of this year is without it, and the month is short: 12 Jun.
    """
    month = quantities.MONTHS[at.month - 1].capitalize()
    return f"{at.day} {month[:3]}" if at.year == this_year else f"{at.day} {month} {at.year}"


def times(count: int) -> str:
    """Return a number of times in words."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


class Origin(NamedTuple):
    """Who stated an item, how often, and when last."""

    at: Instant
    who: str = ""
    """Name of a person, or a word for another origin; empty for the user and for a program."""
    often: str = ""
    """How often, if more than once, and whether it was assumed."""
    quoted: bool = False
    """Whether it is from the words of a speaker."""

    def words(self, trust: Trust, reasons: Sequence[Reason] = ()) -> list[str]:
        """Return how often, who, and the trust class, unless it is a person's or stated already.

        The origin is about the reasons of the highest class.
        """
        who, best = self.who, ranks.of_highest_class(reasons)
        also = any(ranks.rank(one.trust) > ranks.rank(trust) for one in best)
        if trust != "person" and not also and who not in _STATED_BY.get(trust, ()):
            named = who or self.quoted
            who = f"{who} {_AFTER_NAME[trust]}".lstrip() if named else _ALONE[trust]
        return [one for one in (self.often, who, f"also {_ALONE[trust]}" if also else "") if one]


def memory_origin(bite: MemoryBite) -> Origin:
    """Return who stated a memory, how often, and when last; only the highest class counts."""
    memory, same = bite.memory, ranks.of_highest_class(bite.reasons)
    if not same:
        return _origin("", memory.reinforce_count + 1, memory.last_seen_at, ())
    reason = next((one for one in same if one.speaker), same[0])
    made = _origin(_memory_author(reason), bite.stated, same[0].at, same)
    return made._replace(quoted=bool(reason.speaker))


def turn_origin(turn: Turn) -> Origin:
    """Return the speaker and the date of a turn."""
    return Origin(turn.occurred_at, _speaker(turn.name or turn.role), quoted=True)


def belief_origin(bite: BeliefBite) -> Origin:
    """Return what a belief rests on: who stated it, how often, and when last.

    Only evidence of the highest class counts, so that what a model repeats is not a person's.
    """
    belief, count = bite.belief, bite.belief.supporting_episodes
    known = [one for one in bite.reasons if one.kind is not EvidenceKind.REFUTING]
    last_at = bite.last_at or belief.created_at
    # By the clock of the turn that it is from.
    last_at = next((one.at for one in bite.reasons if one.at == last_at), last_at)
    if not count and not known:
        return Origin(last_at, often="assumed")
    same = ranks.of_highest_class(known)
    if known and (len(same) < len(known) or bite.stated < (count or 0)):
        count, known, last_at = bite.stated, same, same[0].at
    if belief.subject is None and not any(one.source == _CONSOLIDATION for one in known):
        often = f" {_often(count, known)}" if count > 1 else ""
        return Origin(last_at, often=f"assumed, supported{often}")
    if not known:
        return _origin("", count, last_at, known)
    best = min(known, key=_rank)
    made = _origin(_belief_author(best), count, last_at, known)
    if count > 1 and _rank(best) < max(map(_rank, known)):
        made = made._replace(at=best.at, often=f"supported {_often(count, known)}")
    return made._replace(quoted=bool(best.speaker))


def belief_doubts(bite: BeliefBite) -> list[str]:
    """Return the doubts about a belief, or that a test confirmed it."""
    belief, against = bite.belief, bite.belief.refuting_episodes
    contradicted = f"contradicted {times(against)}" if against else "contradicted"
    flagged = belief.vitality is not None and belief.vitality.flagged_at is not None
    promoted = belief.verdict.status is VerdictStatus.PROMOTED
    if belief.verdict.status is VerdictStatus.DEMOTED:
        return [f"to be revised: {contradicted}"]
    if bite.ambiguous:
        return ["disputed: another value is as likely"]
    if promoted and belief.subject is None:
        return ["confirmed by its test"]
    if flagged and not promoted:
        return [contradicted]
    if against:
        return [f"disputed: {contradicted}"]
    if belief.supporting_episodes and belief.positive < MIN_CERTAIN:
        return ["uncertain"]
    return []


def _memory_author(reason: Reason) -> str:
    if reason.speaker:
        return _speaker(reason.speaker)
    if reason.type == EventType.IMPORT:
        return "imported"
    return _name(reason.actor) if reason.actor else ""


def _belief_author(reason: Reason) -> str:
    if reason.source == _CONSOLIDATION:
        return _INFERRED
    if reason.speaker:
        return _speaker(reason.speaker)
    if reason.source != AGENT_SOURCE and reason.source_type in _BY_TYPE:
        return _BY_TYPE[reason.source_type]
    return _name(reason.actor) if reason.actor else ""


def _rank(reason: Reason) -> _Rank:
    if reason.source == _CONSOLIDATION:
        return _Rank.MODEL
    if reason.speaker:
        return _Rank.PERSON
    if reason.source == AGENT_SOURCE:
        return _Rank.AGENT
    by_type = {"EXPLICIT": _Rank.PERSON, "TOOL": _Rank.TOOL, "RULE": _Rank.RULE}
    model = _Rank.MODEL if reason.source_type in _BY_TYPE else _Rank.OTHER
    return by_type.get(reason.source_type or "", model)


def _speaker(name: str) -> str:
    """Return the word for a speaker: none for the user, whose words need none."""
    if roles.is_human(name):
        return ""
    return _ROLES.get(name.lower()) or _name(name)


def _name(name: str) -> str:
    """Return a name as it is if it is one word that no label uses, else quoted."""
    is_plain = len(name) <= _MAX_NAME_CHARS and _PLAIN_NAME.fullmatch(name)
    return name if is_plain and folding.fold(name) not in _OWN_WORDS else _quote_name(name)


def _origin(who: str, count: int, last_at: Instant, reasons: Sequence[Reason]) -> Origin:
    if count <= 1:
        return Origin(last_at, who)
    often = _often(count, reasons)
    return Origin(last_at, who, often.replace("in ", "from ", 1) if who == _INFERRED else often)


def _often(count: int, reasons: Sequence[Reason]) -> str:
    """Return a count of conversations, if each event shown has one; else of times."""
    episodes = {one.episode_id for one in reasons}
    apart = None not in episodes and len(episodes) == min(count, len(reasons))
    return f"in {count} conversations" if apart and reasons else times(count)


class Style(NamedTuple):
    """How a block writes ids and dates."""

    short: Mapping[str, str] = {}
    """Short ids by id; others are written whole."""
    year: int | None = None
    """The year that dates leave out, which the head states; None if they all have theirs."""

    def id(self, item_id: str) -> str:
        """Return an id as part of a line."""
        return quoting.escape_id(self.short.get(item_id, item_id))

    def day(self, at: Instant) -> str:
        """Return a date in words."""
        return day(at, self.year)


def named_ids(recollection: Recollection) -> list[str]:
    """Return the ids that a block of these results may contain, each once."""
    return list(dict.fromkeys(item_id for bite in recollection.bites for item_id in ids_of(bite)))


def ids_of(bite: AnyBite) -> list[str]:
    """Return the ids that the line of a bite names: its own and that of a newer version."""
    return [bite.id, *_newer(bite)[:1]]


def _newer(bite: AnyBite) -> Sequence[str]:
    """Return the ids of what replaced an item: of its recorded successors, else of the result."""
    heads: Sequence[str] = ()
    if isinstance(bite, MemoryBite):
        heads = bite.memory.head_ids if bite.memory.status is Status.SUPERSEDED else ()
    elif isinstance(bite, BeliefBite) and bite.lost and not _is_named_state(bite.belief.status):
        heads = bite.head_ids
    return heads or ([bite.outdated_by] if bite.outdated_by else [])


def labels(bite: AnyBite, style: Style) -> list[str]:
    """Return the words before a text: its state, when and by whom it was stated, doubts."""
    doubts = list[str]()
    reasons = bite.reasons if isinstance(bite, MemoryBite | BeliefBite) else ()
    if isinstance(bite, MemoryBite):
        origin = memory_origin(bite)
    elif isinstance(bite, BeliefBite):
        origin, doubts = belief_origin(bite), belief_doubts(bite)
    elif isinstance(bite, EpisodeBite):
        origin = Origin(bite.episode.occurred_at)
    else:
        origin = turn_origin(bite.turn)
    stated = [style.day(origin.at), *origin.words(bite.trust, reasons)]
    return [*_state(bite, style), *stated, *doubts]


def _state(bite: AnyBite, style: Style) -> list[str]:
    """Return the state of an item in words, what replaced it first; empty if it is current."""
    newer = [f"outdated, now [{style.id(item_id)}]" for item_id in _newer(bite)[:1]]
    if isinstance(bite, BeliefBite) and bite.lost:
        status = bite.belief.status
        if _is_named_state(status):
            return [*newer, status]
        return newer or ["outdated"]
    if not isinstance(bite, MemoryBite):
        return newer
    memory, state = bite.memory, newer
    if memory.status is Status.SUPERSEDED:
        state = newer or ["outdated"]
    elif memory.status is not Status.CURRENT:
        state = [*newer, str(memory.status)]
    if memory.lost_ids and not newer and memory.status is not Status.SUPERSEDED:
        all_lost = set(memory.claim_ids) <= set(memory.lost_ids)
        state = [*state, "outdated" if all_lost else "in part outdated"]
    return state


def _is_named_state(status: str) -> bool:
    return status in (Status.ARCHIVED, Status.REJECTED)


def other_values(bite: AnyBite, style: Style) -> str:
    """Return the words after a text: other values of the slot of a belief."""
    if not isinstance(bite, BeliefBite) or not bite.others:
        return ""
    shown = "; ".join(_other_value(other, bite, style) for other in bite.others[:_MAX_OTHERS])
    return f" ({shown})"


def _other_value(other: OtherValue, than: BeliefBite, style: Style) -> str:
    if than.ambiguous or not than.came_after(other):
        word = "also stated"
    else:
        word = "earlier" if than.assumed_many else "outdated"
    return f"{word}: {_quote_name(other.object)}, {style.day(other.last_at)}"


def _quote_name(name: str) -> str:
    shown = name if len(name) <= _MAX_NAME_CHARS else f"{name[: _MAX_NAME_CHARS - 1]}…"
    return quoting.quote(shown)
