"""Writes about beliefs: evidence, retractions and replacements."""
