"""What is done to texts before any model sees them."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.errors import InvalidInputError

CHARS_READ = 8_000
"""A longer text is embedded by its beginning. No model here reads more than some 8,000 tokens, and
the local one needs 0.4 s for 1,000 characters, so 1 MB would hold a caller for minutes."""


def cleaned(texts: Sequence[str]) -> list[str]:
    """Return the texts as models take them: stripped, cut, without NUL, which ends a text in C.

    Raises:
        InvalidInputError: a text is blank, no string, or holds a lone surrogate; names its index.
    """
    if isinstance(texts, str):
        raise InvalidInputError("A list of texts is needed, not one string.")
    return [_cleaned(index, text) for index, text in enumerate(texts)]


def _cleaned(index: int, text: object) -> str:
    if not isinstance(text, str):
        raise InvalidInputError(f"Text {index} is a {type(text).__name__}, not a string.")
    bare = text.replace("\0", " ").strip()[:CHARS_READ]
    if not bare:
        raise InvalidInputError(
            f"Text {index} is blank, so there is nothing to embed.", hint="Leave it out."
        )
    try:
        bare.encode()
    except UnicodeEncodeError as error:
        where = error.start
    else:
        return bare
    raise InvalidInputError(
        f"Text {index} has a lone surrogate at position {where}, which UTF-8 cannot hold.",
        hint='Decode its source with errors="replace".',
    )


def batches(texts: Sequence[str], size: int) -> list[list[str]]:
    """Return the texts in groups of at most `size`, each group of similar length.

    Most models pad a group to its longest text.
    """
    ordered = sorted(texts, key=len)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]
