"""What each text of a batch becomes: new, exact or near duplicate, in the order given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from graphmem.model import Outcome, Status
from graphmem.rules import calibration, duplicates
from graphmem.rules.drafts import TextDraft

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """A memory with exactly the offered content."""

    id: str
    scope: str
    status: Status
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearMatch:
    """A memory near the offered content."""

    id: str
    scope: str
    content: str
    tags: tuple[str, ...]
    similarity: float
    """Calibrated cosine, at most 1."""


@dataclass(frozen=True, slots=True)
class StoredMatches:
    """What a text met in the store."""

    exact: ExactMatch | None = None
    near: tuple[NearMatch, ...] = ()


@dataclass(frozen=True, slots=True)
class DuplicateVerdict:
    """What becomes of a text."""

    outcome: Outcome
    memory_id: str
    tags: tuple[str, ...]
    """The memory's, from now on."""
    score: float | None = None
    update_of: str | None = None
    restores: bool = False
    """It brings back a memory that was hidden."""

    @property
    def matched_id(self) -> str | None:
        """The memory that was already there."""
        return None if self.outcome is Outcome.INSERTED_NEW else self.memory_id


@dataclass(slots=True)
class DuplicateResolver:
    """Decides a batch text by text, remembering what earlier texts of it became.

    Args:
        scope: the writer's own.
        threshold: calibrated cosine from which a memory is near, in (0, 1].
        mu: the model's mean cosine between unrelated documents.
    """

    scope: str
    threshold: float
    mu: float
    _exact: dict[str, ExactMatch] = field(default_factory=dict)
    _near: dict[str, tuple[NearMatch, ...]] = field(default_factory=dict)
    _new: list[TextDraft] = field(default_factory=list)
    _vectors: npt.NDArray[np.float32] | None = None
    """float32[room, d]; row i belongs to draft i of `_new`, rows beyond them are unused."""
    _tags: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def decide(self, draft: TextDraft, met: StoredMatches, vector: Vector | None) -> DuplicateVerdict | None:
        """Return the verdict, or None when it takes the embedding that is not there."""
        exact = self._exact.get(draft.content_hash) or met.exact
        if exact is not None:
            self._exact[draft.content_hash] = ExactMatch(
                exact.id, exact.scope, Status.CURRENT, exact.tags
            )
            return DuplicateVerdict(
                outcome=Outcome.EXACT_DUPE,
                memory_id=exact.id,
                tags=self._united(exact.id, exact.scope, exact.tags, draft),
                score=1.0,
                restores=exact.status is not Status.CURRENT,
            )
        if vector is None:
            return None
        return self._near_or_new(draft, met, vector)

    def _near_or_new(self, draft: TextDraft, met: StoredMatches, vector: Vector) -> DuplicateVerdict:
        # A text that stands again in the batch is searched for once.
        stored = self._near.setdefault(draft.content_hash, met.near)
        near = sorted((*stored, *self._near_in_batch(vector)), key=lambda n: (-n.similarity, n.id))
        choice = duplicates.choose(
            draft.wish.content,
            [duplicates.SimilarMemory(n.id, n.content, n.similarity) for n in near],
            self.threshold,
        )
        if isinstance(choice, duplicates.RepeatedMemory):
            match = next(n for n in near if n.id == choice.memory_id)
            return DuplicateVerdict(
                outcome=Outcome.NEAR_DUPE,
                memory_id=match.id,
                tags=self._united(match.id, match.scope, match.tags, draft),
                score=match.similarity,
            )
        self._exact[draft.content_hash] = ExactMatch(draft.memory_id, self.scope, Status.CURRENT, ())
        self._keep(draft, vector)
        return DuplicateVerdict(
            outcome=Outcome.INSERTED_NEW,
            memory_id=draft.memory_id,
            tags=self._united(draft.memory_id, self.scope, (), draft),
            score=choice.similarity if choice else None,
            update_of=choice.memory_id if choice else None,
        )

    def _keep(self, draft: TextDraft, vector: Vector) -> None:
        count = len(self._new)
        if self._vectors is None:
            self._vectors = np.empty((16, len(vector)), dtype=np.float32)
        elif count == len(self._vectors):
            # Twice the room, so that a batch is copied a few times and not at each text.
            self._vectors = np.resize(self._vectors, (2 * count, len(vector)))
        self._vectors[count] = vector
        self._new.append(draft)

    def _near_in_batch(self, vector: Vector) -> list[NearMatch]:
        if self._vectors is None:
            return []
        cosines = self._vectors[: len(self._new)] @ vector
        least = calibration.raw(self.threshold, self.mu) - calibration.ROUNDING
        return [
            NearMatch(
                id=self._new[i].memory_id,
                scope=self.scope,
                content=self._new[i].wish.content,
                tags=(),
                similarity=calibration.calibrated(float(cosines[i]), self.mu),
            )
            for i in np.flatnonzero(cosines >= least).tolist()
        ]

    def _united(
        self, memory_id: str, scope: str, stored: Sequence[str], draft: TextDraft
    ) -> tuple[str, ...]:
        known = self._tags.get(memory_id, tuple(stored))
        # A writer in a private scope reinforces a shared memory without labelling it for everyone.
        added = draft.wish.tags if scope == self.scope else ()
        self._tags[memory_id] = tuple(sorted({*known, *added}))
        return self._tags[memory_id]
