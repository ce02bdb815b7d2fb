"""Effect of ratings on usage, simulated."""
