"""A loopback TCP proxy that can be slowed down or cut."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CHUNK = 65_536


class Proxy:
    """Forwards bytes between clients and the server, at the server's current address."""

    def __init__(self, listening: socket.socket, target: tuple[str, int]) -> None:
        self.target = target
        self.delay_s = 0.0
        """Delay of each chunk of data, in seconds."""
        self._listening = listening
        self._ends: set[socket.socket] = set()
        self._lock = threading.Lock()

    @property
    def uri(self) -> str:
        """The URI that clients connect to."""
        return f"bolt://127.0.0.1:{self._listening.getsockname()[1]}"

    def cut(self) -> None:
        """Close all connections; new connections are accepted."""
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def serve(self) -> None:
        """Accept connections until the listening socket is closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                try:
                    server = socket.create_connection(self.target, timeout=5)
                except OSError:
                    client.close()
                    continue
                server.settimeout(None)
                with self._lock:
                    self._ends |= {client, server}
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._forward, args=pair, daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                time.sleep(self.delay_s)
                target.sendall(data)
        with self._lock:
            self._ends -= {source, target}
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def proxy_to(host: str, port: int) -> Iterator[Proxy]:
    """Yield a proxy to a server; close all of its connections afterwards."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        proxy = Proxy(listening, (host, port))
        threading.Thread(target=proxy.serve, daemon=True).start()
        try:
            yield proxy
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            proxy.cut()
