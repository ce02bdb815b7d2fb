"""What reading a conversation file gathers: messages with stable ids, problems with their place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphmem.adapters.conversations.fields import message_of
from graphmem.errors import SourceFileError
from graphmem.model import Message, Record
from graphmem.rules import gathering


class FileProblem(Record):
    """One thing in a conversation file that could not be taken."""

    line: int | None
    """From 1, in a JSON Lines file; None in a JSON document, where the reason names the place."""
    reason: str

    @property
    def text(self) -> str:
        """Place and reason in one phrase."""
        return self.reason if self.line is None else f"line {self.line}: {self.reason}"


class Conversation(Record):
    """The messages of one conversation in the order of the file; each has an id."""

    name: str
    messages: tuple[Message, ...]


class ConversationFile(Record):
    """Everything that could be read from one file, and what could not."""

    conversations: tuple[Conversation, ...]
    problems: tuple[FileProblem, ...]


class FileReading:
    """The memory of one reading: problems so far and ids met."""

    def __init__(self, path: Path, *, strict: bool) -> None:
        self.path = path
        self.strict = strict
        self.problems: list[FileProblem] = []
        self._met: dict[tuple[str | None, str], str] = {}

    @contextmanager
    def place(self, place: int | str) -> Iterator[None]:
        """Refuse what cannot be taken inside, as `refuse` does."""
        try:
            yield
        except SourceFileError as error:
            self.refuse(place, error.message)

    def refuse(self, place: int | str, reason: str) -> None:
        """Note a problem of this line (a number) or place (words).

        Raises:
            SourceFileError: the reading is strict.
        """
        problem = (
            FileProblem(line=place, reason=reason)
            if isinstance(place, int)
            else FileProblem(line=None, reason=f"{place}: {reason}")
        )
        if self.strict:
            raise SourceFileError(
                f"{self.path}: {problem.text}.",
                hint="Nothing was taken. Mend it, or read without strict to keep the rest.",
            )
        self.problems.append(problem)

    def message(self, raw: object) -> Message:
        """Return the message in a parsed JSON value, with its own id if it has one.

        Raises:
            SourceFileError: the value is no message, or its id was used for another.
        """
        message = message_of(raw)
        if message.id is None:
            return message
        fingerprint = gathering.fingerprint(message)
        if self._met.setdefault((message.session, message.id), fingerprint) != fingerprint:
            raise SourceFileError(f"id {message.id[:80]!r} was used before for another message")
        return message
