"""Who reads turns: a language model, the rules, or a callable of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from graphmem.errors import InvalidInputError
from graphmem.model import DismissedProposal, Proposal, Turn
from graphmem.ports import Llm, TokenUsage
from graphmem.rules import prompting
from graphmem.rules.extraction import asking, sentences
from graphmem.rules.extraction.asking import Vocabulary
from graphmem.rules.extraction.windows import TurnWindow

Extractor: TypeAlias = Callable[[Sequence[Turn]], Iterable[Proposal | Mapping[str, Any]]]
"""Takes turns that people said, in order, and returns what they are proposed to say. Its `name`, or
that of the function, tells what it has read before."""

_LONGEST_NAME = 200


class ReaderResult(NamedTuple):
    """What was made of a window."""

    proposals: Sequence[Proposal]
    refused: Sequence[DismissedProposal] = ()
    """What was no proposal at all."""
    raw: str | None = None
    """A model's own words."""


class ProposalReader(Protocol):
    """Makes proposals of turns."""

    @property
    def name(self) -> str:
        """What proposals depend on beside the turns."""
        ...

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:
        """Return what a window's turns are proposed to say; what that cost is put on the bill."""
        ...


class ModelReader:
    """A language model."""

    def __init__(self, llm: Llm) -> None:
        self._llm = llm
        self.name = f"{llm.name} {prompting.digest(asking.NAME)[:12]}"

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:
        """Ask about the window.

        Raises:
            ModelUnavailableError: it cannot be reached.
            ModelReplyError: it did not answer as it was asked to.
        """
        answer = await self._llm.answer(asking.prompt(window, known))
        bill.add(answer)
        proposals, refused = asking.proposals(answer.value, window)
        return ReaderResult(proposals, refused, answer.raw)


class RuleReader:
    """The forms of sentences that need no model."""

    name = sentences.NAME

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:  # noqa: ARG002
        """Look for the forms."""
        return ReaderResult(*sentences.read(window))


class CallReader:
    """A callable of the user's."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self.name = _named(extractor)[:_LONGEST_NAME]

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:  # noqa: ARG002
        """Call it. What it raises goes on to the caller.

        Raises:
            InvalidInputError: it returns no list.
        """
        given = self._extractor(window.people)
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InvalidInputError(
                f"The extractor {self.name!r} returned no list.", hint="Return a list, even of one."
            )
        made = [one if isinstance(one, Proposal) else _proposed(one) for one in given]
        return ReaderResult(
            [one for one in made if isinstance(one, Proposal)],
            [one for one in made if isinstance(one, DismissedProposal)],
        )


def _proposed(given: object) -> Proposal | DismissedProposal:
    return asking.proposed(given if isinstance(given, Mapping) else {})


def _named(extractor: Extractor) -> str:
    if isinstance(own := getattr(extractor, "name", None), str) and own.strip():
        return own
    of = extractor if hasattr(extractor, "__qualname__") else type(extractor)
    return f"{of.__module__}.{of.__qualname__}"
