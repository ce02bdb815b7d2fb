"""Results of a benchmark as tables and as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console

Cell: TypeAlias = str | float | int | bool | None
Row: TypeAlias = Mapping[str, Cell]

RESULTS = Path(__file__).parents[1] / "results"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the same columns."""

    title: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Report:
    """Results of one benchmark."""

    name: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    """Explanations of the figures for the reader."""
    setting: Row = field(default_factory=dict)
    """Parameters of the measurement: sizes, versions."""
    details: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """Further tables, which only the JSON contains."""

    @property
    def missed(self) -> bool:
        """Whether a figure misses its target."""
        return any(row.get("met") is False for table in self.tables for row in table.rows)

    def as_json(self) -> str:
        """Return the report as JSON, with the machine that it was made on."""
        return json.dumps(
            {
                "name": self.name,
                "at": datetime.now(UTC).isoformat(timespec="seconds"),
                "machine": machine(),
                "setting": dict(self.setting),
                "tables": {t.title: [dict(row) for row in t.rows] for t in self.tables},
                **{title: [dict(row) for row in rows] for title, rows in self.details.items()},
                "notes": list(self.notes),
            },
            ensure_ascii=False,
            indent=2,
        )

    def save(self) -> Path:
        """Write the JSON to results/ and return its path."""
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.name}.json"
        path.write_text(self.as_json() + "\n", encoding="utf-8")
        return path

    def show(self, console: Console) -> None:
        """Print the tables and the notes."""
        from rich.table import Table as View

        for table in self.tables:
            view = View(title=table.title, title_justify="left")
            for name in table.rows[0]:
                view.add_column(name, justify="left" if _is_text(table, name) else "right")
            for row in table.rows:
                view.add_row(*(shown(cell) for cell in row.values()))
            console.print(view)
        for note in self.notes:
            console.print(f"[dim]{note}[/dim]")


def machine() -> Row:
    """Return the machine's speed-relevant properties and its current load."""
    return {
        "processors": os.cpu_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load_1_min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def shown(cell: Cell) -> str:
    """Return a cell as text, with numbers to three digits."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def spread(name: str, values: Sequence[float]) -> dict[str, Cell]:
    """Return median, minimum and maximum as three columns of one name."""
    return {
        name: statistics.median(values),
        f"{name} min": min(values),
        f"{name} max": max(values),
    }


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed.

    Args:
        values: At least one value.
        share: Share in (0, 1].
    """
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def _is_text(table: Table, column: str) -> bool:
    return any(isinstance(row[column], str) for row in table.rows)
