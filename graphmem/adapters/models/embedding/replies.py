"""Checks on what a model answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmem.errors import ModelReplyError

if TYPE_CHECKING:
    from graphmem.ports import Matrix


def in_order(reply: Any, count: int) -> list[Any]:
    """Return the vectors of an OpenAI-like embedding reply, one per text, in the texts' order.

    Args:
        reply: has `data`, a list of items with `embedding` and, unless they are in order, `index`.
        count: how many texts were sent.

    Raises:
        ModelReplyError: another number of vectors, or indices that are not 0 to count - 1.
    """
    items = getattr(reply, "data", None)
    if not isinstance(items, list):
        raise ModelReplyError("The embedding service answered without a list of vectors.")
    if len(items) != count:
        raise ModelReplyError(
            f"The embedding service answered {len(items)} vectors for {count} texts.",
            hint="Lower GRAPHMEM_EMBEDDER_BATCH if the service takes fewer texts at once.",
        )
    try:
        vectors = [item["embedding"] for item in items]
        indices = [item.get("index") for item in items]
    except (AttributeError, KeyError, TypeError) as error:
        raise ModelReplyError("The embedding service answered an item without a vector.") from error
    if all(index is None for index in indices):
        return vectors
    placed = dict(zip(indices, vectors, strict=True))
    if set(placed) != set(range(count)):
        raise ModelReplyError(
            f"The embedding service numbered {count} vectors {indices[:10]}, not from 0 on."
        )
    return [placed[index] for index in range(count)]


def unit_rows(raw: Sequence[Any] | Matrix, *, count: int, dimension: int | None) -> Matrix:
    """Return float32[count, dimension] with rows of length 1.

    Args:
        raw: what the model answered, one row a text.
        count: how many rows there must be.
        dimension: how long they must be; None if that is not known yet.

    Raises:
        ModelReplyError: wrong shape, a value that is not a finite number, or a zero vector.
    """
    try:
        rows = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelReplyError(
            "The model answered something other than rows of numbers of one length."
        ) from error
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:
        raise ModelReplyError(f"The model answered shape {rows.shape} for {count} texts.")
    if dimension is not None and rows.shape[1] != dimension:
        raise ModelReplyError(
            f"The model answered {rows.shape[1]} numbers a text where {dimension} were expected.",
            hint="Check GRAPHMEM_EMBEDDER and GRAPHMEM_EMBEDDER_DIMENSION; if another model now "
            "answers under this name, give it a name of its own.",
        )
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if wrong.size:
        raise ModelReplyError(f"The model answered NaN or infinity in row {wrong[0]}.")
    # Divided by the largest first, so that squares neither overflow nor vanish.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    wrong = np.flatnonzero(largest == 0)
    if wrong.size:
        raise ModelReplyError(f"The model answered a vector of zeros in row {wrong[0]}.")
    rows = rows / largest
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(unit, dtype=np.float32)
