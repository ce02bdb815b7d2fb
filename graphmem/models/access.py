"""Access to a model service: address, key and limits."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from graphmem.errors import ConfigurationError


class _NoRetries(int):
    """Zero, but truthy: litellm replaces a falsy `max_retries` by its default of two.

    `ModelService` retries itself, with a limit from a setting and in both I/O modes.
    """

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class ModelAccess:
    """One model behind litellm or an HTTP endpoint.

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """

    service_name: str
    """Kind of service, as in `the embedding service`."""
    setting: str
    """Variable that names the model; prefix of the variable of its key."""
    example: str
    """Example value of that variable."""
    too_large_hint: str
    """Hint for a request that the service rejects."""
    model: str
    """Name of the model; empty if the address alone names it."""
    url: str | None = field(repr=False)
    key: SecretStr | None
    timeout_s: float
    """Timeout of one request, seconds, from connecting to the last byte of the reply."""
    max_bytes: int
    """Maximum length of a reply, bytes; the rest of a longer one is not read."""
    retries: int
    url_setting: str | None = None
    """Variable of the address; None: `setting` with `_URL`."""

    def __post_init__(self) -> None:
        if self.url is not None and not _is_http_url(self.url):
            raise ConfigurationError(
                f"{self.address_setting} must be an http or https address.",
                hint="Set it to an address like https://host/v1 or http://127.0.0.1:8000/v1.",
            )
        bare = self._bare_key() or ""
        # A key that cannot be sent in a header would appear in the error message.
        if not bare.isascii() or not bare.isprintable() or " " in bare:
            raise ConfigurationError(
                f"{self.setting}_KEY must contain only printable ASCII characters and no spaces.",
                hint="Copy the key again, without line breaks.",
            )

    @property
    def address_setting(self) -> str:
        """Variable of the address."""
        return self.url_setting or f"{self.setting}_URL"

    @property
    def settings(self) -> tuple[str, ...]:
        """Variables of the name and the address."""
        return tuple(dict.fromkeys((self.setting, self.address_setting)))

    @property
    def description(self) -> str:
        """Description of the service for messages, without secrets of its address."""
        if self.url is None:
            return f"the {self.service_name}"
        return f"the {self.service_name} at {self.host}"

    @property
    def host(self) -> str:
        """Scheme, host and port of the address, without its secrets; empty without an address."""
        parts = urlsplit(self.url or "")
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if self.url else ""

    @property
    def authorization(self) -> dict[str, str]:
        """The header that sends the key; empty without a key."""
        bare = self._bare_key()
        return {"Authorization": f"Bearer {bare}"} if bare else {}

    @property
    def secrets(self) -> frozenset[str]:
        """Texts to mask: this key, keys in the environment, and secrets of the address."""
        texts = {value for name, value in os.environ.items() if name.endswith("_API_KEY")}
        texts.add(self._bare_key() or "")
        if self.url:
            texts |= {self.url, urlsplit(self.url).password or "", urlsplit(self.url).query}
        return frozenset(texts - {""})

    def request(self) -> dict[str, Any]:
        """Return the arguments of every litellm call."""
        return {
            "model": self.model,
            "api_base": self.url,
            "api_key": self._bare_key(),
            "timeout": self.timeout_s,
            "max_retries": _NoRetries(0),
        }

    def _bare_key(self) -> str | None:
        return self.key.get_secret_value().strip() if self.key else None


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
