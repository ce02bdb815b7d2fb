"""A pytest plugin: a generated example that fails is shown as it is, since shrinking takes long."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import Phase


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Leave out the phases after the first failure, whatever profile is loaded."""
    name = "unshrunk"
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    hypothesis.settings.register_profile(name, hypothesis.settings(), phases=phases)
    hypothesis.settings.load_profile(name)
