"""Every program of examples/ runs, on a real server and with a model on loopback."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from graphmem import Handle
from graphmem.settings import Settings
from tests.plugins.chat_service import KEY, ChatService, Reply
from tests.plugins.children import variables_of
from tests.plugins.loopback import send

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
LONGEST = 60
Run = Callable[..., str]


class Model(ChatService):
    """A model that answers with what its system message knows; it streams and calls tools."""

    def behave(self, body: dict[str, Any]) -> Reply:
        messages = body["messages"]
        if body.get("tools") and messages[-1]["role"] == "user":
            return self.calling(messages[-1]["content"])
        known = "".join(m["content"] for m in messages if m["role"] in ("system", "tool"))
        asked = next(m["content"] for m in reversed(messages) if m["role"] == "user")
        reply = "Noted."
        if asked.endswith("?"):
            reply = next((fact for fact in FACTS if fact in known), "I do not know.")
        return self.streaming(reply) if body.get("stream") else self.chat(reply)

    @staticmethod
    def calling(asked: str) -> Reply:
        """Answer with a call of a tool, as a model does that was told to."""
        name, given = ("context", "about") if asked.endswith("?") else ("remember", "content")
        function = {"name": name, "arguments": json.dumps({given: asked})}
        call = {"id": "c1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        return ChatService.text(json.dumps(body | {"choices": [choice]}).encode())

    @staticmethod
    def streaming(text: str) -> Reply:
        """Answer word by word."""
        body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        parts = [{"index": 0, "delta": {"content": word}} for word in re.findall(r"\S+\s*", text)]
        lines = [f"data: {json.dumps(body | {'choices': [part]})}\n\n" for part in parts]
        content = "".join([*lines, "data: [DONE]\n\n"]).encode()
        return lambda handler: send(handler, 200, content, {"Content-Type": "text/event-stream"})


FACTS = ("I moved to Porto.", "I take the night train to Porto.", "We lint with ruff.")


@pytest.fixture
def model() -> Iterator[Model]:
    with Model.opened() as opened:
        yield opened


@pytest.fixture
def prepared(
    migrated: Settings, tenant: str, model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[str], Path]:
    """Return a function that returns an example as a file for an unused tenant."""
    variables = variables_of(migrated, tenant) | {
        "GRAPHMEM_EMBEDDER": "hash",
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": KEY,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    def prepare(name: str) -> Path:
        text = (EXAMPLES / name).read_text("utf-8")
        assert '"examples"' in text
        copy = tmp_path / name
        copy.write_text(text.replace('"examples"', repr(tenant)), "utf-8")
        return copy

    return prepare


@pytest.fixture
def run(
    prepared: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Return a function that runs an example and returns what it prints."""

    def started(name: str, *arguments: str, typed: str = "") -> str:
        program = prepared(name)
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        runpy.run_path(str(program), run_name="__main__")
        return capsys.readouterr().out

    return started


def test_a_chat_remembers_and_streams(run: Run, model: Model) -> None:
    assert run("chat_streaming.py", typed="I moved to Porto.\n") == "Noted.\n"
    assert run("chat_streaming.py", typed="Where did I move to?\n") == "I moved to Porto.\n"
    assert all(body["stream"] for body in model.bodies)


def test_users_of_a_service_do_not_share_a_memory(prepared: Callable[[str], Path]) -> None:
    place = importlib.util.spec_from_file_location("fastapi_users", prepared("fastapi_users.py"))
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    # FastAPI reads annotations by the name of the module.
    sys.modules["fastapi_users"] = module
    place.loader.exec_module(module)

    with TestClient(module.app) as http:

        def ask(user: str, text: str) -> str:
            body = {"session": "monday", "text": text}
            return str(http.post("/chat", json=body, headers={"X-User": user}).json())

        assert ask("ana", "I moved to Porto.") == "Noted."
        assert ask("ana", "Where did I move to?") == "I moved to Porto."
        assert ask("ben", "Where did I move to?") == "I do not know."
        facts = {
            user: http.get("/facts", headers={"X-User": user}).json() for user in ("ana", "ben")
        }
        assert "Porto" in str(facts["ana"])
        assert facts["ben"] == []


def test_an_agent_of_langgraph_finds_its_notes(run: Run) -> None:
    told, asked = "I take the night train to Porto.", "How do I travel by train?"
    assert run("langgraph_agent.py", told, asked) == f"Noted.\n{told}\n"


def test_a_coding_agent_uses_the_tools(prepared: Callable[[str], Path], model: Model) -> None:
    """Run it in a process: its child inherits the standard error, which has no number here."""
    told, asked = "We lint with ruff.", "Which tool do we lint with?"
    program = prepared("mcp_coding_agent.py")
    done = subprocess.run(
        [sys.executable, program, told, asked], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == f"Noted.\n{told}\n", done.stderr
    offered = {tool["function"]["name"] for tool in model.bodies[0]["tools"]}
    assert {"remember", "context", "why"} <= offered


EXPORT = """\
12/03/2025, 09:15 - Ben: I moved to Porto.
It is warm.
12/03/2025, 09:16 - Alice: I like tea.
13/03/2025, 10:00 - Ben: Good morning!
"""


def test_an_export_of_chats_is_imported_once(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(EXPORT, "utf-8")
    asked = ("import_chat_export.py", "Alice", str(file), "Where did Ben move to?")
    first = run(*asked)
    assert first.startswith("3 of 3 messages are new.\n- ")
    assert "Porto" in first
    assert run(*asked).startswith("0 of 3 messages are new.\n")


def test_a_person_is_erased_after_a_confirmation(run: Run, memory: Handle, tmp_path: Path) -> None:
    memory.observe("Ben", "lives_in", "Porto", confidence=0.9)
    memory.remember("Ben drinks coffee.")
    file = tmp_path / "certificate.txt"
    asked = ("erasure_request.py", "Ben", str(file))
    with pytest.raises(SystemExit, match="Nothing was ever stored about Eve"):
        run("erasure_request.py", "Eve", str(file))
    with pytest.raises(SystemExit, match="Nothing was erased"):
        run(*asked, typed="n\n")
    assert "Erased. The certificate is in" in run(*asked, typed="y\n")
    assert "request of 12 May" in file.read_text("utf-8")
    assert not memory.memories.list().memories
    with pytest.raises(SystemExit, match="Everything about Ben was erased before"):
        run(*asked)


def test_an_audit_shows_what_was_believed_and_known(run: Run) -> None:
    assert run("audit_belief.py").splitlines() == [
        "Now: Dublin. In March: Frankfurt.",
        "07 Jan Ana: 0.9, Ana in the meeting",
        "03 Feb Ben: 0.9, Ben in the meeting",
        "Known in March: None",
    ]


def test_every_example_is_listed_run_and_short() -> None:
    page = (EXAMPLES / "README.md").read_text("utf-8")
    here = Path(__file__).read_text("utf-8") + Path(__file__).with_name(
        "test_typescript.py"
    ).read_text("utf-8")
    programs = [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("typescript/*.ts")]
    assert len(programs) == 8
    for program in programs:
        assert f"({program.relative_to(EXAMPLES).as_posix()})" in page
        assert f'"{program.name}"' in here
        assert len(program.read_text("utf-8").splitlines()) <= LONGEST
