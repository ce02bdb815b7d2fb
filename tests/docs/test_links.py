"""Links of pages lead to files and headings, and the calls that pages name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphmem import GraphMem, Session
from tests.plugins.twins import methods, public

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(
        file
        for top in ("docs", "cypher", "migrations")
        for file in sorted((ROOT / top).rglob("*.md"))
    ),
]
CALL = re.compile(r"`(?:client\.)?([a-z_.]+)\(")
FOREIGN = {
    *("help", "model_dump", "compile", "send", "sweep_ttl"),
    "prometheus_client.start_http_server",
    *("open_schema", "schema.finish", "schema.give_up"),
    *("chat.completions.create", "messages.create", "model.invoke", "agent.run_sync"),
}
"""Other calls that pages name: of Python, pydantic, chat libraries, Prometheus and the schema."""
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_links_of_a_page_work(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text("utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_calls_that_a_page_names_exist(page: Path) -> None:
    known = {*public(), *methods(Session), *methods(GraphMem), *FOREIGN}
    assert {*CALL.findall(page.read_text("utf-8"))} - known == set()


def test_the_navigation_leads_to_every_page() -> None:
    paths = set(re.findall(r"\S+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    docs = ROOT / "docs"
    assert paths == {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")}
