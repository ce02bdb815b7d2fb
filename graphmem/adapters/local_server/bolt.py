"""Connections to a server: whether its Bolt port answers, a login, and a driver."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from pydantic import SecretStr

from graphmem.adapters.local_server.records import USER
from graphmem.errors import GraphAccessError, GraphUnavailableError

if TYPE_CHECKING:
    from neo4j import Driver

_HANDSHAKE = bytes.fromhex("6060b017" + "00000805" + "00" * 12)
"""Bolt handshake that offers versions 5.8 to 5.0."""


def answers(port: int, *, timeout_s: float = 1.0) -> bool:
    """Return whether a Bolt server answers the handshake on this loopback port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout_s) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(_HANDSHAKE)
            reply = connection.recv(4)
    except OSError:
        return False
    return len(reply) == 4 and reply != bytes(4)


def log_in(uri: str, user: str, password: SecretStr | None) -> str:
    """Log in and return the server's name and version, such as `Neo4j/2026.08.1`.

    Raises:
        GraphAccessError: it rejected the credentials.
        GraphUnavailableError: it cannot be reached, or the address is invalid.
    """
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, ConfigurationError, DriverError, Neo4jError

    secret = password.get_secret_value() if password else ""
    try:
        with GraphDatabase.driver(
            uri, auth=(user, secret), connection_timeout=10, telemetry_disabled=True
        ) as driver:
            return str(driver.get_server_info().agent)
    except AuthError:
        raise GraphAccessError from None
    except (DriverError, Neo4jError, ConfigurationError, ValueError, OSError) as error:
        raise GraphUnavailableError(f"Neo4j at {uri} cannot be reached: {error}.") from None


def connect(uri: str, password: SecretStr) -> Driver:
    """Return a driver of the managed server; it ignores notifications about an empty graph."""
    from neo4j import GraphDatabase

    return GraphDatabase.driver(
        uri,
        auth=(USER, password.get_secret_value()),
        telemetry_disabled=True,
        notifications_min_severity="OFF",
    )
