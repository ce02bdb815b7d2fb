"""Packages that only the extras of graphmem install."""

from __future__ import annotations

import importlib
from typing import Any

from graphmem.errors import ConfigurationError


def library(name: str, extra: str, feature: str = "This feature") -> Any:
    """Import a module that an extra of graphmem installs; `feature` is the subject of the error."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ConfigurationError(
            f"{feature} requires the package {name.partition('.')[0]}, which is not installed.",
            hint=f"Run: pip install 'graphmem[{extra}]'",
        ) from None
