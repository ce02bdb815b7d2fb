"""Packs of rated items within a token budget, as markdown with a manifest.

HIGH items are whole, MEDIUM ones summarised, LOW ones a line, VERY_LOW ones left out (Vector ELO,
LITE packs). Items without a rating are treated as MEDIUM, since their rating would start at 1200.
They come after all rated MEDIUM items, because their use is still unknown.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from graphmem.conversation import blocks
from graphmem.graph import catalog
from graphmem.model import Tier
from graphmem.ports import RequestContext
from graphmem.rules import quoting, rating
from graphmem.usage import DetailLevel, Pack, PackItem, ratings, summaries

HEAD = f"# Pack\n\n{blocks.HEAD}\n"
_ORDER: Sequence[Tier | None] = (Tier.HIGH, Tier.MEDIUM, None, Tier.LOW, Tier.VERY_LOW)
_MAX_TITLE_CHARS = 80
_MAX_LINE_CHARS = 300
"""Maximum length of a text that is one line of a list; a longer one has a section of its own."""
_FIRST_WORDS = 400
"""Number of leading characters in which a title is searched."""


MAX_PACK, MAX_PACKED = 10_000_000, 10_000
"""Maximum tokens and rated items of a pack."""

Shorten: TypeAlias = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
"""Returns the short forms of ids."""
PACKABLE = catalog.query("usage/pack_candidates", dict)


@dataclass(frozen=True, slots=True)
class PackEntry:
    """An item that may be packed."""

    id: str
    kind: str
    """Kind of item: memory, belief, episode, file, symbol, document."""
    ref: str
    """Path or other name that `blocked_paths` are matched with; empty if it has none."""
    text: str
    elo: float | None
    """Rating decayed to the time of the pack; None if never rated."""
    tier: Tier | None
    """Tier of that rating; None if never rated."""
    title: str = ""
    """Title shown instead of the ref; without either, a pointer shows the start of the text."""
    short: str = ""
    """Unique prefix of the id, shown instead of it. With it, a short text is one line."""


@dataclass(frozen=True, slots=True)
class PackBudget:
    """Token budget of a pack, and the paths to leave out."""

    tokens: int
    count: Callable[[str], int]
    """Function that returns the number of tokens of a text."""
    counted_by: str
    """Name of the tokenizer of `count`."""
    blocked_paths: tuple[str, ...] = ()


class _Part(NamedTuple):
    """Representation of an item in the pack."""

    item: PackEntry
    how: DetailLevel
    why: str
    text: str = ""
    tokens: int = 0


async def pack(
    context: RequestContext,
    by: PackBudget,
    kinds: Sequence[str],
    most: int,
    root: Path | None,
    shorten: Shorten,
) -> Pack:
    """Return the highest rated items as a pack.

    Args:
        most: maximum number of rated items, and of unrated memories in each scope.
        root: folder whose files and documents are packed with their text; None to pack names only.
    """
    rows = await context.fetch(
        PACKABLE, **ratings.read_params(context, kinds), known=None, limit=most
    )
    return await packed(context, rows, by, root, shorten)


async def packed(
    context: RequestContext,
    rows: Sequence[dict[str, Any]],
    by: PackBudget,
    root: Path | None,
    shorten: Shorten,
) -> Pack:
    """Return a pack of these rows of usage/pack_candidates."""
    rule = rating.from_settings(context.services.settings)
    short = await shorten([row["id"] for row in rows])
    entries = []
    for row in rows:
        tier = None if row["elo"] is None else rating.tier(row["elo"], rule)
        text = row.pop("text") or await _file_text(context, row, root) or row["ref"]
        entries.append(PackEntry(**row, text=text, tier=tier, short=short.get(row["id"], "")))
    return build_pack(entries, by)


def build_pack(items: Iterable[PackEntry], by: PackBudget) -> Pack:
    """Return the items as a pack, by tier, then by descending rating, then by id.

    HIGH items are always included; `overflow` is the number of tokens over the budget. An item that
    does not fit becomes a pointer, and is left out if the pointer does not fit either; later items
    may still fit. A blocked item is left out regardless of its tier. An item given twice counts
    once.
    """
    ordered = _order(items)
    room = by.tokens - by.count(HEAD)
    parts: list[_Part] = []
    for item in ordered:
        part = _represent(item, room, by)
        room -= part.tokens
        parts.append(part)
    text, tokens = _fit_total(parts, by)
    whole_tokens = by.count(_text(_section(item).text for item in ordered))
    return Pack(
        text=text,
        items=tuple(map(_manifest_entry, parts)),
        budget=by.tokens,
        tokens=tokens,
        overflow=max(tokens - by.tokens, 0),
        whole_tokens=whole_tokens,
        saved_tokens=whole_tokens - tokens,
        saved_share=(whole_tokens - tokens) / whole_tokens if whole_tokens else 0.0,
        counted_by=by.counted_by,
        blocked_paths=by.blocked_paths,
    )


def blocking_pattern(ref: str, patterns: Iterable[str]) -> str | None:
    """Return the first pattern that blocks a ref; None if none does.

    A pattern is a glob for the whole ref, in which `*` also matches slashes. A folder blocks
    everything below it, and a leading `**/` matches any number of folders. Backslashes count as
    slashes, and `.` and `..` in a path are resolved. A symbol or a section is blocked with the
    file before its `::` or `#`.
    """
    names = {name for name in _names(ref) if name}
    for pattern in patterns:
        glob = pattern.replace("\\", "/").rstrip("/")
        globs = {glob, glob.removeprefix("**/")}
        if any(fnmatchcase(n, g) or fnmatchcase(n, f"{g}/*") for n in names for g in globs if g):
            return pattern
    return None


def _names(ref: str) -> Iterator[str]:
    path = ref.replace("\\", "/")
    for name in (path, path.partition("::")[0], path.partition("#")[0]):
        yield name
        if name:
            yield posixpath.normpath(name)


def _order(items: Iterable[PackEntry]) -> list[PackEntry]:
    each = set(items)
    if len({item.id for item in each}) < len(each):
        raise ValueError("two different items have the same id")
    return sorted(each, key=lambda item: (_ORDER.index(item.tier), -(item.elo or 0.0), item.id))


def _represent(item: PackEntry, room: int, by: PackBudget) -> _Part:
    """Return the representation of an item that fits in `room` tokens."""
    pattern = blocking_pattern(item.ref, by.blocked_paths)
    if pattern is not None:
        return _Part(item, DetailLevel.LEFT_OUT, f"blocked by {pattern}")
    if item.tier is Tier.VERY_LOW:
        return _Part(item, DetailLevel.LEFT_OUT, "VERY_LOW is left out")
    if item.tier is Tier.HIGH:
        return _with_tokens(_whole(item, "HIGH is whole whatever the budget"), by)
    if item.tier is Tier.LOW:
        return _first_fit([_pointer(item, "LOW is a pointer")], room, by)
    return _first_fit([_summary(item), _pointer(item, _rating_label(item))], room, by)


def _summary(item: PackEntry) -> _Part:
    short = summaries.summarise(item.text, summaries.text_kind(item.ref, item.text))
    why = "MEDIUM is summarised" if item.tier else "never rated: like MEDIUM, but after it"
    if short == item.text:
        return _whole(item, f"{why}; its summary would be no shorter")
    return _Part(item, DetailLevel.SUMMARY, why, _block(item, DetailLevel.SUMMARY, short))


def _first_fit(shapes: Sequence[_Part], room: int, by: PackBudget) -> _Part:
    """Return the first shape that fits, with the reasons why earlier ones did not."""
    missed: list[str] = []
    for part in (_with_tokens(shape, by) for shape in shapes):
        if part.tokens <= room:
            return part._replace(why="; ".join([part.why, *missed]))
        missed.append(f"{part.how} of {part.tokens} tokens does not fit in {max(room, 0)}")
    item = shapes[0].item
    return _Part(item, DetailLevel.LEFT_OUT, "; ".join([_rating_label(item), *missed]))


def _fit_total(parts: list[_Part], by: PackBudget) -> tuple[str, int]:
    """Return the text and its tokens, after removing items from the end until the whole fits.

    A tokenizer may count more tokens for the whole than for its parts.
    """
    while True:
        text = _text(part.text for part in parts)
        tokens = by.count(text) if text else 0
        over = tokens - by.tokens
        last = [n for n, p in enumerate(parts) if p.text and p.item.tier is not Tier.HIGH]
        if over <= 0 or not last:
            return text, tokens
        while last and over > 0:
            place = last.pop()
            item, over = parts[place].item, over - max(parts[place].tokens, 1)
            why = f"{_rating_label(item)}; with it the pack exceeds the budget"
            parts[place] = _Part(item, DetailLevel.LEFT_OUT, why)


def _text(parts: Iterable[str]) -> str:
    shown = "".join(parts)
    return f"{HEAD}{shown}" if shown else ""


def _with_tokens(part: _Part, by: PackBudget) -> _Part:
    return part._replace(tokens=by.count(part.text))


def _whole(item: PackEntry, why: str) -> _Part:
    if item.short and len(item.text) <= _MAX_LINE_CHARS and len(item.text.splitlines()) == 1:
        return _Part(item, DetailLevel.WHOLE, why, _line(item, item.text))
    return _section(item)._replace(why=why)


def _section(item: PackEntry) -> _Part:
    return _Part(item, DetailLevel.WHOLE, "", _block(item, DetailLevel.WHOLE, item.text))


def _line(item: PackEntry, text: str) -> str:
    """Return an item on one line, as in a block; its rating and kind are in the manifest."""
    return f"[{item.short}] {quoting.quote(text)}\n"


def _pointer(item: PackEntry, why: str) -> _Part:
    title = item.title or item.ref or item.text[:_FIRST_WORDS]
    if item.short:
        return _Part(item, DetailLevel.POINTER, why, _line(item, _cut(title)))
    line = f"- {_heading(item, title)}, {_rating_label(item)}, {quoting.escape_code(item.kind)}\n"
    return _Part(item, DetailLevel.POINTER, why, line)


def _block(item: PackEntry, how: DetailLevel, body: str) -> str:
    fence = _fence(body)
    end = "" if body.endswith("\n") else "\n"
    about = f"{_rating_label(item)}, {how}, {quoting.escape_code(item.kind)}"
    return (
        f"\n## {_heading(item, item.title or item.ref)}\n\n{about}\n\n{fence}\n{body}{end}{fence}\n"
    )


def _fence(body: str) -> str:
    """Return a code fence that no line of the text closes."""
    runs = {mark: max(map(len, re.findall(f"{mark}+", body)), default=0) for mark in "`~"}
    mark = min(runs, key=lambda character: runs[character])
    return mark * max(3, runs[mark] + 1)


def _heading(item: PackEntry, title: str) -> str:
    """Return the id to cite, and words in a code span, which contains no markup."""
    name = quoting.escape_id(item.id).replace("`", r"\u0060")
    title = _cut(title)
    return f"[{name}] `{quoting.escape_code(title)}`" if title else f"[{name}]"


def _cut(title: str) -> str:
    title = " ".join(title.split())
    if len(title) > _MAX_TITLE_CHARS:
        return f"{title[: _MAX_TITLE_CHARS - 1].rstrip()}…"
    return title


def _rating_label(item: PackEntry) -> str:
    if item.tier is None:
        return "never rated"
    # Rounded down: 1599.9 is MEDIUM, 1600 is HIGH.
    return item.tier if item.elo is None else f"{item.tier} {item.elo // 1:.0f}"


def _manifest_entry(part: _Part) -> PackItem:
    item = part.item
    return PackItem(
        id=item.id,
        kind=item.kind,
        ref=item.ref,
        elo=item.elo,
        tier=item.tier,
        how=part.how,
        why=part.why,
        tokens=part.tokens,
        sha256=hashlib.sha256(item.text.encode("utf-8", "surrogatepass")).hexdigest(),
    )


async def _file_text(context: RequestContext, row: dict[str, str], root: Path | None) -> str | None:
    """Return the text of a file below the root; None for anything else."""
    if root is None or row["kind"] not in ("file", "document"):
        return None
    return await context.services.files.below(root, row["ref"])
