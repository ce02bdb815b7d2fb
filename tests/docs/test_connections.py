"""A process tree connects only to what docs/reference/connections.md allows; strace records it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from shutil import which

import pytest

from graphmem.settings import Settings
from tests.plugins.chat_service import KEY, ChatService
from tests.plugins.children import own_server
from tests.plugins.server import nothing_may_be_skipped

pytestmark = pytest.mark.system

DAY = """
import asyncio, os, subprocess, sys
from graphmem import GraphMem
from graphmem.langgraph import GraphMemStore
from mcp import Client, StdioServerParameters, stdio_client

graphmem = [os.path.join(os.path.dirname(sys.executable), "graphmem")]

async def ask():
    args = ["mcp", "--tenant", "acme", "--scope", "user:alice"]
    server = StdioServerParameters(command=graphmem[0], args=args, env=dict(os.environ))
    async with Client(stdio_client(server)) as agent:
        while (found := await agent.call_tool("context", {"about": "the valve"})).is_error:
            assert "still_starting" in str(found.content), found
        assert "valve" in str(found.content)

try:
    with GraphMem.open() as client:
        alice = client.tenant("acme").scope("user:alice")
        with alice.session("monday") as session:
            session.add_messages([{"role": "user", "content": "I moved to Porto last week."}])
        alice.remember("The valve of the boiler is shut.")
        assert "valve" in str(alice.recall("Is the valve shut?"))
        assert alice.extract(session_id="monday").turns
        store = GraphMemStore(client.tenant("acme").scope("user:ben"))
        store.put(("notes",), "one", {"text": "The lamp is red."})
        assert store.search(("notes",), query="lamp")

    subprocess.run([*graphmem, "worker", "--once"], check=True)
    asyncio.run(ask())
finally:
    # The server belongs to the tree, which ends when it does.
    subprocess.run([*graphmem, "server", "down"], check=True)
"""
STRANGER = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
    line.sendto(b"?", ("192.0.2.1", 53))
with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as line:
    line.setblocking(False)
    line.connect_ex(("2001:db8::1", 443))
with socket.socket() as line:
    line.connect_ex(("127.0.0.1", 9))
"""
ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')


def reached(program: str, environ: dict[str, str], folder: Path) -> set[str]:
    """Return the addresses beyond loopback that a program and all its children used."""
    record = folder / "calls"
    calls = "trace=connect,sendto,sendmsg,sendmmsg"
    traced = ["strace", "-f", "--seccomp-bpf", "-qq", "-e", calls, "-o", str(record)]
    done = subprocess.run(
        [*traced, sys.executable, "-c", program],
        env=environ,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    text = record.read_text("utf-8", "replace")
    assert "connect(" in text
    found = {ip_address(four or six) for four, six in ADDRESS.findall(text)}
    return {str(address) for address in found if not is_loopback(address)}


def is_loopback(address: IPv4Address | IPv6Address) -> bool:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


@pytest.fixture(autouse=True)
def strace() -> None:
    """Skip, where that is allowed, on a system without strace."""
    if which("strace") is None:
        message = "strace is not on the PATH; run: apt-get install strace"
        pytest.fail(message) if nothing_may_be_skipped() else pytest.skip(message)


@pytest.mark.parametrize("offline", ["false", "true"])
def test_nothing_but_the_configured_services_is_reached(
    server_settings: Settings, tmp_path: Path, offline: str
) -> None:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GRAPHMEM_")}
    with ChatService.opened() as service:
        service.always = lambda _: {"proposals": []}
        environ = kept | {
            "HOME": str(tmp_path),
            **own_server(tmp_path / "home", server_settings),
            "GRAPHMEM_OFFLINE": offline,
            "GRAPHMEM_EMBEDDER": "local",
            "GRAPHMEM_MODEL": "openai/some-model",
            "GRAPHMEM_MODEL_URL": service.url,
            "GRAPHMEM_MODEL_KEY": KEY,
        }
        assert reached(DAY, environ, tmp_path) == set()
        assert service.bodies != []


def test_a_stranger_is_seen(tmp_path: Path) -> None:
    assert reached(STRANGER, dict(os.environ), tmp_path) == {"192.0.2.1", "2001:db8::1"}
