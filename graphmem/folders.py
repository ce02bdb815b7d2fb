"""Folders of the user: of the managed server and keys, of downloads, and of the settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import platformdirs

from graphmem.errors import ConfigurationError


def home_folder(given: Path | None) -> Path:
    """Return the folder of data that cannot be computed again, by default the platform's.

    Raises:
        ConfigurationError: it is not set, and the system knows no home folder.
    """
    return _folder(given, platformdirs.user_data_path, "GRAPHMEM_HOME")


def cache_folder(given: Path | None) -> Path:
    """Return the folder of files that can be fetched or computed again, by default the platform's.

    Raises:
        ConfigurationError: it is not set, and the system knows no home folder.
    """
    return _folder(given, platformdirs.user_cache_path, "GRAPHMEM_CACHE")


def settings_folder() -> Path | None:
    """Return the folder of the user's settings; None if the system knows no home folder."""
    try:
        return platformdirs.user_config_path("graphmem", appauthor=False)
    except RuntimeError:
        return None


def _folder(given: Path | None, default: Callable[..., Path], setting: str) -> Path:
    try:
        return (given or default("graphmem", appauthor=False)).expanduser().absolute()
    except RuntimeError as error:
        # A container often runs as a user that the system does not know.
        raise ConfigurationError(
            "The home folder of this user is unknown: HOME is not set.",
            hint=f"Set {setting} to an absolute path, or HOME.",
        ) from error
