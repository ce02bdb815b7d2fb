"""Pruning decisions and sections of digest files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from graphmem.english import passages
from graphmem.english.passages import Passage
from graphmem.errors import DigestFileError
from graphmem.model import Tier
from graphmem.rules import quoting, read_options
from graphmem.upkeep import PruneAction, PruneCandidate, PrunePolicy

STANDARD = PrunePolicy()
TIERS = (Tier.LOW, Tier.VERY_LOW)
"""Tiers whose items may be pruned."""


UNRETURNED_DAYS = 90.0
"""Days without being returned after which an item is pruned before others."""
SHORT_TERM = frozenset({"Episode"})
"""Kinds of items that may be pruned: what is remembered or believed never is."""

BEGIN, END = "<!-- graphmem:begin -->", "<!-- graphmem:end -->"
HEADING = "# Memory"
"""Heading of a new digest file."""
MAX_GIST_CHARS = passages.MAX_STATEMENT_CHARS
"""Maximum length of an episode's gist, in characters."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_ENDING = re.compile(r"\r\n|\r|\n")
_CODE = re.compile(r"`([^`\r\n]+)`")
_MARKUP = re.compile(r"[\\*_\[\]{}~<>`]|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "`": "&#96;", "&": "&amp;"}
"""Escapes for characters that must not appear: angle brackets, so that no reader sees a marker or
HTML; and backticks, so that the only ones left are those around an id."""
_BYTE_ORDER_MARK = "\ufeff"
_HINT = (
    f"Leave one line `{BEGIN}` and, below it, one line `{END}`; or remove both to have a new "
    "section appended."
)


@dataclass(frozen=True, slots=True)
class PruneCase:
    """State of an item at a point in time."""

    tier: Tier | None
    """Tier of the decayed rating; None if the item was never rated."""
    idle_days: float
    """Days since the last write or open; hits do not count. Negative when clocks differ."""
    compressed: bool = False
    compressible: bool = True
    """Whether its text is longer than its summary."""
    pinned: bool = False
    kind: str = "Episode"


class PruneVerdict(NamedTuple):
    """Action for an item, with the reason as text."""

    action: PruneAction
    reason: str


def prune_verdict(case: PruneCase, by: PrunePolicy = STANDARD) -> PruneVerdict:
    """Return the action for an item; an age equal to a limit reaches it.

    Memories, beliefs, pinned and never-rated items, and those that are HIGH or MEDIUM, are kept,
    regardless of age.
    """
    if protected := _protection(case):
        return PruneVerdict(PruneAction.KEEP, protected)
    if case.tier is Tier.VERY_LOW:
        return _by_age(
            "VERY_LOW and untouched", case.idle_days, by.archive_days, PruneAction.ARCHIVE
        )
    waits = case.compressed or not case.compressible or case.idle_days >= by.low_archive_days
    if waits:
        return _by_age(
            "LOW and untouched", case.idle_days, by.low_archive_days, PruneAction.ARCHIVE
        )
    return _by_age("LOW and untouched", case.idle_days, by.compress_days, PruneAction.COMPRESS)


def _protection(case: PruneCase) -> str:
    if case.kind not in SHORT_TERM:
        return f"a {case.kind.lower()} is never pruned"
    if case.pinned:
        return "pinned"
    if case.tier is None:
        return "never rated: its use is unknown"
    return "" if case.tier in TIERS else f"{case.tier} is never pruned"


def _by_age(what: str, days: float, limit: float, action: PruneAction) -> PruneVerdict:
    duration = f"{what} for {max(days, 0) // 1:.0f} days"
    if days >= limit:
        return PruneVerdict(action, f"{duration}: {limit:g} or more")
    return PruneVerdict(PruneAction.KEEP, f"{duration}: less than {limit:g}")


def prune_place(item: PruneCandidate) -> tuple[bool, float, str, str]:
    """Return the sort key of an item to prune.

    What no search returned for 90 days precedes what was returned and lost to results that were
    opened; then the lowest rating is first.
    """
    days = item.returned_days
    return days is not None and days < UNRETURNED_DAYS, item.elo, item.kind, item.id


def gist(text: str, name: str | None = None) -> str:
    """Return the first informative sentences of a text, else its start.

    The result is one line of at most LONGEST characters, prefixed with the speaker's name.
    """
    passage = Passage("", "Episode", "", name, text, read_options.BEGINNING)
    return shorten(passages.extractive_statement(passage) or passages.prefix_speaker(name, text))


def shorten(text: str) -> str:
    """Return a text as one line of at most LONGEST characters, cut at a word boundary."""
    line = _visible_line(text)
    return (
        line if len(line) <= MAX_GIST_CHARS else line[: MAX_GIST_CHARS - 1].rsplit(" ", 1)[0] + "…"
    )


def digest_line(at: datetime, summary: str, episode_id: str) -> str:
    """Return the line of an episode: a list item of plain text, with the id in a code span."""
    escaped = _MARKUP.sub(
        lambda match: _ENTITIES.get(match[0], "\\" + match[0]), _visible_line(summary)
    )
    return f"- {at.date().isoformat()}: {escaped} `{quoting.escape_code(episode_id)}`"


def digest_codes(text: str | None, name: str) -> frozenset[str]:
    """Return the episode codes in the digest section of a file's text, for `has_code`."""
    section = None if text is None else _section(text, name)
    if text is None or section is None:
        return frozenset()
    return frozenset(_CODE.findall(text[section.start : section.end]))


def has_code(codes: frozenset[str], episode_id: str) -> bool:
    """Return whether an episode's code is in `codes`."""
    return quoting.escape_code(episode_id) in codes


def add_lines(text: str | None, lines: Mapping[str, str], name: str) -> str:
    """Return a file's text with lines added for the episodes that have none in it.

    If the file does not exist, `text` is None, and a heading is added.
    """
    codes = digest_codes(text, name)
    new = [new_line for episode_id, new_line in lines.items() if not has_code(codes, episode_id)]
    if not new:
        return text or ""
    before = f"{HEADING}\n" if text is None else text
    section = _section(before, name)
    match = _ENDING.search(before, section.begin if section else 0)
    ending = match[0] if match else "\n"
    added = "".join(new_line + ending for new_line in new)
    if section is not None:
        return before[: section.end] + added + before[section.end :]
    gap = "" if not before else ending if before.endswith(("\r", "\n")) else 2 * ending
    return f"{before}{gap}{BEGIN}{ending}{added}{END}{ending}"


def episode_lines(text: str, episodes: Sequence[str], name: str) -> list[str]:
    """Return the lines of a file's section that belong to the given episodes."""
    section = _section(text, name)
    if section is None:
        return []
    codes = {quoting.escape_code(episode_id) for episode_id in episodes}
    lines = _LINE.findall(text[section.start : section.end])
    return [line for line in lines if not codes.isdisjoint(_CODE.findall(line))]


def remove_episodes(text: str, episodes: Sequence[str], name: str) -> str:
    """Return a file's text without the lines that belong to the given episodes."""
    removed = set(episode_lines(text, episodes, name))
    section = _section(text, name)
    if section is None or not removed:
        return text
    lines = _LINE.findall(text[section.start : section.end])
    kept = [line for line in lines if line not in removed]
    return text[: section.start] + "".join(kept) + text[section.end :]


class _Section(NamedTuple):
    """Position of the section in the text, as character offsets."""

    begin: int
    """Start of the begin marker's line."""
    start: int
    """Start of the line after the begin marker."""
    end: int
    """Start of the end marker's line."""


class _Mark(NamedTuple):
    number: int
    start: int
    end: int


def _section(text: str, name: str) -> _Section | None:
    marks: dict[str, list[_Mark]] = {BEGIN: [], END: []}
    for number, match in enumerate(_LINE.finditer(text), 1):
        content = match[0].lstrip(_BYTE_ORDER_MARK).strip()
        if content in marks:
            marks[content].append(_Mark(number, match.start(), match.end()))
    begin, end = _single_mark(marks[BEGIN], name, "begins"), _single_mark(marks[END], name, "ends")
    if begin is None and end is None:
        return None
    if end is None:
        raise _section_error(name, marks[BEGIN][0].number, "begins and never ends")
    if begin is None:
        raise _section_error(name, end.number, "ends and never began")
    if end.number < begin.number:
        raise _section_error(name, end.number, f"ends before it begins, in line {begin.number}")
    return _Section(begin.start, begin.end, end.start)


def _single_mark(marks: Sequence[_Mark], name: str, word: str) -> _Mark | None:
    if len(marks) > 1:
        raise _section_error(
            name, marks[1].number, f"{word} a second time, after line {marks[0].number}"
        )
    return marks[0] if marks else None


def _section_error(name: str, number: int, what: str) -> DigestFileError:
    return DigestFileError(f"{name}, line {number}: the digest {what}.", hint=_HINT)


def _visible_line(text: str) -> str:
    """Return a text as one line without invisible characters."""
    seen = "".join(
        character for character in " ".join(text.split()) if not quoting.is_invisible(character)
    )
    return " ".join(seen.split())
