"""What every test stands on: an empty environment, no network, profiles, and the fixtures."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase

from graphmem import setting_files

pytest_plugins = [
    "tests.plugins.server",
    "tests.plugins.repositories",
    "tests.plugins.encoder",
    "tests.plugins.tiers",
    "tests.plugins.graph",
    "tests.plugins.clients",
    "tests.plugins.ratings",
    "tests.plugins.chromium",
]

_SLOW_FIXTURES = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
for _name, _examples in (("dev", 30), ("check", 200), ("deep", 2_000)):
    hypothesis.settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize=bool(os.environ.get("CI")),
        database=None,
        # In CI a failing example is found, not made smaller: on a server that takes minutes.
        phases=set(Phase) - ({Phase.shrink} if os.environ.get("CI") else set()),
        print_blob=True,
        suppress_health_check=_SLOW_FIXTURES,
    )
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")
hypothesis.settings.load_profile(PROFILE)


def pytest_report_header() -> str:
    return f"hypothesis profile {PROFILE}"


@pytest.fixture(scope="session")
def _data_home(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder of the user's data in which the key of certificates is made."""
    return str(tmp_path_factory.mktemp("data"))


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch, _data_home: str) -> None:
    """No setting of the machine reaches a test, not from files either."""
    monkeypatch.setenv("XDG_DATA_HOME", _data_home)
    for name in [name for name in os.environ if name.startswith("GRAPHMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(setting_files.CONFIG, os.devnull)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches a model, or anything else beyond this machine.

    Session fixtures are set up before, so a server may still be fetched.
    """
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))


def _guarded(connect: Any) -> Any:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise AssertionError(f"a test tried to reach {address[0]}")
        return connect(self, address)

    return guarded


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
