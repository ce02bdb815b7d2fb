"""`graphmem usage`: ratings, audit, packs, pruning and the search log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from graphmem.cli import options, output_files, parameters
from graphmem.cli.app import App
from graphmem.cli.derived import Group

ARTIFACTS = ("file", "symbol", "document")

usage = Group("usage", "Rate, audit and prune the memory by its search log.")

FOLDER = {"type": click.Path(file_okay=False, exists=True, path_type=Path), "metavar": "DIR"}


def _results(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> list[str | tuple[str, str]]:
    from graphmem.english import openings

    return [openings.result_of(one) for one in given]


def _is_lost(found: Mapping[str, int]) -> bool:
    return not found["logged"]


RESULT: dict[str, Any] = {
    "callback": _results,
    "help": "Id, path of a file, or symbol:NAME or document:NAME.",
}
usage.method(
    "usage.log_search", options.SESSION, changes={"results": RESULT}, fails=_is_lost, logs=True
)
usage.method("usage.log_access", options.SESSION, fails=_is_lost, logs=True)
usage.method(
    "usage.rate",
    more="A result that was opened in a session wins against the unopened results of the same "
    "search. The command is resumable, and concurrent runs are safe.",
    counters={"rating": "Ratings dropped", "session": "Sessions"},
)
usage.method("usage.ratings")
usage.method("usage.goals")
usage.method(
    "usage.audit",
    more="The exit code is 1 when there is a finding.",
    fails=lambda audit: bool(audit.findings),
)


usage.method("usage.dashboard")


@usage.runs("usage.prune", options.output("Write the manifest to this file, as JSON."))
def prune(app: App, *, output: Path | None, **run: Any) -> None:
    """Plan the pruning of unused episodes; --apply prunes them.

    Pruning archives episodes that are rated VERY_LOW or LOW and were not accessed for 30 days. It
    compresses the text of a LOW episode after 14 days. Memories, beliefs and pinned episodes stay.
    Nothing is deleted: `graphmem usage restore-pruned` restores it.
    """
    with app.client() as client:
        with app.counting({"rating": "Ratings examined"}) as on_progress:
            done = client.usage.prune(on_progress=on_progress, **parameters.grouped(run))
        if output is not None:
            output_files.write(output, done.model_dump_json(indent=2))
        app.emit(done, "usage.prune")


usage.method("usage.prune_manifest")
usage.method("usage.restore_pruned", counters={"item": "Items restored"})


@usage.runs(
    "usage.pack",
    options.output("Write the pack to this file and its manifest next to it."),
    changes={"root": FOLDER},
)
def pack(app: App, *, output: Path | None, **wanted: Any) -> None:
    """Pack the most used items into Markdown for a prompt.

    HIGH items are included whole, MEDIUM ones summarised, LOW ones as one line; VERY_LOW items are
    left out. With --root, files that agents touched are included with their text. With --output
    FILE.md, the manifest is written to FILE.manifest.json.
    """
    from graphmem.cli.views import usage as views

    with app.client() as client:
        found = client.usage.pack(**parameters.grouped(wanted))
    if output is not None:
        manifest = found.model_dump_json(indent=2, exclude={"text"})
        output_files.write(output, found.text)
        output_files.write(output.with_suffix(".manifest.json"), manifest)
    app.emit(found, lambda it: views.pack(it, found.text, output))


usage.method(
    "usage.roll_up",
    more="Ratings and accesses stay, and `rate --from-scratch` starts from the ratings of that "
    "time. The searches cannot be restored.",
    counters={"session": "Sessions", "search": "Others"},
)
