"""Measuring a model's mean cosines on a sample of unrelated texts that the package carries."""

from __future__ import annotations

import json
from importlib.resources import files

from graphmem.ports import Embedder, Role
from graphmem.rules.calibration import Calibration, mean_cosine


async def measure(embedder: Embedder) -> Calibration:
    """Return the model's mean cosines; it embeds 100 short texts, 3 s with the local model.

    Raises:
        ModelUnavailableError: the model cannot be reached or refuses the key.
        ModelReplyError: its answer is not one vector a text.
    """
    sample = json.loads(files("graphmem").joinpath("data/calibration.json").read_text("utf-8"))
    statements = await embedder.embed(sample["statements"], Role.DOCUMENT)
    questions = await embedder.embed(sample["questions"], Role.QUERY)
    return Calibration(
        mu_document=mean_cosine(statements), mu_query=mean_cosine(questions, statements)
    )
