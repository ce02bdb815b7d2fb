"""The address that servers over HTTP listen at."""

from __future__ import annotations

import socket

import pytest

from graphmem.errors import ConfigurationError
from graphmem.serve.listening import ListenAddress


def test_an_answer_is_sent_at_once() -> None:
    with (
        ListenAddress().opened() as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_refused() -> None:
    with ListenAddress().opened() as listening:
        port = listening.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port}"):
            ListenAddress(port=port).opened()
