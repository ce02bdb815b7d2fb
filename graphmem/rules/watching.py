"""Observer of a recall: what each of its steps left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from graphmem.model import AnyBite
    from graphmem.rules.cutoff import Ending, Likeness
    from graphmem.rules.late_interaction import MaxSim
    from graphmem.rules.ranking import Candidates, Ranked, Ranking

Step: TypeAlias = Literal["read", "listed"]
"""The results that were read in full, and the list that has each statement once."""


class Watch:
    """Observer of a recall. This one ignores what it sees."""

    def ranked(
        self,
        order: Ranking,
        candidates: Candidates,
        late: MaxSim | None,
        shortlist: Sequence[Ranked],
    ) -> None:
        """Note the candidates, and the best of them, which are read in full.

        Args:
            order: what ranks them.
            candidates: all that the lists found.
            late: late interaction of the candidates; None if it was not computed.
            shortlist: the best; empty if none is similar enough to the question.
        """

    def listed(self, step: Step, bites: Sequence[AnyBite]) -> None:
        """Note the results after a step."""

    def ended(self, bites: Sequence[AnyBite], ending: Ending, likeness: Likeness) -> None:
        """Note where the list ends.

        Args:
            bites: the results within the limit.
            ending: those of them that are returned.
            likeness: likeness of the results to the question.
        """


UNWATCHED = Watch()


class Steps(Watch):
    """The results of each step of a recall."""

    order: Ranking
    candidates: Candidates
    late: MaxSim | None
    shortlist: Sequence[Ranked]
    limited: Sequence[AnyBite] = ()
    """Results within the limit."""
    ending: Ending | None = None
    likeness: Likeness

    def __init__(self) -> None:
        self.bites: dict[Step, Sequence[AnyBite]] = {}
        """Results after each step."""

    def ranked(
        self,
        order: Ranking,
        candidates: Candidates,
        late: MaxSim | None,
        shortlist: Sequence[Ranked],
    ) -> None:
        """Keep the candidates and the shortlist."""
        self.order, self.candidates, self.late, self.shortlist = order, candidates, late, shortlist

    def listed(self, step: Step, bites: Sequence[AnyBite]) -> None:
        """Keep the results of a step."""
        self.bites[step] = bites

    def ended(self, bites: Sequence[AnyBite], ending: Ending, likeness: Likeness) -> None:
        """Keep the end of the list."""
        self.limited, self.ending, self.likeness = bites, ending, likeness

    def every(self) -> list[Ranked]:
        """Return all candidates in the order of their score, with the parts of it.

        Turns that repeat a text more often than a recall reads it are left out.
        """
        count = len(self.candidates.ids)
        whole = replace(self.order, limit=count, by={**self.order.by, "beliefs": count})
        found = whole.best(self.candidates, self.late)
        return sorted(found, key=lambda one: (-one.score, self.candidates.ids[one.place]))
