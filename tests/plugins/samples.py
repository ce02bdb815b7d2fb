"""Conversations and facts for tests: invented samples, and real data if available.

The samples in tests/samples are invented. The real data sets are large and may not be shipped; the
variable GRAPHMEM_DATA names their folder, and a test that can read them also runs on them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

_SAMPLES = Path(__file__).parents[1] / "samples"
_BESIDE = Path(__file__).parents[3] / "shared" / "data"
_REAL = Path(os.environ.get("GRAPHMEM_DATA", _BESIDE))


def on_each(
    names: tuple[str, ...], place: str, sample: tuple[Any, ...], real: tuple[Any, ...]
) -> pytest.MarkDecorator:
    """Run a test on the sample and, if available, on the real data.

    Args:
        names: Parameters of the test: the path of the data, then the expected values.
        place: A file or folder in the data folder.
        sample: Expected values for the sample.
        real: Expected values for the real data.
    """
    cases = [pytest.param(_SAMPLES / place, *sample, id="sample")]
    if (_REAL / place).exists():
        cases.append(pytest.param(_REAL / place, *real, id="real", marks=pytest.mark.system))
    return pytest.mark.parametrize(names, cases, scope="module")


def real(place: str) -> Path | None:
    """Return the path of real data; None if it is not available."""
    return _REAL / place if (_REAL / place).exists() else None
