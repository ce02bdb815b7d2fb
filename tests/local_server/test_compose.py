"""The compose file runs the same Neo4j, on loopback, with a password that must be given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from graphmem.local_server.files import HARDENING, PLANS, VECTORS
from graphmem.local_server.jars import shipped_lock


@pytest.fixture(scope="module")
def neo4j() -> Any:
    text = Path(__file__).parents[2].joinpath("docker-compose.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["services"]["neo4j"]


def test_it_is_the_locked_version(neo4j: Any) -> None:
    assert neo4j["image"] == f"neo4j:{shipped_lock().neo4j}-community"


def test_it_listens_on_loopback_alone(neo4j: Any) -> None:
    assert len(neo4j["ports"]) == 2
    assert all(port.startswith("127.0.0.1:") for port in neo4j["ports"])


def test_the_password_must_come_from_the_environment(neo4j: Any) -> None:
    assert neo4j["environment"]["NEO4J_AUTH"].startswith("neo4j/${GRAPHMEM_PASSWORD:?")


def test_it_is_hardened_and_set_like_the_managed_server(neo4j: Any) -> None:
    for name, value in (HARDENING | PLANS | VECTORS).items():
        variable = "NEO4J_" + name.replace("_", "__").replace(".", "_")
        assert neo4j["environment"][variable] == value


def test_it_keeps_its_data_and_is_watched(neo4j: Any) -> None:
    assert "data:/data" in neo4j["volumes"]
    assert neo4j["healthcheck"]["test"][0] == "CMD-SHELL"
