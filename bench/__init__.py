"""Measurements of graphmem, each beside a baseline of the same run."""
