"""The part of a handle that writes a tenant to a file and takes such a file in."""

from __future__ import annotations

import os

from graphmem.client.given import file_of
from graphmem.client.state import HandleState, blocking
from graphmem.client.upkeep import AsyncUpkeep, Upkeep, rebuilt
from graphmem.model import ExportReport, ImportReport
from graphmem.operations import transferring
from graphmem.ports import OnPart, silent


class AsyncTransfer(AsyncUpkeep):
    """Export and import of a tenant, awaited."""

    async def export_to(
        self, path: str | os.PathLike[str], on_part: OnPart = silent
    ) -> ExportReport:
        """Write everything that the tenant owns, all its scopes, to a file.

        JSON Lines, made for `import_from`: nothing is lost, and each line is bound to all before
        it. What was recorded until the export began is in the file and what is recorded later is
        not, each event whole; a memory's tags, items and ratings, which have no history, are as
        they were when their page was read. Memory is read in pages, so any size will do.

        The file is written as `path` and `.part`, readable by its owner alone, and renamed at the
        end. Interrupted, call it again: it goes on where it stopped, with what was recorded when
        it first began.

        Args:
            path: of a file that is not there yet.
            on_part: told after each page a label and how many nodes were written.

        Raises:
            ExportFileError: the file is there already or cannot be written, or what an interrupted
                export left is of another tenant or damaged.
        """
        await self._state.flush()
        return await transferring.export(self._state.binding, file_of("path", path), on_part)

    async def import_from(
        self, path: str | os.PathLike[str], on_part: OnPart = silent
    ) -> ImportReport:
        """Take a file that `export_to` wrote into this tenant, whatever tenant it is of.

        The file is checked whole before the first write. Then its records are written in batches,
        under the lock that other writers take, and at the end the caches are made anew. What the
        tenant has already stays as it is; events keep the time they were recorded. Interrupted,
        call it again: what was taken is passed over.

        Args:
            path: of the file.
            on_part: told `check` and lines, then labels and nodes, then as `rebuild` tells.

        Raises:
            ExportFileError: the file is no export, not whole, changed, or of a newer graphmem.
            ModelMismatchError: its embeddings are of another model; both are named.
            ImportConflictError: a record contradicts what is there. Its line is named; of its
                batch of 500 nothing is written, and earlier batches stay.
        """
        done = await transferring.take(self._state.binding, file_of("path", path), on_part)
        await rebuilt(self._state.binding, on_part)
        return done


class Transfer(Upkeep):
    """Export and import of a tenant, blocking: the twin of `AsyncTransfer`."""

    _state: HandleState

    export_to = blocking(AsyncTransfer.export_to)
    import_from = blocking(AsyncTransfer.import_from)
