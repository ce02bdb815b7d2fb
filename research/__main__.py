"""Command line of the research: `python -m research NAME`."""

from __future__ import annotations

from pathlib import Path

import click

from bench.commands import FOLDER, as_json, run

plots = click.option("--plots", type=FOLDER, help="Draw the figures in this folder, as SVG.")


@click.group()
def research() -> None:
    """Measure the quality of graphmem's formulas and policies; exit 1 if a target is missed."""


@research.command()
@plots
@as_json
def attention(plots: Path | None, *, as_json: bool) -> None:
    """Effect of ratings: simulated agents, drift, adversaries, pruning."""
    from research.attention.simulation import measure

    run(lambda steps: measure(steps, plots=plots), as_json=as_json)


@research.command()
@click.option("--data", type=FOLDER, help="Folder with the data sets.  [default: $GRAPHMEM_DATA]")
@plots
@as_json
def beliefs(data: Path | None, plots: Path | None, *, as_json: bool) -> None:
    """Accuracy of the belief formulas on public data, compared with simple rules."""
    from research.beliefs.quality import measure

    run(lambda steps: measure(steps, data=data, plots=plots), as_json=as_json)


@research.command()
@click.option("--beam", is_flag=True, help="Include BEAM.")
@as_json
def consolidation(*, beam: bool, as_json: bool) -> None:
    """Quality of beliefs: known facts, held-out sessions, drift, and parameter sweeps."""
    from research.consolidation.quality import measure

    run(lambda steps: measure(steps, beam=beam), as_json=as_json)


@research.command()
@click.option("--data", type=FOLDER, help="Folder with the data sets.  [default: $GRAPHMEM_DATA]")
@as_json
def gate(data: Path | None, *, as_json: bool) -> None:
    """Contradictions that flag a belief, on BEAM and VitaminC, by base and maximum of the gate."""
    from research.beliefs.gate import measure

    run(lambda steps: measure(steps, data), as_json=as_json)


@research.command()
@as_json
def token_basis(*, as_json: bool) -> None:
    """Fit the projection of token states again, on the texts of this project's documentation."""
    from research.token_basis import measure

    run(measure, as_json=as_json)


if __name__ == "__main__":
    research(prog_name="python -m research")
