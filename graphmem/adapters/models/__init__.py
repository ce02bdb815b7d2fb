"""Embedding and language models, from local packages or behind litellm."""
