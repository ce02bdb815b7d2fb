"""Use cases, one per module: coroutines that depend on ports only."""
