"""Simulations and parameter sweeps that justify graphmem's formulas and default policies."""
