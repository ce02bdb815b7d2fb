"""HTTP API: routes derived from the client's methods, opened by keys with grants."""
