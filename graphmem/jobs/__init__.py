"""Background jobs: which is due, and what their runs did."""

from graphmem.jobs.records import (
    FailedUnit,
    JobName,
    JobRun,
    WorkerReport,
)

__all__ = [
    "FailedUnit",
    "JobName",
    "JobRun",
    "WorkerReport",
]
