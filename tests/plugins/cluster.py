"""Three members of a cluster, played by proxies in front of the one real server.

A member answers ROUTE with the addresses of all, and notes the transactions that begin on it. It
refuses to write unless it leads. A follower that lags lets a transaction wait for its bookmarks.
All members have the same data: tests check where a transaction went and what it waited for.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from neo4j._codec.packstream import v1

MANIFEST = b"\x00\x00\x01\xff"
"""Answer of a server that lists its versions of Bolt."""
BEGIN, COMMIT, RUN, ROUTE = 0x11, 0x12, 0x10, 0x66
SUCCESS, RECORD, FAILURE = 0x70, 0x71, 0x7F
BROKEN = b"\xb3\x10\x81?\xa0\xa0"
"""RUN of a text that is not Cypher: the server fails as the member says it did."""
NOT_A_LEADER = {
    "code": "Neo.ClientError.Cluster.NotALeader",
    "neo4j_code": "Neo.ClientError.Cluster.NotALeader",
    "gql_status": "08N06",
    "message": "This member is not the leader.",
    "description": "error: connection exception - protocol error",
    "diagnostic_record": {},
}
TTL_S = 300
_CODEC: Any = v1
"""Encoder and decoder of the driver, which have no types."""
WAIT_S = 20.0


@dataclass(frozen=True)
class Begun:
    """A transaction that a client began on a member."""

    member: int
    reads: bool
    bookmarks: frozenset[str]


@dataclass
class Cluster:
    """The leader, the members that lag, and the transactions that clients began."""

    address: tuple[str, int]
    """Address of the real server."""
    ports: list[int] = field(default_factory=list)
    leader: int = 0
    announced: int | None = None
    """The leader that routing tables name, if it is another one."""
    before_commit: Callable[[], None] | None = None
    """Called once, before a member forwards a COMMIT; the client then loses its connection."""
    after_commit: bool = False
    """Whether the next answer to a COMMIT is lost."""
    begun: list[Begun] = field(default_factory=list)
    waited: list[int] = field(default_factory=list)
    """Members that kept a transaction waiting for its bookmarks."""
    routed: int = 0
    """Number of routing tables that were asked for."""
    lagging: dict[int, threading.Event] = field(default_factory=dict)
    """Members that apply nothing new, with the event of catching up."""
    applied: list[str] = field(default_factory=list)
    """Bookmarks of the states that every member has, the newest last."""
    _down: dict[int, Callable[[], None]] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """Address of the cluster, by its first member."""
        return f"neo4j://127.0.0.1:{self.ports[0]}"

    def lag(self, member: int) -> None:
        """Let a member apply nothing new: it keeps transactions with newer bookmarks waiting."""
        self.lagging[member] = threading.Event()

    def catch_up(self, member: int) -> None:
        """Let a member that lagged run the transactions that wait."""
        self.lagging.pop(member).set()

    def stop(self, member: int) -> None:
        """Close a member's port and its connections."""
        self._down[member]()

    def table(self) -> dict[str, Any]:
        """Return the routing table."""
        self.routed += 1
        leader = self.leader if self.announced is None else self.announced
        every = [f"127.0.0.1:{port}" for port in self.ports]
        followers = [one for n, one in enumerate(every) if n != leader]
        roles = {"WRITE": [every[leader]], "READ": followers, "ROUTE": every}
        servers = [{"role": role, "addresses": some} for role, some in roles.items()]
        return {"rt": {"ttl": TTL_S, "db": "neo4j", "servers": servers}}


class _Line:
    """One connection of a client to a member."""

    def __init__(self, cluster: Cluster, member: int, client: socket.socket) -> None:
        self.cluster, self.member, self.client = cluster, member, client
        self.server = socket.create_connection(cluster.address)
        self.asked: deque[int] = deque()
        """Requests that have no summary yet, by their tags."""
        self.lock = threading.Lock()

    def run(self) -> None:
        """Forward the client's messages until an end closes."""
        with suppress(OSError, EOFError):
            self._shake_hands()
            answers = threading.Thread(target=self._answers, daemon=True)
            answers.start()
            while True:
                message = _message(self.client)
                if not self._asks(message):
                    break
        self.close()

    def close(self) -> None:
        """Shut down both ends."""
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _shake_hands(self) -> None:
        self.server.sendall(_bytes(self.client, 20))
        chosen = _bytes(self.server, 4)
        self.client.sendall(chosen)
        if chosen != MANIFEST:
            return
        count = _varint(self.server)
        versions = _bytes(self.server, 4 * count[0])
        self.client.sendall(count + versions + _varint(self.server))
        self.server.sendall(_bytes(self.client, 4) + _varint(self.client))

    def _asks(self, message: bytes) -> bool:
        """Forward a request; return whether the connection goes on."""
        tag, cluster = message[1], self.cluster
        if tag == BEGIN:
            message = self._begins(message)
        elif tag == COMMIT and cluster.before_commit is not None:
            happens, cluster.before_commit = cluster.before_commit, None
            happens()
            return False
        self.asked.append(-BEGIN if message is BROKEN else tag)
        self.server.sendall(_chunked(message))
        return True

    def _begins(self, message: bytes) -> bytes:
        extra = _unpacked(message[2:])
        bookmarks = frozenset(extra.get("bookmarks", ()))
        begun = Begun(self.member, extra.get("mode") == "r", bookmarks)
        self.cluster.begun.append(begun)
        late = self.cluster.lagging.get(self.member)
        if late is not None and not bookmarks.issubset(self.cluster.applied):
            self.cluster.waited.append(self.member)
            late.wait(WAIT_S)
        leads = begun.reads or self.member == self.cluster.leader
        return message if leads else BROKEN

    def _answers(self) -> None:
        with suppress(OSError, EOFError):
            while True:
                message = _message(self.server)
                tag = message[1]
                asked = self.asked.popleft() if tag != RECORD else None
                if asked == ROUTE:
                    message = b"\xb1\x70" + _packed(self.cluster.table())
                elif asked == -BEGIN:
                    message = b"\xb1\x7f" + _packed(NOT_A_LEADER)
                elif asked == COMMIT and self.cluster.after_commit:
                    self.cluster.after_commit = False
                    break
                elif asked == COMMIT and tag == SUCCESS:
                    message = self._committed(message)
                self.client.sendall(_chunked(message))
        self.close()

    def _committed(self, message: bytes) -> bytes:
        """Note a bookmark; a member that lags returns that of its own state."""
        cluster = self.cluster
        if self.member in cluster.lagging:
            return b"\xb1\x70" + _packed({"bookmark": cluster.applied[-1]})
        if not cluster.lagging:
            cluster.applied.append(_unpacked(message[2:])["bookmark"])
        return message


@contextmanager
def cluster_of(host: str, port: int) -> Iterator[Cluster]:
    """Yield three members in front of a server; their sockets are closed afterwards."""
    cluster = Cluster((host, port))
    with ExitStack() as stack:
        for member in range(3):
            stack.enter_context(_member(cluster, member))
        yield cluster


@contextmanager
def _member(cluster: Cluster, member: int) -> Iterator[None]:
    lines, threads = list[_Line](), list[threading.Thread]()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        cluster.ports.append(listening.getsockname()[1])

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    lines.append(_Line(cluster, member, client))
                    threads.append(threading.Thread(target=lines[-1].run, daemon=True))
                    threads[-1].start()

        def stop() -> None:
            # Closing alone does not wake a thread that waits in accept().
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()
            for line in lines:
                line.close()

        cluster._down[member] = stop
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield
        finally:
            stop()
            for thread in (accepting, *threads):
                thread.join(WAIT_S)
            for line in lines:
                line.client.close()
                line.server.close()


def _bytes(end: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = end.recv(count - len(found))
        if not part:
            raise EOFError
        found += part
    return found


def _varint(end: socket.socket) -> bytes:
    found = _bytes(end, 1)
    while found[-1] & 0x80:
        found += _bytes(end, 1)
    return found


def _message(end: socket.socket) -> bytes:
    """Return the next message, without its chunks."""
    found = b""
    while True:
        [size] = struct.unpack(">H", _bytes(end, 2))
        if size:
            found += _bytes(end, size)
        elif found:
            return found


def _chunked(message: bytes) -> bytes:
    parts = (message[at : at + 0xFFFF] for at in range(0, len(message), 0xFFFF))
    return b"".join(struct.pack(">H", len(part)) + part for part in parts) + b"\0\0"


def _packed(value: Mapping[str, Any]) -> bytes:
    buffer = _CODEC.PackableBuffer()
    _CODEC.Packer(buffer).pack(value)
    return bytes(buffer.data)


def _unpacked(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = _CODEC.Unpacker(_CODEC.UnpackableBuffer(data)).unpack()
    return found
