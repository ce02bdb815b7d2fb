"""Each public name is on exactly one page of the reference; generated parts are current."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import graphmem
from graphmem import GraphMem, Handle, Session, errors, model
from graphmem.local_server.plugin.java_source import procedure_specs
from graphmem.mcp.tools import TOOLS
from graphmem.model import EventType
from graphmem.settings import FIELDS, PREFIX, Settings
from tests.docs.api_reference import FEATURES
from tests.docs.openapi_document import document
from tests.docs.reference_pages import FOLDER, PARTS, commands, page, subclasses
from tests.plugins.twins import exported, methods, public

ROUTES = document()["paths"]
PAGES = {file.stem: file.read_text("utf-8") for file in FOLDER.glob("*.md")}
HEADING, ROW, ITEM = r"^#{2,4} ([^`\n]+)$", r"^\| `([^`]+)` \|", r"^- `(graphmem\.[^`]+)`:"
NAMES: dict[str, tuple[str, set[str]]] = {
    "cli": (HEADING, {words for words, _ in commands()}),
    "errors": (HEADING, {kind.code for kind in subclasses(errors.GraphmemError)}),
    "events": (ROW, set(EventType)),
    "http": (ROW, {f"{verb.upper()} {path}" for path, verbs in ROUTES.items() for verb in verbs}),
    "mcp": (ROW, set(TOOLS)),
    "procedures": (ITEM, {one.name for one in procedure_specs(Settings())}),
    "python": (
        HEADING,
        {
            *public(),
            *(f"GraphMem.{name}" for name in {*methods(GraphMem)} - {*public()}),
            *(f"session.{name}" for name in {*methods(Session)} - {*methods(Handle)}),
        },
    ),
    "settings": (ROW, {PREFIX + name.replace(".", "__").upper() for name in FIELDS}),
}
"""Names that the code declares, by the page that has them, with the form of an entry."""
BY_STATUS = ("no_route", "method_not_allowed")
"""Codes of answers of the framework, by their status."""


@pytest.mark.parametrize("name", PARTS)
def test_a_generated_part_is_current(name: str) -> None:
    assert (FOLDER / f"{name}.md").read_text("utf-8") == page(name), "run `just api`"


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_on_its_page_once_and_on_no_other(name: str) -> None:
    form, names = NAMES[name]
    found = {page: Counter(re.findall(form, text, re.MULTILINE)) for page, text in PAGES.items()}
    assert {one: found[name][one] for one in names if found[name][one] != 1} == {}
    assert {other: entries.keys() & names for other, entries in found.items()} == {
        other: names if other == name else set() for other in found
    }


def test_the_codes_of_requests_are_on_the_page_of_errors() -> None:
    folder = Path(graphmem.__file__).parent / "serve"
    source = "".join(file.read_text("utf-8") for file in folder.glob("*.py"))
    found = {*re.findall(r"(?:Problem|__init__)\(\s*\d+,\s*\"(\w+)\"", source), *BY_STATUS}
    assert set(re.findall(ROW, PAGES["errors"], re.MULTILINE)) == found - NAMES["errors"][1]


def test_each_class_is_on_one_page_once() -> None:
    found = Counter(re.findall(r"^#+ (\w+)$", PAGES["python"] + PAGES["records"], re.MULTILINE))
    found.update(re.findall(r"^- `(\w+)(?: =|`:)", PAGES["records"], re.MULTILINE))
    found.update(re.findall(r"^`(\w+Error)` ", PAGES["errors"], re.MULTILINE))
    names = {*graphmem.__all__, *(name for home in (model, *FEATURES) for name in exported(home))}
    assert {name for name in names if found[name.removeprefix("Async")] != 1} == set()
