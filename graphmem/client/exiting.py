"""What becomes of log entries that still wait when the interpreter ends."""

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
    """See to it that what a client logs is written at the end, closed or not.

    An awaited client's loop is gone by then: what it leaves is counted and said.
    """
    (_AWAITED if awaited else _BLOCKING)[state.accesses] = state.binding


@atexit.register
def _write() -> None:
    for accesses, binding in list(_BLOCKING.items()):
        state = HandleState(binding=binding, rules=(), accesses=accesses)
        state.end_sessions()
        if accesses.waiting():
            run_now(state.try_flush())
    for accesses in list(_AWAITED):
        if waiting := len(accesses.waiting()):
            log.warning("%d log entries were lost: the client was not closed.", waiting)
