"""A Neo4j of graphmem's own: fetched on first use, started on demand, on loopback alone."""

from graphmem.adapters.local_server.doctor import diagnose
from graphmem.adapters.local_server.lifecycle import (
    browse_link,
    browser_url,
    ensure,
    status,
    stop,
    stored_password,
)
from graphmem.adapters.local_server.records import Endpoint, Finding, Progress, Report, ServerStatus

__all__ = [
    "Endpoint",
    "Finding",
    "Progress",
    "Report",
    "ServerStatus",
    "browse_link",
    "browser_url",
    "diagnose",
    "ensure",
    "status",
    "stop",
    "stored_password",
]
