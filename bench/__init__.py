"""Benchmarks of graphmem, each compared with a baseline of the same run."""
