"""The page of known failures and its tests are in step."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
REPORT = re.compile(r"[\w.-]+/[\w.-]+#\d+")


def rows() -> set[tuple[str, frozenset[str]]]:
    """Return each test that the page names, with its reports."""
    page = (ROOT / "docs" / "evidence" / "known-failures.md").read_text("utf-8")
    cells = [line.split(" | ") for line in page.splitlines() if line.rstrip().endswith("` |")]
    return {(row[-1].strip("` |"), frozenset(REPORT.findall(row[0]))) for row in cells}


def documented() -> set[tuple[str, frozenset[str]]]:
    """Return each test, with the reports that its docstring names before the colon."""
    found = set()
    for file in (ROOT / "tests" / "known_failures").glob("test_*.py"):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                reports, colon, words = (ast.get_docstring(node) or "").partition(": ")
                assert colon, node.name
                assert words, node.name
                found.add((node.name, frozenset(REPORT.findall(reports))))
    return found


def test_each_report_of_the_page_has_its_test_and_the_reverse() -> None:
    elsewhere = {(name, reports) for name, reports in rows() if "::" in name}
    assert rows() - elsewhere == documented()
    assert all(reports for _, reports in rows())
    assert len(rows()) > 35
    for name, _ in elsewhere:
        file, _, test = name.partition("::")
        assert f"\ndef {test}(" in (ROOT / "tests" / file).read_text("utf-8"), name
