"""Printed configurations represent every character."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInputError
from graphmem.mcp.clients import CLIENTS, KEY, Server
from tests.plugins import hostile

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | hostile.stored


@given(command=TEXTS, args=st.lists(TEXTS, max_size=4), value=TEXTS)
def test_codex_reads_every_text_unchanged(command: str, args: list[str], value: str) -> None:
    server = Server(command, tuple(args), {"GRAPHMEM_TENANT": value})
    printed = CLIENTS["codex"].text(server)
    found = tomllib.loads(printed)["mcp_servers"]["graphmem"]
    assert found == {"command": command, "args": args, "env": {"GRAPHMEM_TENANT": value}}
    assert hostile.found_in(printed) == set()


@given(url=TEXTS)
def test_codex_reads_every_url_unchanged(url: str) -> None:
    found = tomllib.loads(CLIENTS["codex"].text(Server(url=url)))["mcp_servers"]["graphmem"]
    assert found == {"url": url, "bearer_token_env_var": KEY}


def test_a_character_beyond_the_first_plane_is_valid_toml() -> None:
    server = Server("graphmem", ("--tenant", "a\U0001f600\U000e0041b"))
    printed = CLIENTS["codex"].text(server)
    assert "a\U0001f600\\U000E0041b" in printed
    assert tomllib.loads(printed)["mcp_servers"]["graphmem"]["args"] == list(server.args)


@pytest.mark.parametrize("half", hostile.SURROGATES)
def test_half_of_a_surrogate_pair_is_refused(half: str) -> None:
    with pytest.raises(InvalidInputError, match="not valid Unicode"):
        CLIENTS["codex"].text(Server(half))


@given(args=st.lists(hostile.texts, max_size=4))
def test_json_clients_read_every_text_unchanged(args: list[str]) -> None:
    printed = CLIENTS["cursor"].text(Server("graphmem", tuple(args)))
    assert json.loads(printed)["mcpServers"]["graphmem"]["args"] == args
    assert hostile.found_in(printed) == set()
