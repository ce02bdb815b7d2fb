"""The HTTP API in this process, and the environment of one in another."""

from tests.mcp.conftest import environ
from tests.plugins.service import alone, api

__all__ = ["alone", "api", "environ"]
