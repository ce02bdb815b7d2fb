"""Go through the lines of an export, each checked against all before it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from graphmem.errors import ExportFileError
from graphmem.ports import Exports
from graphmem.rules.transfer_records import End, Header, Node, Reader


async def lines(
    exports: Exports, path: Path, reader: Reader
) -> AsyncIterator[tuple[int, Header | Node | End]]:
    """Yield what each whole line says and the offset at which the line ends.

    A last line without an end is passed over: it was cut off.

    Raises:
        ExportFileError: a line is not as it was written, or nothing that an export writes; names
            the line.
    """
    start = 0
    while found := await exports.lines(path, start):
        for line in found:
            if not line.endswith(b"\n"):
                return
            start += len(line)
            yield start, reader.read(line)


async def records(exports: Exports, path: Path) -> AsyncIterator[Header | Node]:
    """Yield the header of a whole file, then its nodes.

    Raises:
        ExportFileError: the file cannot be read, a line cannot be taken, or the end is missing;
            what was yielded before is to be forgotten.
    """
    reader = Reader()
    async for _, found in lines(exports, path, reader):
        if not isinstance(found, End):
            yield found
    if not reader.ended:
        raise ExportFileError(
            f"The export is not whole: it ends after line {reader.chain.number}.",
            hint="Nothing was taken from it. Fetch it again; an export that was interrupted goes "
            "on when it is started again.",
        )
