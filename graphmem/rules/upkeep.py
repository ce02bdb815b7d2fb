"""Pruning decisions and sections of digest files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from graphmem.errors import DigestFileError
from graphmem.model import PruneAction, PrunePolicy, Tier
from graphmem.rules import consolidation, context, read_options
from graphmem.rules.consolidation import Passage

STANDARD = PrunePolicy()
TIERS = (Tier.LOW, Tier.VERY_LOW)
"""Whose items may be pruned."""


@dataclass(frozen=True, slots=True)
class PruneCase:
    """Where an item stands at an instant."""

    tier: Tier | None
    """Of its faded rating; None: never rated."""
    idle_days: float
    """Since it was last written or opened; to be found is no touch. Below 0 when clocks differ."""
    compressed_days: float | None = None
    """Since it was compressed; None: it is not."""
    opened_since: bool = False
    """Whether it was opened after it was compressed; of what cannot be, ever."""
    compressible: bool = True
    """It has a text that is longer than its summary: an episode may, one sentence has none."""


class PruneVerdict(NamedTuple):
    """What becomes of an item, and why in words."""

    fate: PruneAction
    reason: str


def judged(case: PruneCase, by: PrunePolicy = STANDARD) -> PruneVerdict:
    """Return what becomes of an item; so many days exactly are enough.

    HIGH, MEDIUM and what was never rated are kept, however long nobody touched them.
    """
    if case.tier is None:
        return PruneVerdict(PruneAction.KEEP, "never rated: nothing is known of its use")
    if case.tier is Tier.VERY_LOW:
        return _aged("VERY_LOW and untouched", case.idle_days, by.archive_days, PruneAction.ARCHIVE)
    if case.tier is not Tier.LOW:
        return PruneVerdict(PruneAction.KEEP, f"{case.tier} is never pruned")
    if case.compressed_days is not None:
        if case.opened_since:
            return PruneVerdict(PruneAction.KEEP, "LOW and compressed, but opened since")
        days = min(case.idle_days, case.compressed_days)
        return _aged("LOW, compressed and untouched", days, by.compressed_days, PruneAction.ARCHIVE)
    if case.compressible:
        return _aged("LOW and untouched", case.idle_days, by.compress_days, PruneAction.COMPRESS)
    if case.opened_since:
        return PruneVerdict(PruneAction.KEEP, "LOW, but opened once")
    # As long as it would take with a text.
    days = by.compress_days + by.compressed_days
    return _aged("LOW, never opened and untouched", case.idle_days, days, PruneAction.ARCHIVE)


def _aged(what: str, days: float, least: float, fate: PruneAction) -> PruneVerdict:
    so_long = f"{what} for {max(days, 0) // 1:.0f} days"
    if days >= least:
        return PruneVerdict(fate, f"{so_long}: {least:g} or more")
    return PruneVerdict(PruneAction.KEEP, f"{so_long}: less than {least:g}")


BEGIN, END = "<!-- graphmem:begin -->", "<!-- graphmem:end -->"
HEADING = "# Memory"
"""Of a file that was not there."""
LONGEST = consolidation.LONGEST_STATEMENT
"""Characters of what stands for an episode."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_ENDING = re.compile(r"\r\n|\r|\n")
_CODE = re.compile(r"`([^`\r\n]+)`")
_MARKUP = re.compile(r"[\\*_\[\]{}~<>`]|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "`": "&#96;", "&": "&amp;"}
"""Of angle brackets none is left, so that no reader, however simple, sees a marker or HTML; of
backticks none, so that those around an id are the only ones."""
_BYTE_ORDER_MARK = "\ufeff"
_HINT = (
    f"Leave one line `{BEGIN}` and, below it, one line `{END}`; or remove both, and a new section "
    "is put at the end."
)


def gist(text: str, name: str | None = None) -> str:
    """Return what a text comes to: its first sentences that tell something, else its start.

    One line of LONGEST characters at most, and the name of who said it before it.
    """
    passage = Passage("", "Episode", "", name, text, read_options.BEGINNING)
    return shortened(consolidation.statement(passage) or consolidation.spoken(name, text))


def shortened(text: str) -> str:
    """Return a text as one line of LONGEST characters at most, cut at the end of a word."""
    line = _shown(text)
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rsplit(" ", 1)[0] + "…"


def line(at: datetime, told: str, episode_id: str) -> str:
    """Return the line of an episode: a list item of plain text, with the id in a code span."""
    escaped = _MARKUP.sub(lambda found: _ENTITIES.get(found[0], "\\" + found[0]), _shown(told))
    return f"- {at.date().isoformat()}: {escaped} `{_code(episode_id)}`"


def held(text: str | None, name: str) -> frozenset[str]:
    """Return the codes that stand in the section of a file's text, for `has`.

    Raises:
        DigestFileError: the markers do not make one section.
    """
    section = None if text is None else _section(text, name)
    if text is None or section is None:
        return frozenset()
    return frozenset(_CODE.findall(text[section.start : section.end]))


def has(codes: frozenset[str], episode_id: str) -> bool:
    """Return whether an episode has a line among these."""
    return _code(episode_id) in codes


def merged(text: str | None, lines: Mapping[str, str], name: str) -> str:
    """Return a file's text with the lines of the episodes that have none in it.

    Args:
        text: of the file; None: there is none, and a heading is made.
        lines: by episode.
        name: of the file, for errors.

    Raises:
        DigestFileError: the markers do not make one section.
    """
    codes = held(text, name)
    new = [made for episode_id, made in lines.items() if not has(codes, episode_id)]
    if not new:
        return text or ""
    before = f"{HEADING}\n" if text is None else text
    section = _section(before, name)
    found = _ENDING.search(before, section.begin if section else 0)
    ending = found[0] if found else "\n"
    added = "".join(made + ending for made in new)
    if section is not None:
        return before[: section.end] + added + before[section.end :]
    gap = "" if not before else ending if before.endswith(("\r", "\n")) else 2 * ending
    return f"{before}{gap}{BEGIN}{ending}{added}{END}{ending}"


def lines_of(text: str, episodes: Sequence[str], name: str) -> list[str]:
    """Return the lines of a file's section that tell of some episodes.

    Raises:
        DigestFileError: the markers do not make one section.
    """
    section = _section(text, name)
    if section is None:
        return []
    codes = {_code(episode_id) for episode_id in episodes}
    lines = _LINE.findall(text[section.start : section.end])
    return [line for line in lines if not codes.isdisjoint(_CODE.findall(line))]


def without(text: str, episodes: Sequence[str], name: str) -> str:
    """Return a file's text without the lines that tell of some episodes.

    Raises:
        DigestFileError: the markers do not make one section.
    """
    told = set(lines_of(text, episodes, name))
    section = _section(text, name)
    if section is None or not told:
        return text
    kept = [line for line in _LINE.findall(text[section.start : section.end]) if line not in told]
    return text[: section.start] + "".join(kept) + text[section.end :]


class _Section(NamedTuple):
    """Where the section stands, as places in the text."""

    begin: int
    """Of the line that begins it."""
    start: int
    """Of the line after that."""
    end: int
    """Of the line that ends it."""


class _Mark(NamedTuple):
    number: int
    start: int
    end: int


def _section(text: str, name: str) -> _Section | None:
    marks: dict[str, list[_Mark]] = {BEGIN: [], END: []}
    for number, found in enumerate(_LINE.finditer(text), 1):
        said = found[0].lstrip(_BYTE_ORDER_MARK).strip()
        if said in marks:
            marks[said].append(_Mark(number, found.start(), found.end()))
    begin, end = _only(marks[BEGIN], name, "begins"), _only(marks[END], name, "ends")
    if begin is None and end is None:
        return None
    if end is None:
        raise _broken(name, marks[BEGIN][0].number, "begins and never ends")
    if begin is None:
        raise _broken(name, end.number, "ends and never began")
    if end.number < begin.number:
        raise _broken(name, end.number, f"ends before it begins, in line {begin.number}")
    return _Section(begin.start, begin.end, end.start)


def _only(marks: Sequence[_Mark], name: str, word: str) -> _Mark | None:
    if len(marks) > 1:
        raise _broken(name, marks[1].number, f"{word} a second time, after line {marks[0].number}")
    return marks[0] if marks else None


def _broken(name: str, number: int, what: str) -> DigestFileError:
    return DigestFileError(f"{name}, line {number}: the digest {what}.", hint=_HINT)


def _code(episode_id: str) -> str:
    """Return an id as it stands in a code span: any two ids differ in it."""
    return context.quoted(episode_id)[1:-1].replace("`", "\\u0060")


def _shown(text: str) -> str:
    """Return a text as one line without characters that nobody sees."""
    seen = "".join(one for one in " ".join(text.split()) if not context.unseen(one))
    return " ".join(seen.split())
