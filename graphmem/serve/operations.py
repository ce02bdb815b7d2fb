"""Operations of the API: one table of routes, and parameters that the client's methods declare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import GenericAlias
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import AwareDatetime, BeforeValidator, Field, JsonValue, Strict
from pydantic import create_model as record_type

from graphmem import signatures
from graphmem.client.usage import Kind as ArtifactKind
from graphmem.model import (
    AsOf,
    HypotheticalEvidence,
    MappedRole,
    NewMemory,
    Observation,
    Origin,
    Record,
    Triple,
)
from graphmem.serve.keys import Right
from graphmem.signatures import Kind, Parameter

_Message: TypeAlias = dict[str, JsonValue]
MESSAGES = (
    "Messages with role and content, and optionally name, at and id; or messages of OpenAI, "
    "Anthropic or LangChain"
)

KNOWN = "known"
"""Parameter of a query for the known time of a read; `as_of` is its valid time."""

TYPES: Mapping[str, Any] = {
    "as_of": str | AsOf,
    "claims": tuple[Triple, ...],
    "context.about": str | tuple[_Message, ...],
    "beliefs.what_if.evidence": tuple[HypotheticalEvidence, ...],
    "messages": tuple[_Message, ...],
    "observations": tuple[Observation, ...],
    "origin": Origin,
    "remember_many.memories": tuple[str | NewMemory, ...],
    "admin.import_foreign.data": dict[str, JsonValue] | list[JsonValue],
    "roles": dict[str, MappedRole],
    "usage.log_search.results": tuple[str | tuple[ArtifactKind, str], ...],
}
"""Types of parameters that a signature describes too little for JSON."""

_ROUTES = """
read   POST /recall                            recall
read   POST /context                           context
write  POST /memories                          remember
write  POST /memories/batch                    remember_many
write  POST /sessions/{session_id}/messages    add_messages         session
write  POST /beliefs/observe                   observe
write  POST /beliefs/observe/batch             observe_many
read   GET  /beliefs/current                   current
write  POST /beliefs                           believe
write  POST /beliefs/{belief_id}/evidence      add_evidence
read   GET  /beliefs/{belief_id}/evidence      evidence_for
read   GET  /why/{item_id}                     why
read   GET  /items/{item_id}                   expand
read   GET  /items/{item_id}/history           history
write  POST /memories/{memory_id}/supersede    supersede
review POST /reject                            reject
review POST /unreject                          unreject
erase  POST /forget                            forget
read   GET  /memories                          memories.list
read   GET  /memories/stale                    memories.stale
read   GET  /memories/{memory_id}              memories.get
read   GET  /memories/{memory_id}/history      memories.history
read   GET  /memories/{memory_id}/chain        memories.chain
write  POST /memories/{memory_id}/deprecate    memories.deprecate
write  POST /memories/{memory_id}/restore      memories.restore
read   GET  /beliefs                           beliefs.list
read   GET  /beliefs/slots                     beliefs.slots
read   GET  /beliefs/timeline                  beliefs.timeline
write  POST /beliefs/merge                     beliefs.merge
write  POST /beliefs/retract                   beliefs.retract
read   GET  /beliefs/{belief_id}               beliefs.get
read   GET  /beliefs/{belief_id}/history       beliefs.history
read   GET  /beliefs/{belief_id}/chain         beliefs.chain
read   GET  /beliefs/{belief_id}/provenance    beliefs.provenance
read   GET  /beliefs/{belief_id}/flip-set      beliefs.flip_set
read   POST /beliefs/{belief_id}/what-if       beliefs.what_if
write  POST /beliefs/{belief_id}/revise        beliefs.revise
write  POST /beliefs/{belief_id}/split         beliefs.split
write  POST /beliefs/{belief_id}/archive       beliefs.archive
write  POST /beliefs/{belief_id}/restore       beliefs.restore
review POST /beliefs/{belief_id}/clear-flag    beliefs.clear_flag
read   GET  /predicates                        predicates.list
write  POST /predicates                        predicates.declare
read   GET  /aliases                           aliases.list
write  POST /aliases                           aliases.add
write  POST /aliases/remove                    aliases.remove
read   GET  /episodes                          episodes.list
write  POST /episodes                          episodes.add
read   GET  /episodes/{episode_id}             episodes.get
read   GET  /episodes/{episode_id}/turns       episodes.turns
write  POST /episodes/{episode_id}/pin         episodes.pin
write  POST /episodes/{episode_id}/unpin       episodes.unpin
write  POST /episodes/{episode_id}/restore     episodes.restore
read   GET  /proposals                         proposals.list
review POST /proposals/accept                  proposals.accept
review POST /proposals/dismiss                 proposals.dismiss
read   GET  /consolidation                     consolidation_status
read   GET  /usage/dashboard                   usage.dashboard
read   GET  /usage/ratings                     usage.ratings
read   GET  /usage/goals                       usage.goals
read   GET  /usage/audit                       usage.audit
read   GET  /usage/prune-manifest              usage.prune_manifest
write  POST /usage/searches                    usage.log_search
write  POST /usage/accesses                    usage.log_access
admin  GET  /admin/stats                       admin.stats          tenant
admin  GET  /admin/is-empty                    admin.is_empty       tenant
admin  GET  /admin/scopes                      admin.scopes         tenant
admin  GET  /admin/erasures                    admin.erasures       tenant
admin  POST /admin/reopen                      admin.reopen         tenant
admin  POST /admin/reopen-person               admin.reopen_person  tenant
erase  POST /admin/erase-person                admin.erase_person   tenant
write  POST /ingest                            ingest               long
write  POST /sessions/{session_id}/extract     extract              long
write  POST /consolidate                       consolidate          long
write  POST /episodes/compress                 episodes.compress    long
write  POST /episodes/summarise                episodes.summarise   long
write  POST /usage/prune                       usage.prune          long
write  POST /usage/prune/{run_id}/restore      usage.restore_pruned long
admin  POST /usage/rate                        usage.rate           long tenant
admin  POST /usage/roll-up                     usage.roll_up        long tenant
admin  POST /admin/jobs                        run_jobs             long tenant client
admin  POST /admin/backfill                    admin.backfill       long tenant
admin  POST /admin/import                      admin.import_foreign long tenant
admin  POST /admin/rebuild                     admin.rebuild        long tenant
admin  POST /admin/seal                        admin.seal           long tenant
admin  POST /admin/verify                      admin.verify         long tenant
erase  POST /admin/erase-tenant                admin.erase_tenant   tenant
"""
"""Right, verb, path and method of each route. A `tenant` route needs a grant of all scopes; a fixed
path comes before one with a parameter in its place. A `long` one is answered with an operation."""


class Operation(NamedTuple):
    """A method of the client as a route."""

    right: Right
    verb: Literal["GET", "POST"]
    path: str
    """Path below /v1; names in braces are parameters of the method."""
    method: str
    """Path of the client's method."""
    of_tenant: bool = False
    """Whether it concerns all scopes of a tenant, which the key must grant then."""
    in_session: bool = False
    """Whether it is a method of a session, whose name is in the path."""
    is_long: bool = False
    """Whether it is answered with an operation, unless it is only planned."""
    of_client: bool = False
    """Whether it is a method of the client that takes tenants."""

    @property
    def name(self) -> str:
        """Name in the OpenAPI document."""
        return self.method.replace(".", "_")

    @property
    def summary(self) -> str:
        """First paragraph of the method's docstring."""
        return signatures.method(self.method).summary

    @property
    def in_path(self) -> tuple[str, ...]:
        """Names of the parameters in the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def parameters(self) -> Iterator[Parameter]:
        """Parameters that a request can give, without those in the path."""
        for one in signatures.method(self.method).parameters:
            own = self.of_client and one.name == "tenants"
            if one.name not in self.in_path and not own and self.type_of(one) is not None:
                yield one

    @property
    def plans(self) -> bool | None:
        """Whether a request that does not say it is a dry run; None if it cannot be one."""
        return next((bool(one.default) for one in self.parameters if one.name == "dry_run"), None)

    @property
    def event_id(self) -> Literal["event_id", "origin"] | None:
        """Parameter that takes the idempotency key; None if the method takes none."""
        names = {one.name for one in self.parameters}
        if "event_id" in names:
            return "event_id"
        return "origin" if "origin" in names else None

    def type_of(self, one: Parameter) -> Any:
        """Return the type of a parameter in a request; None if a request cannot give it."""
        own = TYPES.get(f"{self.method}.{one.name}", TYPES.get(one.name))
        if own is not None:
            return own
        kind = one.kind
        if kind is None or kind.name == "path":
            return None
        return _type(kind, strict=self.verb == "POST")

    def record(self) -> type[Record]:
        """Return the record of the parameters in the query or the body.

        What is omitted or null is None, and the client's own default applies.
        """
        fields: dict[str, Any] = {}
        for one in self.parameters:
            kind = self.type_of(one)
            schema: dict[str, Any] = {} if one.default is None else {"default": _json(one.default)}
            if not one.required:
                kind |= None
            default: Any = ... if one.required else None
            field = Field(default, description=_text(one), json_schema_extra=schema)
            fields[one.name] = (kind, field)
            if one.name == "as_of" and self.verb == "GET":
                fields["as_of"] = (str | None, field)
                text = "Known time of the read; now by default. The valid time is `as_of`."
                fields[KNOWN] = (TIME | None, Field(None, description=text))
        return record_type(f"{self.name}_parameters", __base__=Record, **fields)


def _is_time(given: object) -> object:
    """Refuse numbers, which would be read as seconds since 1970."""
    if not isinstance(given, str) or not re.match(r"\d{4}-", given):
        raise ValueError("must be a time in ISO 8601 with a time zone")
    return given


TIME: Any = Annotated[AwareDatetime, BeforeValidator(_is_time)]
_READ = {"whole": int, "number": float, "flag": bool, "text": str, "time": TIME}


def _type(kind: Kind, *, strict: bool) -> Any:
    found: Any = Literal[kind.choices] if kind.choices else _READ[kind.name]
    if kind.name == "number":
        found = Annotated[found, Field(allow_inf_nan=False)]
    if strict and kind.name != "time" and not kind.choices:
        found = Annotated[found, Strict()]
    found = Annotated[found, Field(**kind.limits)]
    return Annotated[GenericAlias(tuple, (found, ...)), Field(**kind.size)] if kind.many else found


def _text(one: Parameter) -> str | None:
    return MESSAGES if one.name == "messages" else (one.text or None)


def _json(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _table() -> Iterator[Operation]:
    for line in _ROUTES.strip().splitlines():
        right, verb, path, method, *marks = line.split()
        known: dict[str, Any] = {"right": right, "verb": verb}
        yield Operation(
            path=path,
            method=method,
            of_tenant="tenant" in marks,
            in_session="session" in marks,
            is_long="long" in marks,
            of_client="client" in marks,
            **known,
        )


OPERATIONS: tuple[Operation, ...] = tuple(_table())
BY_NAME = {one.name: one for one in OPERATIONS}
BY_METHOD = {one.method: one for one in OPERATIONS}


def arguments_of(given: Record | None) -> dict[str, Any]:
    """Return what a request gives, without what is null."""
    found = {} if given is None else {name: getattr(given, name) for name in given.model_fields_set}
    known = found.pop(KNOWN, None)
    if known is not None:
        found["as_of"] = {"valid": found.get("as_of"), "known": known}
    return {name: value for name, value in found.items() if value is not None}
