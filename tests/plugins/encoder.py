"""The English encoder, from the user's cache or fetched once per run."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from graphmem.local_server.lifecycle import ignore_progress
from graphmem.models.local import fetch_encoder
from graphmem.settings import Settings


@pytest.fixture(scope="session")
def encoder_settings(server_settings: Settings) -> Settings:
    """Settings whose cache has the files of the encoder; the tests that follow have no network."""
    if find_spec("onnxruntime") is None:
        pytest.skip("no onnxruntime here")

    fetch_encoder(server_settings, ignore_progress)
    return server_settings.model_copy(update={"embedder_cache": False})
