"""What holds when nobody sets anything: each default once, as the pages say it.

The tests of the rules give their own numbers, so a default that changed would go unnoticed.
"""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

import pytest

from graphmem.erasure import guard
from graphmem.model import Policy, RecallPolicy
from graphmem.model.belief import Cardinality, Combine
from graphmem.model.recall import TraceRank
from graphmem.rules import formulas, rating, vitality
from graphmem.settings import Settings


def unpatched(module: ModuleType) -> ModuleType:
    """Return a module as it is loaded; tests on a server shorten a wait in the one they share."""
    spec = find_spec(module.__name__)
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


DEFAULTS: dict[str, tuple[object, dict[str, Any]]] = {
    "the policy of a predicate": (
        Policy(),
        {
            "cardinality": Cardinality.MANY,
            "kappa": 3.0,
            "tau_days": None,
            "decay_per_day": 0.0,
            "margin": 0.1,
            "combine": Combine.LOG_ODDS,
        },
    ),
    "settings": (
        Settings.load({}),
        {
            "near_duplicate_threshold": 0.5,
            "update_threshold": 0.3,
            "max_content_chars": 8_000,
            "min_content_chars": 3,
            "source_weights": {
                "TOOL": 1.0,
                "EXPLICIT": 1.0,
                "RULE": 0.8,
                "CLASSIFIER": 0.6,
                "EXTRACTOR": 0.5,
            },
        },
    ),
    "the sequential test": (
        formulas.STANDARD_TEST,
        {
            "alpha": 0.05,
            "beta": 0.10,
            "promote_step": 0.10,
            "demote_step": 0.20,
            "max_confidence": 0.95,
            "min_confidence": 0.05,
        },
    ),
    "TraceRank": (
        TraceRank(),
        {
            "tau_days": 21.0,
            "spacing": 0.1,
            "weight": 0.35,
            "window_hours": 24.0,
            "burst": 0.1,
            "import_weight": 1.0,
        },
    ),
    "recall": (
        RecallPolicy(),
        {
            "blend": 0.4,
            "around": 0.08,
            "reach": 1,
            "session": 0.3,
            "named": 0.3,
            "dated": 0.4,
            "machine": 0.7,
        },
    ),
    "ratings": (
        rating.STANDARD,
        {
            "initial": 1200.0,
            "floor": 800.0,
            "k_new": 16.0,
            "k_established": 8.0,
            "established": 10,
            "scale": 400.0,
            "fading_days": 30.0,
            "gate_similarity": 0.3,
            "gate_factor": 0.25,
            "high": 1600.0,
            "medium": 1200.0,
            "low": 800.0,
        },
    ),
    "vitality": (
        vitality.STANDARD_VITALITY,
        {
            "stability_days": 30.0,
            "least_days": 1.0,
            "max_stability_days": 365.0,
            "flagged": 0.5,
            "neutral": 0.5,
            "stretch": 4.0,
            "prior_precision": 1.0,
            "gate_base": 0.1,
            "gate_min": 0.1,
            "gate_max": 0.42,
            "gate_window_hours": 6.0,
        },
    ),
    "erasure": (unpatched(guard), {"TRUST_S": 1.0}),
}


@pytest.mark.parametrize("of", DEFAULTS)
def test_what_holds_when_nobody_says_otherwise(of: str) -> None:
    found, expected = DEFAULTS[of]
    assert {name: getattr(found, name) for name in expected} == expected
