"""Methods of a handle that export a tenant to a file and import such a file."""

from __future__ import annotations

import os

from graphmem.client.given import file_of
from graphmem.client.state import HandleState, blocking
from graphmem.client.upkeep import AsyncUpkeep, Upkeep, rebuilt
from graphmem.model import ExportReport, ImportReport
from graphmem.operations import transferring
from graphmem.ports import OnPart, silent


class AsyncTransfer(AsyncUpkeep):
    """Methods that export and import a tenant, awaited."""

    async def export_to(
        self, path: str | os.PathLike[str], on_part: OnPart = silent
    ) -> ExportReport:
        """Write all data of the tenant, in all its scopes, to a file.

        The file is JSON Lines for `import_from`, without loss; the digest of each line covers all
        lines before it. It contains complete events recorded until the start of the export. Tags
        of memories, items and ratings have no history and are as they were when their page was
        read. The graph is read in pages, so its size is not limited.

        The file is called `path` with the suffix `.part`, readable only by its owner, and renamed
        at the end. Call again after an interruption to resume; the start of the export stays that
        of the first call.

        Args:
            path: path of the new file.
            on_part: progress callback; receives a label and the number of nodes after each page.

        Raises:
            ExportFileError: the file exists or cannot be written, or the partial file of an
                interrupted export is damaged or belongs to another tenant.
        """
        await self._state.flush()
        return await transferring.export(self._state.binding, file_of("path", path), on_part)

    async def import_from(
        self, path: str | os.PathLike[str], on_part: OnPart = silent
    ) -> ImportReport:
        """Import a file that `export_to` wrote, from any tenant, into this tenant.

        The whole file is checked before the first write. Then its records are written in batches
        under the tenant's write lock, and the caches are rebuilt. Existing data stays unchanged;
        events keep their recording times. Call again after an interruption: imported records are
        skipped.

        Args:
            path: path of the file.
            on_part: progress callback; receives `check` and a number of lines, then labels and
                numbers of nodes, then the progress of `rebuild`.

        Raises:
            ExportFileError: the file is not an export, is incomplete, was changed, or was written
                by a newer graphmem.
            ModelMismatchError: its embeddings are from another model; the error names both.
            ImportConflictError: a record contradicts existing data; the error names its line.
                Nothing of its batch of 500 is written, and earlier batches stay.
        """
        report = await transferring.take(self._state.binding, file_of("path", path), on_part)
        await rebuilt(self._state.binding, on_part)
        return report


class Transfer(Upkeep):
    """Methods that export and import a tenant; blocking twin of `AsyncTransfer`."""

    _state: HandleState

    export_to = blocking(AsyncTransfer.export_to)
    import_from = blocking(AsyncTransfer.import_from)
