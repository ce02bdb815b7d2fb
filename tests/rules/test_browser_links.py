"""Links to Neo4j Browser: where it is served, what they carry, and what they never do."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.rules.urls import browser_url, deep_link


@pytest.mark.parametrize(
    ("uri", "browser"),
    [
        ("bolt://127.0.0.1:7687", "http://127.0.0.1:7474/browser/"),
        ("neo4j://graph.example.org", "http://graph.example.org:7474/browser/"),
        ("bolt://[::1]:7687", "http://[::1]:7474/browser/"),
        ("neo4j+s://graph.example.org:7687", "https://graph.example.org:7473/browser/"),
        ("bolt+ssc://graph.example.org", "https://graph.example.org:7473/browser/"),
        ("neo4j+s://1a2b.databases.neo4j.io", "https://browser.neo4j.io/"),
    ],
)
def test_where_browser_is_served(uri: str, browser: str) -> None:
    assert browser_url(uri, 7474) == browser


def test_a_link_names_server_user_database_and_query() -> None:
    link = deep_link("http://h:7474/browser/", "bolt://h:7687", "a@b", "RETURN 1;", "notes")
    assert link.startswith("http://h:7474/browser/?")
    assert parse_qs(urlsplit(link).query) == {
        "dbms": ["bolt://a%40b@h:7687"],
        "db": ["notes"],
        "cmd": ["edit"],
        "arg": ["RETURN 1;"],
    }


def test_what_is_not_given_is_not_there() -> None:
    link = deep_link("http://h:7474/browser/", "bolt+ssc://h", "neo4j")
    assert parse_qs(urlsplit(link).query) == {"dbms": ["bolt+s://neo4j@h"]}


@given(query=st.text(st.characters(exclude_characters="&#?", exclude_categories=["Cs"])))
def test_browser_reads_the_query_back(query: str) -> None:
    """It decodes the whole address first, and then looks for the next & or #."""
    link = deep_link("http://h:7474/browser/", "bolt://h:7687", "neo4j", f"x{query}")
    address = unquote(link.replace("+", " "), errors="strict")
    assert address.partition("&arg=")[2] == f"x{query}"
