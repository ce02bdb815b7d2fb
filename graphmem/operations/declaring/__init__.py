"""Declarations for a whole tenant: predicate policies and aliases."""
