"""The jar: the same bytes from the same sources, made once, and never in the way of a start."""

from __future__ import annotations

import logging
import os
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from graphmem import local_server, maven
from graphmem.errors import ConfigurationError, ProceduresNotBuiltError, ServerFetchError
from graphmem.local_server.jars import shipped_lock
from graphmem.local_server.java import find_java
from graphmem.local_server.plugin import building
from graphmem.local_server.plugin.building import BuildPlan
from graphmem.maven import Jar, Progress
from graphmem.settings import Settings
from tests.plugins.server import Server
from tests.procedures.conftest import Asked


def silent(_: Progress) -> None:
    """Hear no report."""


@pytest.fixture
def built(server: Server, server_settings: Settings) -> Path:
    """The jar that the session's server loaded."""
    if server.kind != "managed":
        pytest.skip(f"the server of {server.kind} has no plugin of procedures")
    return building.build(server_settings, report=silent)


@pytest.fixture
def nowhere(tmp_path: Path) -> Settings:
    """Settings of an empty cache that cannot be filled."""
    return Settings(
        cache=tmp_path / "cache", home=tmp_path / "home", maven_mirror="http://127.0.0.1:1"
    )


@pytest.mark.system
def test_compiled_twice_it_is_the_same_octets(
    built: Path, server_settings: Settings, tmp_path: Path
) -> None:
    plan, java = BuildPlan.of(server_settings), find_java(server_settings)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        building.write_jar(
            building.compile_sources(plan, java, tmp_path / name), tmp_path / f"{name}.jar"
        )
    made = (tmp_path / "first.jar").read_bytes()
    assert made == (tmp_path / "second.jar").read_bytes() == built.read_bytes()


def test_it_is_made_once_and_found_again(built: Path, server_settings: Settings) -> None:
    old = time.time() - 9_999
    os.utime(built, (old, old))
    steps: list[Progress] = []
    assert building.build(server_settings, report=steps.append) == built
    assert steps == []
    assert built.stat().st_mtime > old + 9_000


@pytest.mark.parametrize("damage", [b"", pytest.param(b"x" * 99, marks=pytest.mark.system)])
def test_a_damaged_one_is_made_again(built: Path, server_settings: Settings, damage: bytes) -> None:
    whole = built.read_bytes()
    built.write_bytes(damage or whole[:-2_000] + bytes(1_000) + whole[-1_000:])
    assert building.build(server_settings, report=silent).read_bytes() == whole


def test_another_weight_is_another_jar(built: Path, server_settings: Settings) -> None:
    other = server_settings.model_copy(update={"source_weights": {"TOOL": 0.5}})
    assert BuildPlan.of(server_settings).jar == built
    assert BuildPlan.of(other).jar != built


def test_the_jar_holds_classes_that_the_oldest_java_reads(built: Path) -> None:
    with zipfile.ZipFile(built) as jar:
        classes = [jar.read(name) for name in jar.namelist() if name.endswith(".class")]
        assert b"graphmem procedures" in jar.read("META-INF/MANIFEST.MF")
    # The first is 45, of Java 1.
    assert {int.from_bytes(content[6:8], "big") for content in classes} == {44 + 21}


def test_it_is_loaded_by_the_version_of_the_compose_file(asked: Asked) -> None:
    compose = Path(__file__).parents[2].joinpath("docker-compose.yml").read_text("utf-8")
    neo4j = yaml.safe_load(compose)["services"]["neo4j"]
    [row] = asked.run(
        "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' "
        "RETURN versions[0] AS version"
    )
    assert neo4j["image"] == f"neo4j:{row['version']}-community"
    assert asked.run(
        "SHOW PROCEDURES YIELD name WHERE name STARTS WITH 'graphmem.' RETURN count(*) > 60 AS many"
    ) == [{"many": True}]
    assert any(volume.endswith(":/plugins") for volume in neo4j["volumes"])


def test_what_cannot_be_fetched_is_told_and_not_tried_again_at_once(
    nowhere: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ServerFetchError):
        building.build(nowhere, report=silent)
    steps: list[Progress] = []
    with caplog.at_level(logging.WARNING, "graphmem"):
        assert building.jar_for_start(nowhere, steps.append) is None
    assert steps == []
    [record] = caplog.records
    assert "without graphmem's procedures, as before" in record.getMessage()
    assert "could not be fetched" in record.getMessage()
    [finding] = [one for one in local_server.diagnose(nowhere) if one.name == "procedures"]
    assert finding.level == "warn"
    assert "could not be fetched" in finding.message
    old = time.time() - maven.RETRY_S - 1
    os.utime(BuildPlan.of(nowhere).failure_note, (old, old))
    caplog.clear()
    assert building.jar_for_start(nowhere, steps.append) is None
    assert steps[-1].stage in {"licence", "fetch"}
    [finding] = [one for one in local_server.diagnose(nowhere) if one.name == "procedures"]
    assert finding.level == "warn"


def test_a_start_without_java_or_a_folder_says_so(
    nowhere: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    for settings in (
        nowhere.model_copy(update={"java": tmp_path}),
        nowhere.model_copy(update={"cache": tmp_path / "file"}),
    ):
        caplog.clear()
        with pytest.raises(ConfigurationError):
            building.build(settings, report=silent)
        assert building.jar_for_start(settings, silent) is None
        assert "without graphmem's procedures" in caplog.text


def test_what_the_compiler_refuses_is_shown(
    built: Path, server_settings: Settings, tmp_path: Path
) -> None:
    plan = replace(
        BuildPlan.of(server_settings), texts={"graphmem/Wrong.java": "class Right { int }"}
    )
    with pytest.raises(ProceduresNotBuiltError) as caught:
        building.compile_sources(plan, find_java(server_settings), tmp_path)
    assert "Wrong.java" in str(caught.value)
    assert "ERROR" in str(caught.value)


@pytest.mark.system
def test_what_was_left_and_what_is_old_goes(built: Path, server_settings: Settings) -> None:
    folder = built.parent
    (folder / "tmp-left").mkdir()
    stale, fresh = folder / "graphmem-0.plugin.jar", folder / "graphmem-1.plugin.jar"
    for path in (stale, fresh):
        path.write_bytes(b"")
    long_ago = time.time() - maven.UNUSED_S - 1
    os.utime(stale, (long_ago, long_ago))
    try:
        # Nobody has asked for these weights before.
        weights = {"TOOL": 0.123 + time.time() % 0.1}
        other = server_settings.model_copy(update={"source_weights": weights})
        made = building.build(other, report=silent)
        assert not (folder / "tmp-left").exists()
        assert not stale.exists()
        assert fresh.exists()
        assert built.exists()
        made.unlink()
    finally:
        fresh.unlink(missing_ok=True)


def test_other_plugins_are_left_alone(built: Path, tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    building.remove(plugins)
    assert building.install(built, plugins) == plugins / building.FILE
    (plugins / "other.jar").write_bytes(b"other")
    building.install(built, plugins)
    assert (plugins / building.FILE).read_bytes() == built.read_bytes()
    building.remove(plugins)
    assert [path.name for path in plugins.iterdir()] == ["other.jar"]


@pytest.mark.system
def test_a_server_starts_without_procedures_when_they_cannot_be_built(
    server_settings: Settings,
    built: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    absent = Jar("org.example:compiler:1", "0" * 64, 1)
    lock = replace(shipped_lock(), compiler=absent)
    monkeypatch.setattr(building, "shipped_lock", lambda: lock)
    settings = server_settings.model_copy(
        update={"home": tmp_path, "heap": "256m", "maven_mirror": "http://127.0.0.1:1"}
    )
    building.install(built, tmp_path / "server" / "plugins")
    try:
        found = local_server.ensure(settings)
        assert "without graphmem's procedures" in caplog.text
        assert not (tmp_path / "server" / "plugins" / building.FILE).exists()
        assert found.uri
    finally:
        local_server.stop(settings)
        BuildPlan.of(settings).failure_note.unlink(missing_ok=True)
