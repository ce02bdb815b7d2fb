"""Implementations of the ports, one per external system; adapters do not import each other."""
