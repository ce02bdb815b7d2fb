"""Named Cypher texts: loaded from files, checked against their own headers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from graphmem.errors import CatalogError
from graphmem.ports import Mode, Query, R, Row

_INCLUDE = re.compile(r"^[ \t]*// include: (\S+)[ \t]*$", re.MULTILINE)
_ENTRY = re.compile(r"^// +(?:- )?(\$?\w+) {2,}(\S+) {2,}(.+)$")
_PARAM = re.compile(r"\$(\w+)")
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"
"""A string, or a name in backquotes."""
_STRING = re.compile(QUOTED)
_STRING_OR_COMMENT = re.compile(rf"({QUOTED})|//.*")
_END = re.compile(r";[ \t]*$", re.MULTILINE)
FIELDS = frozenset({"mode", "rows", "source", "plan", "allow", "params", "columns"})
ROWS = ("none", "one", "many")
SIZED = frozenset({"string", "list"})
DEEPEST = 2
"""A fragment may include fragments, and these none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One declared parameter or column."""

    name: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Procedure:
    """One Cypher file: what its header declares and the text that runs."""

    name: str
    summary: str
    mode: Mode
    rows: str
    plan: tuple[str, ...]
    allow: tuple[str, ...]
    params: tuple[Entry, ...]
    columns: tuple[Entry, ...]
    text: str


def folder(kind: str) -> Path:
    """Return the folder of `cypher` or `migrations`: in the wheel, or beside the package."""
    packaged = Path(str(resources.files("graphmem"))) / f"_{kind}"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parent.parent / kind


@cache
def names() -> tuple[str, ...]:
    """Return the name of every procedure: its path without the ending."""
    root = folder("cypher")
    found = (p.relative_to(root).with_suffix("").as_posix() for p in root.rglob("*.cypher"))
    return tuple(sorted(name for name in found if not name.startswith("fragments/")))


@cache
def procedure(name: str) -> Procedure:
    """Return a procedure of the catalog.

    Raises:
        CatalogError: no such file, or its header and body disagree.
    """
    path = folder("cypher") / f"{name}.cypher"
    if not path.is_file():
        raise CatalogError(f"{name}: no such file under cypher/.")
    return parse(name, path.read_text("utf-8"))


def parse(name: str, source: str) -> Procedure:
    """Return the procedure written in `source`; see cypher/README.md for the grammar.

    Raises:
        CatalogError: the header is incomplete, or its parameters differ from the used ones.
    """
    head, blank, body = source.partition("\n\n")
    if not blank or not all(line.startswith("//") for line in head.splitlines()):
        raise CatalogError(f"{name}: a header of comment lines and a blank line come first.")
    summary, fields, entries = _header(name, head)
    text = expand(name, body)
    used = frozenset(_PARAM.findall(_STRING.sub("''", _uncommented(text))))
    declared = frozenset(entry.name for entry in entries["params"])
    if used != declared:
        raise CatalogError(
            f"{name}: declared but unused {sorted(declared - used)}, "
            f"used but undeclared {sorted(used - declared)}."
        )
    if fields.get("mode") not in set(Mode) or fields.get("rows") not in ROWS:
        raise CatalogError(f"{name}: `mode: read|write|schema` and `rows: none|one|many` are due.")
    return Procedure(
        name=name,
        summary=summary,
        mode=Mode(fields["mode"]),
        rows=fields["rows"],
        plan=tuple(fields.get("plan", "").split()),
        allow=tuple(fields.get("allow", "").split()),
        params=tuple(entries["params"]),
        columns=tuple(entries["columns"]),
        text=text,
    )


def _header(name: str, head: str) -> tuple[str, dict[str, str], dict[str, list[Entry]]]:
    lines = head.splitlines()
    summary: list[str] = []
    fields: dict[str, str] = {}
    entries: dict[str, list[Entry]] = {"params": [], "columns": []}
    section = ""
    for line in lines:
        field = re.match(r"^// (\w+):(?: (.*))?$", line)
        if field:
            section = field[1]
            if section not in FIELDS or section in fields:
                raise CatalogError(f"{name}: header field {section!r} is unknown or stands twice.")
            fields[section] = field[2] or ""
        elif not section:
            summary.append(line.removeprefix("//").strip())
        elif section in entries:
            entry = _ENTRY.match(line)
            if not entry:
                raise CatalogError(f"{name}: cannot read header line {line!r}.")
            entries[section].append(Entry(entry[1].removeprefix("$"), entry[2], entry[3].strip()))
        else:
            fields[section] += " " + line.removeprefix("//").strip()
    return " ".join(summary), fields, entries


def _uncommented(text: str) -> str:
    return _STRING_OR_COMMENT.sub(lambda match: match[1] or "", text)


def expand(name: str, body: str) -> str:
    """Return the body with each `// include: fragments/x.cypher` replaced by that file.

    Raises:
        CatalogError: no such fragment, or fragments within fragments within fragments.
    """
    return _expanded(name, body, depth=0).strip()


def _expanded(name: str, body: str, *, depth: int) -> str:
    def fragment(match: re.Match[str]) -> str:
        path = folder("cypher") / match[1]
        if not match[1].startswith("fragments/") or not path.is_file():
            raise CatalogError(f"{name}: no fragment {match[1]}.")
        if depth == DEEPEST:
            raise CatalogError(f"{name}: it is a fragment within a fragment and includes no other.")
        own = path.read_text("utf-8").partition("\n\n")[2].rstrip()
        text = _expanded(match[1], own, depth=depth + 1)
        indent = match[0][: len(match[0]) - len(match[0].lstrip())]
        return "\n".join(indent + line if line else line for line in text.splitlines())

    return _INCLUDE.sub(fragment, body)


def pasted(found: Procedure, values: Mapping[str, object]) -> str:
    """Return a procedure as Neo4j Browser takes it: its parameters as a command, then its text.

    Args:
        found: the procedure.
        values: parameters by name, as JSON can hold them; the others are null, to be filled in.
    """
    given = {entry.name: values.get(entry.name) for entry in found.params}
    pairs = ", ".join(f"{name}: {json.dumps(value)}" for name, value in given.items())
    return f":param {{{pairs}}};\nCYPHER 25\n{found.text};"


def ignored(_: Row) -> None:
    """Make nothing of a row."""


def query(name: str, row: Callable[[Row], R]) -> Query[R]:
    """Return a catalog procedure bound to the record that one row of it makes."""
    found = procedure(name)
    return Query(
        name=name,
        text=found.text,
        mode=found.mode,
        params=frozenset(entry.name for entry in found.params),
        row=row,
        sized=frozenset(entry.name for entry in found.params if entry.kind in SIZED),
    )


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered change of the schema or of the data."""

    number: int
    name: str
    statements: tuple[Query[Row], ...]
    sha256: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return every migration, by number.

    Raises:
        CatalogError: a file name or header breaks the rules of migrations/README.md.
    """
    found = tuple(_migration(path) for path in sorted(folder("migrations").glob("*.cypher")))
    if [m.number for m in found] != list(range(1, len(found) + 1)):
        raise CatalogError("migrations: the numbers have a gap or stand twice.")
    return found


def _migration(path: Path) -> Migration:
    named = re.fullmatch(r"(\d{4})_(schema|data)_[a-z0-9_]+", path.stem)
    head, _, body = path.read_text("utf-8").partition("\n\n")
    _, fields, _ = _header(path.stem, head)
    if not named or fields.get("mode") != ("schema" if named[2] == "schema" else "write"):
        raise CatalogError(f"{path.name}: want NNNN_schema_what (mode: schema) or NNNN_data_what.")
    texts = [" ".join(text.split()) for text in _END.split(_uncommented(body))]
    statements = tuple(
        Query(
            name=f"{path.stem}#{i}",
            text=text,
            mode=Mode(fields["mode"]),
            params=frozenset(_PARAM.findall(text)),
            row=lambda row: row,
        )
        for i, text in enumerate(filter(None, texts), start=1)
    )
    sha256 = hashlib.sha256(";".join(q.text for q in statements).encode()).hexdigest()
    return Migration(int(named[1]), path.stem, statements, sha256)
