"""A wire to a server that can be cut at the moment of a commit."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""The Bolt message, as one chunk."""


@dataclass
class Line:
    """One connection, both its ends."""

    client: socket.socket
    server: socket.socket
    is_cut: bool = False
    """The next that the server says is not handed on."""

    def close(self) -> None:
        """Hang up on both."""
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@dataclass
class Wire:
    """Hands on what client and server say, until it is cut."""

    address: tuple[str, int]
    """Of the server."""
    port: int
    """Where clients are to connect to on 127.0.0.1."""
    left: int = 0
    """Commits until it is cut; 0: it is not."""
    is_early: bool = False
    """Cut before the server hears of the commit; else before the client hears that it is done."""
    cuts: int = 0
    lines: list[Line] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def cut_at(self, nth: int, *, early: bool) -> None:
        """Be cut at the n-th commit from now on."""
        self.left, self.is_early = nth, early

    def accept(self, listening: socket.socket) -> None:
        """Serve clients until nobody listens any more."""
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                line = Line(client, socket.create_connection(self.address))
                self.lines.append(line)
                self.start(self.upwards, line)
                self.start(self.downwards, line)

    def upwards(self, line: Line) -> None:
        """Hand on what the client says."""
        with suppress(OSError):
            while said := line.client.recv(65_536):
                if COMMIT in said and self._is_time():
                    self.cuts += 1
                    if self.is_early:
                        break
                    line.is_cut = True
                line.server.sendall(said)
        line.close()

    def downwards(self, line: Line) -> None:
        """Hand on what the server says."""
        with suppress(OSError):
            while (said := line.server.recv(65_536)) and not line.is_cut:
                line.client.sendall(said)
        line.close()

    def start(self, work: object, *given: object) -> None:
        """Do something beside."""
        thread = threading.Thread(target=work, args=given, daemon=True)  # type: ignore[arg-type]
        self.threads.append(thread)
        thread.start()

    def _is_time(self) -> bool:
        self.left -= 1
        return self.left == 0


@contextmanager
def wire_to(host: str, port: int) -> Iterator[Wire]:
    """Yield a wire to a server; afterwards nothing of it is left."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        wire = Wire((host, port), listening.getsockname()[1])
        wire.start(wire.accept, listening)
        try:
            yield wire
        finally:
            # Who waits in accept() is woken by this, and not by closing alone.
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            for line in wire.lines:
                line.close()
            for thread in wire.threads:
                thread.join()
            for line in wire.lines:
                line.client.close()
                line.server.close()
