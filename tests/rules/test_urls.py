"""Links to Neo4j Browser, and the `Host` headers that a server accepts."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.rules import urls
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


def test_a_server_is_known_by_loopback_and_by_its_address() -> None:
    assert urls.host_headers("127.0.0.1", 9464) == [
        "127.0.0.1:9464",
        "localhost:9464",
        "[::1]:9464",
    ]
    assert "[fe80::1]:9464" in urls.host_headers("fe80::1", 9464)
    assert {"10.0.0.7:80", "10.0.0.7"} <= set(urls.host_headers("10.0.0.7", 80))


@pytest.mark.parametrize(
    "header", ["localhost:9464", "127.0.0.1:9464", "graphmem.example", "any.example:7"]
)
def test_its_names_are_accepted(header: str) -> None:
    allowed = [*urls.host_headers("127.0.0.1", 9464), "graphmem.example", "any.example:*"]
    assert urls.accepts_host(header, allowed)


@pytest.mark.parametrize(
    "header",
    [
        *("", "evil.example", "evil.example:9464", "localhost:9465", "localhost"),
        *("localhost:9464.evil", "127.0.0.1:9464@evil.example", "any.example"),
        "[::1]:9464, evil.example",
    ],
)
def test_other_names_are_refused(header: str) -> None:
    allowed = [*urls.host_headers("127.0.0.1", 9464), "graphmem.example", "any.example:*"]
    assert not urls.accepts_host(header, allowed)
