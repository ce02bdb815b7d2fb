"""Conceptual queries and keyword tools: a table, real questions, code."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.usage import findings
from graphmem.usage.findings import is_conceptual
from tests.plugins import pumps
from tests.plugins.samples import on_each

TREE = Path(__file__).resolve().parents[2] / "graphmem"

CONCEPTS = {
    "how does the retry policy work": True,
    "why do we write events behind": True,
    "what is the difference between a memory and a belief": True,
    "How are ratings faded when nobody opens an item?": True,
    "explain the sequential test": True,
    "where do we decide which episodes are compressed": True,
    "what happens when two agents write at once": True,
    "when should I use observe instead of remember": True,
    "which parts of the system may call a language model": True,
    "who is allowed to see another tenant's notes": True,
    "Is there a limit on the size of a pack?": True,
    "Can two raters run at the same time?": True,
    "Why was the mean opponent rejected?": True,
    "the reasons we moved away from a single lock": True,
    "trade-offs between accuracy and speed in recall": True,
    "approach to keeping a cache consistent with events": True,
    "strategies for handling late evidence": True,
    "our thinking about deleting personal data": True,
    "things the user told us about her family": True,
    "decisions about naming from last month": True,
    "similar problems we had with timeouts": True,
    "anything about how people feel after the move": True,
    "What did Maria say about her new job?": True,
    "how come the tests are slow": True,
    "could the queue lose searches when a process is killed?": True,
    "what's the purpose of a cursor": True,
    "design rationale for immutable events": True,
    "ways to make recall faster": True,
    "为什么要保留旧的事件？": True,
    "لماذا نحتفظ بالأحداث القديمة؟": True,
    # Missed: keywords for an idea, and questions about something named exactly.
    "error handling philosophy": False,
    "user preferences about food": False,
    "Why does `parse_config` drop the last line?": False,
    'How does "graceful shutdown" work here': False,
}
STRINGS = {
    "parse_config": False,
    "getUserName": False,
    "graphmem/rules/formulas.py": False,
    "def vitality(": False,
    '"connection refused"': False,
    "^class .*Error": False,
    "TODO": False,
    "os.path.join": False,
    "MATCH (m:Memory) RETURN m": False,
    "--no-cache": False,
    "ECONNREFUSED": False,
    "E501": False,
    "import numpy as np": False,
    "v0.3.1": False,
    "550e8400-e29b-41d4-a716-446655440000": False,
    "fe6207a": False,
    "user:alice": False,
    "https://example.org/a/b": False,
    "SELECT name FROM users WHERE id = 3": False,
    "foo|bar": False,
    r"\bretry\b": False,
    "*.toml": False,
    "localhost:7687": False,
    "ServiceUnavailableError": False,
    "raise ValueError": False,
    "is not None": False,
    "pip install graphmem": False,
    "John Smith": False,
    "Neo4j 2026.08.1": False,
    "error: cannot find module 'left-pad'": False,
    "do not edit": False,
    "std::vector": False,
    "self.graph.write(work)": False,
    r"C:\logs\today.txt": False,
    "@pytest.fixture": False,
    "#1234": False,
    "x -> y": False,
    "colou?r": False,
    "release notes 0.4": False,
    "list[str]": False,
    "50 km": False,
    "alice@example.org": False,
    "permission denied (publickey)": False,
    "what_is_new.md": False,
    "HTTP 404 Not Found": False,
    "/etc/hosts": False,
    # Taken for concepts: sentences looked for word by word, without quotes.
    "No such file or directory": True,
    "when not matched": True,
    "the quick brown fox jumps over the lazy dog": True,
    "cannot import name Session from partially initialized module": True,
}


# Conceptual queries.


@pytest.mark.parametrize(("query", "expected"), [*CONCEPTS.items(), *STRINGS.items()])
def test_what_asks_for_meaning(query: str, *, expected: bool) -> None:
    assert is_conceptual(query) is expected


def test_the_figures_in_the_docstring_are_those_of_the_table() -> None:
    found, wrong = sum(map(is_conceptual, CONCEPTS)), sum(map(is_conceptual, STRINGS))
    docstring = " ".join((is_conceptual.__doc__ or "").split())
    assert f"finds {found} of {len(CONCEPTS)} concepts" in docstring
    assert f"takes {wrong} of {len(STRINGS)} exact searches" in docstring
    precision, recall = found / (found + wrong), found / len(CONCEPTS)
    assert f"precision and recall {precision:.2f}" in docstring
    assert f"{recall:.2f}" == f"{precision:.2f}"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how it", False),
        ("how it works", True),
        ("HOW’S it work", True),
        ("retry on failure", False),
        ("retry on failure?", True),
        ("retry on failure?)", True),
        ("retry failure?", False),
        ("retry policy for late events", True),
        ("retry policy late events", False),
        ("retry policy late events here", False),
        ("", False),
        ("???", False),
        ("？", True),
        ("what did the Option(s) page say", True),
        ("what did his parents' friends' house cost, $500?", True),
        ("what he calls 'home' these days", False),
        ("why does the -v flag print nothing", False),
        ("why does the well-known flag print nothing", True),
        ("what was the score, 3.5 or 4?", True),
        ("what did the U.S. team say", True),
        ("who makes videos for YouTube or on an iPhone", True),
        ("when is the car and/or bike sold", True),
        ("when is it shown, on 5/3/2024?", True),
        ("who reads src/app/main here", False),
        ("who reads ./main or ~/main here", False),
        ("what is in commit 1a2b3c4 then", False),
        ("what happened in 1234567 then", True),
        ("who decided on a facade then", True),
    ],
)
def test_the_edges_of_the_rule(query: str, *, expected: bool) -> None:
    assert is_conceptual(query) is expected


@on_each(("file", "min_share"), "locomo/locomo.json", sample=(1.0,), real=(0.98,))
def test_nearly_all_questions_about_conversations_ask_for_meaning(
    file: Path, min_share: float
) -> None:
    questions = [
        one["question"] for talk in json.loads(file.read_text("utf-8")) for one in talk["qa"]
    ]
    share = sum(map(is_conceptual, questions)) / len(questions)
    assert share >= min_share
    if len(questions) > 1_000:  # the real ones, of which the documentation tells
        assert f"LoCoMo's {len(questions):,} it finds {share:.1%}".replace("%", " %") in " ".join(
            (is_conceptual.__doc__ or "").split()
        )


def code() -> Iterator[str]:
    """Yield each line of the package that is neither blank nor comment nor docstring."""
    for path in sorted(TREE.rglob("*.py")):
        source = path.read_text("utf-8")
        about = {
            line
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            for line in range(node.lineno, (node.end_lineno or 0) + 1)
        }
        for number, line in enumerate(source.splitlines(), 1):
            if number not in about and line.strip() and not line.lstrip().startswith("#"):
                yield line.strip()


def test_no_name_or_path_and_hardly_a_line_of_code_asks_for_meaning() -> None:
    paths = [path.relative_to(TREE).as_posix() for path in TREE.rglob("*.py")]
    lines = list(code())
    names = {
        node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else node.attr
        for path in TREE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Attribute)
    }
    assert len(paths) > 100
    assert len(names) > 1_000
    assert not any(map(is_conceptual, [*paths, *names]))
    assert len(lines) > 10_000
    assert sum(map(is_conceptual, lines)) / len(lines) < 0.012


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a.",
        "a/",
        "'",
        " '",
        "a_",
        "A",
        "/",
        "-",
        " -",
        "$",
        "9",
        "f",
        "?",
        "？",
        "\0",
        "x ",
        "(",
    ],
)
def test_a_hostile_query_costs_linear_time(unit: str) -> None:
    assert is_conceptual(unit * 300_000) is is_conceptual(unit * 100)
    assert pumps.is_linear(is_conceptual, pumps.Attack("", unit, ""))


@given(st.text())
def test_white_space_around_a_query_changes_nothing(query: str) -> None:
    assert is_conceptual(f" \n{query}\t") is is_conceptual(query)


# Keyword tools.


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("grep", True),
        ("Grep", True),
        ("rg", True),
        ("find", True),
        ("keyword_search", True),
        ("keywordSearch", True),
        ("Full-Text Search", True),
        ("full_text", True),
        ("mcp__files__grep", True),
        ("index.keyword_search", True),
        ("tools/fulltext", True),
        ("git grep", True),
        ("grep.", True),
        ("recall", False),
        ("expand", False),
        ("semantic_search", False),
        ("file_search", False),
        ("find_similar", False),
        ("grep.recall", False),
        ("grepper", False),
        ("", False),
        ("__", False),
    ],
)
def test_which_tools_look_for_words(tool: str, *, expected: bool) -> None:
    assert findings.is_keyword_tool(tool) is expected


def test_every_listed_name_is_found_as_it_is_listed() -> None:
    assert all(map(findings.is_keyword_tool, findings.KEYWORD_TOOLS))
