"""The schema of a graph and the embedding models that fill it."""
