"""The HTTP API in this process."""

from tests.plugins.service import alone, api

__all__ = ["alone", "api"]
