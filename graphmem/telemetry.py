"""Receivers of graphmem's metrics and traces, for `GraphMem.open(telemetry=…)`."""

from __future__ import annotations

from graphmem.adapters.telemetry.counting import PrometheusTelemetry
from graphmem.adapters.telemetry.tracing import OtelTelemetry
from graphmem.ports import Telemetry

__all__ = ["OtelTelemetry", "PrometheusTelemetry", "Telemetry"]
