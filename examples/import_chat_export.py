"""Import the text export of a messenger, one conversation a day, and ask it.

    python import_chat_export.py "Alice" chat.txt "Where does Ben live?"

The lines of the file are like "12/03/2025, 09:15 - Ben: I moved to Porto."
"""

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from graphmem import GraphMem, Message

DAY = r"\d\d/\d\d/\d{4}, "
MESSAGE = re.compile(rf"^({DAY}\d\d:\d\d) - ([^:\n]+): (.*(?:\n(?!{DAY}).*)*)", re.MULTILINE)


def messages(export: str) -> Iterator[Message]:
    """Yield the messages of an export, all of them by people."""
    for time, name, text in MESSAGE.findall(export):
        at = datetime.strptime(time, "%d/%m/%Y, %H:%M").replace(tzinfo=UTC)
        yield Message(role="user", name=name, content=text.strip(), at=at, session=f"{at:%Y-%m-%d}")


me, file, question = sys.argv[1:]
with GraphMem.open() as client:
    memory = client.tenant("examples").scope(f"user:{me.lower()}")
    report = memory.ingest(messages(Path(file).read_text("utf-8")))
    print(f"{report.turns_added} of {report.messages} messages are new.")
    for found in memory.recall(question, limit=3).bites:
        print(f"- {found.text}")
