"""Accuracy of the belief formulas on public data."""
