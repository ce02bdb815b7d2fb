"""Catalog of named Cypher texts, loaded from files and checked against their headers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from graphmem.errors import CatalogError
from graphmem.model import GLOBAL_SCOPE
from graphmem.ports import IdLocation, Mode, Query, R, Row
from graphmem.rules import scoring, urls

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"
"""A string, or a name in backquotes."""
_INCLUDE = re.compile(r"^[ \t]*// include: (fragments/\S+)[ \t]*$", re.MULTILINE)
_ENTRY = re.compile(r"^(?:// +)?(?:- )?(\$?\w+) {2,}(\S+) {2,}(.+)$")
_PARAM = re.compile(r"\$(\w+)")
_STRING = re.compile(QUOTED)
_STRING_OR_COMMENT = re.compile(rf"({QUOTED})|//.*")
_STRING_OR_PARAM = re.compile(rf"({QUOTED})|\$(\w+)")
_END = re.compile(r";[ \t]*$", re.MULTILINE)
FIELDS = frozenset(
    {
        *("mode", "rows", "then", "source", "plan", "allow"),
        *("writes_ids", "refers_to", "params", "columns"),
    }
)
ROWS = ("none", "one", "many")
SIZED = frozenset({"string", "list"})
_NULL = re.compile(r"(?:^|; )null: ")
"""Matches the meaning of null in a header entry."""
LANGUAGE = "CYPHER 25\n"
"""Servers default to Cypher 5; SEARCH requires Cypher 25."""
MAP = "sized"
"""Name of the map parameter; no query has a parameter of this name."""
FOUND = "found"
"""Name of the second procedure's parameter that receives the row of the first."""
_READ = re.compile(rf"({QUOTED}|//.*)|\$(\w+)")
"""Matches strings and comments (skipped) or a `$parameter`."""


@dataclass(frozen=True, slots=True)
class HeaderEntry:
    """One declared parameter or column."""

    name: str
    kind: str
    text: str

    @property
    def is_nullable(self) -> bool:
        """Whether its text defines the meaning of null."""
        return _NULL.search(self.text) is not None

    @property
    def is_sized(self) -> bool:
        """Whether a query reads it from the map of `in_one_map`."""
        return self.kind in SIZED or self.is_nullable


@dataclass(frozen=True, slots=True)
class Procedure:
    """One Cypher file: its declared header and the text to run."""

    name: str
    summary: str
    mode: Mode
    rows: str
    plan: tuple[str, ...]
    allow: tuple[str, ...]
    ids: tuple[IdLocation, ...]
    """Ids that it receives: of nodes that it writes, and of others that it refers to."""
    then: str | None
    """Procedure that turns the only row of this one into the answer; None if that row is the
    answer."""
    params: tuple[HeaderEntry, ...]
    columns: tuple[HeaderEntry, ...]
    text: str


def folder(kind: str) -> Path:
    """Return the folder of `cypher` or `migrations`: in the wheel, or next to the package."""
    packaged = Path(str(resources.files("graphmem"))) / f"_{kind}"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / kind


@cache
def names() -> tuple[str, ...]:
    """Return the names of all procedures: their paths without the suffix."""
    root = folder("cypher")
    found = (p.relative_to(root).with_suffix("").as_posix() for p in root.rglob("*.cypher"))
    return tuple(sorted(name for name in found if not name.startswith("fragments/")))


@cache
def procedure(name: str) -> Procedure:
    """Return a procedure of the catalog."""
    path = folder("cypher") / f"{name}.cypher"
    if not path.is_file():
        raise CatalogError(f"{name}: no such file under cypher/.")
    return parse(name, path.read_text("utf-8"))


def parse(name: str, source: str) -> Procedure:
    """Return the procedure written in `source`; see cypher/README.md for the grammar."""
    head, blank, body = source.partition("\n\n")
    if not blank or not all(line.startswith("//") for line in head.splitlines()):
        raise CatalogError(f"{name}: must start with comment lines and a blank line.")
    summary, fields, entries = _header(name, head)
    text = expand(body).strip()
    used = frozenset(_PARAM.findall(_STRING.sub("''", _uncommented(text))))
    own = {entry.name for entry in entries["params"]}
    first, last = (
        [entry for entry in common if entry.name in used - own] for common in common_params()
    )
    params = (*first, *entries["params"], *last)
    declared = frozenset(entry.name for entry in params)
    if used != declared:
        raise CatalogError(
            f"{name}: declared but unused {sorted(declared - used)}, "
            f"used but undeclared {sorted(used - declared)}."
        )
    if fields.get("mode") not in set(Mode) or fields.get("rows") not in ROWS:
        raise CatalogError(f"{name}: needs `mode: read|write|schema` and `rows: none|one|many`.")
    return Procedure(
        name=name,
        summary=summary,
        mode=Mode(fields["mode"]),
        rows=fields["rows"],
        plan=tuple(fields.get("plan", "").split()),
        allow=tuple(fields.get("allow", "").split()),
        ids=(
            *_ids(name, "writes_ids", fields, declared),
            *_ids(name, "refers_to", fields, declared),
        ),
        then=fields.get("then"),
        params=params,
        columns=tuple(entries["columns"]),
        text=text,
    )


def _ids(
    name: str, field: str, fields: Mapping[str, str], params: frozenset[str]
) -> Iterator[IdLocation]:
    """Yield the id locations of a field, such as `writes_ids: events.id Event`."""
    for entry in filter(None, fields.get(field, "").split(",")):
        match entry.split():
            case [path, kind] if path.partition(".")[0] in params:
                yield IdLocation(tuple(path.split(".")), kind, own=field == "writes_ids")
            case _:
                raise CatalogError(f"{name}: cannot read {entry.strip()!r} of `{field}`.")


def _header(name: str, head: str) -> tuple[str, dict[str, str], dict[str, list[HeaderEntry]]]:
    lines = head.splitlines()
    summary: list[str] = []
    fields: dict[str, str] = {}
    entries: dict[str, list[HeaderEntry]] = {"params": [], "columns": []}
    section = ""
    for line in lines:
        field = re.match(r"^// (\w+):(?: (.*))?$", line)
        if field:
            section = field[1]
            if section not in FIELDS or section in fields:
                raise CatalogError(f"{name}: header field {section!r} is unknown or repeated.")
            fields[section] = field[2] or ""
        elif not section:
            summary.append(line.removeprefix("//").strip())
        elif section in entries:
            entries[section].append(_entry(name, line))
        else:
            fields[section] += " " + line.removeprefix("//").strip()
    return " ".join(summary), fields, entries


def _entry(name: str, line: str) -> HeaderEntry:
    entry = _ENTRY.match(line)
    if not entry:
        raise CatalogError(f"{name}: cannot read header line {line!r}.")
    return HeaderEntry(entry[1].removeprefix("$"), entry[2], entry[3].strip())


@cache
def common_params() -> tuple[tuple[HeaderEntry, ...], tuple[HeaderEntry, ...]]:
    """Return the parameters that mean the same in every procedure, by `cypher/parameters.txt`.

    The former precede the parameters that a procedure declares, the latter follow them.
    """
    _, first, last = (folder("cypher") / "parameters.txt").read_text("utf-8").split("\n\n")
    return (
        tuple(_entry("parameters.txt", line) for line in first.splitlines()),
        tuple(_entry("parameters.txt", line) for line in last.splitlines()),
    )


def _uncommented(text: str) -> str:
    return _STRING_OR_COMMENT.sub(lambda match: match[1] or "", text)


def expand(body: str) -> str:
    """Return the body with each `// include: fragments/x.cypher` replaced by that file."""

    def included(match: re.Match[str]) -> str:
        indent = match[0][: len(match[0]) - len(match[0].lstrip())]
        return "\n".join(indent + line if line else line for line in fragment(match[1]))

    return _INCLUDE.sub(included, body)


@cache
def fragment(path: str) -> list[str]:
    """Return the lines of a fragment, with the fragments that it includes."""
    _, _, body = (folder("cypher") / path).read_text("utf-8").partition("\n\n")
    return expand(body.rstrip()).splitlines()


def filled(definition: Procedure, values: Mapping[str, urls.Value]) -> str:
    """Return a procedure as one statement, with its parameters replaced by values.

    Neo4j Browser shows no graph if a parameter command precedes the query.

    Args:
        values: value of every parameter by name; other names are ignored.
    """
    given = {entry.name: urls.literal(values[entry.name]) for entry in definition.params}
    lines = (line for line in _uncommented(definition.text).splitlines() if line.strip())
    text = _STRING_OR_PARAM.sub(
        lambda match: given[match[2]] if match[2] else match[0], "\n".join(lines)
    )
    return f"{_commented(_sentences(definition))}{LANGUAGE}{text};"


def pasted(definition: Procedure) -> str:
    """Return a procedure to paste into Neo4j Browser: its purpose, parameters and text.

    The first line is its name, as Browser expects of saved queries. The parameters are commands
    in a comment, because Browser shows no result of a query that commands precede. With `=>`
    it reads them as Cypher does; a map of them would turn every number into a float.
    """
    examples = {"string": '""', "list": "[]", "integer": "0"}
    values = {entry.name: examples.get(entry.kind, "null") for entry in definition.params}
    values |= {"scopes": f'["{GLOBAL_SCOPE}"]', "limit": "8"}
    commands = (f":param {entry.name} => {values[entry.name]}" for entry in definition.params)
    head = [
        f"graphmem: {definition.name.removeprefix('browser/')}",
        *_sentences(definition),
        *(f"${entry.name}: {entry.text}" for entry in definition.params),
        *(["Run this first, filled in:", "; ".join(commands)] if definition.params else []),
    ]
    return f"{_commented(head)}{LANGUAGE}{definition.text};\n"


def _sentences(definition: Procedure) -> list[str]:
    return [f"{text.rstrip('.')}." for text in definition.summary.split(". ")]


def _commented(lines: Iterable[str]) -> str:
    return "".join(f"// {line}\n" for line in lines)


def ignored(_: Row) -> None:
    """Discard a row."""


def query(name: str, row: Callable[[Row], R]) -> Query[R]:
    """Return a catalog procedure bound to the conversion of its rows into records."""
    found = procedure(name)
    return Query(
        name=name,
        text=found.text,
        mode=found.mode,
        params=frozenset(entry.name for entry in found.params),
        row=row,
        null=frozenset(entry.name for entry in found.columns if "null" in entry.text),
        sized=frozenset(entry.name for entry in found.params if entry.is_sized),
        ids=found.ids,
    )


def together(*queries: Query[Any]) -> Query[tuple[list[Any], ...]]:
    """Return reads as one query, whose only row has the records of each.

    They are sent in one round trip; parameters of the same name have one value.
    """
    parts = {f"part{number}": one for number, one in enumerate(queries)}
    texts = []
    for part, one in parts.items():
        columns = ", ".join(f"{e.name}: {e.name}" for e in procedure(one.name).columns)
        rows = f"RETURN collect({{{columns}}}) AS {part}"
        texts.append(f"CALL () {{\nCALL () {{\n{one.text}\n}}\n{rows}\n}}")

    def row(found: Row) -> tuple[list[Any], ...]:
        return tuple([one.decode(each) for each in found[part]] for part, one in parts.items())

    return Query(
        name="+".join(one.name for one in queries),
        text="\n".join([*texts, f"RETURN {', '.join(parts)}"]),
        mode=Mode.READ,
        params=frozenset().union(*(one.params for one in queries)),
        row=row,
        sized=frozenset().union(*(one.sized for one in queries)),
    )


def in_generation(query: Query[R], generation: int) -> Query[R]:
    """Return the query for one generation of embeddings; see rules/scoring."""
    return replace(query, text=scoring.number_embeddings(query.text, generation))


def in_one_map(query: Query[R]) -> str:
    """Return the text of a query that reads its sized and nullable parameters from one map.

    Neo4j makes a plan for each class of length (0, 1, up to 10, up to 100 and so on) of every
    string or list parameter, and one for null and one for a value of every other. The longest
    queries take seconds to plan: a longer question, another tenant, one more scope and the first
    past time would each wait for a plan. For a map it only distinguishes whether it is a map.
    """
    return _READ.sub(
        lambda m: m[1] or (f"${MAP}.{m[2]}" if m[2] in query.sized else m[0]), query.text
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
    """Return all migrations, by number."""
    found = tuple(_migration(path) for path in sorted(folder("migrations").glob("*.cypher")))
    if [m.number for m in found] != list(range(1, len(found) + 1)):
        raise CatalogError("migrations: the numbers must be consecutive and unique.")
    return found


def _migration(path: Path) -> Migration:
    named = re.fullmatch(r"(\d{4})_(schema|data)_[a-z0-9_]+", path.stem)
    head, _, body = path.read_text("utf-8").partition("\n\n")
    _, fields, _ = _header(path.stem, head)
    if not named or fields.get("mode") != ("schema" if named[2] == "schema" else "write"):
        raise CatalogError(
            f"{path.name}: must be NNNN_schema_name (mode: schema) or NNNN_data_name (mode: write)."
        )
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
