"""The managed Neo4j: fetched on first use, started on demand, listening on loopback only."""

from graphmem.local_server.backup import Backup as Backup
from graphmem.local_server.backup import back_up as back_up
from graphmem.local_server.backup import restore as restore
from graphmem.local_server.compaction import Compaction as Compaction
from graphmem.local_server.compaction import compact as compact
from graphmem.local_server.doctor import DoctorFinding as DoctorFinding
from graphmem.local_server.doctor import diagnose as diagnose
from graphmem.local_server.files import DataFolder as DataFolder
from graphmem.local_server.lifecycle import Endpoint as Endpoint
from graphmem.local_server.lifecycle import ServerStatus as ServerStatus
from graphmem.local_server.lifecycle import browse_link as browse_link
from graphmem.local_server.lifecycle import ensure as ensure
from graphmem.local_server.lifecycle import running_uri as running_uri
from graphmem.local_server.lifecycle import status as status
from graphmem.local_server.lifecycle import stop as stop
from graphmem.local_server.lifecycle import stored_password as stored_password
from graphmem.local_server.process import log_in as log_in
from graphmem.local_server.warming import plan_first_reads as plan_first_reads
from graphmem.local_server.warming import plan_in_progress as plan_in_progress
from graphmem.maven import Progress as Progress
from graphmem.maven import Report as Report
