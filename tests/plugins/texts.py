"""Texts to remember: any number of unrelated ones, and variants of one sentence."""

from __future__ import annotations

import hashlib

_SYLLABLES = [c + v for c in "bdfgklmnprst" for v in "aeiou"]

WINDOW = (
    "The deploy window of the payments service opens every Friday at noon and closes before the "
    "evening review"
)
"""A sentence long enough that punctuation hardly moves its embedding."""


def unlike(n: int, *, about: str = "") -> str:
    """Return the n-th of a sequence of unrelated sentences."""
    digest = hashlib.sha256(f"{about}:{n}".encode()).digest()
    syllables = [_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest]
    words = ["".join(syllables[i : i + 4]) for i in range(0, len(syllables), 4)]
    return " ".join([about, *words]).strip()


def restated(n: int) -> str:
    """Return the n-th variant of WINDOW with the same meaning; n in 0 to 23."""
    text = (WINDOW, WINDOW.upper(), WINDOW.lower(), WINDOW.capitalize())[n % 4]
    return text + ("", ".", "!", "...", ".)", "!!")[n // 4]
