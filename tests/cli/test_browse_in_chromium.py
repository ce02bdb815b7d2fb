"""Neo4j Browser itself, in a headless Chromium: what it draws of a link, and with which captions.

Few and slow: what a query returns is tested in tests/cypher/browser.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench import browser
from graphmem import Handle, local_server
from graphmem.settings import Settings
from tests.plugins.server import Server

pytestmark = pytest.mark.system
Run = Callable[..., Any]
MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)


@pytest.fixture
def password(server: Server) -> str:
    return server.password.get_secret_value()


@pytest.fixture
def browse(
    run: Run, server: Server, server_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Run `graphmem server browse … --json` against the session's server."""
    if server.kind != "managed":
        pytest.skip(f"{server.kind}: where it serves Browser is not known here")
    address = local_server.status(server_settings).browser_url
    assert address is not None
    monkeypatch.setenv("GRAPHMEM_BROWSER", address.partition("?")[0])

    def browsed(*args: str) -> str:
        found = run("server", "browse", *args, "--json")
        assert found.code == 0, found.err
        assert server.password.get_secret_value() not in found.out
        return str(found.data["url"])

    return browsed


def test_a_belief_is_drawn_with_our_captions(
    window: browser.Window, browse: Run, plain: Handle, password: str, tmp_path: Path
) -> None:
    with plain.session("monday") as session:
        session.add_messages([{"role": "user", "content": "I moved to Porto.", "at": MAY}])
        [turn] = session.episodes.turns(session.episode_id).turns
    lives = plain.observe("Ada", "lives in", "Porto", episode_id=turn.episode_id, turn_id=turn.id)
    plain.observe("Ada", "lives in", "Porto", kind="refuting", confidence=0.4)
    link = browse("belief", lives.belief_id)

    captions = [*("Ada lives in Porto", "EVIDENCE", "EVIDENCE", "I moved to Porto.", "monday")]
    window.open(link, password)
    drawn = window.run()

    assert sorted(drawn.captions) == captions
    assert drawn.edges == {"SUPPORTS": 1, "REFUTES": 1, "QUOTES": 1, "OCCURRED_IN": 2}
    window.shoot(tmp_path / "belief.png")
    assert (tmp_path / "belief.png").stat().st_size > 10_000


def test_five_hundred_events_and_words_that_a_link_could_stumble_over(
    window: browser.Window, browse: Run, plain: Handle, password: str
) -> None:
    subject = "R&D #4? 100 % 'of' \"it\" + \\u0026; // $tenant ?arg=x"
    plain.observe_many(
        {"subject": subject, "predicate": "is", "object": "done", "at": MAY + timedelta(hours=n)}
        for n in range(500)
    )
    window.open(browse("slot", subject, "is"), password)
    drawn = window.run()
    assert drawn.edges == {"SUPPORTS": 3}
    assert len(drawn.captions) == 4


def test_saved_queries_are_taken_as_a_folder_and_run_with_their_parameters(
    window: browser.Window,
    browse: Run,
    run: Run,
    plain: Handle,
    password: str,
    tmp_path: Path,
    tenant: str,
) -> None:
    kept = plain.remember("Ada lives in Porto.").memory_id
    made = run("admin", "browser", "--output", str(tmp_path), "--json").data
    window.open(browse(), password)
    window.drop(Path(made["queries"]), "graphmem: belief")
    names = sorted(path.stem for path in Path(made["folder"]).iterdir())
    assert window.saved("graphmem") == [f"graphmem: {name}" for name in names]

    text = (Path(made["folder"]) / "memory.cypher").read_text("utf-8")
    [command] = [x.removeprefix("// ") for x in text.splitlines() if x.startswith("// :param")]
    command = command.replace('tenant => ""', f'tenant => "{tenant}"')
    window.command(command.replace(':param id => ""', f':param id => "{kept}"'))
    window.write(text)
    drawn = window.run()
    assert drawn.edges == {"REINFORCES": 1}
