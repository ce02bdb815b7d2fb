"""Rerankers against a loopback service that fails in every way we know."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from graphmem.errors import (
    ConfigurationError,
    GraphmemError,
    ModelReplyError,
    ModelUnavailableError,
)
from graphmem.models import open_reranker
from graphmem.models.embedding import CHARS_READ
from graphmem.settings import Settings
from tests.plugins.loopback import KEY, chain

if TYPE_CHECKING:
    from tests.models.reranking.conftest import Connect, RerankService

TEXTS = ("bb", "a longer text", "c")
SCORES = [0.02, 0.13, 0.01]
both_kinds = pytest.mark.parametrize("name", ["http", "litellm"])


@pytest.mark.usefixtures("both_clients")
@both_kinds
def test_scores_are_in_the_order_of_the_texts(
    connect: Connect, service: RerankService, name: str
) -> None:
    assert connect(name).rerank("which?", *TEXTS) == pytest.approx(SCORES)
    [body] = service.bodies
    assert (body["query"], body["documents"], body["top_n"]) == ("which?", [*TEXTS], 3)
    assert service.keys == [f"Bearer {KEY}"] or service.keys == [f"bearer {KEY}"]
    assert service.paths == ["/v1/rerank" if name == "http" else "/v1/v2/rerank"]


@pytest.mark.parametrize("refusal", [400, 422])
def test_a_service_that_takes_texts_gets_them(
    connect: Connect, service: RerankService, refusal: int
) -> None:
    service.takes, service.refusal = "texts", refusal
    talk = connect()
    assert talk.rerank("which?", *TEXTS) == pytest.approx(SCORES)
    assert talk.rerank("which?", *TEXTS) == pytest.approx(SCORES)
    assert ["documents" in body for body in service.bodies] == [True, False, False]
    assert service.bodies[1] == {"query": "which?", "texts": [*TEXTS], "truncate": True}


def test_scores_under_data_are_read(connect: Connect, service: RerankService) -> None:
    service.play(service.json({"data": [{"index": 0, "relevance_score": 1}]}))
    assert connect().rerank("which?", "a") == [1.0]


@both_kinds
def test_long_texts_and_questions_are_cut(
    connect: Connect, service: RerankService, name: str
) -> None:
    connect(name).rerank("q" * 100_000, "t" * 100_000)
    [body] = service.bodies
    assert len(body["query"]) == len(body["documents"][0]) == CHARS_READ


WRONG: list[tuple[str, list[tuple[Any, Any]], str]] = [
    ("too few", [(0, 0.1), (2, 0.2)], "2 scores for 3 texts"),
    ("none", [], "0 scores for 3 texts"),
    ("twice", [(0, 0.1), (1, 0.2), (1, 0.3)], "two scores for one text"),
    ("too many", [(0, 0.1), (1, 0.2), (2, 0.3), (2, 0.3)], "two scores for one text"),
    ("beyond", [(0, 0.1), (1, 0.2), (3, 0.3)], "outside 0 to 2"),
    ("negative", [(0, 0.1), (1, 0.2), (-1, 0.3)], "outside 0 to 2"),
    ("NaN", [(0, 0.1), (1, float("nan")), (2, 0.3)], "not finite"),
    ("infinite", [(0, 0.1), (1, float("-inf")), (2, 0.3)], "not finite"),
    ("words", [(0, 0.1), (1, "high"), (2, 0.3)], "not finite"),
    ("yes", [(0, 0.1), (1, True), (2, 0.3)], "not finite"),
    ("huge", [(0, 0.1), (1, 10**400), (2, 0.3)], "not finite"),
    ("half", [(0, 0.1), (0.5, 0.2), (2, 0.3)], "outside 0 to 2"),
    ("true", [(0, 0.1), (True, 0.2), (2, 0.3)], "outside 0 to 2"),
    ("null", [(None, 0.1), (None, 0.2), (None, 0.3)], "outside 0 to 2"),
]


@pytest.mark.parametrize(("case", "pairs", "message"), WRONG, ids=[case for case, _, _ in WRONG])
def test_scores_that_do_not_fit_are_refused(
    connect: Connect,
    service: RerankService,
    case: str,
    pairs: list[tuple[Any, Any]],
    message: str,
) -> None:
    service.play(service.results(pairs))
    with pytest.raises(ModelReplyError, match=message):
        connect().rerank("which?", *TEXTS)


SHAPES = [b"{}", b"[1, 2]", b'"x"', b'{"results": {"0": 1}}', b'[{"score": 1}]', b'[["index", 0]]']


@pytest.mark.parametrize("body", SHAPES)
def test_another_shape_is_refused(connect: Connect, service: RerankService, body: bytes) -> None:
    service.play(service.text(body))
    with pytest.raises(ModelReplyError, match=r"no list of results|without index or score"):
        connect().rerank("which?", "a", "b")


FAULTS: list[tuple[str, Callable[[RerankService], Any], type[GraphmemError], str]] = [
    ("401", lambda s: s.status(401, f"bad {KEY}"), ModelUnavailableError, "key was rejected"),
    ("403", lambda s: s.status(403, f"bad {KEY}"), ModelUnavailableError, "key was rejected"),
    ("404", lambda s: s.status(404, f"no {KEY}"), ModelUnavailableError, "No such model"),
    ("413", lambda s: s.status(413, f"no {KEY}"), ModelReplyError, "Request rejected"),
    ("429", lambda s: s.status(429, f"no {KEY}"), ModelUnavailableError, "No response"),
    ("500", lambda s: s.status(500, f"no {KEY}"), ModelUnavailableError, "No response"),
    ("html", lambda s: s.text(b"<html>"), ModelReplyError, "Unreadable|Request rejected"),
    ("not utf-8", lambda s: s.text(b"\xff\xfe{"), ModelReplyError, "Unreadable|Request rejected"),
    ("cut off", lambda s: s.cut_off, ModelUnavailableError, "No response"),
    ("reset", lambda s: s.reset, ModelUnavailableError, "No response"),
]


@both_kinds
@pytest.mark.parametrize(
    ("case", "fault", "kind", "message"), FAULTS, ids=[case for case, _, _, _ in FAULTS]
)
def test_a_fault_is_reported_once_without_the_key(
    connect: Connect,
    service: RerankService,
    caplog: pytest.LogCaptureFixture,
    name: str,
    case: str,
    fault: Callable[[RerankService], Any],
    kind: type[GraphmemError],
    message: str,
) -> None:
    caplog.set_level(logging.DEBUG, "graphmem")
    service.play(fault(service))
    with pytest.raises(kind, match=message) as raised:
        connect(name).rerank("which?", *TEXTS)
    assert len(service.bodies) == 1
    shown = [repr(error) + str(error) for error in chain(raised.value)]
    assert KEY not in " ".join([*shown, raised.value.hint, caplog.text])


def test_a_service_that_refuses_both_forms_is_reported(
    connect: Connect, service: RerankService
) -> None:
    service.takes = "pairs"
    with pytest.raises(ModelReplyError, match="missing field `pairs`") as raised:
        connect().rerank("which?", *TEXTS)
    assert "GRAPHMEM_RERANKER_MAX_CANDIDATES" in raised.value.hint
    assert len(service.bodies) == 2


def test_a_redirect_is_not_followed(connect: Connect, service: RerankService) -> None:
    service.play(service.status(307, Location=f"{service.url}/elsewhere"))
    with pytest.raises(ModelReplyError, match="Request rejected"):
        connect().rerank("which?", *TEXTS)
    assert service.paths == ["/v1/rerank"]


@pytest.mark.parametrize(("name", "slowness"), [("http", "hang"), ("litellm", "drip")])
def test_a_slow_service_ends_with_the_time_budget(
    connect: Connect, service: RerankService, name: str, slowness: str
) -> None:
    talk = connect(name)
    talk.rerank("which?", "a")  # litellm is imported
    service.play(getattr(service, slowness))
    talk = connect(name, reranker_timeout_s=0.3)
    started = time.monotonic()
    with pytest.raises(ModelUnavailableError, match=r"no complete reply within 0\.3 s"):
        talk.rerank("which?", *TEXTS)
    # Far less than the service would take.
    assert time.monotonic() - started < 25
    assert talk.waits.pauses == []


def test_both_forms_share_one_time_budget(connect: Connect, service: RerankService) -> None:
    service.takes = "texts"
    talk = connect(reranker_timeout_s=0.4)
    # On a busy machine the time can be over before the second request is sent.
    while len(service.bodies) < 2:
        service.bodies.clear()
        service.replies.clear()
        service.play(service.status(422), service.hang)
        with pytest.raises(ModelUnavailableError, match=r"no complete reply within 0\.4 s"):
            talk.rerank("which?", *TEXTS)
    assert len(service.bodies) == 2


@both_kinds
def test_a_huge_reply_is_not_read_to_its_end(
    connect: Connect, service: RerankService, name: str
) -> None:
    service.play(service.endless)
    with pytest.raises(ModelReplyError, match=r"longer than 1,048,000 bytes"):
        connect(name, reranker_max_candidates=1, reranker_timeout_s=30).rerank("which?", "a")
    assert service.hung_up.wait(300)
    assert service.sent_bytes < 50_000_000


def test_a_closed_port(connect: Connect) -> None:
    url = "http://user:opensesame@127.0.0.1:9/rerank?token=opensesame"
    talk = connect(reranker=url, reranker_key=None)
    with pytest.raises(ModelUnavailableError, match=r"at http://127\.0\.0\.1:9 after") as raised:
        talk.rerank("which?", *TEXTS)
    shown = [repr(error) + str(error) for error in chain(raised.value)]
    assert "opensesame" not in " ".join([*shown, raised.value.hint, talk.reranker.name])


def test_no_key_is_no_header(connect: Connect, service: RerankService) -> None:
    connect(reranker_key=None).rerank("which?", *TEXTS)
    assert service.keys == [None]


def test_a_name_without_a_service_is_a_wrong_setting(connect: Connect) -> None:
    with pytest.raises(ConfigurationError, match="provider of model 'unknown'") as raised:
        connect(reranker="unknown").rerank("which?", *TEXTS)
    assert "GRAPHMEM_RERANKER" in raised.value.hint


@pytest.mark.parametrize("url", ["ftp://host/rerank", "http://", "https://:0", "http://h:99999"])
def test_an_address_that_is_none_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="GRAPHMEM_RERANKER must be an http or https"):
        open_reranker(Settings(reranker=url), awaited=False)


def test_a_key_that_cannot_be_sent_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigurationError, match="GRAPHMEM_RERANKER_KEY") as raised:
        open_reranker(Settings(reranker="http://h", reranker_key="two\nlines"), awaited=False)
    assert "lines" not in str(raised.value).replace("line breaks", "")


def test_names_and_representations_have_no_secrets(connect: Connect) -> None:
    for talk in (
        connect(),
        connect("litellm"),
        connect(reranker="https://u:opensesame@h.example/"),
    ):
        shown = f"{talk.reranker!r} {vars(talk.reranker)!r} {talk.reranker.name}"
        assert KEY not in shown
        assert "opensesame" not in shown


def test_there_is_none_without_the_setting() -> None:
    assert open_reranker(Settings(), awaited=False) is None


def test_nothing_is_imported_before_it_is_used() -> None:
    code = """
import sys
from graphmem.models import open_reranker
from graphmem.settings import Settings
open_reranker(Settings(reranker="http://127.0.0.1:1"), awaited=False)
open_reranker(Settings(reranker="cohere/m"), awaited=True)
print([name for name in ("litellm", "aiohttp") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
