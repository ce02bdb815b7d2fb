"""Starting the managed server with something to look at while it is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.adapters.local_server import Endpoint, Progress
    from graphmem.cli.app import App


def start(app: App) -> Endpoint:
    """Return the managed server's endpoint, with a bar while its files come.

    Raises:
        LocalServerError: it could not be fetched or started.
    """
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from graphmem.adapters import local_server
    from graphmem.cli.console import TaskLabel

    columns = (
        TaskLabel(),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with app.progress(*columns) as bars:
        bar = bars.add_task("", total=None, visible=False)

        def report(step: Progress) -> None:
            if step.bytes_total:
                bars.update(
                    bar,
                    description=f"Neo4j, {step.files_done} of {step.files_total} files",
                    completed=step.bytes_done,
                    total=step.bytes_total,
                    visible=True,
                )
            elif step.stage != "ready":
                app.report(step.text)

        return local_server.ensure(app.settings, report=report)
