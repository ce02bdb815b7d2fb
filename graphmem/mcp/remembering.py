"""Tool `remember`: a sentence is stored whatever happens to its claims."""

from __future__ import annotations

from graphmem.errors import GraphmemError
from graphmem.mcp import inputs, results
from graphmem.mcp.arguments import MAX_CLAIMS
from graphmem.mcp.tool import ToolCall
from graphmem.model import Triple
from graphmem.model.memory import RefusedClaim
from graphmem.rules.claims import predicate_key

ERASED = "erased"
"""Hygiene reason of a text or a claim about something that was erased."""
TOO_MANY = f"a sentence has at most {MAX_CLAIMS} claims"


async def remember(call: ToolCall) -> results.Remembered:
    """Store the sentence with the claims that can be stored, and name the others."""
    claims: dict[int, Triple | RefusedClaim] = dict(enumerate(call.arguments.claims or (), 1))
    refused = {n: one.reasons for n, one in claims.items() if isinstance(one, RefusedClaim)}
    refused |= {n: (TOO_MANY,) for n in claims if n > MAX_CLAIMS}
    kept = {n: one for n, one in claims.items() if n not in refused and isinstance(one, Triple)}
    new = await inputs.unknown_predicates(call.session, [one.predicate for one in kept.values()])
    refused |= {
        n: (f"memory does not know its predicate. {inputs.CALL_OBSERVE}",)
        for n, one in kept.items()
        if predicate_key(one.predicate) in new
    }
    numbers = [n for n in kept if n not in refused]
    written = call.given()
    done, reason = None, ""
    try:
        done = await call.session.remember(**written | {"claims": [kept[n] for n in numbers]})
        reason = ERASED if ERASED in done.hygiene_reasons else ""
        refused |= {numbers[one.place]: one.reasons for one in done.refused_claims}
    except GraphmemError as error:
        if not numbers:
            raise
        reason = error.message
    if done is None or (reason and numbers):
        # If the sentence itself is the reason, it is refused again.
        done = await call.session.remember(**written | {"claims": ()})
        refused |= dict.fromkeys(numbers, (reason,))
    problems = (f"claim {n}: {'; '.join(refused[n])}" for n in sorted(refused))
    return results.Remembered(**dict(done), problems=tuple(problems))
