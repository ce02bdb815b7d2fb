"""Erasure by an agent: the first call plans it, and a second one confirms the plan."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import TYPE_CHECKING

from graphmem.erasure import ErasureReport, ErasureTarget
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.mcp.connection import Caller
from graphmem.mcp.results import Erasure
from graphmem.mcp.schemas import ForgetArguments
from graphmem.mcp.tool import ToolCall

if TYPE_CHECKING:
    from graphmem.client import AsyncSession

_SECRET = secrets.token_bytes(32)
"""Key of the confirmations, which are valid until the process ends."""
_KINDS = (ErasureTarget.MEMORY, ErasureTarget.BELIEF, ErasureTarget.EPISODE)
NEXT = "Nothing is erased yet. Show this plan to the user; call again with `confirm` if they agree."


async def forget(call: ToolCall[ForgetArguments]) -> Erasure:
    """Plan the erasure of an item, or erase it if the plan is confirmed.

    A confirmation is valid for one caller, one item and the same counts, so that an agent confirms
    what the plan showed.

    Raises:
        NotFoundError: no visible item has this id.
        InvalidInputError: the confirmation is not of the current plan.
    """
    item_id, confirm = call.arguments.item_id, call.arguments.confirm
    plan = await _plan(call.session, item_id)
    if plan.repeated and not plan.left:
        return _erasure(plan)
    expected = _confirmation(call.caller, plan)
    if confirm is None:
        text = await _text(call.session, plan)
        shown = {"text": text, "confirm": expected, "next": NEXT}
        return _erasure(plan).model_copy(update=shown)
    if not hmac.compare_digest(confirm.encode(), expected.encode()):
        raise InvalidInputError(
            "confirm: must be that of the current plan for this item.",
            hint="Call forget with item_id only, and show the new plan to the user.",
        )
    done = await call.session.forget(plan.what, item_id, dry_run=False, actor=call.actor)
    return _erasure(done)


async def _plan(session: AsyncSession, item_id: str) -> ErasureReport:
    for kind in _KINDS:
        try:
            return await session.forget(kind, item_id)
        except NotFoundError:
            continue
    raise NotFoundError(f"No memory, belief or episode {item_id!r}.")


async def _text(session: AsyncSession, plan: ErasureReport) -> str | None:
    if plan.repeated:
        return None
    match plan.what:
        case ErasureTarget.MEMORY:
            return (await session.memories.get(plan.id)).content
        case ErasureTarget.BELIEF:
            return (await session.beliefs.get(plan.id)).statement
    return None


def _erasure(report: ErasureReport) -> Erasure:
    return Erasure(
        item_id=report.id,
        kind=report.what,
        applied=report.applied,
        counts=report.counts,
        left=report.left,
    )


def _confirmation(caller: Caller, plan: ErasureReport) -> str:
    """Return the confirmation of a plan, which a model cannot guess without a plan."""
    planned = json.dumps([caller.tenant, caller.scope, plan.what, plan.id, plan.counts])
    return "yes-" + hmac.new(_SECRET, planned.encode(), hashlib.sha256).hexdigest()[:12]
