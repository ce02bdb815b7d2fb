"""The context block of a prompt: what it holds, and the wording of its lines."""
