"""Tool, its call and its listing; erasure by an agent, which a second call confirms."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

import mcp_types as types

from graphmem.erasure import ErasureReport, ErasureTarget
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.mcp import arguments, inputs, schemas
from graphmem.mcp.connection import Caller
from graphmem.mcp.results import Erasure
from graphmem.model import Origin, Record
from graphmem.rules.quoting import escape_json

if TYPE_CHECKING:
    from graphmem.client import AsyncSession

MAX_LINE = 200
"""Maximum length of a text in a plan, and of a name that was ignored, in characters."""
MAX_IGNORED = 20
"""Maximum number of ignored names in an answer."""
Profile = Literal["core", "full"]
"""Tools to offer: `core` has what an everyday agent needs, `full` has all."""

_SECRET = secrets.token_bytes(32)
"""Key of the confirmations, which are valid until the process ends."""
_KINDS = tuple(one for one in ErasureTarget if one is not ErasureTarget.SCOPE)
_COPIES = frozenset({"Memory", "Belief", "Turn", "Episode"})
NEXT = (
    "Nothing is erased yet. This client cannot ask the user itself: show them this plan, and call "
    "again with `confirm` only if they agree. `copies` hold the same text and stay: forget each."
)
DECLINED = "The user was asked and did not agree. Nothing is erased."


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool."""

    session: AsyncSession
    """Session of the conversation, on the caller's tenant and scope."""
    tool: Tool
    arguments: Any
    """Record of its arguments."""
    actor: str | None
    """Name that the calling agent gave for itself; None if it gave none."""
    caller: Caller
    """Tenant, scope and rights of the caller."""
    slot: AbstractAsyncContextManager[None]
    """Permission to use the database; not held while a person is asked."""
    ask: Callable[[str], Awaitable[bool]] | None = None
    """Asks the person behind the client whether to do something; None if the client cannot."""

    def given(self) -> dict[str, Any]:
        """Return the arguments of the client's method: those given, and who writes."""
        given = {name: value for name, value in self.arguments if value is not None}
        given.pop("session_id", None)
        taken = arguments.parameters(self.tool.name)
        if "origin" in taken:
            own = {"source": "mcp", "actor": self.actor, "note": given.pop("note", None)}
            given["origin"] = Origin(**own)
        elif "actor" in taken:
            given |= {"source": "mcp", "actor": self.actor}
        return given

    async def result(self) -> Any:
        """Return the result of the client's method; of a list, a mapping with its name."""
        method = attrgetter(arguments.path_of(self.tool.name))(self.session)
        found = await method(**self.given())
        if isinstance(found, Record):
            return found
        [name] = self.tool.result.model_fields
        return {name: found}


@dataclass(frozen=True)
class Tool:
    """One tool; it has the name of the client's method, after the noun of its namespace."""

    name: str
    title: str
    description: str
    """When to use it and what it returns, for the model."""
    takes: str
    """Names of its arguments."""
    result: type[Record]
    example: Mapping[str, Any]
    """Valid arguments, shown in errors."""
    run: Callable[[ToolCall], Awaitable[Any]] = ToolCall.result
    read_only: bool = False
    """Whether it leaves the memory unchanged; writing the search log does not count."""
    destructive: bool = False
    """Whether it erases data; all others only append events. It may ask the person, and so takes
    the slot of its call itself. Repeating it adds nothing."""
    text: Callable[[Any], str] | None = None
    """Conversion of the result to text; None for JSON."""

    @cached_property
    def arguments(self) -> type[Record]:
        """Record of its arguments."""
        return arguments.arguments_of(self.name, self.takes)

    def listed(self, profile: Profile) -> types.Tool:
        """Return the tool as listed to clients."""
        schema = schemas.input_schema(self.arguments, two_times=profile == "full")
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema,
            output_schema=schemas.output_schema(self.result),
            annotations=types.ToolAnnotations(
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.read_only or self.destructive,
                open_world_hint=False,
            ),
        )

    @cached_property
    def _limits(self) -> schemas.Schema:
        return schemas.complete_schema(self.arguments)

    def read(self, given: Mapping[str, Any], zone: str | None = "UTC") -> tuple[Any, list[str]]:
        """Return the arguments of a call, with times of a zone, and the other names in it.

        Raises:
            InvalidInputError: an argument is invalid; the hint gives an example.
        """
        try:
            return inputs.read(self.arguments, given, self._limits, zone)
        except InvalidInputError as error:
            raise InvalidInputError(error.message, hint=self.usage) from None

    @property
    def usage(self) -> str:
        """Return the names of its arguments and an example, for errors."""
        example = json.dumps(self.example, ensure_ascii=False)
        names = ", ".join(self.arguments.model_fields) or "none"
        return f"Arguments of {self.name}: {names}. Example: {example}"

    def shown(
        self, found: Any, ignored: Sequence[str] = (), meta: Mapping[str, Any] | None = None
    ) -> types.CallToolResult:
        """Return a result as data, and as text without invisible characters.

        Args:
            found: result of the run.
            ignored: names in the call that are not arguments.
            meta: what the host gets and the model does not.
        """
        result = self.result.model_validate(found)
        names = [name[:MAX_LINE] for name in ignored[:MAX_IGNORED]]
        note = {"ignored_arguments": names} if names else {}
        data = answer_data(result) | note
        text = self.text(result) if self.text else compact_json(data)
        if self.text and note:
            text += f"\n{compact_json(note)}"
        content = [types.TextContent(text=text)]
        return types.CallToolResult(
            content=content, structured_content=data, _meta=None if meta is None else dict(meta)
        )


def answer_data(result: Record) -> dict[str, Any]:
    """Return a result as data: all but None of the result, of its parts also no defaults.

    False, 0 and an empty list of a result may mean that nothing was done or found.
    """
    whole = result.model_dump(mode="json", exclude_none=True)
    return whole | result.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


def compact_json(data: object) -> str:
    """Return data as one line of JSON without invisible characters."""
    return escape_json(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


async def forget(call: ToolCall) -> Erasure:
    """Plan the erasure of an item and ask the person, or let the agent confirm the plan.

    If the client can ask its user, only the user's answer counts. Otherwise a second call confirms.
    A confirmation is valid for one caller, one item, and the counts and texts that the plan showed.

    Raises:
        NotFoundError: no visible item has this id.
        InvalidInputError: the confirmation is not of the current plan.
    """
    async with call.slot:
        plan = await _plan(call.session, call.arguments.item_id)
    if plan.repeated and not plan.left:
        return _erasure(call.caller, plan)
    texts, expected = _lines(plan), _confirmation(call.caller, plan)
    confirm = call.arguments.confirm
    if call.ask is not None:
        if not await call.ask(_question(call.caller, plan, texts)):
            return _erasure(call.caller, plan).model_copy(update={"texts": texts, "next": DECLINED})
        confirm = expected
    if confirm is None:
        shown = {"texts": texts, "confirm": expected, "next": NEXT}
        return _erasure(call.caller, plan).model_copy(update=shown)
    async with call.slot:
        # The item may have changed while the person was asked.
        current = await _plan(call.session, call.arguments.item_id) if call.ask else plan
        if not hmac.compare_digest(confirm.encode(), _confirmation(call.caller, current).encode()):
            raise InvalidInputError(
                "confirm: must be that of the current plan for this item.",
                hint="Call forget with item_id only, and show the new plan to the user.",
            )
        done = await call.session.forget(
            plan.what, call.arguments.item_id, dry_run=False, actor=call.actor
        )
    return _erasure(call.caller, done)


def _question(caller: Caller, plan: ErasureReport, texts: tuple[str, ...]) -> str:
    """Return the question for the person; the texts are data, one quoted line each."""
    asked = f"Erase this {plan.what} for good? It cannot be undone. Texts:"
    copies = _copies(caller, plan)
    return "\n".join((asked, *texts, *(["The same text stays in:", *copies] if copies else [])))


def _lines(plan: ErasureReport) -> tuple[str, ...]:
    """Return the texts of a plan, shortened, one line each, and the number of those left out."""
    lines = [f"{one.label}: {compact_json(_shortened(one.text))}" for one in plan.texts]
    labels = ("Memory", "Belief", "Turn")
    shown = sum(one.label in labels for one in plan.texts)
    if more := sum(plan.counts.get(label, 0) for label in labels) - shown:
        lines.append(f"… and {more} more")
    return tuple(lines)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LINE else f"{text[: MAX_LINE - 1]}…"


async def _plan(session: AsyncSession, item_id: str) -> ErasureReport:
    for kind in _KINDS:
        try:
            return await session.forget(kind, item_id)
        except NotFoundError:
            continue
    raise NotFoundError(f"No memory, belief, episode or turn {item_id!r}.")


def _copies(caller: Caller, report: ErasureReport) -> tuple[str, ...]:
    """Return the items with the same text that the caller can read."""
    return tuple(
        f"{one.label}: {one.id}"
        for one in report.elsewhere
        if one.scope in caller.visible and one.label in _COPIES
    )


def _erasure(caller: Caller, report: ErasureReport) -> Erasure:
    return Erasure(
        item_id=report.id,
        kind=report.what,
        applied=report.applied,
        counts=report.counts,
        left=report.left,
        copies=_copies(caller, report),
    )


def _confirmation(caller: Caller, plan: ErasureReport) -> str:
    """Return the confirmation of a plan, which a model cannot guess without a plan."""
    texts = [(one.label, one.id, one.text) for one in plan.texts]
    planned = json.dumps([caller.tenant, caller.scope, plan.what, plan.id, plan.counts, texts])
    return "yes-" + hmac.new(_SECRET, planned.encode(), hashlib.sha256).hexdigest()[:12]
