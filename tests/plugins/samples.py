"""Conversations and facts to test with: a sample of our own, and real data where they are.

The samples in tests/samples are invented. The real data are large and not ours to ship; the
variable GRAPHMEM_DATA names their folder, and a test that can read them runs once more on them.
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
    """Run a test on our sample and, where it is, on the real data.

    Args:
        names: the test's parameters: the place of the data, then what is expected of them.
        place: a file or folder in the folder of data.
        sample: what is expected of our sample.
        real: what is expected of the real data.
    """
    cases = [pytest.param(_SAMPLES / place, *sample, id="sample")]
    if (_REAL / place).exists():
        cases.append(pytest.param(_REAL / place, *real, id="real", marks=pytest.mark.system))
    return pytest.mark.parametrize(names, cases, scope="module")
