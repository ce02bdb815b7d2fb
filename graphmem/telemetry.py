"""Receivers of graphmem's metrics and traces, for `GraphMem.open(telemetry=…)`."""

from __future__ import annotations

from graphmem.adapters.telemetry import OtelTelemetry, PrometheusTelemetry
from graphmem.ports import Telemetry

__all__ = ["OtelTelemetry", "PrometheusTelemetry", "Telemetry"]
