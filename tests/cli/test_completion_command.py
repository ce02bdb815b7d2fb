"""`graphmem admin completion`: scripts, where they are written, and what a shell is offered."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from graphmem.cli import cli, main
from graphmem.cli.completion import completion_script


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of this test's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["admin", "completion", *args])
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", ".local/share/bash-completion/completions/graphmem"),
        ("zsh", ".zfunc/_graphmem"),
        ("fish", ".config/fish/completions/graphmem.fish"),
    ],
)
def test_a_script_is_printed_or_installed(
    home: Path, shell: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shell) == 0
    script = capsys.readouterr().out
    assert "_GRAPHMEM_COMPLETE" in script
    assert not (home / file).exists()
    assert run(shell, "--install") == 0
    assert (home / file).read_text() == script
    assert str(home / file) in capsys.readouterr().out


def test_an_unwritable_folder_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".zfunc").write_text("a file")
    assert run("zsh", "--install") == 1
    assert str(home / ".zfunc" / "_graphmem") in capsys.readouterr().err
    assert run("tcsh") == 2


def offered(home: Path, words: str) -> list[str]:
    """Return what bash is offered for the last of some words."""
    asked = f"""
        graphmem() {{ {sys.executable} -m graphmem "$@"; }}
        COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        source {home}/script
        _graphmem_completion graphmem
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_and_options(home: Path) -> None:
    # bash calls the program by its first word.
    script = completion_script("bash").replace("$1)", f"{sys.executable} -m graphmem)")
    (home / "script").write_text(script)
    assert offered(home, "graphmem rec") == ["recall"]
    assert offered(home, "graphmem memory re") == ["reject", "remember", "restore"]
    assert "--json" in offered(home, "graphmem recall --j")


@pytest.mark.parametrize(
    ("given", "near"),
    [("recal", "'recall'"), ("wyh", "'why'"), ("memroy", "'memory' or 'demo'")],
)
def test_the_nearest_command_is_named(
    given: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([given])
    assert ended.value.code == 2
    assert f"No such command '{given}'. Did you mean {near}?" in capsys.readouterr().err


def test_the_first_word_is_completed_without_imports() -> None:
    asked = (
        "import sys; from graphmem.cli import cli; import click;"
        "names = [item.value for item in cli.shell_complete(click.Context(cli), 're')];"
        "print(names, 'graphmem.cli.memory' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "['recall'] False\n"
    assert [item.value for item in cli.shell_complete(click.Context(cli), "--v")] == ["--version"]
