"""Receivers of graphmem's metrics and traces, for `GraphMem.open(telemetry=…)`."""

from __future__ import annotations

from graphmem.ports import Telemetry
from graphmem.telemetry.receivers import OtelTelemetry, PrometheusTelemetry

__all__ = ["OtelTelemetry", "PrometheusTelemetry", "Telemetry"]
