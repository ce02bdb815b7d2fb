"""Find the memories that a batch of texts replaces, or proposes to replace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.english.changes import Change
from graphmem.model import Status
from graphmem.rules.drafts import TextDraft
from graphmem.rules.duplicates import DuplicateVerdict
from graphmem.rules.read_options import next_instant


@dataclass(frozen=True, slots=True)
class Update:
    """A text of a batch, and the memories that its memory replaces or may replace."""

    draft: TextDraft
    newer_id: str
    older_ids: tuple[str, ...]
    replaces: bool
    """Whether it replaces them; otherwise it is proposed."""


@dataclass(slots=True)
class UpdateResolver:
    """Follows the chains of a batch text by text, so that each memory is replaced once.

    Args:
        scope: scope of the writer; memories of other scopes are never replaced.
    """

    scope: str
    _heads: dict[str, str] = field(default_factory=dict)
    """Newer memory by older one, of this batch."""
    _stated_at: dict[str, datetime] = field(default_factory=dict)
    """Time of the statement of each newer memory."""

    def resolve(
        self, draft: TextDraft, verdict: DuplicateVerdict
    ) -> tuple[TextDraft, Update | None]:
        """Return the draft, with its time after what it replaces, and its update.

        A text that is stated again after it was replaced always replaces its successors. The
        update is None for any other text to insert, a repeat of a current memory, a text to replace
        a memory that may be about another thing, and a text that arrives late: it was stated before
        what it would replace.
        """
        wanted, restored = draft.memory.on_update, verdict.restores
        returns = restored is not None and restored.status is Status.SUPERSEDED
        doubtful = wanted == "supersede" and verdict.change is Change.POSSIBLE
        if not returns and (wanted == "insert" or doubtful):
            return draft, None
        older = dict(self._older(verdict))
        newest = max((at for at in older.values() if at is not None), default=None)
        if not older or (draft.memory.at is not None and newest and draft.occurred_at < newest):
            return draft, None
        if draft.memory.at is None and newest is not None and draft.occurred_at <= newest:
            # A concurrent writer, or the same batch, stated it at this time or later.
            draft = replace(draft, occurred_at=next_instant(newest))
        replaces = returns or wanted == "supersede"
        if replaces:
            self._heads |= dict.fromkeys(older, verdict.memory_id)
            self._heads.pop(verdict.memory_id, None)
            self._stated_at[verdict.memory_id] = draft.occurred_at
        return draft, Update(draft, verdict.memory_id, tuple(sorted(older)), replaces)

    def _older(self, verdict: DuplicateVerdict) -> Iterator[tuple[str, datetime | None]]:
        """Yield the heads that a text replaces, with the time after which it does."""
        match, exact = verdict.update, verdict.restores
        if match is not None and match.scope == self.scope:
            head = self._head(match.id)
            if head != verdict.memory_id:
                yield head, self._stated_at.get(head, match.stated_at)
        elif exact is not None and exact.scope == self.scope and exact.status is Status.SUPERSEDED:
            for head_id in exact.head_ids:
                head = self._head(head_id)
                if head != verdict.memory_id:
                    yield head, self._stated_at.get(head, exact.corrected_at)
        elif verdict.memory_id in self._heads:
            head = self._head(verdict.memory_id)
            yield head, self._stated_at[head]

    def _head(self, memory_id: str) -> str:
        while memory_id in self._heads:
            memory_id = self._heads[memory_id]
        return memory_id
