"""Which Host headers a server answers."""

from __future__ import annotations

import pytest

from graphmem.rules import urls


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
