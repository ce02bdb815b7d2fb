"""Check what makes two names one thing."""

from __future__ import annotations

from collections.abc import Mapping

from graphmem.errors import InvalidInputError, NameChainError
from graphmem.rules.claims import folded


def check(name: tuple[str, str], other: tuple[str, str], stands: Mapping[str, str]) -> None:
    """Refuse what would make a chain of names.

    Args:
        name: what shall stand for the other, folded and as written.
        other: likewise.
        stands: what stands for what by now: canonical names as written, by folded others.

    Raises:
        InvalidInputError: the two are one name.
        NameChainError: a name would stand for one that itself stands for another.
    """
    (key, written), (other_key, other_written) = name, other
    if key == other_key:
        raise InvalidInputError(
            f"{written!r} stands for itself already.", hint="To undo a name, call `apart`."
        )
    if (further := stands.get(other_key)) is not None:
        raise NameChainError(
            f"{other_written!r} stands for {further!r} itself.", hint=f"Name {further!r} instead."
        )
    leaning = [one for one, to in stands.items() if folded(to) == key]
    if leaning:
        raise NameChainError(
            f"{len(leaning)} other names stand for {written!r}, as {leaning[0]!r} does.",
            hint=f"Let each of them stand for {other_written!r} first.",
        )
