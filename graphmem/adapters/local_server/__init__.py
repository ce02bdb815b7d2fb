"""The managed Neo4j: fetched on first use, started on demand, listening on loopback only."""

from graphmem.adapters.local_server.backup import Backup, back_up, restore
from graphmem.adapters.local_server.doctor import DoctorFinding, diagnose
from graphmem.adapters.local_server.lifecycle import (
    Endpoint,
    ServerStatus,
    browse_link,
    ensure,
    status,
    stop,
    stored_password,
)
from graphmem.maven import Progress, Report

__all__ = [
    "Backup",
    "DoctorFinding",
    "Endpoint",
    "Progress",
    "Report",
    "ServerStatus",
    "back_up",
    "browse_link",
    "diagnose",
    "ensure",
    "restore",
    "status",
    "stop",
    "stored_password",
]
