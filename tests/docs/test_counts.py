"""Each number of things that a page counts is the number that the code has."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.local_server.plugin.java_source import procedure_specs
from graphmem.mcp.resources import offered_prompts
from graphmem.mcp.tools import offered
from graphmem.settings import Settings
from tests.acceptance import test_lookahead as lookahead
from tests.jobs import test_workers_stopped as stopped
from tests.plugins import poison

ROOT = Path(__file__).parents[2]
GENERATED = ("python", "records", "cli", "errors", "events")
PAGES = {
    path.relative_to(ROOT).as_posix(): " ".join(path.read_text("utf-8").split())
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if path.stem not in GENERATED and path.parent.name != "development"
}
WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen", "twenty"),
)
NUMBER = rf"\b(\d[\d,]*|{'|'.join(WORDS[2:])})"
THINGS = (
    r"(?: [a-z-]+)? (?:procedures|tools|commands|prompts|resources|jobs|metrics|alerts|panels|"
    r"settings|migrations|namespaces|attacks|carriers|profiles|event types|error codes|reads)\b"
)

COUNTED: dict[tuple[str, str], Callable[[], int]] = {
    ("docs/reference/procedures.md", rf"There are {NUMBER}, all of them"): (
        lambda: len(procedure_specs(Settings()))
    ),
    ("docs/reference/mcp.md", rf"the {NUMBER} tools of everyday use"): lambda: len(core()),
    ("docs/reference/mcp.md", rf"The {NUMBER} tools were chosen"): lambda: len(core()),
    ("docs/reference/mcp.md", rf"and {NUMBER} prompts: `ask`"): (
        lambda: len(offered_prompts(read_only=False))
    ),
    ("docs/evidence/reliability.md", rf"of each of {NUMBER} jobs"): lambda: len(stopped.JOBS),
    ("docs/explanation/trust.md", rf"the {NUMBER} reads that take a time"): lambda: len(
        lookahead.READS
    ),
    ("docs/explanation/trust.md", rf"proposes {NUMBER} tests that"): (
        lambda: len(re.findall(r"\| \d+ \|", PAGES["docs/explanation/trust.md"]))
    ),
    ("docs/explanation/trust.md", rf"stores {NUMBER} hostile texts"): (
        lambda: len(poison.ATTACKS) * len(poison.CARRIERS)
    ),
    ("docs/explanation/trust.md", rf"texts, {NUMBER} attacks"): lambda: len(poison.ATTACKS),
    ("docs/explanation/trust.md", rf"attacks in {NUMBER} carriers"): lambda: len(poison.CARRIERS),
}
OTHERS = {
    ("docs/explanation/consolidation.md", "Two jobs"): "which two, follows",
    ("docs/evidence/reliability.md", "10,000 command"): "runs of a measurement",
    ("docs/evidence/reliability.md", "10,000 calls"): "runs of a measurement",
}
"""Numbers of such words that count nothing that the code has."""


def core() -> set[str]:
    return set(offered("core", read_only=False))


def value(text: str) -> int:
    return WORDS.index(text) if text in WORDS else int(text.replace(",", ""))


@pytest.mark.parametrize(("page", "pattern"), COUNTED, ids=[f"{p} {s}" for p, s in COUNTED])
def test_a_count_is_that_of_the_code(page: str, pattern: str) -> None:
    [found] = re.findall(pattern, PAGES[page])
    assert value(found) == COUNTED[page, pattern]()


def test_no_count_is_left_out() -> None:
    unknown = []
    for page, text in PAGES.items():
        checked = [found.span() for p, s in COUNTED if p == page for found in re.finditer(s, text)]
        for found in re.finditer(NUMBER + THINGS, text, re.IGNORECASE):
            inside = any(start <= found.start() and found.start() < end for start, end in checked)
            named = any(p == page and found[0].startswith(words) for p, words in OTHERS)
            if not (inside or named):
                unknown.append(f"{page}: {found[0]}")
    assert unknown == []
