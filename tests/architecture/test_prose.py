"""The wording that `prose.toml` lists becomes rarer in docstrings, comments, messages and pages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = tomllib.loads(Path(__file__).with_name("prose.toml").read_text("utf-8"))["pattern"]
AREAS = {
    "package": (
        "graphmem",
        "cypher",
        "migrations",
        "bench",
        "research",
        "docs",
        "README.md",
        "CHANGELOG.md",
    ),
    "tests": ("tests",),
}
GENERATED = {ROOT / "docs" / "reference" / f"{page}.md" for page in ("python", "records", "cli")}
ENGLISH = {
    ROOT / "graphmem" / "extraction" / "clause_words.py",
    ROOT / "tests" / "extraction" / "stated.py",
}
"""Words of other people, as data."""
QUOTED = re.compile(r"[rbfRBF]*(\"{3}|[\"'])(.*)\1", re.DOTALL)
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}


def files(area: str) -> Iterator[Path]:
    """Yield the files of an area that contain prose."""
    for top in AREAS[area]:
        path = ROOT / top
        found = [path] if path.is_file() else sorted(path.rglob("*.*"))
        yield from (one for one in found if one.suffix in PROSE and one not in GENERATED | ENGLISH)


class Line(NamedTuple):
    """One line of prose; `first` if it begins a text."""

    number: int
    text: str
    first: bool


def python(source: str) -> Iterator[Line]:
    """Yield the lines of docstrings, comments and strings of several words."""
    commented = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        start = token.start[0]
        if token.type == tokenize.COMMENT:
            yield Line(start, token.string.lstrip("# "), commented != start - 1)
            commented = start
        elif token.type in STRINGS and " " in token.string:
            documents = token.string.startswith('"""')
            quoted = QUOTED.fullmatch(token.string)
            text = re.sub(r"\{[^{}]*\}", "…", quoted[2] if quoted else token.string)
            for number, line in enumerate(text.splitlines()):
                yield Line(start + number, line.strip(), documents and number == 0)


def cypher(source: str) -> Iterator[Line]:
    """Yield the comments, without the headers that name parameters and fragments."""
    commented = -1
    for number, line in enumerate(source.splitlines(), 1):
        _, found, comment = line.partition("// ")
        if found and not re.match(r"\w+: ", comment):
            yield Line(number, comment, commented != number - 1)
            commented = number


def page(source: str) -> Iterator[Line]:
    """Yield every line of a page; a paragraph is a text, a heading is none."""
    last = ""
    for number, line in enumerate(source.splitlines(), 1):
        yield Line(number, line, not last and not line.startswith("#"))
        last = line


PROSE = {".py": python, ".cypher": cypher, ".md": page}


@cache
def lines(area: str) -> list[tuple[Path, Line]]:
    """Return the lines of prose of an area."""
    return [
        (path, line) for path in files(area) for line in PROSE[path.suffix](path.read_text("utf-8"))
    ]


def matches(pattern: dict[str, Any], area: str) -> list[str]:
    """Return the lines of an area that match a pattern, with their places."""
    wanted = re.compile(pattern["regex"], re.IGNORECASE)
    return [
        f"{path.relative_to(ROOT).as_posix()}:{line.number}: {line.text}"
        for path, line in lines(area)
        if (line.first or not pattern.get("first_line")) and wanted.search(line.text)
    ]


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["name"])
def test_wording_becomes_rarer(pattern: dict[str, Any], area: str) -> None:
    found = matches(pattern, area)
    report = "\n".join([f"write instead: {pattern['instead']}", *found])
    assert len(found) <= pattern[area], report


def long_openings() -> list[str]:
    """Return the functions and classes whose docstring opens with a sentence that is too long."""
    found = []
    for path in sorted((ROOT / "graphmem").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                opening = (ast.get_docstring(node) or "").partition("\n\n")[0].partition(". ")[0]
                if len(opening.split()) > 25:
                    found.append(f"{path.relative_to(ROOT).as_posix()}: {node.name}")
    return found


def test_docstrings_open_with_a_short_sentence() -> None:
    assert long_openings() == []


def test_code_is_not_prose() -> None:
    source = 'told = 1  # One\n# two.\n"""Three\n  four."""\nd["told"]\nsaid(f"five {told} six")\n'
    assert list(python(source)) == [
        Line(1, "One", first=True),
        Line(2, "two.", first=False),
        Line(3, "Three", first=True),
        Line(4, "four.", first=False),
        Line(6, "five … six", first=False),
    ]
    assert list(cypher("MATCH (told) // one\n// reads: told\n")) == [Line(1, "one", first=True)]
    assert list(page("# One\n\ntwo\nthree")) == [
        Line(1, "# One", first=False),
        Line(2, "", first=False),
        Line(3, "two", first=True),
        Line(4, "three", first=False),
    ]


def test_each_pattern_can_match() -> None:
    examples = [
        *(
            "It tells why.",
            "said the event",
            "Nobody knows.",
            "is no text",
            "Of the tenant.",
            "anew",
        ),
        *("stands for it", "the wall of a tenant", "its namesakes"),
    ]
    for pattern, example in zip(PATTERNS, examples, strict=True):
        assert re.search(pattern["regex"], example, re.IGNORECASE), example
