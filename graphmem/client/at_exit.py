"""Write waiting log entries at the end of the process, and none of its parent's after a fork."""

from __future__ import annotations

import atexit
import logging
import os
from weakref import WeakKeyDictionary

from graphmem.client.log_queue import AccessLog
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


def _start_over() -> None:
    for accesses in (*_BLOCKING, *_AWAITED):
        accesses.start_over()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_start_over)


@atexit.register
def _write() -> None:
    for accesses, context in list(_BLOCKING.items()):
        run_now(HandleState(context=context, rules=(), accesses=accesses).write_rest())
    for accesses in list(_AWAITED):
        if waiting := len(accesses.waiting()):
            log.warning("%d log entries were lost: the client was not closed.", waiting)
