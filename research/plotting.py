"""Style and file output of the figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphmem.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A fixed salt makes the output reproducible byte by byte.
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "graphmem",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
COLOURS = ("#0b5394", "#cc4125", "#e69138", "#6aa84f", "#674ea7", "#7f7f7f", "#c27ba0")


def require_matplotlib() -> None:
    """Check that figures can be drawn.

    Raises:
        ConfigurationError: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(
            "Drawing figures needs matplotlib, which is not installed.",
            hint="pip install 'graphmem[plot]'",
        ) from error


def save(folder: Path, figures: Mapping[str, Figure]) -> list[Path]:
    """Write figures as SVG into a folder, created if missing; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in figures.items():
        path = folder / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None})
        paths.append(path)
    return paths
