"""Cached facets of a memory for searches by tag and source, and when they are stale."""

from __future__ import annotations

from typing import Any

import pytest

from graphmem.rules import fulltext, identity

KEYS = identity.facet_keys("acme", ["x"], ["chat", "mail"])
ROW: dict[str, Any] = {
    "id": "m_1",
    "tags": ["x"],
    "event_sources": ["chat", "mail"],
    "sources": ["chat", "mail"],
    "facet_keys": KEYS,
}


def test_what_is_right_stays() -> None:
    assert fulltext.facet_row("acme", ROW) == {
        "id": "m_1",
        "sources": ["chat", "mail"],
        "facet_keys": KEYS,
    }
    assert not fulltext.has_stale_facets("acme", ROW)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"sources": None},
        {"sources": ["chat"]},
        {"sources": ["chat", "mail", "other"]},
        {"facet_keys": None},
        {"facet_keys": KEYS[1:]},
        {"facet_keys": [*KEYS, "0" * 32]},
        {"tags": []},
        {"event_sources": ["chat"]},
    ],
)
def test_what_is_not_is_found(spoilt: dict[str, Any]) -> None:
    assert fulltext.has_stale_facets("acme", ROW | spoilt)


def test_another_tenant_has_other_keys() -> None:
    assert fulltext.has_stale_facets("other", ROW)
