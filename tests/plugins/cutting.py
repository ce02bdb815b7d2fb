"""A proxy to a server whose connections can be cut at the moment of a commit or a reply."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""The Bolt COMMIT message, as one chunk."""


@dataclass
class Line:
    """One connection with both of its ends."""

    client: socket.socket
    server: socket.socket
    is_cut: bool = False
    """Whether the server's next message is dropped."""

    def close(self) -> None:
        """Shut down both ends."""
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@dataclass
class Wire:
    """Forwards data between clients and the server until it is cut."""

    address: tuple[str, int]
    """Address of the server."""
    port: int
    """Port on 127.0.0.1 that clients connect to."""
    left: int = 0
    """Number of commits until the cut; 0 or less for no cut."""
    is_early: bool = False
    """Whether the cut comes before the server receives the commit; else before its reply arrives.
    """
    how: str = "cut"
    """`cut` closes both ends; `half` closes one direction, the other stays open; `stall` forwards
    nothing more, without an end."""
    cuts: int = 0
    lines: list[Line] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def cut_at(self, nth: int, *, early: bool, how: str = "cut") -> None:
        """Cut at the n-th commit from now."""
        self.left, self.is_early, self.how = nth, early, how

    def accept(self, listening: socket.socket) -> None:
        """Accept clients until the listening socket is closed."""
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                line = Line(client, socket.create_connection(self.address))
                self.lines.append(line)
                self.start(self.upwards, line)
                self.start(self.downwards, line)

    def upwards(self, line: Line) -> None:
        """Forward the client's data."""
        with suppress(OSError):
            while data := line.client.recv(65_536):
                if COMMIT in data and self._is_time():
                    self.cuts += 1
                    if self.is_early:
                        if self.how == "half":
                            line.server.shutdown(socket.SHUT_WR)
                            return
                        break
                    line.is_cut = True
                line.server.sendall(data)
        line.close()

    def downwards(self, line: Line) -> None:
        """Forward the server's data."""
        with suppress(OSError):
            while (data := line.server.recv(65_536)) and not line.is_cut:
                line.client.sendall(data)
            if line.is_cut and self.how == "half":
                line.client.shutdown(socket.SHUT_WR)
                return
            if line.is_cut and self.how == "stall":
                return
        line.close()

    def start(self, work: object, *given: object) -> None:
        """Run a function in a thread."""
        thread = threading.Thread(target=work, args=given, daemon=True)  # type: ignore[arg-type]
        self.threads.append(thread)
        thread.start()

    def _is_time(self) -> bool:
        self.left -= 1
        return self.left == 0


@contextmanager
def wire_to(host: str, port: int, *, at: int = 0) -> Iterator[Wire]:
    """Yield a proxy to a server, on any port or `at` one; close its sockets and threads after."""
    with socket.create_server(("127.0.0.1", at)) as listening:
        wire = Wire((host, port), listening.getsockname()[1])
        wire.start(wire.accept, listening)
        try:
            yield wire
        finally:
            # Closing alone does not wake a thread that waits in accept().
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            for line in wire.lines:
                line.close()
            for thread in wire.threads:
                thread.join()
            for line in wire.lines:
                line.client.close()
                line.server.close()
