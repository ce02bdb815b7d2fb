"""Fit the projection of the English encoder's token states by principal components."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.figures import Report, Table
from graphmem.models.local import Encoder, fetch_encoder
from graphmem.ports import Role
from graphmem.settings import Settings

if TYPE_CHECKING:
    from bench.progress import Steps

ROOT = Path(__file__).parents[1]
BASIS = ROOT / "graphmem" / "data" / "token_basis.npz"
COMPONENTS = 128
SHORTEST, LONGEST = 20, 400
"""Limits of the sentences, characters."""


def measure(steps: Steps) -> Report:
    """Write the basis to the package, and return the share of variance that it keeps."""
    texts = list(dict.fromkeys(sentences()))
    steps.say(f"encoding {len(texts)} sentences")
    encoder = Encoder(fetch_encoder(Settings(), lambda _: None), 2)
    rows = np.concatenate(encoder.hidden_states(texts, Role.DOCUMENT)).astype(np.float64)
    mean = rows.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov((rows - mean).T))
    kept = directions[:, ::-1][:, :COMPONENTS]
    np.savez_compressed(BASIS, mean=mean.astype(np.float16), components=kept.astype(np.float16))
    share = float(variances[::-1][:COMPONENTS].sum() / variances.sum())
    row = {"sentences": len(texts), "tokens": len(rows), "variance kept": round(share, 3)}
    return Report(name="token_basis", tables=[Table("principal components", [row])])


def sentences() -> Iterator[str]:
    """Yield the sentences of the documentation and the texts of the demo."""
    for path in sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")]):
        prose = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
        for sentence in re.split(r"(?<=[.!?])\s+|\n\n", re.sub(r"[|`*#>\[\]]", " ", prose)):
            if SHORTEST < len(sentence.strip()) < LONGEST:
                yield sentence.strip()
    for line in (ROOT / "graphmem" / "data" / "demo.jsonl").read_text("utf-8").splitlines():
        if text := json.loads(line).get("content"):
            yield text
