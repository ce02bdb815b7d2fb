"""The managed Neo4j: fetched on first use, started on demand, listening on loopback only."""

from graphmem.adapters.local_server.backup import Backup, back_up, restore
from graphmem.adapters.local_server.doctor import diagnose
from graphmem.adapters.local_server.lifecycle import (
    browse_link,
    ensure,
    status,
    stop,
    stored_password,
)
from graphmem.adapters.local_server.records import (
    DoctorFinding,
    Endpoint,
    Progress,
    Report,
    ServerStatus,
)

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
