"""The variables that processes of the server inherit."""

from __future__ import annotations

import os

INHERITED = frozenset(
    # Where programs, libraries and folders are.
    {"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP"}
    | {"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NIX_LD", "NIX_LD_LIBRARY_PATH"}
    # The language of messages and the zone of their times.
    | {"LANG", "LANGUAGE", "TZ", "TZDIR"}
    # What programs on Windows do not start without.
    | {"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME", "USERPROFILE"}
    | {"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"}
)
"""Variables that a process of the server inherits, in upper case; `LC_…` beside them."""


def environment(*prefixes: str) -> dict[str, str]:
    """Return the variables that a process of the server inherits.

    A list of those it may have: keys of model providers have names that nobody can list.

    Args:
        prefixes: of further variables to inherit.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in INHERITED or name.startswith(("LC_", *prefixes))
    }
