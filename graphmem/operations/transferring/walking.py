"""Go through the lines of an export, each checked against all before it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from graphmem.errors import ExportFileError
from graphmem.ports import Exports
from graphmem.rules import transfer
from graphmem.rules.transfer import Chain


async def lines(exports: Exports, path: Path, chain: Chain) -> AsyncIterator[tuple[int, Any]]:
    """Yield each whole line's record and the offset at which the line ends.

    A last line without an end is passed over: it was cut off.

    Raises:
        ExportFileError: a line is not as it was written; names it.
    """
    start = 0
    while found := await exports.lines(path, start):
        for line in found:
            if not line.endswith(b"\n"):
                return
            start += len(line)
            yield start, chain.read(line)


async def records(exports: Exports, path: Path) -> AsyncIterator[tuple[int, Mapping[str, Any]]]:
    """Yield the records of a whole file with the numbers of their lines, its header first.

    Raises:
        ExportFileError: the file cannot be read, a line is not as it was written, or the end is
            missing; what was yielded before is to be forgotten.
    """
    chain, counts, ended = Chain(), transfer.Counts(), False
    async for _, record in lines(exports, path, chain):
        if ended:
            raise ExportFileError(f"Line {chain.number} follows the end of the export.")
        if chain.number == 1:
            transfer.checked_header(record)
        elif record.get("end"):
            ended = record == counts.end()
        else:
            counts.add(record)
        yield chain.number, record
    if not ended:
        raise ExportFileError(
            f"The export is not whole: it ends after line {chain.number}.",
            hint="Nothing was taken from it. Fetch it again; an export that was interrupted goes "
            "on when it is started again.",
        )
