"""Write the waiting log entries when the interpreter exits."""

from __future__ import annotations

import atexit
import logging
from weakref import WeakKeyDictionary

from graphmem.client.access_log import AccessLog
from graphmem.client.state import HandleState
from graphmem.ports import RequestContext, run_now

log = logging.getLogger("graphmem")
_BLOCKING: WeakKeyDictionary[AccessLog, RequestContext] = WeakKeyDictionary()
_AWAITED: WeakKeyDictionary[AccessLog, RequestContext] = WeakKeyDictionary()


def watch(state: HandleState, *, awaited: bool) -> None:
    """Write the client's waiting log entries at interpreter exit, even if it was not closed.

    The event loop of an async client is closed by then; a warning gives the number of lost entries.
    """
    (_AWAITED if awaited else _BLOCKING)[state.accesses] = state.context


@atexit.register
def _write() -> None:
    for accesses, context in list(_BLOCKING.items()):
        state = HandleState(context=context, rules=(), accesses=accesses)
        state.end_sessions()
        if accesses.waiting():
            run_now(state.try_flush())
    for accesses in list(_AWAITED):
        if waiting := len(accesses.waiting()):
            log.warning("%d log entries were lost: the client was not closed.", waiting)
