"""Extraction's rules: what is asked of an extractor, and what of its answer may be believed."""
