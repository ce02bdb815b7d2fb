"""Stop the managed server after a time without use.

A process watches it; see `idle_watch`. When nothing has used the server for the set time, the
process turns into this module, which stops the server under the lock that every start takes.
"""

from __future__ import annotations

import os
import sys

from graphmem.errors import LocalServerError
from graphmem.local_server import idle_watch, process
from graphmem.local_server.files import DataFolder, ServerState, environment
from graphmem.settings import PREFIX, Settings

MODULE = "graphmem.local_server.idle"


def watch(folder: DataFolder, state: ServerState, idle_s: float) -> None:
    """Watch a server in a process that outlives this one; with 0, do not."""
    if not idle_s:
        return
    process.spawn_detached(
        [
            *(sys.executable, "-P", idle_watch.__file__, str(state.pid)),
            *(str(state.bolt_port), str(state.http_port), str(folder.state_file), str(idle_s)),
            *(sys.executable, "-m", MODULE, str(state.pid)),
        ],
        env=environment("PYTHON", "VIRTUAL_ENV")
        | {f"{PREFIX}HOME": str(folder.root.parent), f"{PREFIX}IDLE_STOP_S": str(idle_s)},
    )


def stop_if_unused(folder: DataFolder, pid: int, mark: int, timeout_s: float) -> bool:
    """Stop this server, unless it is in use or was asked for since `mark`; return whether it ended.

    A client that comes while the server is being stopped waits for the lock and starts it again.
    """
    with folder.locked(timeout_s):
        state = folder.read_state()
        server = process.find(folder, state)
        if state is None or server is None or state.pid != pid:
            return True
        if idle_watch.last_asked(folder.state_file, pid) != mark or idle_watch.is_connected(
            server, (state.bolt_port, state.http_port)
        ):
            return False
        process.end(server)
        folder.forget_state()
        return True


def main(pid: int, mark: int) -> None:
    """Stop the server of the settings if it is still unused, else watch it again."""
    settings = Settings.load(os.environ)
    folder = DataFolder.of(settings)
    try:
        ended = stop_if_unused(folder, pid, mark, process.STOP_S)
    except LocalServerError:  # another process is starting or stopping it
        ended = False
    state = process.running(folder)
    if not ended and state is not None and state.pid == pid:
        watch(folder, state, settings.idle_stop_s)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
